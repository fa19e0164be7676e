"""Contexts: the settings of several clusters."""
