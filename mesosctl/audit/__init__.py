"""The audit file as a list."""
