"""The words and options that offers commands share."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from mesosctl.core.errors import UsageError
from mesosctl.core.resource import Resource
from mesosctl.core.text import parse_of_agents

Framework = Annotated[
    str | None, typer.Option("--framework", metavar="FRAMEWORK", help="Only of this framework, by id or name.")
]
OfRole = Annotated[str | None, typer.Option("--role", metavar="ROLE", help="Only in this role.")]
Agent = Annotated[
    str | None,
    typer.Option(
        "--agent", metavar="AGENT", help="Only of this agent: its id, the beginning or end of one, or a host name."
    ),
]
OfferFile = Annotated[
    str,
    typer.Option(
        "--offer", metavar="FILE", help="An Offer or an OFFERS event in JSON; - is standard input.", show_default=False
    ),
]
OfferId = Annotated[
    str | None, typer.Option("--id", metavar="OFFER", help="Which offer, where the file holds several.")
]
Wanted = Annotated[
    list[str],
    typer.Argument(
        metavar="RESOURCES...",
        help="cpus:2 mem:1GiB, or 'cpus:2;mem:1024'. GB means GiB, as in Mesos.",
        show_default=False,
    ),
]
Owner = Annotated[
    str | None, typer.Option("--for", metavar="ROLE", help="The role that owns it; the offer's unless given.")
]
Labels = Annotated[
    list[str] | None, typer.Option("--label", metavar="KEY=VALUE", help="A label of the reservation. Repeat.")
]


def parse_wanted(words: Sequence[str]) -> list[Resource]:
    """Resources from words such as `cpus:2` or `cpus(ads):2`.  Raises RuleViolation."""
    return [entry for word in words for entry in parse_of_agents(word)]


def parse_labels(words: Sequence[str] | None) -> Mapping[str, str]:
    """Labels from KEY=VALUE.  Raises UsageError."""
    found = {}
    for word in words or ():
        key, equals, value = word.partition("=")
        if not key or not equals:
            raise UsageError(f"'{word}' is no label", field="--label", hint="write KEY=VALUE")
        found[key] = value
    return found
