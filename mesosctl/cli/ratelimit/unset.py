"""`mesosctl ratelimit unset`."""

from mesosctl.cli.ratelimit.words import EditedFile, Principal
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb

EXAMPLES = (("ratelimit unset batch -f limits.json", "leave a principal to the default"),)


@verb(EXAMPLES)
def command(session: Session, who: Principal, file: EditedFile) -> None:
    """Take a principal's entry out of a file of rate limits, and show the diff.

    The default applies to it from then on.
    """
    from mesosctl.cli.ratelimit.editing import edit_and_tell
    from mesosctl.ops.ratelimit.editing import unset_limit

    edit_and_tell(session, file, unset_limit(who))
