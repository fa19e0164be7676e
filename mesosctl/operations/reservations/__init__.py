"""Reservations and volumes: their targets, their operations, and the requests."""
