"""A file of access control lists, and what it allows to whom."""
