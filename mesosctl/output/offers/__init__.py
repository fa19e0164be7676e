"""Offers, why there are none, and who shares them, as reports."""
