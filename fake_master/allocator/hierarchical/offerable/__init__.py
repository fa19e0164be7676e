"""Immutable values, interned by content: allocations, free resources of similar agents, eligibilities."""
