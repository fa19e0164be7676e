"""Forecasts as reports, as a page and in sentences."""
