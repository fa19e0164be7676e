"""Permissions: whether a principal may run a command."""
