"""Long jobs, a network that misbehaves, and input that nobody should send."""
