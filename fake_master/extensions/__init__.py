"""Allocators and runtimes that no Mesos ever shipped: lending of idle reservations, strict priority with preemption."""
