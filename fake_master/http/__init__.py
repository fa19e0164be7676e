"""The HTTP endpoints of a master, by noun, and the routes to them."""
