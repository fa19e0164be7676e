"""Answers as tables, JSON, csv and names, and live output on a terminal. Depends only on values."""
