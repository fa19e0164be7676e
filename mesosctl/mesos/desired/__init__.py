"""A desired state of a cluster, and the way of an agent's reservations to it, as values."""
