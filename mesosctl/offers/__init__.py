"""Offers: lists, explanations, and operations on an offer."""
