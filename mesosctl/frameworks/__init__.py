"""Frameworks: lists, and the end of one."""
