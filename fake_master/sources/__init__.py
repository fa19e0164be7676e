"""A cluster file or a snapshot, read into a master; simulation in virtual time."""
