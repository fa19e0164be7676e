"""One function an endpoint: request in, response out."""
