"""Answers as tables, JSON, csv and names, and what changes on a terminal meanwhile.  Depends on values alone."""
