"""Recordings: what happened on a cluster over time, and who got what."""
