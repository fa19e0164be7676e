"""The hierarchical allocator of Mesos 1.11.0."""
