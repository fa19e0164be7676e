"""Waiting until conditions of a cluster hold."""
