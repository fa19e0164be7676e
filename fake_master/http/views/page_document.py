"""How the cluster is shared out at this moment, as the page at the address of the master shows it.

The figures are those of the account of the cluster; the order is the allocator's.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fake_master.http.views.roles import amounts
from fake_master.state import agents as agents_state
from fake_master.state import roles as roles_state
from fake_master.state.account import AccountsOfMaster
from fake_master.state.agents import KnownAgent
from fake_master.state.clock import SteadyClock
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.roles import Sees
from fake_master.state.tasks import TaskGroup
from fake_master.state.visibility import Sight
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.amount_text import shown_amount
from mesosctl.mesos.amounts.holding import UsedAndOffered
from mesosctl.mesos.amounts.quantities import Quantities, to_shown
from mesosctl.mesos.amounts.resource import ReservationType, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.account import ClusterAccount
from mesosctl.mesos.cluster.role_status import RoleStatus
from mesosctl.mesos.errors import printable
from mesosctl.mesos.rules.quota.capacity import capacity
from mesosctl.mesos.rules.rate_limits import RateLimit
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES

MOST_ROWS = 200
"""Rows of one table; agents beyond are shown in groups, and of all others the first."""
_LONGEST_NAME = 200
"""Characters of a name."""
_MOST_HOLDERS = 3
"""Roles that the reason of a missing guarantee names as holding the rest, of each kind."""
_BELOW_GUARANTEE = "below guarantee"

LEGEND = {
    "used": "held by tasks and executors",
    "idle": "reserved for a role, and neither used nor offered",
    "offered": "in offers that no framework has answered yet",
    "lent": "reserved for one role, and used by or offered to another meanwhile; it is part of used and offered",
    "free": "neither used, nor offered, nor reserved",
    "guaranteed": "the guarantees of all roles together",
    "capacity": "the most that guarantees may promise together",
    "missing": "the part of its guarantee that a role does not have",
    "share": "the dominant share: the largest part of a resource of the cluster that is held, divided by the weight",
    "loss": "what goes with an agent at once, before anything starts elsewhere",
}
"""The words of the document, for who reads it."""

Of = TypeVar("Of")
_Stack = tuple[tuple[ReservationType, str, str | None], ...]
"""Type, role and principal of each level."""

Order = Iterable[tuple[str, float]]
"""See `Allocator.serving_order`."""
Queues = Iterable[tuple[str, int, RateLimit]]
"""See `RateLimiting.queues`."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """A moment of the cluster, from which the document of each principal is made."""

    state: MasterState
    account: ClusterAccount
    order: tuple[tuple[str, float], ...]
    queues: tuple[tuple[str, int, RateLimit], ...]
    next_event: float | None
    """In how many seconds of the master's clock something is due; None if nothing is."""

    @classmethod
    def now(
        cls, state: MasterState, accounts: AccountsOfMaster, order: Order, queues: Queues, deadline: float | None
    ) -> "Sharing":
        """Return how the cluster is shared out now."""
        wait = None if deadline is None else max(0.0, deadline - state.clock())
        return cls(state, accounts.of(state), tuple(order), tuple(queues), wait)

    def document(self, principal: str | None) -> dict[str, Any]:
        """Return everything that a principal may see."""
        state, account = self.state, self.account
        sees, sight = roles_state.sees(state, principal), Sight(state.flags.authorizer, principal)
        statuses = {role: account.status(role) for role in account.known_roles if sees(role)}
        frameworks = [of for of in state.frameworks.values() if sight.framework(of)]
        seen = {of.id for of in frameworks}
        offers = [of for of in state.offers if of.framework_id in seen and sees(of.role)]
        return {
            "legend": LEGEND,
            "cluster": _name(state.flags.shown.get("cluster", "")),
            "mesos": str(state.profile),
            "time": state.wall_time,
            "paused": isinstance(state.clock, SteadyClock) and state.clock.is_paused,
            "next_event": self.next_event,
            "totals": amounts(account.totals),
            "capacity": amounts(account.capacity),
            "guaranteed": amounts(account.promised),
            "used": amounts(account.used),
            "offered": amounts(account.offered),
            "lent": amounts(account.lent),
            "idle": amounts(account.idle),
            "free": amounts(account.free),
            "next": self._turns(statuses),
            "roles": self._roles(statuses),
            "frameworks": _table(
                frameworks,
                lambda of: {
                    "name": _name(of.name),
                    "id": of.id,
                    "roles": _names(role for role in sorted(of.tracked_roles) if sees(role)),
                    "active": of.active,
                    "tasks": of.alive,
                    **_holding(account.frameworks[of.id]),
                },
            ),
            "offers": {
                "made": state.offers.made,
                **_table(
                    offers[::-1],
                    lambda of: {
                        "id": of.id,
                        "framework": _name(state.frameworks[of.framework_id].name),
                        "role": _name(of.role),
                        "agent": _name(state.agents[of.agent_id].hostname),
                        "amounts": amounts(of.resources.separate_quantities()),
                    },
                ),
            },
            "agents": self._agents(sees, sight, statuses),
            "reservations": _stacks(state, sees),
            "throttled": _table(
                self.queues if sight.flags else (),
                lambda queue: {
                    "principal": _name(queue[0]),
                    "waiting": queue[1],
                    "per_second": queue[2].qps,
                    "capacity": queue[2].capacity,
                },
            ),
        }

    def _turns(self, statuses: dict[str, RoleStatus]) -> dict[str, Any]:
        """Return the roles that want offers as they are served next, those that are capped last."""
        asking = self.account.asking.intersection(statuses)
        return _table(
            sorted((turn for turn in self.order if turn[0] in asking), key=lambda turn: self._is_capped(turn[0])),
            lambda turn: {
                "role": _name(turn[0]),
                "share": turn[1],
                "weight": statuses[turn[0]].weight,
                "lacking": amounts(self.account.shortfall(turn[0])),
                "reached": amounts(statuses[turn[0]].reached),
                "capped": self._is_capped(turn[0]),
            },
        )

    def _is_capped(self, role: str) -> bool:
        """Return whether a role has its guarantee, where that is its limit, too."""
        has_guarantee = role in self.account.quotas and self.state.profile.guarantee_is_limit
        return has_guarantee and not self.account.shortfall(role)

    def _roles(self, statuses: dict[str, RoleStatus]) -> dict[str, Any]:
        totals = self.account.totals
        shares = {role: status.share_of(totals) for role, status in statuses.items()}

        def place(role: str) -> tuple[bool, float, str]:
            share = shares[role]
            return statuses[role].standing != _BELOW_GUARANTEE, -(share.used if share is not None else 0.0), role

        def row(role: str) -> dict[str, Any]:
            status, share, usage = statuses[role], shares[role], statuses[role].usage
            return {
                "name": _name(role),
                "standing": status.standing,
                "weight": status.weight,
                "frameworks": 0 if usage is None else usage.subscribers,
                "dominant": None if share is None else share.resource,
                "reserved": amounts(self.account.reserved.get(role, _NOTHING)),
                "idle": amounts(self.account.idle_of.get(role, _NOTHING)),
                "guarantee": amounts(status.quota.guarantees),
                "limit": {name: to_shown(bound) for name, bound in status.quota.limits.items()},
                "missing": amounts(status.missing),
                "guarantee_state": status.guarantee_state or "",
                "wanting": usage is not None and bool(usage.wanting),
                "why": self._why_below(status, statuses),
                **_holding(self.account.roles.get(role, _NOBODY)),
            }

        return _table(sorted(statuses, key=place), row)

    def _why_below(self, status: RoleStatus, seen: Container[str]) -> str:
        """Return why a guarantee is not met, naming roles that are `seen`, in sentences; empty if it is met."""
        missing, usage = status.missing, status.usage
        if not missing or usage is None:
            return ""
        if not usage.frameworks and not usage.subscribers:
            return "No framework is subscribed to it, so nothing is offered to it."
        if not usage.frameworks:
            return "Frameworks are subscribed only to roles below it, and are not offered its guarantee."
        if not usage.wanting:
            return "Its frameworks want no offers: they suppress them, or are inactive."
        short = missing - self.account.free
        if not short:
            return (
                "Enough is free. The next allocation offers it, unless its frameworks have refused it or no agent has "
                "enough in one place."
            )
        unused = [agent.idle for agent in self.account.like_agents]
        told = [self._who_holds(name, status.role, seen) for name in short]
        for name in missing:
            if name not in short:
                there = [idle for idle in unused if idle.get_amount(name)]
                lacking = [other for other in short if there and not any(idle.get_amount(other) for idle in there)]
                where = f", on agents without free {' or '.join(lacking)}" if lacking else ""
                told.append(f"{shown_amount(name, self.account.free.get_amount(name))} of {name} is free{where}.")
        return " ".join(told)

    def _who_holds(self, name: str, role: str, seen: Container[str]) -> str:
        """Return how much of a resource is free, and who holds the rest instead of `role`, in a sentence."""
        account = self.account
        if not account.totals.get_amount(name):
            return f"No agent in service has {name}."
        held = {
            "tasks of {} hold {}": {holder: holding.used for holder, holding in account.roles.items()},
            "offers to {} hold {}": {holder: holding.offered for holder, holding in account.roles.items()},
            "reservations for {} keep {}": account.idle_of,
        }
        told = []
        for words, amounts_of in held.items():
            others = {
                holder: milli
                for holder, of in amounts_of.items()
                if _is_beside(holder, role) and (milli := of.get_amount(name)) > 0
            }
            ranked = sorted(
                (holder for holder in others if holder in seen), key=lambda holder: (-others[holder], holder)
            )
            told += [
                words.format(_name(holder), shown_amount(name, others[holder])) for holder in ranked[:_MOST_HOLDERS]
            ]
            rest = sum(others.values()) - sum(others[holder] for holder in ranked[:_MOST_HOLDERS])
            if rest:
                told.append(words.format("other roles", shown_amount(name, rest)))
        free = account.free.get_amount(name)
        left = f"Only {shown_amount(name, free)} of {name} is free" if free else f"Of {name} nothing is free"
        return f"{left}{': ' if told else ''}{', '.join(told)}."

    def _agents(self, sees: Sees, sight: Sight, statuses: dict[str, RoleStatus]) -> dict[str, Any]:
        """Return each agent or, of many, how many look the same."""
        state = self.state
        counts = dict(self.account.agents)
        if len(state.agents) <= MOST_ROWS:
            agents = list(state.agents.values())
            tasks = _tasks_by_agent(of for of in state.frameworks.values() if sight.framework(of))
            return {
                **counts,
                "grouped": False,
                **_table(
                    agents,
                    lambda of: {**_agent(state, of, sees), "loss": self._loss(of, tasks[of.id], sees, statuses)},
                ),
            }
        groups = sorted(self.account.like_agents.items(), key=lambda group: -group[1])
        return {
            **counts,
            "grouped": True,
            **_table(
                groups,
                lambda group: {
                    "agents": group[1],
                    "unreserved": amounts(group[0].unreserved),
                    "free": amounts(group[0].idle),
                    "reserved": {_name(owner): amounts(held) for owner, held in group[0].reserved if sees(owner)},
                },
            ),
        }

    def _loss(
        self, agent: KnownAgent, tasks: Counter[str], sees: Sees, statuses: dict[str, RoleStatus]
    ) -> dict[str, Any]:
        """Return what the cluster would lose with an agent, at once: before anything starts elsewhere."""
        state = self.state
        reserved = [entry for entry in roles_state.seen(agent.total, sees) if entry.reservations]
        here = _towards_guarantees(
            (*agent.used, *state.offered_on(agent.id)), reserved if state.profile.reservations_consume_quota else ()
        )
        left = self.account.capacity - capacity([agent], state.profile)
        return {
            "tasks": [{"framework": _name(state.frameworks[of].name), "tasks": count} for of, count in tasks.items()],
            "reserved": amounts(Resources(reserved).quantities()),
            "below": [
                {"role": _name(role), "missing": amounts(after), "now": amounts(status.missing)}
                for role, status in statuses.items()
                if (after := _missing_without(status, here, with_subroles=state.profile.subroles_consume_quota))
                and after != status.missing
            ],
            "unpromisable": amounts(self.account.promised - left),
        }


_NOTHING = Quantities()
_NOBODY = UsedAndOffered()


def _is_beside(other: str, role: str) -> bool:
    """Return whether a role is the top of a tree that has nothing to do with `role`: each such tree once."""
    parent, _, _ = other.rpartition("/")
    return not f"{role}/".startswith(f"{other}/") and (not parent or role.startswith(f"{parent}/"))


def _missing_without(status: RoleStatus, held: Mapping[str, Quantities], *, with_subroles: bool) -> Quantities:
    """Return the part of the guarantee of a role that would not be met without what it holds on an agent."""
    if status.usage is None or not status.quota.guarantees:
        return _NOTHING
    lost = [
        amounts
        for role, amounts in held.items()
        if role == status.role or (with_subroles and role.startswith(status.role + "/"))
    ]
    return status.quota.guarantees - (status.usage.counted_with_offers - Quantities.total(lost))


def _towards_guarantees(held: Iterable[Resource], reserved: Iterable[Resource]) -> dict[str, Quantities]:
    """Return by role what counts towards guarantees: of what is held the plain part, and what is `reserved`."""
    entries: dict[str, list[Resource]] = {}
    for entry in held:
        if not entry.reservations and not entry.revocable:
            entries.setdefault(entry.allocation_role or roles.DEFAULT_ROLE, []).append(entry)
    for entry in reserved:
        entries.setdefault(entry.role, []).append(entry)
    return {
        role: Quantities.total(Resources([resource]).quantities() for resource in of) for role, of in entries.items()
    }


def _tasks_by_agent(frameworks: Iterable[KnownFramework]) -> dict[str, Counter[str]]:
    """Return how many tasks of each framework, by its id, run on each agent."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for framework in frameworks:
        for task in framework.tasks_or_groups():
            if task.state not in TERMINAL_STATES:
                found[task.agent_id][framework.id] += len(task) if isinstance(task, TaskGroup) else 1
    return found


def _agent(state: MasterState, of: KnownAgent, sees: Sees) -> dict[str, Any]:
    used, offered = roles_state.seen(of.used, sees), roles_state.seen(state.offered_on(of.id), sees)
    held = UsedAndOffered.of(used, offered, lends=state.flags.oversubscribe_reservations)
    return {
        "hostname": _name(of.hostname),
        "id": of.id,
        "active": of.active,
        "totals": amounts(roles_state.seen(of.whole, sees).separate_quantities()),
        **_holding(held),
    }


def _holding(held: UsedAndOffered) -> dict[str, Any]:
    return {"used": amounts(held.used), "offered": amounts(held.offered), "lent": amounts(held.lent)}


def _stacks(state: MasterState, sees: Sees) -> dict[str, Any]:
    """Return each stack of reservations, the outermost first: the amounts, and how many agents have it."""
    sums: dict[_Stack, list[tuple[Quantities, int]]] = {}
    for total, agents in agents_state.totals(state.agents.values()):
        of_agent: dict[_Stack, list[Resource]] = {}
        for entry in roles_state.seen(total, sees):
            if entry.reservations:
                stack = tuple((level.type, level.role, level.principal) for level in entry.reservations)
                of_agent.setdefault(stack, []).append(entry)
        for stack, entries in of_agent.items():
            held = Resources(entries).separate_quantities()
            sums.setdefault(stack, []).append((held, agents))

    def row(stack: _Stack) -> dict[str, Any]:
        parts = sums[stack]
        held = Quantities.total(
            Quantities({name: milli * agents for name, milli in part.items()}) for part, agents in parts
        )
        return {
            "stack": [
                {"type": kind, "role": _name(role), "principal": None if principal is None else _name(principal)}
                for kind, role, principal in stack
            ],
            "agents": sum(agents for _, agents in parts),
            "amounts": amounts(held),
        }

    return _table(sorted(sums, key=lambda stack: [level[1] for level in stack]), row)


def _table(things: Sequence[Of], row: Callable[[Of], dict[str, Any]]) -> dict[str, Any]:
    """Return the rows of the first things, and how many there are in all."""
    return {"rows": [row(of) for of in things[:MOST_ROWS]], "count": len(things)}


def _names(names: Iterable[str]) -> list[str]:
    return [_name(name) for name in list(names)[:MOST_ROWS]]


def _name(text: str) -> str:
    """Return a name that cannot turn the line it is in, and is not longer than a line or two."""
    shown = printable(text[: _LONGEST_NAME + 1])
    return shown if len(shown) <= _LONGEST_NAME else shown[:_LONGEST_NAME] + "…"
