"""Values of the options that say whose a reservation is, and how operations on agents are sent."""

from collections.abc import Sequence

from mesosctl.cli.arguments import pairs
from mesosctl.cli.session import Session
from mesosctl.mesos.amounts.resource import Labels
from mesosctl.reading.targets import Owner
from mesosctl.reservations.send import SendOptions


def owner(role: str, under: Sequence[str] | None, labels: Sequence[str] | None, principal: str | None) -> Owner:
    """The owner of a reservation that the options name.  Raises UsageError."""
    named = Labels(pairs(labels, "--label")) if labels else None
    return Owner(role, tuple(under or ()), named, principal)


def send_options(session: Session, *, trust_master: bool) -> SendOptions:
    """The options that say how operations on agents are sent and awaited."""
    return SendOptions(
        v1=session.options.api == "v1", wait=session.waits, ask_agents=not trust_master, progress=session.progress
    )
