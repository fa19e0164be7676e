"""What the master does, by noun."""
