"""`mesosctl reserve`."""

from collections.abc import Sequence
from typing import Annotated

import typer

from mesosctl.cli.arguments import (
    AmountsOfAgent,
    Attributes,
    LabelWords,
    OptionalOwnerRole,
    PayloadFile,
    Reserver,
    TrustMaster,
    Under,
    agent_beside_file,
    has_parts,
    pairs,
    read_payload,
    reserver_option,
)
from mesosctl.cli.command import ChangeCommand, Group, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named
from mesosctl.cli.meanings import Meaning
from mesosctl.cli.session import Session
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import AcceptedOperation, RegisteredAgent
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.messages.agent_operations import read_reserve, read_unreserve
from mesosctl.mesos.names import kind_of
from mesosctl.reading.notes import note_role, note_role_at_limit, note_unmet_guarantees
from mesosctl.reading.quotas import check_names
from mesosctl.reading.targets import Owner, find_agent, no_agent_with, read_agents, with_attributes
from mesosctl.reservations.arguments import owner, send_options
from mesosctl.reservations.report import agent_changes
from mesosctl.reservations.send import SendOptions, operate
from mesosctl.reservations.work import (
    fallen_back,
    plan_all,
    plan_reserve,
    plan_unreserve,
    refined_left,
    requester,
    reserve_for,
    reserve_on_some,
    unreserve_of,
)
from mesosctl.suggestion import command

app = typer.Typer(cls=Group, rich_markup_mode=None)

OptionalWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[AGENT] RESOURCES...",
        autocompletion=completing.first_agent,
        help="An agent (id, its beginning or end, or host name), then cpus:8 mem:4GiB 'ports:[31000-31009]' "
        "or ports:31000. cpus:50% is half of the cpus that the agent has. GB means GiB, as in Mesos.",
        show_default=False,
    ),
    Meaning.AMOUNTS,
]
AnyAgent = Annotated[bool, typer.Option("--any", help="Reserve on the agent with the most room.", show_default=False)]
Count = Annotated[
    int | None,
    typer.Option(
        "--count", metavar="N", min=1, help="Reserve the whole amount on each of the N agents with the most room."
    ),
]

AtLeast = Annotated[
    bool,
    typer.Option("--at-least", help="Reserve only what the role does not have reserved there yet.", show_default=False),
]

_CHOSEN_NOW = "the agents are those with the most room now; without --dry-run, they are chosen again"


@app.command(
    "reserve",
    cls=ChangeCommand,
    epilog=examples(
        ("reserve agent-1 cpus:8 mem:4GiB --role ads", "reserve on one agent"),
        ("reserve agent-1 cpus:50% mem:50% --role ads", "half of the agent"),
        ("reserve S0 cpus:2 --role ads/video --under ads", "refine what is reserved for ads"),
        ("reserve --count 3 cpus:4 --role db --attribute rack=r1", "on three agents of a rack"),
        ("reserve agent-1 -f reserve.json", "from the JSON of POST /reserve"),
        ("reserve agent-1 cpus:8 --role ads --at-least", "in a script that may run again"),
    ),
)
def reserve(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    words: OptionalWords = None,
    *,
    role: OptionalOwnerRole = None,
    under: Under = None,
    label: LabelWords = None,
    reserver: Reserver = None,
    any_agent: AnyAgent = False,
    count: Count = None,
    attribute: Attributes = None,
    at_least: AtLeast = False,
    file: PayloadFile = None,
    trust_master: TrustMaster = False,
) -> None:
    """Reserve resources of an agent for a role, and wait until the master and the agent show the reservation.

    They are added to what the role has reserved there already. Offers are rescinded to make room. Resources that tasks
    use are not available.

    With --at-least, the command can be run again, for example after exit status 9: dynamic reservations of the role
    count, whatever their principal, and only what is missing is reserved. With --any or --count, agents that have
    everything count first.
    """
    session: Session = ctx.obj
    given = list(words or ())
    several = any_agent or count is not None
    if not several and not given:
        raise UsageError("no agent is named", hint="name an agent, or give --any or --count N")
    if attribute and not several:
        raise UsageError("--attribute needs --any or --count", field="--attribute", hint="give --any or --count N too")
    how = send_options(session, trust_master=trust_master)
    agent = None if several else given.pop(0)
    if file is not None:
        agent = agent_beside_file(agent, given, role, under, label, reserver, at_least)
        _from_file(session, agent, file, how, undo=False)
        return
    if role is not None and not given and ":" in str(agent) and kind_of(str(agent))[0] is None:
        raise UsageError(
            "no agent is named",
            hint=f"name one before {agent}, or reserve on the one with the most room: "
            + command("reserve", agent, any=True, role=role),
        )
    if role is None or not given:
        hint = command("reserve", "agent-1", "cpus:8", "mem:4GiB", role="ads")
        raise UsageError("give RESOURCES and --role", hint=hint)

    if agent is None and has_parts(given):
        part = next(token.strip() for word in given for token in word.split(";") if "%" in token)
        raise UsageError(
            f"'{part}' is a part of one agent, but --any and --count choose among agents of any size",
            field="RESOURCES",
            hint="write amounts, such as cpus:8; or name an agent",
        )
    amounts = AmountsOfAgent(given, agent)
    with session.open_master() as master:
        wanted = owner(role, under, label, reserver or requester(master).principal)
        everybody = read_agents(master)
        if agent is not None:
            found = find_agent(everybody, agent)
            changes = reserve_for(master, [found], amounts.on(found), wanted, how, at_least=at_least)
        else:
            attributes = pairs(attribute, "--attribute")
            some = _agents_with(everybody, attributes)
            changes = reserve_on_some(master, some, count or 1, amounts.on(None), wanted, how, at_least=at_least)
        session.emit(agent_changes(changes))
        if several and session.options.dry_run:
            session.note(_CHOSEN_NOW)
        made = Resources(entry for change in changes for entry in change.resources)
        note_role(session, master, role, made.quantities())
        note_role_at_limit(session, master, role)
        if not under:
            note_unmet_guarantees(session, master, everybody, made.scalar_quantities())


def _from_file(session: Session, agent: str, file: str, how: SendOptions, *, undo: bool) -> None:
    """Make the operation of the JSON on one agent: a RESERVE, or with `undo` an UNRESERVE."""
    written = read_payload(session, file)
    with session.open_master() as master:
        credentials = master.settings.credentials
        with written.refusals():
            if undo:
                payload = read_unreserve(written.text, named(file))
            else:
                payload = read_reserve(written.text, named(file), credentials.principal if credentials else None)
            check_names(master, payload.names)
        found = find_agent(read_agents(master), agent)
        payload.check_agent(found)
        with written.refusals():
            if undo:
                plan = plan_unreserve(master, found, payload.resources)
            else:
                plan = plan_reserve(master, found, payload.resources, payload.source)
        session.emit(agent_changes(operate(master, [plan], how)))


def _agents_with(everybody: list[RegisteredAgent], attributes: Sequence[tuple[str, str]]) -> list[RegisteredAgent]:
    """The agents with these attributes.  Raises NotFound if there is none."""
    asked = dict(attributes)
    found = with_attributes(everybody, asked)
    if asked and not found:
        raise no_agent_with(everybody, asked)
    return found


Everything = Annotated[
    bool,
    typer.Option(
        "--all",
        help=(
            "Unreserve everything that is reserved for the role itself, on AGENT or everywhere. What is refined for "
            "roles below it stays."
        ),
        show_default=False,
    ),
]
OnlyReserver = Annotated[
    str | None,
    reserver_option("Only what this principal reserved. The default is any principal.", "it may be any principal"),
]


@app.command(
    "unreserve",
    cls=ChangeCommand,
    epilog=examples(
        ("unreserve agent-1 cpus:2 --role ads", "unreserve a part"),
        ("unreserve agent-1 --role ads --all", "everything that ads has on an agent"),
        ("unreserve --role ads --all --yes", "everywhere, without being asked"),
    ),
)
def unreserve(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    words: OptionalWords = None,
    *,
    role: OptionalOwnerRole = None,
    under: Under = None,
    label: LabelWords = None,
    reserver: OnlyReserver = None,
    everything: Everything = False,
    file: PayloadFile = None,
    trust_master: TrustMaster = False,
) -> None:
    """Undo dynamic reservations. A refined reservation falls back to the role that it was taken from.

    The reservation's principal and labels are read from the agent. --all shows what it would undo and asks first; a
    script uses --yes. What is refined for a role below ROLE belongs to that role: it stays, and a note says so.
    mesosctl cleanup --role ROLE undoes both in one command, with volumes that nothing uses.
    """
    session: Session = ctx.obj
    given = list(words or ())
    agent = given.pop(0) if given else None
    how = send_options(session, trust_master=trust_master)
    if file is not None:
        agent = agent_beside_file(agent, given, role, under, label, reserver, everything)
        _from_file(session, agent, file, how, undo=True)
        return
    if role is None or (everything and given) or not (everything or (agent and given)):
        raise UsageError(
            "give AGENT, RESOURCES and --role, or --role and --all",
            hint=command("unreserve", "agent-1", "cpus:2", role="ads"),
        )
    wanted = owner(role, under, label, reserver)
    if everything:
        _all(session, agent, wanted, how)
    else:
        assert agent is not None
        _some(session, agent, AmountsOfAgent(given, agent), wanted, how)


def _some(session: Session, agent: str, amounts: AmountsOfAgent, wanted: Owner, how: SendOptions) -> None:
    """These amounts, on one agent."""
    with session.open_master() as master:
        found = find_agent(read_agents(master), agent)
        changes = unreserve_of(master, found, amounts.on(found), wanted, how)
        session.emit(agent_changes(changes))
        _tell_fallen_back(session, changes)


def _all(session: Session, agent: str | None, wanted: Owner, how: SendOptions) -> None:
    """Everything that the owner has, on one agent or everywhere, after it is shown and confirmed."""
    with session.open_master() as master:
        everybody = read_agents(master)
        meant = [find_agent(everybody, agent)] if agent else everybody
        plans = plan_all(master, meant, wanted)
        if not session.options.yes:
            planned = [AcceptedOperation(plan.agent, "unreserved", Resources(plan.resources)) for plan in plans]
            session.show(agent_changes(planned, planned=True))
        for sentence in refined_left(meant, wanted):
            session.note(sentence)
        session.confirm(f"Unreserve all of this, on {len(plans)} agent{'s' * (len(plans) > 1)}?")
        changes = operate(master, plans, how)
        session.emit(agent_changes(changes))
        _tell_fallen_back(session, changes)


def _tell_fallen_back(session: Session, changes: Sequence[AcceptedOperation]) -> None:
    """Say what is reserved for the role below again."""
    for sentence in fallen_back(change.resources for change in changes if change.by_master):
        session.note(sentence)
