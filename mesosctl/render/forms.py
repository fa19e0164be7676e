"""The forms of -o, and what sets some apart; `render.report.write` writes them."""

from typing import Literal

OutputForm = Literal["table", "wide", "json", "jsonl", "csv", "name"]
JSON = frozenset({"json", "jsonl"})
"""A program reads it, and what is told on standard error beside it."""
ONE_PIECE = frozenset({"json", "csv", "name"})
"""Written once all is known; the others can follow what happens, line by line."""
NARROW = frozenset({"table", "name"})
"""Without what only the wide columns show."""
