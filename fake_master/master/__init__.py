"""The state of the master: agents, frameworks, roles, quota, weights, and the registry that keeps them."""
