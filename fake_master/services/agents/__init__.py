"""Agents: their registration, removal, failover and maintenance, and the tasks that they checkpoint."""
