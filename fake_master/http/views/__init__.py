"""The JSON that endpoints and reading calls show, by noun, and the cache of its text."""
