"""The books of the master: agents, frameworks, offers, tasks, and what it was started with."""
