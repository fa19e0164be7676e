"""Capacity: which losses of agents a cluster can bear."""
