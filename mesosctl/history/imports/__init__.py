"""Logs of other schedulers, read into a recording: a module for each format, and `run`, which imports one."""
