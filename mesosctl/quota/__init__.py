"""Quota: guarantees and limits of roles, read and changed."""
