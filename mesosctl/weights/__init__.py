"""Weights of roles: their verbs, what these do, and how it looks."""
