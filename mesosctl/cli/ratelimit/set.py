"""`mesosctl ratelimit set`."""

from mesosctl.cli.ratelimit.words import Capacity, EditedFile, Principal, Qps, limit_of
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb

EXAMPLES = (
    ("ratelimit set batch --qps 50 --capacity 10000 -f limits.json", "throttle a principal"),
    ("ratelimit set production -f limits.json", "never throttle one, whatever the default"),
)


@verb(EXAMPLES)
def command(
    session: Session,
    who: Principal,
    file: EditedFile,
    qps: Qps = None,
    capacity: Capacity = None,
) -> None:
    """Give a principal a limit of its own in a file of rate limits, and show the diff.

    All frameworks with that principal share it.  Whatever else is in the file stays.
    """
    from mesosctl.cli.ratelimit.editing import edit_and_tell
    from mesosctl.ops.ratelimit.editing import set_limit

    edit_and_tell(session, file, set_limit(who, limit_of(qps, capacity)))
