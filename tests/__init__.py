"""The tests; a package, so that its parts can share helpers."""
