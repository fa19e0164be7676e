"""Snapshots: a whole cluster in a file, and how two of them differ."""
