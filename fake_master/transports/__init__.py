"""Transports of requests to a fake master: a call in the same process, or a socket."""
