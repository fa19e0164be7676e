"""The state of a master: agents, frameworks, offers, tasks, and the flags that it was started with."""
