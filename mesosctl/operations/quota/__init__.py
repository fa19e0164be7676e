"""Quota: what roles have, and how that is changed."""
