"""Tasks: lists of those that hold resources."""
