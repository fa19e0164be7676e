"""Trees of roles and of frameworks, and the orders in which they are offered resources."""
