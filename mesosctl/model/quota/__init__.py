"""Quota: its rules, the capacity heuristic, and what commands report of it."""
