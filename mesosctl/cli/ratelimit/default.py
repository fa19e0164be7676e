"""`mesosctl ratelimit default`."""

from typing import Annotated

import typer

from mesosctl.cli.ratelimit.words import Capacity, EditedFile, Qps, limit_of
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError

Remove = Annotated[
    bool, typer.Option("--none", help="No default: those not listed are not throttled.", show_default=False)
]

EXAMPLES = (
    ("ratelimit default --qps 333 --capacity 1000000 -f limits.json", "what all others share"),
    ("ratelimit default --none -f limits.json", "do not throttle them"),
)


@verb(EXAMPLES)
def command(
    session: Session,
    file: EditedFile,
    qps: Qps = None,
    capacity: Capacity = None,
    remove: Remove = False,
) -> None:
    """Set the rate and the capacity that everybody shares who is not listed, and show the diff.

    They count for all of them together, frameworks without a principal included.
    """
    from mesosctl.cli.ratelimit.editing import edit_and_tell
    from mesosctl.ops.ratelimit.editing import set_default

    if remove == (qps is not None) or (remove and capacity is not None):
        raise UsageError("give either --qps or --none", field="--qps", hint="a capacity without a rate is ignored")
    edit_and_tell(session, file, set_default(limit_of(qps, capacity)))
