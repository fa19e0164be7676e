"""`mesosctl reserve`, `unreserve` and `reservations`, one module each."""
