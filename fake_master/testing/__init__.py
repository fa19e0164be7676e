"""A fake master for the tests of other programs, and its pytest plugin."""

DEFAULT_AGENT = "cpus:4;mem:8GiB;disk:10GiB;ports:[31000-32000]"
"""The resources of an agent of which nothing is said."""
