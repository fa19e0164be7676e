"""A snapshot of a cluster as JSON."""
