"""The documented JSON: requests and responses, to and from the model."""
