"""Agents: their registration, removal, failover and maintenance, and their own stores."""
