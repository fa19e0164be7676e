"""What the master must not forget, and where it is kept."""
