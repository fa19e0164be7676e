"""Agents: their registration, removal, failover, maintenance, and what they keep themselves."""
