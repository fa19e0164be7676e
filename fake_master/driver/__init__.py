"""The road of scheduler drivers: messages of libprocess instead of calls and events over HTTP."""
