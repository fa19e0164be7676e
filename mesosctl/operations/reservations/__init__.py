"""Reservations and volumes: what is meant, the operations for it, and how they are sent."""
