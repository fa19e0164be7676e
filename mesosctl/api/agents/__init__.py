"""Agents in the documented JSON: `GET /slaves`, read into what its readers need, and the operations on one agent."""
