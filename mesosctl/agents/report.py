"""Agents that are taken out of service and back, as reports."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from mesosctl.agents import documents
from mesosctl.mesos.amounts.amount_text import in_words
from mesosctl.mesos.amounts.notation import FEW, and_more, counted, listed, utc_text
from mesosctl.mesos.amounts.quantities import format_double
from mesosctl.mesos.cluster.account import agent_as_shown, sums_of_agents
from mesosctl.mesos.cluster.displacement import DrainPlan, RunningTask
from mesosctl.mesos.cluster.holdings import AgentServiceChange, RegisteredAgent
from mesosctl.mesos.cluster.unreachable import UnreachableAgents
from mesosctl.show.agent_column import agent_id_column
from mesosctl.show.amounts import agent_use_text
from mesosctl.show.lists import list_report, rows_of
from mesosctl.show.report import MOST_LINES, Column, Report, Verdict, naturally
from mesosctl.show.states import STATES
from mesosctl.suggestion import command


def drain_plan(plan: DrainPlan, *, loses_tasks: bool = False) -> Report:
    """Agents that leave, what ends there, and which tasks would fit on no other agent.

    `loses_tasks` means that nobody ends the tasks first: they are lost with the agents, and are named.
    """

    def without_room(agent: RegisteredAgent) -> dict[str, int]:
        return _by_framework(plan.stranded_on(agent))

    def out_of_reach(agent: RegisteredAgent) -> dict[str, int]:
        return _by_framework(plan.lost_on(agent))

    return list_report(
        documents.DrainPlanDocument(agents=[]),
        plan.agents,
        (
            Column("AGENT", lambda agent: agent.typed_host),
            Column("STATUS", lambda agent: agent.status, rank=1),
            Column("TASKS", lambda agent: len(plan.tasks_on(agent)), kind="number"),
            Column("USED", lambda agent: agent.used.quantities(), kind="amounts"),
            Column(
                "NO ROOM ELSEWHERE",
                lambda agent: _in_words(without_room(agent)),
                kind="sentence",
            ),
            *_column_of_lost(plan),
            agent_id_column(plan.agents, lambda agent: agent.typed_id),
        ),
        name=lambda agent: agent.typed_id,
        element=lambda agent: documents.LeavingAgent.of(
            agent, tasks=len(plan.tasks_on(agent)), without_room=without_room(agent), out_of_reach=out_of_reach(agent)
        ),
        verdicts=[_room(plan.tasks, plan.stranded, is_lost=loses_tasks)] if plan.tasks else (),
        remark=["", "tasks that are lost:", *_lost_tasks(plan)] if loses_tasks and plan.tasks else (),
    )


def _lost_tasks(plan: DrainPlan) -> Iterator[str]:
    names = {agent.id: agent.name for agent in plan.agents}
    for task in plan.tasks[:MOST_LINES]:
        yield f"  {task.id} of {task.framework} on {names[task.agent_id]}"
    if len(plan.tasks) > MOST_LINES:
        yield f"  … {and_more(len(plan.tasks) - MOST_LINES)} ({command('tasks list')} shows them)"


def _column_of_lost(plan: DrainPlan) -> Sequence[Column[RegisteredAgent]]:
    """The column OUT OF REACH, if any tasks are on unreachable agents."""
    if not plan.lost:
        return ()
    return (Column("OUT OF REACH", lambda agent: _in_words(_by_framework(plan.lost_on(agent))), kind="sentence"),)


def _in_words(counts: Mapping[str, int]) -> str:
    return listed([f"{count} of {name}" for name, count in counts.items()])


def _by_framework(tasks: Sequence[RunningTask]) -> dict[str, int]:
    """How many of the tasks each framework has, by name; a forecast does not know their ids."""
    return dict(sorted(Counter(task.framework for task in tasks).items()))


def _room(tasks: Sequence[RunningTask], stranded: Sequence[RunningTask], *, is_lost: bool) -> Verdict:
    if is_lost:
        lost = listed([f"{count} of {name}" for name, count in _by_framework(tasks).items()])
        are = "is" if len(tasks) == 1 else "are"
        room = _room(tasks, stranded, is_lost=False).sentence
        again = "" if stranded else f", if frameworks start {'it' if len(tasks) == 1 else 'them'} again"
        return Verdict(f"{counted(len(tasks), 'task')} {are} lost ({lost}); {room}{again}", "not met")
    if not stranded:
        all_ = "the task fits on another agent" if len(tasks) == 1 else f"all {len(tasks)} tasks fit on other agents"
        return Verdict(f"{all_} now", "met")
    if len(tasks) == 1:
        return Verdict("the task fits on no other agent now", "not met")
    fit = "fits" if len(stranded) == 1 else "fit"
    return Verdict(f"{len(stranded)} of {len(tasks)} tasks {fit} on no other agent now", "not met")


def service_changes(changes: Sequence[AgentServiceChange]) -> Report:
    """Agents, and the status that they have after a change."""
    return list_report(
        documents.ServiceChanges(changes=[]),
        changes,
        (
            Column("AGENT", lambda change: change.agent.typed_host),
            Column("STATUS", lambda change: change.status),
            Column("SENT", lambda change: change.sent, wide=True),
            Column("CONFIRMED", lambda change: change.confirmed, wide=True),
            agent_id_column([change.agent for change in changes], lambda change: change.agent.typed_id),
        ),
        name=lambda change: change.agent.typed_id,
        done="; ".join(f"agent {change.agent.name} is {change.status}" for change in changes),
    )


AGENT_LEGEND = "█ used   ▒ offered   ▞ reserved, idle   ░ free"
OUT_OF_SERVICE = "   · out of service"
"""The end of the legend, if an agent is."""


def agent_list(
    agents: Sequence[RegisteredAgent],
    *,
    empty: str = "no agents are registered",
    sort: str | None = None,
    unreachable: UnreachableAgents = UnreachableAgents(),  # noqa: B008  # it cannot change
) -> Report:
    """A line for every agent; `empty` is shown if there is none, and `sort` as in `naturally`."""
    shown = naturally(agents, lambda agent: agent.hostname, lambda agent: agent.id, sort=sort)
    lost = [_unreachable_text(unreachable)] if unreachable.number else []

    def element(agent: RegisteredAgent) -> documents.Agent:
        own = agent_as_shown(agent)
        return documents.Agent.of(agent, free=own.free, lent=own.lent, reserved=own.reserved)

    columns: Sequence[Column[RegisteredAgent]] = (
        Column("AGENT", lambda agent: agent.typed_host),
        Column("STATUS", lambda agent: agent.status, meaning=STATES),
        Column("TOTAL", lambda agent: agent.total, kind="amounts"),
        Column("USED", lambda agent: agent.used, kind="amounts"),
        Column("OFFERED", lambda agent: agent.offered, kind="amounts", rank=2),
        *_lent_columns(agents),
        Column("RESERVED FOR", lambda agent: list(agent_as_shown(agent).reserved), key="reserved_for", rank=3),
        Column("ATTRIBUTES", _attributes, rank=4),
        Column("REGION", lambda agent: agent.region, wide=True),
        Column("ZONE", lambda agent: agent.zone, wide=True),
        agent_id_column(agents, lambda agent: agent.typed_id),
        # The last one, so that the others keep their places in csv.
        Column("FREE", lambda agent: agent_as_shown(agent).free, kind="amounts", rank=1),
    )
    return list_report(
        documents.AgentList(
            agents=[], unreachable=[documents.UnlistedAgent.of(agent) for agent in unreachable.agents or ()]
        ),
        agents,
        columns,
        name=lambda agent: agent.typed_id,
        element=element,
        in_order=shown,
        empty=empty,
        terminal=lambda: _agent_screen(shown, empty, lost),
        remark=lost,
    )


def _unreachable_text(unreachable: UnreachableAgents) -> str:
    """Say how many agents are unreachable, and how they are named."""
    are = f"{counted(unreachable.number, 'agent')} {'is' if unreachable.number == 1 else 'are'} unreachable"
    if unreachable.agents is None:
        return f"{are}; their ids are in /registrar(1)/registry, which could not be read"
    named = listed([f"{agent.id} since {utc_text(agent.since)}" for agent in unreachable.agents], FEW)
    gone = command("agents gone", unreachable.agents[0].id if unreachable.agents else "AGENT")
    return f"{are}: {named}; {gone} gives one up for good"


def _lent_columns(agents: Sequence[RegisteredAgent]) -> Sequence[Column[RegisteredAgent]]:
    """The column LENT, if something is lent."""
    if not any(agent_as_shown(agent).lent for agent in agents):
        return ()
    return (Column("LENT", lambda agent: agent_as_shown(agent).lent, kind="amounts", rank=1),)


def _agent_screen(agents: Sequence[RegisteredAgent], empty: str, lost: Sequence[str]) -> Report:
    status_rank = -1 if any(agent.status != "active" for agent in agents) else 1
    columns: Sequence[Column[RegisteredAgent]] = (
        Column("AGENT", lambda agent: agent.typed_host),
        Column("STATUS", lambda agent: agent.status, meaning=STATES, rank=status_rank),
        Column("USED/TOTAL", _use, kind="usage", rank_of_rare=3),
        *_lent_columns(agents),
        Column("RESERVED FOR", lambda agent: list(agent_as_shown(agent).reserved), rank=2),
        Column("ATTRIBUTES", _attributes, rank=4),
        agent_id_column(agents, lambda agent: agent.typed_id),
    )
    remark = [*([agent_summary(agents)] if agents else []), *lost, *([_legend(agents)] if agents else [])]
    return Report(columns, rows_of(columns, agents), empty=empty, remark=remark)


def _legend(agents: Sequence[RegisteredAgent]) -> str:
    in_service = all(agent_as_shown(agent).is_in_service for agent in agents)
    return AGENT_LEGEND + ("" if in_service else OUT_OF_SERVICE)


def _use(agent: RegisteredAgent) -> str:
    account = agent_as_shown(agent)
    used, offered, total = (held.separate_quantities() for held in (account.used, account.offered, account.whole))
    idle = account.idle.quantities()
    return agent_use_text(used, offered, total, idle, is_in_service=account.is_in_service)


def agent_summary(agents: Sequence[RegisteredAgent]) -> str:
    """The number of agents, those out of service by status, and what is free."""
    counts = Counter(agent.status for agent in agents)
    states = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    sums = sums_of_agents([agent_as_shown(agent) for agent in agents])
    parts = [("free", sums.free), ("reserved and idle", sums.idle), ("lent", sums.lent)]
    told = [f"{word}: {in_words(amounts)}" for word, amounts in parts if amounts or word == "free"]
    return "; ".join([f"{counted(len(agents), 'agent')} ({states})", *told])


def _attributes(agent: RegisteredAgent) -> str:
    pairs = sorted(agent.attributes.items())
    texts = (f"{name}={value if isinstance(value, str) else format_double(value)}" for name, value in pairs)
    return ",".join(texts)
