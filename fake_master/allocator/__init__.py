"""The interface of allocators, and the hierarchical one of Mesos 1.11.0."""
