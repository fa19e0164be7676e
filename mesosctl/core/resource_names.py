"""Which names of resources a cluster knows.

Mesos takes a quota for any name: one that no agent has promises, or bounds, nothing.  So a name
that is neither one of Mesos's own nor some agent's is taken for a slip of the pen.
"""

import difflib
from collections.abc import Collection

from mesosctl.core.errors import RuleViolation

STANDARD_NAMES = ("cpus", "mem", "disk", "gpus", "ports")
"""What Mesos itself gives a meaning to (Mesos documentation, "Resources and attributes")."""
_SHOWN = 8


def check_name(name: str, known: Collection[str], field: str) -> None:
    """A standard name, or one of `known`.  Raises RuleViolation naming `field` and the likely name."""
    if name in STANDARD_NAMES or name in known:
        return
    names = [*STANDARD_NAMES, *sorted(set(known) - set(STANDARD_NAMES))]
    likely = difflib.get_close_matches(name.lower(), names, 1)
    more = " and others" if len(names) > _SHOWN else ""
    raise RuleViolation(
        f"no agent of the cluster has a resource '{name}'",
        field=field,
        rule="resource.known",
        hint=f"did you mean {likely[0]}?" if likely else f"known are {', '.join(names[:_SHOWN])}{more}",
        override="--allow-new-resource",
    )
