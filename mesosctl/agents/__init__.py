"""Agents: lists, and agents out of service and back."""
