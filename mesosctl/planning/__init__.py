"""A cluster's snapshot, its desired state, the plan between the two, and forecasts.  Pure values and rules."""
