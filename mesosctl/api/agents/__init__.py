"""`GET /slaves`, read into what its readers need (Mesos documentation, "HTTP Endpoints")."""
