"""`mesosctl quota show`."""

from mesosctl.cli.quota.words import Role
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.ops.quota.state import show_quota
from mesosctl.render.quota import quota_show

EXAMPLES = (
    ("quota show dev", "one role"),
    ("quota show dev -o json", "the same for a program"),
)


@verb(EXAMPLES)
def command(session: Session, role: Role) -> None:
    """Show the quota of one role and what it uses."""
    with session.open_master() as master:
        session.emit(quota_show(show_quota(master, role)))
