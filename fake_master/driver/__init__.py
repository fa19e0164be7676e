"""Scheduler drivers: messages of libprocess instead of calls and events over HTTP."""
