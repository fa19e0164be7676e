"""The words and options that commands about reservations share."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import typer

from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.model.reservations.holdings import agent_reservations
from mesosctl.model.resource import Labels, Resource
from mesosctl.model.roles import closest
from mesosctl.model.text import parse_of_agents
from mesosctl.operations.reservations.send import SendOptions
from mesosctl.operations.reservations.targets import Owner
from mesosctl.output.reservations import reservation_list, reservation_tree

app = typer.Typer(cls=Group, rich_markup_mode=None)

Agent = Annotated[
    str,
    typer.Argument(
        metavar="AGENT",
        autocompletion=completing.agents,
        help="An agent: its id, the beginning or end of its id, or its host name.",
        show_default=False,
    ),
]
OptionalWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[AGENT] RESOURCES...",
        autocompletion=completing.first_agent,
        help="An agent (id, its beginning or end, or host name), then cpus:8 mem:4GiB 'ports:[31000-31009]' "
        "or ports:31000. GB means GiB, as in Mesos.",
        show_default=False,
    ),
]
Role = Annotated[
    str,
    typer.Option(
        "--role", metavar="ROLE", autocompletion=completing.roles, help="The role that owns it.", show_default=False
    ),
]
OptionalRole = Annotated[
    str | None, typer.Option("--role", metavar="ROLE", autocompletion=completing.roles, help="The role that owns it.")
]
RoleAndBelow = Annotated[
    str | None,
    typer.Option(
        "--role", metavar="ROLE", autocompletion=completing.roles, help="Show only this role and the roles below it."
    ),
]
Under = Annotated[
    list[str] | None,
    typer.Option(
        "--under",
        metavar="ROLE",
        autocompletion=completing.roles,
        help="The role whose reservation is refined. Repeat for several levels, top role first.",
    ),
]
LabelWords = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="KEY=VALUE", help="A label of the reservation. Repeat for several."),
]
Reserver = Annotated[
    str | None,
    typer.Option("--reserver", metavar="NAME", help="The reservation's principal. The default is your own."),
]
File = Annotated[
    str | None,
    typer.Option(
        "--file", "-f", metavar="FILE", help="Read the documented JSON instead of RESOURCES; - is standard input."
    ),
]
Attributes = Annotated[
    list[str] | None,
    typer.Option("--attribute", metavar="NAME=VALUE", help="Only agents with this attribute. Repeat for several."),
]
OnlyAgent = Annotated[
    str | None, typer.Option("--agent", metavar="AGENT", autocompletion=completing.agents, help="Show only this agent.")
]
TrustMaster = Annotated[
    bool,
    typer.Option("--trust-master", help="Rely on the master; do not ask the agent to confirm.", show_default=False),
]


def parse_amounts(words: Sequence[str]) -> list[Resource]:
    """The resources of an agent, from words such as `cpus:8`, `mem:4GiB` or `ports:31000`.  Raises RuleViolation."""
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
        raise UsageError("with --file, give only AGENT", field="--file", hint="the JSON has everything else")
    return agent


def manner(session: "Session", *, trust_master: bool) -> SendOptions:
    """How to send and wait, as the global options say."""
    return SendOptions(
        v1=session.options.api == "v1", wait=session.waits, ask_agents=not trust_master, progress=session.progress
    )


Tree = Annotated[bool, typer.Option("--tree", help="Show a tree of roles.", show_default=False)]
WaitFor = Annotated[
    str | None,
    typer.Option(
        "--wait-for",
        metavar="RESOURCES|none",
        help="Wait until --agent has exactly this reserved for --role (none: nothing), then show it.",
    ),
]


@app.command(
    "reservations",
    cls=Command,
    epilog=examples(
        ("reservations", "every reservation of every agent"),
        ("reservations --role ads --tree", "the branch of a role"),
        ("reservations --agent agent-1 --role ads --wait-for cpus:8", "confirm later what --no-wait did not wait for"),
    ),
)
def reservations(  # one parameter an option
    ctx: typer.Context,
    *,
    role: RoleAndBelow = None,
    agent: OnlyAgent = None,
    tree: Tree = False,
    wait_for: WaitFor = None,
    trust_master: TrustMaster = False,
) -> None:
    """Show what is reserved on which agent, by whom, and how much of it is in use.

    Static reservations are part of an agent's configuration. Dynamic reservations can be undone.
    """
    from mesosctl.operations.reservations.targets import find_agent, read_agents

    session: Session = ctx.obj
    if wait_for is not None and (role is None or agent is None):
        raise UsageError("--wait-for needs --role and --agent", field="--wait-for")
    with session.open_master() as master:
        found = read_agents(master, session.progress)
        session.end_progress()
        if agent is not None:
            found = [find_agent(found, agent)]
        if wait_for is not None and role is not None:
            from mesosctl.operations.quota.state import check_entries
            from mesosctl.operations.reservations.change import wait_until_reserved

            entries = [] if wait_for == "none" else parse_amounts([wait_for])
            check_entries(master, entries)
            found = [wait_until_reserved(master, found[0], role, entries, manner(session, trust_master=trust_master))]
    shown = [holding for one in found for holding in agent_reservations(one, role)]
    owners = {holding.owner.role for one in found for holding in agent_reservations(one)} if not shown and role else ()
    empty = nothing_found("nothing is reserved", {"--role": role, "--agent": agent}, owners)
    session.emit((reservation_tree if tree else reservation_list)(shown, empty=empty))
