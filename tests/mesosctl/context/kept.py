"""A configuration file that somebody wrote by hand, and how it is put there."""

from pathlib import Path

from tests.helpers.surroundings import Ran

HAND_WRITTEN = """\
# clusters of the east, ask Kim before changing anything
current = "prod"   # careful

[contexts.prod]
# the leading master moves
master = "http://master:5050"
timeout = 7        # it is slow

[contexts.lab]
master = "fake:"
"""


def write(config: Path, text: str, mode: int = 0o600) -> None:
    config.write_text(text)
    config.chmod(mode)


def effective(ran: Ran) -> dict[str, tuple[str, str]]:
    """Of `context show -o json`: value and origin by key."""
    return {setting["key"]: (setting["value"], setting["origin"]) for setting in ran.json["settings"]}
