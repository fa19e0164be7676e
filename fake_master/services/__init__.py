"""The changes that a master makes to its state, by noun."""
