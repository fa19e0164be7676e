"""Quota: its rules, the capacity heuristic, desired changes, and the status of roles."""
