"""Framework rate limits: the rules of a configuration, and the token bucket that throttles."""
