"""`mesosctl quota list`."""

from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.ops.quota.state import list_quotas
from mesosctl.render import forms
from mesosctl.render.quota import quota_list

EXAMPLES = (
    ("quota list", "every role with quota"),
    ("quota list -o json", "the same for a program"),
    (
        "quota list -o wide --master http://host1:5050,http://host2:5050",
        "with what roles use, from whichever of two masters leads",
    ),
)


@verb(EXAMPLES)
def command(session: Session) -> None:
    """Show every role with quota.

    What a role uses is shown with -o wide, json, jsonl and csv.
    """
    with session.open_master() as master:
        session.emit(quota_list(list_quotas(master, with_usage=session.form not in forms.NARROW)))
