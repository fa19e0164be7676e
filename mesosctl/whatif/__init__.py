"""Forecasts: the effects that changes would have now."""
