"""The whole cluster on one screen."""
