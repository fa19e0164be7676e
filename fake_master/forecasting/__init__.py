"""Changes tried out on a snapshot of a cluster, in virtual time."""
