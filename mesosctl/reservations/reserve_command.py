"""`mesosctl reserve`."""

from collections.abc import Sequence
from dataclasses import replace
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
    read_payload,
    refuse_options,
    reserver_option,
    selectors_of,
)
from mesosctl.cli.command import ChangeCommand, Group, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named
from mesosctl.cli.meanings import Meaning
from mesosctl.cli.questions import EVERY_AGENT
from mesosctl.cli.session import Session
from mesosctl.mesos.amounts.notation import FEW, and_more, counted, listed
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import AcceptedOperation, RegisteredAgent
from mesosctl.mesos.cluster.selectors import Selectors
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.messages.agent_operations import read_reserve, read_unreserve
from mesosctl.mesos.names import kind_of
from mesosctl.mesos.roles import STANDARD_NAMES
from mesosctl.reading.notes import note_role, note_role_at_limit, note_unmet_guarantees
from mesosctl.reading.quotas import check_names
from mesosctl.reading.targets import Owner, find_agent, has_attributes, no_agent_with, read_agents, with_attributes
from mesosctl.reservations.arguments import owner, send_options
from mesosctl.reservations.each_agent import check_parts, incomplete, operate_on_each, plan_for_each, rounded
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

EveryAgent = Annotated[
    bool,
    typer.Option(
        "--all", help="Reserve on every agent, or with --attribute on every one that it selects.", show_default=False
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
        ("reserve --all cpus:10% --role db --attribute disk=ssd", "a tenth of every agent with an attribute"),
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
    every_agent: EveryAgent = False,
    attribute: Attributes = None,
    at_least: AtLeast = False,
    file: PayloadFile = None,
    trust_master: TrustMaster = False,
) -> None:
    """Reserve resources of an agent for a role, and wait until the master and the agent show the reservation.

    They are added to what the role has reserved there already. Offers are rescinded to make room. Resources that tasks
    use are not available.

    With --all, it is reserved on every agent, and with --attribute, on every agent that it selects, each cpus:10% of
    what that agent has, rounded down to thousandths. You see what and are asked once; only what the role does not
    have there yet is reserved. Agents that lack the room are named, with exit status 6: run the command again to
    complete it.

    With --at-least, the command can be run again, for example after exit status 9: dynamic reservations of the role
    count, whatever their principal, and only what is missing is reserved. With --any or --count, agents that have
    everything count first.
    """
    session: Session = ctx.obj
    given = list(words or ())
    several = any_agent or count is not None
    if every_agent:
        only_some = {"--any": any_agent or None, "--count": count}
        refuse_options(only_some, "chooses some agents, and --all every one", "leave one of them out")
    if not several and not given and not attribute and not every_agent:
        hint = "name an agent, or give --any or --count N; or --all, for every agent, with --attribute for some of them"
        raise UsageError("no agent is named", hint=hint)
    how = send_options(session, trust_master=trust_master)
    on_each = (bool(attribute) or every_agent) and not several
    names_agent = bool(given) and is_agent(given[0]) and given[0] not in STANDARD_NAMES
    if on_each and (names_agent or file is not None):
        chooses = "--all" if every_agent else "--attribute"
        raise UsageError(
            f"{chooses} chooses the agents, so none can be named",
            field=chooses,
            hint=f"leave out {chooses}; or leave out AGENT and --file, and give RESOURCES",
        )
    agent = None if several or on_each else given.pop(0)
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

    if on_each:
        _on_each(session, given, owner(role, under, label, reserver), selectors_of(attribute), how)
        return
    if agent is None and has_parts(given):
        part = next(token.strip() for word in given for token in word.split(";") if "%" in token)
        raise UsageError(
            f"'{part}' is a part of one agent, but --any and --count choose among agents of any size",
            field="RESOURCES",
            hint="write amounts, such as cpus:8; name an agent; or leave out --any and --count, and give --all: "
            "then it is reserved on every agent, or with --attribute on every one that it selects",
        )
    amounts = AmountsOfAgent(given, agent)
    with session.open_master() as master:
        wanted = owner(role, under, label, reserver or requester(master).principal)
        everybody = read_agents(master)
        if agent is not None:
            found = find_agent(everybody, agent)
            changes = reserve_for(master, [found], amounts.on(found), wanted, how, at_least=at_least)
        else:
            attributes = selectors_of(attribute)
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


def _on_each(session: Session, words: list[str], wanted: Owner, attributes: Selectors, how: SendOptions) -> None:
    """Reserve on every agent with the attributes what the role does not have there, after one question.

    Raises Conflict for agents on which it is not possible, after it is reserved on the others.
    """
    with session.open_master() as master:
        wanted = replace(wanted, principal=wanted.principal or requester(master).principal)
        everybody = read_agents(master, session.progress)
        session.end_progress()
        agents = [found for found in everybody if has_attributes(found, attributes)]
        if not agents:
            raise no_agent_with(everybody, attributes)
        check_parts(words, agents)
        amounts = AmountsOfAgent(words, None)
        plan = plan_for_each(master, agents, amounts.on, wanted)
        for sentence in rounded(words, [operation.agent for operation in plan.operations]):
            session.note(sentence)
        if plan.complete:
            session.note(f"'{wanted.role}' has it already on {listed([one.name for one in plan.complete], FEW)}")
        if plan.operations:
            planned = [AcceptedOperation(one.agent, "reserved", Resources(one.resources)) for one in plan.operations]
            if not session.options.yes and session.environment.may_prompt:
                session.show(agent_changes(planned, planned=True))
            without = f", and on {counted(len(plan.left_out), 'agent')} it is not possible" if plan.left_out else ""
            session.confirm(
                f"Reserve this on {counted(len(planned), 'agent')}?",
                f"it is reserved on {counted(len(planned), 'agent')}{without}",
                case=EVERY_AGENT,
            )
            master.deadline.extend_to(master.settings.timeout)
        changes, left_out = operate_on_each(master, plan, how)
        session.end_progress()
        session.emit(agent_changes(changes))
        for agent, why in left_out[:_MOST_LEFT_OUT]:
            session.note(f"nothing is reserved on {agent.name}: {why}")
        if len(left_out) > _MOST_LEFT_OUT:
            session.note(f"nothing is reserved on other agents: {and_more(len(left_out) - _MOST_LEFT_OUT)}")
        made = Resources(entry for change in changes for entry in change.resources)
        note_role(session, master, wanted.role, made.quantities())
        note_role_at_limit(session, master, wanted.role)
        if not wanted.under:
            note_unmet_guarantees(session, master, everybody, made.scalar_quantities())
        if left_out:
            raise incomplete(plan, left_out)


_MOST_LEFT_OUT = 20


def is_agent(word: str) -> bool:
    """Whether a word names an agent, and not an amount."""
    return ":" not in word or kind_of(word)[0] is not None


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


def _agents_with(everybody: list[RegisteredAgent], asked: Selectors) -> list[RegisteredAgent]:
    """The agents with these attributes.  Raises NotFound if there is none."""
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
