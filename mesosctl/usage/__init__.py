"""Usage: the amounts that each role got over the time of a recording."""
