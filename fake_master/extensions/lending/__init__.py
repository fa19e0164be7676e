"""Lending of idle reservations, switched on by `--oversubscribe-reservations`."""
