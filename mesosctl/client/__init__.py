"""One master: its address, its leader, credentials, deadlines, retries and errors."""
