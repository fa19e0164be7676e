"""JSON and TOML that people write, read strictly: every mistake is named with its place."""
