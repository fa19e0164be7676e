"""Reservations and volumes of agents: lists, operations, and how these are sent and confirmed."""
