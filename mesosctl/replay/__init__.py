"""Replays of recordings: the past again, with changes."""
