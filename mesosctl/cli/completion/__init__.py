"""Completion of a shell: scripts, callbacks, and the names that they offer."""
