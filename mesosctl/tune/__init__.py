"""Tuning: settings that meet goals, found by replays."""
