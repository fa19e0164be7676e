"""Offers: which agents suit a framework, and what is made of an offer."""
