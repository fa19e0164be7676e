"""Small inputs that once went wrong, by kind, each with the right answer.

A new one is a file in the folder of its kind, or an entry of a file that holds several, and a line in the test of the
kind. Unless a test says otherwise, a Mesos 1.11.0 master has given the answers. `not_yet.toml` lists the cases that are
still answered wrongly.
"""

from pathlib import Path

HERE = Path(__file__).parent


def text(name: str) -> str:
    """The content of a file."""
    return (HERE / name).read_text(encoding="utf-8")
