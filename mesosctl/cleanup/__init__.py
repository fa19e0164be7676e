"""Volumes and reservations that nothing uses any more."""
