"""The tests; a package, so that its parts can share helpers."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The checkout."""
EXAMPLES = ROOT / "tests" / "examples"
"""Cluster files of the documentation."""
