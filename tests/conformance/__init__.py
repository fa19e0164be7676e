"""The same tests against three carriers: the fake master in process, on a socket, and a real Mesos master."""
