"""The scenario tables: data alone, read by test_scenarios.py."""

from . import quota_v0

EVERY_ROW = (*quota_v0.ROWS,)
