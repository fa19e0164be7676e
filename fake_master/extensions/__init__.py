"""Features that no Mesos ever shipped: lending, strict priority with preemption, and custom allocators."""
