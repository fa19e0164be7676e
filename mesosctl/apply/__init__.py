"""Desired state: compared, planned, approved, applied, exported."""
