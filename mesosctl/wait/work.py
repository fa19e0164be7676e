"""The work of `wait`: it reads the conditions of a cluster again and again until all of them hold at the same time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from mesosctl.agents.tasks_left import TasksLeft
from mesosctl.agents.work import find_listed_agents
from mesosctl.changes.back_off import BackOff
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.amount_text import as_typed, in_words
from mesosctl.mesos.amounts.notation import counted, listed
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import RegisteredAgent, without_owners
from mesosctl.mesos.cluster.role_status import RoleStatus, RoleUsage
from mesosctl.mesos.errors import (
    DeadlinePassed,
    Denied,
    MasterFailed,
    MesosctlError,
    NoMaster,
    NotConfirmed,
    RuleViolation,
    TlsFailure,
)
from mesosctl.mesos.messages import responses
from mesosctl.mesos.messages.elements.listed_agents import AgentsInService, agent_state, agents_in_service
from mesosctl.mesos.rules.offers.offers import OutstandingOffer
from mesosctl.offers.work import OfferSelection, list_offers
from mesosctl.reading.quotas import check_entries, read_roles, show_quota
from mesosctl.reading.targets import read_agents, read_listed_agent
from mesosctl.suggestion import command
from mesosctl.wait.conditions import CheckedCondition, Condition


@dataclass(frozen=True, slots=True)
class WaitOptions:
    """Whether agents are asked for their own state, and what is told meanwhile."""

    ask_agents: bool = True
    progress: Callable[..., None] = lambda *_: None


def wait_until(master: LeadingMaster, conditions: Sequence[Condition], options: WaitOptions) -> list[CheckedCondition]:
    """Wait until all conditions hold at the same time, and return what the master shows then.

    A master that is away after its first answer is awaited too; for the recovery of a master, from the beginning.
    Raises NotConfirmed at the deadline, which names the conditions that do not hold; NotFound for an agent or a quota
    that does not exist; UsageError for an ambiguous agent; RuleViolation for a role without a guarantee.
    """
    reader, pauses = _Reader(master, options), BackOff(master)
    is_awaited = any(condition.subject == "master" for condition in conditions)
    seen: list[CheckedCondition] = []
    while True:
        away: MesosctlError | None = None
        try:
            seen = reader.read(conditions)
        except (NoMaster, MasterFailed, DeadlinePassed) as error:
            if isinstance(error, TlsFailure) or not (seen or is_awaited):
                raise
            away = error
        waiting = [f"{checked.condition}: {checked.shows}" for checked in seen if not checked.holds]
        if away is None and not waiting:
            return seen
        if isinstance(away, DeadlinePassed) or pauses.is_too_late:
            if away is not None and not seen:
                raise away
            raise NotConfirmed(
                f"not yet {listed(waiting)}" + (f"; {away.message}" if away else ""),
                hint=reader.way_out or "allow more time with --timeout",
            )
        options.progress(
            f"waiting for {listed(waiting)}" if away is None else f"{away.message}; waiting until it is back"
        )
        pauses.sleep()


_BROUGHT_ABOUT_BY = {"deactivated": "DEACTIVATE_AGENT", "draining": "DRAIN_AGENT", "drained": "DRAIN_AGENT"}
"""The call without which no agent has a status."""


class _Reader:
    """Reads the state of conditions, and each thing that several of them ask about once a round."""

    def __init__(self, master: LeadingMaster, options: WaitOptions) -> None:
        self._master = master
        self._options = options
        self._named: dict[str, RegisteredAgent] = {}
        """Agents by the word that was written."""
        self._tasks: dict[str, TasksLeft] = {}
        self._ways_of_roles: dict[str, str] = {}
        """By condition, what would help a role in which no framework asks for offers, as it was seen last."""
        self._will_be_gone: set[str] = set()
        """Ids of draining agents that are marked as gone once they are drained."""
        self._checked = False

    def read(self, conditions: Sequence[Condition]) -> list[CheckedCondition]:
        """The state of every condition at this moment."""
        self._resolve(conditions)
        moment = _Moment(self._master)
        return [CheckedCondition(condition.text, *self._state(condition, moment)) for condition in conditions]

    @property
    def way_out(self) -> str | None:
        """A hint, if a drain waits only for frameworks to acknowledge ended tasks, or nobody asks for a guarantee."""
        ways = (
            tasks.known.way_out(" and ".join(map(_drain_again, tasks.known.agents))) for tasks in self._tasks.values()
        )
        return next(filter(None, (*ways, *self._ways_of_roles.values())), None)

    def _resolve(self, conditions: Sequence[Condition]) -> None:
        """Find the agents that are named, once: their ids do not change."""
        if self._checked:
            return
        for condition in conditions:
            if condition.status in _BROUGHT_ABOUT_BY:
                self._master.check_has(_BROUGHT_ABOUT_BY[condition.status])
        words = list(dict.fromkeys(condition.agent for condition in conditions if condition.agent))
        if words:
            agents = read_agents(self._master, self._options.progress, recovering=True)
            self._named = dict(zip(words, find_listed_agents(agents, words), strict=True))
        check_entries(self._master, [entry for condition in conditions for entry in condition.resources])
        self._checked = True

    def _state(self, condition: Condition, moment: "_Moment") -> tuple[bool, str]:
        match condition.subject:
            case "agent":
                return self._status(moment, self._named[condition.agent], condition.status)
            case "role":
                return self._guarantee(condition, moment.quota(condition.role))
            case "master":
                return _recovery(moment.recovery)
            case "offers":
                offered = sum(offer.role == condition.role for offer in moment.offers)
                return self._offered(condition, offered, moment)
            case "reserved":
                return self._reserved(moment, self._named[condition.agent], condition)

    def _guarantee(self, condition: Condition, status: RoleStatus) -> tuple[bool, str]:
        is_met, shows = _guarantee(status)
        self._ways_of_roles.pop(condition.text, None)
        silence = None if is_met or status.usage is None else _silence(status.usage)
        if silence is None:
            return is_met, shows
        self._ways_of_roles[condition.text] = f"{_asks(status, silence)}{_or_less(status)}"
        return False, f"{shows}: {_SILENCES[silence]}"

    def _offered(self, condition: Condition, offered: int, moment: "_Moment") -> tuple[bool, str]:
        shows = counted(offered, "offer")
        status = None if offered else moment.role(condition.role)
        self._ways_of_roles.pop(condition.text, None)
        silence = None if status is None or status.usage is None else _silence(status.usage)
        if status is None or silence is None:
            return offered > 0, shows
        self._ways_of_roles[condition.text] = _asks(status, silence)
        return False, f"{shows}: {_SILENCES[silence]}"

    def _status(self, moment: "_Moment", agent: RegisteredAgent, wanted: str) -> tuple[bool, str]:
        now = moment.agent(agent)
        if now is None:
            return wanted == "drained" and agent.id in self._will_be_gone, "not listed"
        if now.drain is not None and now.drain.mark_gone:
            self._will_be_gone.add(agent.id)
        shows: str = now.status
        if shows == "draining" and wanted != shows:
            shows += f", {self._tasks.setdefault(agent.id, TasksLeft(self._master)).on([now])}"
        return now.status == wanted, shows

    def _reserved(self, moment: "_Moment", agent: RegisteredAgent, condition: Condition) -> tuple[bool, str]:
        now = moment.agent(agent)
        if now is None or not now.pid:
            return False, "not listed" if now is None else now.status
        shown = [("the master", now.total)]
        if self._options.ask_agents:
            try:
                shown.append(("the agent", agent_state(self._master.agent_state(now.pid))))
            except Denied as error:
                raise Denied(
                    f"agent {agent.name} does not show its state ({error.status})",
                    status=error.status,
                    hint="use --trust-master to rely on the master alone",
                ) from error
            except MesosctlError as error:
                return False, f"the agent could not be queried: {error.message}"
        wanted = without_owners(Resources(condition.resources))
        named = {entry.name for entry in wanted}
        for who, total in shown:
            held = without_owners(total.reserved(condition.role))
            if held.filter(lambda entry: entry.name in named) != wanted if wanted else held:
                return False, f"{who} shows {held.in_words}"
        return True, held.in_words


def _drain_again(agent: RegisteredAgent) -> str:
    """The command that drains an agent as it drains already."""
    how = agent.drain
    grace = None if how is None or how.max_grace_period is None else f"{how.max_grace_period:g}s"
    return command(
        "agents drain", agent.typed_name, mark_gone=(how is not None and how.mark_gone) or None, max_grace_period=grace
    )


class _Moment:
    """The answers of a master in one round, each read once, if it is asked for."""

    def __init__(self, master: LeadingMaster) -> None:
        self._master = master
        self._agents: dict[str, RegisteredAgent | None] = {}

    def agent(self, agent: RegisteredAgent) -> RegisteredAgent | None:
        """The agent now; None if it is not listed."""
        if agent.id not in self._agents:
            self._agents[agent.id] = read_listed_agent(self._master, agent)
        return self._agents[agent.id]

    def quota(self, role: str) -> RoleStatus:
        """A role and its quota.  Raises NotFound for one without quota."""
        return show_quota(self._master, role)

    def role(self, role: str) -> RoleStatus | None:
        """A role with what it uses; None if this principal may not see it."""
        try:
            usages = responses.roles(self._master.get("/roles"))
        except Denied:
            return None
        return read_roles(self._master, usages, {}, [role]).get(role, RoleStatus(role, Quota(), RoleUsage()))

    @cached_property
    def recovery(self) -> AgentsInService:
        """The agents that are registered, and those that are awaited."""
        found: AgentsInService = self._master.stream("/slaves", agents_in_service)
        return found

    @cached_property
    def offers(self) -> list[OutstandingOffer]:
        """Every outstanding offer."""
        return list_offers(self._master, OfferSelection())


def _guarantee(status: RoleStatus) -> tuple[bool, str]:
    """Whether the guarantee of a role is used, reserved or offered.

    Raises RuleViolation if it has none, and Denied.
    """
    if not status.quota.guarantees:
        raise RuleViolation(
            f"role '{status.role}' has limits, but no guarantee that could be met",
            rule="quota.guarantee",
            hint=f"guarantee something first: {command('quota update', status.role, 'RESOURCES')}",
        )
    if status.usage is None:
        raise Denied(f"this principal may not see what role '{status.role}' uses")
    missing = status.missing
    if not missing:
        return True, status.standing
    return False, f"{status.guarantee_state or 'not met'} ({status.standing}), {in_words(missing)} missing"


_Silence = Literal["nobody", "suppressed"]
_SILENCES: Mapping[_Silence, str] = {
    "nobody": "no framework is subscribed to it, so it is offered nothing",
    "suppressed": "its frameworks suppress offers, so it is offered nothing until one of them revives them",
}
"""Why a role is offered nothing however long somebody waits."""


def _silence(usage: RoleUsage) -> _Silence | None:
    """Whether no framework asks for offers, and why; None if one does, or if that is unknown.

    Neither offers nor the guarantee of a role are for frameworks in the roles below it.
    """
    if not usage.frameworks:
        return "nobody"
    return "suppressed" if usage.wanting is False else None


def _asks(status: RoleStatus, silence: _Silence) -> str:
    """The way to make a framework ask for offers in a role."""
    if silence == "nobody":
        return f"start a framework in role {status.role}"
    return f"if it needs more, have its framework send REVIVE for role {status.role}"


def _or_less(status: RoleStatus) -> str:
    """The other way out if no framework asks for the guarantee of a role."""
    less = status.quota._replace(guarantees=status.quota.guarantees - status.missing)
    if less.is_default:
        lower = command("quota remove", status.role)
    else:
        lower = command("quota update", status.role, *(as_typed(less.guarantees) or ["none"]))
    held = "; the rest lies free for it until then" if status.guarantee_state == "kept" else ""
    return f"{held}, or guarantee no more than it has: {lower}"


def _recovery(agents: AgentsInService) -> tuple[bool, str]:
    known = agents.registered + agents.awaited
    are = "agent is" if known == 1 else "agents are"
    return not agents.awaited, f"{agents.registered} of {known} {are} back"
