"""Input that nobody should send: to every endpoint of the fake master, and to every command of the tool."""
