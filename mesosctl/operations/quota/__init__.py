"""Quota: reading and changing it."""
