"""Reservations and volumes: their rules, the operations on them, and what agents hold."""
