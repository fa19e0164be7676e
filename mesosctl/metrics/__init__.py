"""Metrics of a cluster, for Prometheus."""
