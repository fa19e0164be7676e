"""The strict priority allocator, with preemption."""
