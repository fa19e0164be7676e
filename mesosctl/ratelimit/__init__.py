"""Rate limits: what is throttled, the file of limits, and simulations."""
