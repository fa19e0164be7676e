"""Amounts of resources, their algebra, and how people and scripts write them."""
