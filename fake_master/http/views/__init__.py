"""The JSON of the information endpoints and of the calls that only tell, by noun."""
