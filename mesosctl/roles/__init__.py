"""Roles: the use of quota and weight by each."""
