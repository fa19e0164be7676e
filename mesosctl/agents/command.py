"""`mesosctl agents`: its verbs."""

from typing import Annotated

import typer

from mesosctl.agents.report import agent_list, drain_plan, service_changes
from mesosctl.agents.work import (
    DrainOptions,
    choose_agents,
    deactivate_agents,
    drain_agents,
    mark_agents_gone,
    plan_drain,
    reactivate_agents,
)
from mesosctl.cli.arguments import Attributes, Every, names_argument, nothing_found, selectors_of
from mesosctl.cli.command import ChangeCommand, Command, ListGroup, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import counted, parse_seconds
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.cluster.unreachable import UnreachableAgents
from mesosctl.mesos.errors import UsageError
from mesosctl.reading.list_options import Count, OfRole, Watch, show_list, sort_option
from mesosctl.reading.lists import AGENT_KEYS, list_agents
from mesosctl.reading.selection import Selection
from mesosctl.reading.unreachable import unreachable_agents
from mesosctl.show.report import Report
from mesosctl.suggestion import command

app = typer.Typer(cls=ListGroup, rich_markup_mode=None)

AgentNames = Annotated[
    list[str] | None,
    names_argument("AGENT", completing.agents, "Show only these: ids, the beginning or end of ids, or host names."),
]
SortAgents = Annotated[str | None, sort_option(AGENT_KEYS)]


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("agents", "every agent and how much of it is in use"),
        ("agents --attribute rack=r1 --sort use", "the agents of a rack, the fullest first"),
        ("agents --role ads -o wide", "the agents with resources for ads, and their ids"),
        ("agents --watch", "refreshed every two seconds"),
    ),
)
def list_(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    names: AgentNames = None,
    *,
    role: OfRole = None,
    attribute: Attributes = None,
    sort: SortAgents = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """List agents and how much of each is in use.

    With --role, list the agents with resources that are reserved for the role or allocated to it.
    """
    session: Session = ctx.obj
    wanted = Selection(names or (), role, selectors_of(attribute), sort)
    said = {"--role": role, "--attribute": ",".join(attribute) if attribute else None}

    def read(master: LeadingMaster) -> Report:
        found = list_agents(master, wanted, session.progress)
        is_whole = not (names or role or attribute)
        unreachable = unreachable_agents(master) if is_whole else UnreachableAgents()
        empty = nothing_found("no agents are registered", said)
        return agent_list(found, empty=empty, sort=sort, unreachable=unreachable)

    show_list(session, read, watch=watch, every=every, count=count)


ChangedAgents = Annotated[
    list[str] | None,
    names_argument("AGENT", completing.agents, "Agents: ids, the beginning or end of ids, or host names."),
]


def _grace(text: str | float) -> float:
    """Seconds of --max-grace-period.  Raises UsageError."""
    return parse_seconds(str(text), "--max-grace-period")


MaxGracePeriod = Annotated[
    float | None,
    typer.Option(
        "--max-grace-period",
        metavar="SPAN",
        parser=_grace,
        help="The longest time that a task has to end, such as 10m. By default, its own grace period counts.",
        show_default=False,
    ),
]
MarkGone = Annotated[
    bool,
    typer.Option("--mark-gone", help="Mark each agent as gone, for good, once it is drained.", show_default=False),
]
WaitUntilDrained = Annotated[
    bool,
    typer.Option("--wait", help="Wait until the agents are drained, or until --timeout.", show_default=False),
]
AtMost = Annotated[
    int | None,
    typer.Option(
        "--at-most",
        metavar="NUMBER",
        min=1,
        help="Drain this many agents at a time, and begin with the next when one is drained. This implies --wait.",
        show_default=False,
    ),
]


def _instead() -> str:
    """The way on masters that cannot drain."""
    plan, down = command("maintenance plan", help=True), command("maintenance down", help=True)
    return f"take its machine down: {plan}, then {down}"


def _chosen(
    session: Session, master: LeadingMaster, names: list[str] | None, attribute: list[str] | None, call: str
) -> tuple[list[RegisteredAgent], list[RegisteredAgent]]:
    """The agents that were chosen, and all agents.  Raises UsageError, NotFound, RuleViolation without such a call."""
    attributes = selectors_of(attribute)
    if not names and not attributes:
        raise UsageError("no agent is named", hint="name agents, or give --attribute NAME=VALUE")
    master.check_has(call, _instead())
    chosen = choose_agents(master, names or (), attributes, session.progress)
    session.end_progress()
    return chosen


@app.command(
    "drain",
    cls=ChangeCommand,
    epilog=examples(
        ("agents drain agent-1 --wait", "after you have confirmed; it waits until the last task has ended"),
        ("agents drain agent-1 --dry-run", "whether its tasks fit elsewhere, and who would fall below a guarantee"),
        ("agents drain --attribute rack=r1 --at-most 3 --timeout 2h --yes", "a rack, three at a time, in a script"),
    ),
)
def drain(
    ctx: typer.Context,
    names: ChangedAgents = None,
    *,
    attribute: Attributes = None,
    max_grace_period: MaxGracePeriod = None,
    mark_gone: MarkGone = False,
    wait: WaitUntilDrained = False,
    at_most: AtMost = None,
) -> None:
    """Kill the tasks of agents, and give them no new ones.

    You are asked first; a script must use --yes. Nothing of the agents is offered until they are reactivated. The plan
    says how many tasks end, and which of them fit on other agents now. Frameworks decide whether they start
    them there. Needs Mesos 1.9 or later.

    If you interrupt the command, run it again: it skips agents that are drained and waits for those that are draining.
    """
    session: Session = ctx.obj
    waiting = "--wait" if wait else "--at-most" if at_most is not None else None
    if waiting and session.said.no_wait and not session.options.dry_run:  # which waits for nothing
        raise UsageError(f"{waiting} waits, but --no-wait does not", field="--no-wait", hint="leave one of them out")
    with session.open_master() as master:
        chosen, everybody = _chosen(session, master, names, attribute, "DRAIN_AGENT")
        plan = plan_drain(master, chosen, everybody)
        (session.emit if session.options.dry_run else session.show)(drain_plan(plan))
        count = counted(len(plan.tasks), "task")
        loss = f"this kills {count}" if plan.tasks else "nothing of a draining agent is offered"
        if mark_gone:
            loss = f"{loss}, and an agent that is marked as gone can never come back"
        session.confirm(f"Drain {plan.names}?", loss)
        options = DrainOptions(
            max_grace_period,
            mark_gone=mark_gone,
            wait=session.waits,
            until_drained=(wait or at_most is not None) and not session.options.dry_run,
            at_most=at_most,
            progress=session.progress,
        )
        done = drain_agents(master, plan, options)
    session.end_progress()
    session.emit(service_changes(done))


@app.command(
    "deactivate",
    cls=ChangeCommand,
    epilog=examples(("agents deactivate agent-1", "its tasks run on, but nothing of it is offered")),
)
def deactivate(ctx: typer.Context, names: ChangedAgents = None, *, attribute: Attributes = None) -> None:
    """Stop offering the resources of agents. Their tasks run on.

    Needs Mesos 1.9 or later.
    """
    session: Session = ctx.obj
    with session.open_master() as master:
        chosen, _ = _chosen(session, master, names, attribute, "DEACTIVATE_AGENT")
        session.emit(service_changes(deactivate_agents(master, chosen, wait=session.waits)))


@app.command(
    "reactivate",
    cls=ChangeCommand,
    epilog=examples(("agents reactivate agent-1", "it gets tasks again")),
)
def reactivate(ctx: typer.Context, names: ChangedAgents = None, *, attribute: Attributes = None) -> None:
    """Offer the resources of drained or deactivated agents again.

    Needs Mesos 1.9 or later.
    """
    session: Session = ctx.obj
    with session.open_master() as master:
        chosen, _ = _chosen(session, master, names, attribute, "REACTIVATE_AGENT")
        session.emit(service_changes(reactivate_agents(master, chosen, wait=session.waits)))


@app.command(
    "gone",
    cls=ChangeCommand,
    epilog=examples(
        ("agents gone agent-1", "after you have confirmed"),
        ("agents gone agent-1 --dry-run", "who would lose what"),
    ),
)
def gone(ctx: typer.Context, names: ChangedAgents = None, *, attribute: Attributes = None) -> None:
    """Mark agents as gone, for good.

    You are asked first; a script must use --yes. They can never register again, and their tasks and volumes are lost.
    An agent that is unreachable, and so not listed, is named by its id, which mesosctl agents shows. Needs Mesos 1.5
    or later.
    """
    session: Session = ctx.obj
    with session.open_master() as master:
        chosen, everybody = _chosen(session, master, names, attribute, "MARK_AGENT_GONE")
        plan = plan_drain(master, chosen, everybody)
        (session.emit if session.options.dry_run else session.show)(drain_plan(plan, loses_tasks=True))
        session.confirm(
            f"Mark {plan.title} as gone?",
            "an agent that is gone can never come back, and its tasks and volumes are lost",
        )
        session.emit(service_changes(mark_agents_gone(master, chosen, wait=session.waits)))
