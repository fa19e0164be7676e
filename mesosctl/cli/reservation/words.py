"""The words and options that commands about reservations share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.core.errors import UsageError
from mesosctl.core.labels import Labels
from mesosctl.core.resource import Resource
from mesosctl.core.suggestion import closest
from mesosctl.core.text import parse_of_agents
from mesosctl.ops.reservation.operating import Manner
from mesosctl.ops.reservation.stacks import Owner

if TYPE_CHECKING:
    from mesosctl.cli.session import Session

Agent = Annotated[
    str,
    typer.Argument(
        metavar="AGENT", help="An agent: its id, the beginning or end of one, or a host name.", show_default=False
    ),
]
OptionalWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[AGENT] RESOURCES...",
        help="An agent (id, its beginning or end, or host name), then cpus:8 mem:4GiB 'ports:[31000-31009]' "
        "or ports:31000. GB means GiB, as in Mesos.",
        show_default=False,
    ),
]
Role = Annotated[str, typer.Option("--role", metavar="ROLE", help="The owner.", show_default=False)]
OptionalRole = Annotated[str | None, typer.Option("--role", metavar="ROLE", help="The owner.")]
RoleAndBelow = Annotated[str | None, typer.Option("--role", metavar="ROLE", help="Only this owner and roles below it.")]
Under = Annotated[
    list[str] | None,
    typer.Option("--under", metavar="ROLE", help="A role it is taken from and falls back to; repeat, top role first."),
]
LabelWords = Annotated[
    list[str] | None, typer.Option("--label", metavar="KEY=VALUE", help="A label of the reservation; repeat.")
]
Reserver = Annotated[
    str | None,
    typer.Option("--reserver", metavar="NAME", help="The reservation's principal; who asks, unless given."),
]
File = Annotated[
    str | None,
    typer.Option("--file", "-f", metavar="FILE", help="Read the documented JSON instead of RESOURCES; - is stdin."),
]
Attributes = Annotated[
    list[str] | None, typer.Option("--attribute", metavar="NAME=VALUE", help="Only agents that have it; repeat.")
]
OnlyAgent = Annotated[str | None, typer.Option("--agent", metavar="AGENT", help="Only this agent.")]
TrustMaster = Annotated[
    bool,
    typer.Option("--trust-master", help="Do not ask the agent itself whether it has done it.", show_default=False),
]


@dataclass(frozen=True, slots=True)
class OwnerWords:
    """Whose it is or is to be, as far as it is said; who reserved it each verb asks in its own words."""

    role: OptionalRole = None
    under: Under = None
    label: LabelWords = None

    @property
    def are_said(self) -> bool:
        """Whether there are any."""
        return any((self.role, self.under, self.label))

    def owner(self, role: str, principal: str | None) -> Owner:
        """The owner that they name.  Raises UsageError."""
        return owner(role, self.under, self.label, principal)


@dataclass(frozen=True, slots=True)
class SendingWords:
    """What is sent instead of the words, and how much is asked afterwards."""

    file: File = None
    trust_master: TrustMaster = False

    def manner(self, session: "Session") -> Manner:
        """How to send and wait, as they and the global options say."""
        return manner(session, trust_master=self.trust_master)


def parse_amounts(words: Sequence[str]) -> list[Resource]:
    """What of an agent, from words such as `cpus:8`, `mem:4GiB` or `ports:31000`.  Raises RuleViolation."""
    return [entry for word in words for entry in parse_of_agents(word)]


def pairs(words: Sequence[str] | None, option: str) -> list[tuple[str, str]]:
    """NAME=VALUE words of an option.  Raises UsageError."""
    found = []
    for word in words or ():
        key, equals, value = word.partition("=")
        if not key or not equals:
            raise UsageError(f"'{word}' is not NAME=VALUE", field=option, hint=f"write {option} {key or 'NAME'}=VALUE")
        found.append((key, value))
    return found


def owner(role: str, under: Sequence[str] | None, labels: Sequence[str] | None, principal: str | None) -> Owner:
    """The owner that words name.  Raises UsageError."""
    named = Labels(pairs(labels, "--label")) if labels else None
    return Owner(role, tuple(under or ()), named, principal)


def nothing_found(sentence: str, options: Mapping[str, str | None], known: Iterable[str]) -> str:
    """Why a list is empty: `sentence`, the options that choose what is listed, and the likely role of those `known`."""
    said = [f"{option} {value}" for option, value in options.items() if value is not None]
    if not said:
        return sentence
    likely = closest(options.get("--role") or "", known)
    return f"{sentence} with {' and '.join(said)}" + (f"; did you mean {likely}?" if likely else "")


def agent_beside_file(agent: str | None, *others: object) -> str:
    """The one word that goes with --file.  Raises UsageError for none, and for any other that was given."""
    if agent is None or any(others):
        raise UsageError("with --file only AGENT is named", field="--file", hint="the JSON says the rest")
    return agent


def manner(session: "Session", *, trust_master: bool) -> Manner:
    """How to send and wait, as the global options say."""
    return Manner(
        v1=session.options.api == "v1", wait=session.waits, ask_agents=not trust_master, tell=session.progress
    )
