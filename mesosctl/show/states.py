"""The meaning of states, in lists of agents and frameworks."""

from mesosctl.show.report import Meaning

STATES: dict[str, Meaning] = {
    "active": "met",
    "inactive": "at risk",
    "deactivated": "at risk",
    "draining": "at risk",
    "drained": "at risk",
    "recovered": "at risk",
    "recovering": "not met",
    "unreachable": "not met",
    "disconnected": "not met",
    "completed": "at risk",
}
"""Of agents and frameworks."""
