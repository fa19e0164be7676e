"""Quota: its rules, the capacity heuristic, and the values that commands report."""
