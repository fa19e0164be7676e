"""Reservations and volumes: their rules, the operations upon them, and what agents hold."""
