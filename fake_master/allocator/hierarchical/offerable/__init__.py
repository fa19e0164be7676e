"""Immutable values made once for each content: allocations, free resources of like agents, eligibilities."""
