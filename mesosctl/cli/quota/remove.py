"""`mesosctl quota remove`."""

from typing import Annotated

import typer

from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.render.quota import quota_changes

Roles = Annotated[list[str], typer.Argument(metavar="ROLE...", help="Roles that have quota.", show_default=False)]


EXAMPLES = (
    ("quota remove dev", "remove the quota of one role"),
    ("quota remove dev ops --yes", "remove two without being asked"),
)


@verb(EXAMPLES, changes=True)
def command(session: Session, roles: Roles) -> None:
    """Remove the quota of roles; none is removed unless every one of them has quota.

    On a terminal, removing several asks first.
    """
    from mesosctl.ops.quota.removing import remove_quotas

    with session.open_master() as master:
        if len(set(roles)) > 1:
            session.confirm(f"Remove the quota of {', '.join(roles)}?")
        session.emit(quota_changes(remove_quotas(master, roles, wait=session.waits)))
