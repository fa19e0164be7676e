"""The commands that ask before they act, and those for which a script must agree with --yes.

The table is the only place that decides: a command comes to its question, and the session looks here how it is asked.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Asks = Literal["none", "on a terminal", "always"]
"""`on a terminal`: a person is asked, and a script goes on.  `always`: a script needs --yes, or nothing is done."""


class Row(NamedTuple):
    """How a command asks."""

    asks: Asks
    when: str = ""
    """The case in which it asks so; empty for every case."""


NO_QUESTION = (Row("none"),)
ALWAYS = (Row("always"),)
TAKES_AWAY = "the plan takes something away"
ANY_OTHER_PLAN = "the plan takes nothing away"
LEFT_OUT = "an amount that the role has is left out, and would be lost"
AFTER_LIMIT = "RESOURCES after --limit name something that it does not"
OTHER_CONTENT = "the file has other content"
OTHER_PLAN = "the file is another plan"
SEVERAL = "it names several"
EVERYTHING = "--all is given"
EVERY_AGENT = "it reserves on every agent with an attribute"

QUESTIONS: Mapping[str, tuple[Row, ...]] = {
    # --- Tasks are killed, or data is destroyed -----------------------------------------------------------------
    "agents drain": ALWAYS,
    "agents gone": ALWAYS,
    "frameworks teardown": ALWAYS,
    "maintenance down": ALWAYS,
    "volumes destroy": ALWAYS,
    "cleanup": (Row("always", TAKES_AWAY),),
    "apply": (Row("always", TAKES_AWAY), Row("on a terminal", ANY_OTHER_PLAN)),
    # --- Something is taken away that the command did not name --------------------------------------------------
    "unreserve": (Row("always", EVERYTHING),),
    "quota set": (Row("always", LEFT_OUT), Row("always", AFTER_LIMIT)),
    "quota update": (Row("always", LEFT_OUT), Row("always", AFTER_LIMIT)),
    "quota remove": (Row("on a terminal", SEVERAL),),
    "reserve": (Row("on a terminal", EVERY_AGENT),),
    "maintenance schedule": (Row("always", "machines leave the schedule that the file does not name"),),
    # --- Nothing is asked ---------------------------------------------------------------------------------------
    "agents deactivate": NO_QUESTION,
    "agents reactivate": NO_QUESTION,
    "maintenance cancel": NO_QUESTION,
    "maintenance plan": NO_QUESTION,
    "maintenance up": NO_QUESTION,
    "offers take": NO_QUESTION,
    "volumes create": NO_QUESTION,
    "weights set": NO_QUESTION,
    # --- Files, and settings of this program --------------------------------------------------------------------
    "context remove": (Row("on a terminal", SEVERAL),),
    "context set": (Row("always", "a secret would be lost"),),
    "export": (Row("always", OTHER_CONTENT),),
    "plan": (Row("always", OTHER_CONTENT), Row("on a terminal", OTHER_PLAN)),
    "ratelimit default": NO_QUESTION,
    "ratelimit set": (Row("always", "the principal would lose its limit, and would never be throttled"),),
    "ratelimit unset": NO_QUESTION,
    "snapshot": (Row("on a terminal", OTHER_CONTENT),),
    "tune": (Row("always", "the file of --save exists"),),
}
"""By the words of the command: how it asks, in each case in which it does."""


def how_asked(verb: str, case: str = "") -> Asks:
    """How a command asks in a case, which may be left out if it has only one.  Raises KeyError for an unknown one."""
    rows = QUESTIONS[verb]
    if not case and len(rows) == 1:
        return rows[0].asks
    return {row.when: row.asks for row in rows}[case]
