"""The work of `agents`: it drains, deactivates and reactivates agents, and marks them as gone.

Each change is sent once and read back.  Nothing is kept about it: the master knows which agents it drains, so a command
that was interrupted goes on when it is typed again.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from mesosctl.agents.tasks_left import Left, TasksLeft
from mesosctl.changes.back_off import BackOff
from mesosctl.changes.confirm import confirm
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import counted, listed
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.displacement import DrainPlan, without_room
from mesosctl.mesos.cluster.holdings import AgentServiceChange, AgentStatus, RegisteredAgent
from mesosctl.mesos.cluster.selectors import Selectors
from mesosctl.mesos.cluster.unreachable import UnreachableAgent
from mesosctl.mesos.errors import MesosctlError, NotConfirmed, NotFound, Rejected
from mesosctl.mesos.messages.base_model import MesosModel
from mesosctl.mesos.messages.http_statuses import NOT_FOUND
from mesosctl.mesos.messages.operator_calls import agent_call, drain_agent
from mesosctl.mesos.names import kind_of
from mesosctl.reading.targets import find_agents, has_attributes, no_agent_with, read_agents, read_listed_agent
from mesosctl.reading.unreachable import in_registry
from mesosctl.suggestion import command
from mesosctl.tasks.work import running_tasks, unreachable_tasks

_AGENT_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-S[0-9]+")
Progress = Callable[[str], None]
_GOES_ON = "the master goes on draining; run the same command again with a longer --timeout to wait for it"


def choose_agents(
    master: LeadingMaster,
    names: Sequence[str],
    attributes: Selectors,
    progress: Callable[..., None] = lambda *_: None,
) -> tuple[list[RegisteredAgent], list[RegisteredAgent]]:
    """The agents that are named, or all, as far as they have the attributes; and every agent.

    Unreachable agents, which no list has, are found by their ids in the registry.  Raises NotFound and UsageError.
    """
    everybody = read_agents(master, progress, recovering=True)
    found = find_listed_agents(everybody, names, lambda: in_registry(master)) if names else everybody
    chosen = [agent for agent in {agent.id: agent for agent in found}.values() if has_attributes(agent, attributes)]
    if not chosen:
        error = no_agent_with(everybody, attributes)
        raise NotFound(error.message, field="--attribute", rule="agent.exists", hint=error.hint)
    return chosen, everybody


def find_listed_agents(
    agents: Sequence[RegisteredAgent],
    words: Iterable[str],
    read_unreachable: Callable[[], Sequence[UnreachableAgent] | None] = lambda: None,
) -> list[RegisteredAgent]:
    """The agents that `find_agents` finds, unreachable ones among them.

    Which these are is read only for a word that no listed agent has.  If that cannot be read, a whole id is one.
    """
    asked = list(dict.fromkeys(words))
    try:
        return find_agents(agents, asked)
    except NotFound:
        unreachable = read_unreachable()
    if unreachable is None:
        listed_ids = {agent.id for agent in agents}
        ids = [text for kind, text in map(kind_of, asked) if kind in (None, "id") and text not in listed_ids]
        unlisted = [agent_id for agent_id in ids if _AGENT_ID.fullmatch(agent_id)]
    else:
        unlisted = [agent.id for agent in unreachable]
    added = [
        RegisteredAgent(id=agent_id, hostname="", pid="", total=Resources(), active=False, status="unreachable")
        for agent_id in dict.fromkeys(unlisted)
    ]
    found = find_agents([*agents, *added], asked)
    return [agent if agent.hostname else replace(agent, hostname=agent.id) for agent in found]


def plan_drain(
    master: LeadingMaster, chosen: Sequence[RegisteredAgent], everybody: Sequence[RegisteredAgent]
) -> DrainPlan:
    """The tasks that would end if these agents left, and those that do not fit on the others."""
    leaving = frozenset(agent.id for agent in chosen)
    tasks = running_tasks(master, agents=leaving)
    stranded = without_room(tasks, [agent for agent in everybody if agent.id not in leaving])
    away = frozenset(agent.id for agent in chosen if agent.status == "unreachable")
    lost = unreachable_tasks(master, agents=away) if away else []
    return DrainPlan(tuple(chosen), tuple(tasks), tuple(stranded), tuple(lost))


@dataclass(frozen=True, slots=True)
class DrainOptions:
    """How agents are drained; the grace period is in seconds."""

    max_grace_period: float | None = None
    mark_gone: bool = False
    wait: bool = True
    """Whether an accepted call is read back."""
    until_drained: bool = False
    at_most: int | None = None
    progress: Progress = lambda _: None


def drain_agents(master: LeadingMaster, plan: DrainPlan, options: DrainOptions) -> list[AgentServiceChange]:
    """Drain the agents of a plan, a few at a time, and wait until they are drained if the options say so.

    Nothing is sent for an agent that already drains in the same way; such agents count first, as a command that was
    killed left them, and a master lists its agents in any order.  A master looks whether an agent is drained when a
    status is acknowledged, but not when a framework is removed, so it is asked again if nothing is left on an agent.
    Raises NotConfirmed at the deadline.
    """
    tasks = TasksLeft(master)
    over = tasks.none_on([agent for agent in plan.agents if agent.status == "draining"])
    waiting = sorted(plan.agents, key=lambda agent: agent.status != "draining")
    most = options.at_most or len(waiting)
    under_way: dict[str, RegisteredAgent] = {}
    done: dict[str, AgentServiceChange] = {}
    pauses = BackOff(master)
    with _telling(done, plan.agents):
        while waiting or under_way:
            while waiting and len(under_way) < most:
                agent = waiting.pop(0)
                done[agent.id] = _drain(master, agent, options, again=agent.id in over)
                if options.until_drained and done[agent.id].status == "draining":
                    under_way[agent.id] = agent
            if not under_way:
                continue
            for agent_id, agent in list(under_way.items()):
                status = _status(master, agent)
                if status in ("drained", None):
                    done[agent_id] = done[agent_id]._replace(status=status or "gone")
                    del under_way[agent_id]
                    pauses = BackOff(master)
                elif status != "draining":
                    raise NotConfirmed(f"agent {agent.name} is {status}: somebody else has stopped the drain")
            if under_way:
                for agent_id in tasks.none_on(list(under_way.values())) - over:
                    _drain(master, under_way[agent_id], options, again=True)
                    over.add(agent_id)
                _pause(list(under_way.values()), len(waiting), pauses, tasks.known, options.progress)
    return [done[agent.id] for agent in plan.agents]


def _drain(
    master: LeadingMaster, agent: RegisteredAgent, options: DrainOptions, *, again: bool = False
) -> AgentServiceChange:
    """Drain an agent; `again` also if it drains already in the same way."""
    asked = agent.drain
    same = asked is not None and asked.mark_gone == options.mark_gone and not again
    if same and asked is not None and options.max_grace_period in (None, asked.max_grace_period):
        return AgentServiceChange(agent, "drain", agent.status, sent=False, confirmed=True)
    call = drain_agent(agent.id, options.max_grace_period, mark_gone=options.mark_gone)
    shown: list[AgentStatus | None] = [None]

    def is_shown() -> bool | None:
        shown[0] = _status(master, agent)
        return shown[0] in ("draining", "drained") or (shown[0] is None and options.mark_gone)

    confirmed = _change(master, agent, call, is_shown, f"the drain of {agent.name}", wait=options.wait)
    status = shown[0] or ("gone" if confirmed and options.mark_gone else "draining")
    return AgentServiceChange(agent, "drain", status, sent=True, confirmed=confirmed)


def _pause(
    agents: Sequence[RegisteredAgent],
    later: int,
    pauses: BackOff,
    left: Left,
    progress: Progress,
) -> None:
    """Wait a little while agents drain.  Raises NotConfirmed at the deadline."""
    names = listed([agent.name for agent in agents])
    told = f"{left}; {counted(later, 'agent')} to begin" if later else f"{left}"
    if pauses.is_too_late:
        raise NotConfirmed(f"not drained yet: {names}; {told}", hint=left.way_out("run this command again") or _GOES_ON)
    progress(f"draining {names}: {told}")
    pauses.sleep()


@contextmanager
def _telling(done: Mapping[str, AgentServiceChange], agents: Sequence[RegisteredAgent]) -> Iterator[None]:
    """Say which agents were asked before an error or an interruption, as the master goes on draining them."""
    try:
        yield
    except (MesosctlError, KeyboardInterrupt) as stopped:
        asked = [change.agent.name for change in done.values() if change.sent]
        rest = [agent.name for agent in agents if agent.id not in done]
        if asked and isinstance(stopped, MesosctlError) and rest:
            stopped.reword(f"{stopped.message}; being drained: {listed(asked)}; not begun: {listed(rest)}")
        elif asked and isinstance(stopped, KeyboardInterrupt):
            more = f"; not begun: {listed(rest)}" if rest else ""
            stopped.add_note(f"the master goes on draining {listed(asked)}{more}; run the same command again to go on")
        raise


def deactivate_agents(
    master: LeadingMaster, agents: Sequence[RegisteredAgent], *, wait: bool = True
) -> list[AgentServiceChange]:
    """Deactivate agents, except those that are deactivated or drained already."""
    done = []
    for agent in agents:
        if agent.status in ("deactivated", "draining", "drained"):
            done.append(AgentServiceChange(agent, "deactivate", agent.status, sent=False, confirmed=True))
            continue
        confirmed = _change(
            master,
            agent,
            agent_call("DEACTIVATE_AGENT", agent.id),
            lambda agent=agent: _status(master, agent) in ("deactivated", "draining", "drained"),  # type: ignore[misc]
            f"the deactivation of {agent.name}",
            wait=wait,
        )
        done.append(AgentServiceChange(agent, "deactivate", "deactivated", sent=True, confirmed=confirmed))
    return done


def reactivate_agents(
    master: LeadingMaster, agents: Sequence[RegisteredAgent], *, wait: bool = True
) -> list[AgentServiceChange]:
    """Reactivate agents, except those that are in service already.  Raises Rejected for one that is still draining."""
    done = []
    for agent in agents:
        if agent.status in ("active", "disconnected"):
            done.append(AgentServiceChange(agent, "reactivate", agent.status, sent=False, confirmed=True))
            continue
        shown: list[AgentStatus | None] = [None]

        def is_shown(agent: RegisteredAgent = agent, shown: list[AgentStatus | None] = shown) -> bool:
            shown[0] = _status(master, agent)
            return shown[0] in ("active", "disconnected")

        call = agent_call("REACTIVATE_AGENT", agent.id)
        confirmed = _change(master, agent, call, is_shown, f"the reactivation of {agent.name}", wait=wait)
        done.append(AgentServiceChange(agent, "reactivate", shown[0] or "active", sent=True, confirmed=confirmed))
    return done


def mark_agents_gone(
    master: LeadingMaster, agents: Sequence[RegisteredAgent], *, wait: bool = True
) -> list[AgentServiceChange]:
    """Mark agents as gone, for good.  Raises NotFound for one that the master does not know."""
    done = []
    for agent in agents:
        call = agent_call("MARK_AGENT_GONE", agent.id)
        what = f"marking {agent.name} as gone"
        was_listed = bool(agent.pid)
        confirmed = _change(
            master,
            agent,
            call,
            lambda agent=agent: _status(master, agent) is None,  # type: ignore[misc]
            what,
            wait=wait,
            seen_before=was_listed,
        )
        done.append(AgentServiceChange(agent, "mark gone", "gone", sent=True, confirmed=confirmed))
    return done


def _change(
    master: LeadingMaster,
    agent: RegisteredAgent,
    call: MesosModel,
    is_shown: Callable[[], bool | None],
    what: str,
    *,
    wait: bool,
    seen_before: bool = True,
) -> bool:
    """Send a call about an agent and read it back; an agent that is not back since a failover shows nothing."""

    def send() -> None:
        try:
            master.call(call.body())
        except MesosctlError as error:
            if error.status == NOT_FOUND:
                raise NotFound(
                    f"the master knows no agent {agent.id}", field="agent", rule="agent.exists", status=NOT_FOUND
                ) from error
            raise

    try:
        return confirm(
            master,
            send,
            is_shown,
            what=what,
            wait=wait and (bool(agent.pid) or not seen_before),
            shown_by=command("agents list", agent.typed_id),
            seen_before=seen_before,
        )
    except Rejected as error:
        if error.hint is None and agent.status == "draining":
            error.hint = f"wait until it is drained: {command('wait', f'agent/{agent.typed_name}=drained')}"
        raise


def _status(master: LeadingMaster, agent: RegisteredAgent) -> AgentStatus | None:
    now = read_listed_agent(master, agent)
    return None if now is None else now.status
