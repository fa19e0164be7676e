"""Plays the words of scenarios.toml on an allocator in virtual time.

A step is `COMMAND WORDS [-> OFFERS]`.  It is handled with its run before the next one, unless it
starts with `queued`.  OFFERS is `-` for none, or items `F:A` (framework, agent), `F:A=RESOURCES`,
`F*3` (so many agents), `any*3` (to whomever), all of them and no others.
"""

from collections import Counter
from dataclasses import replace
from typing import Any

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.interface import ALL_AGENT_CAPABILITIES, AgentInfo, Callbacks, FrameworkInfo, Unavailability
from fake_master.allocator.options import Options
from fake_master.extensions.strict_priority.allocator import StrictPriorityAllocator
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Reservation
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.roles import Priorities
from mesosctl.mesos.rules.offers.frameworks import parse_minimum
from mesosctl.mesos.rules.reservations.operations import Conversion
from tests.fake_master.allocator.words import expand
from tests.helpers.reserving import push

DAY = 86400.0


class Player:
    def __init__(self, options: Options, priorities: Priorities | None = None) -> None:
        self.offers: list[tuple[str, str, str, Resources]] = []
        self.inverse: list[tuple[str, str]] = []
        self.held: dict[tuple[str, str], Resources] = {}
        self.now = 0.0
        self.infos: dict[str, FrameworkInfo] = {}
        self.agents: dict[str, AgentInfo] = {}
        self.allocator: HierarchicalAllocator | StrictPriorityAllocator = (
            HierarchicalAllocator(options, Callbacks(self.on_offers, self.on_inverse), 0.0)
            if priorities is None
            else StrictPriorityAllocator(
                options, Callbacks(self.on_offers, self.on_inverse), 0.0, priorities=priorities
            )
        )

    def on_offers(self, framework: str, by_role: dict[str, dict[str, Resources]]) -> None:
        for role, by_agent in by_role.items():
            for agent, offered in by_agent.items():
                self.offers.append((framework, role, agent, offered))
                self.held[framework, agent] = self.held.get((framework, agent), Resources()) + offered

    def on_inverse(self, framework: str, by_agent: dict[str, Unavailability]) -> None:
        self.inverse += [(framework, agent) for agent in by_agent]

    def play(self, step: str) -> None:
        words, arrow, expected = step.partition("->")
        queued, *rest = words.split()
        if queued != "queued":
            rest = [queued, *rest]
        self.offers.clear()
        if rest[0] != "inverse-offers":
            self.inverse.clear()
        positional = [word for word in rest[1:] if "=" not in word]
        options = dict(word.split("=", 1) for word in rest[1:] if "=" in word)
        getattr(self, "do_" + rest[0].replace("-", "_"))(*positional, **options)
        if queued != "queued":
            self.allocator.advance_to(self.now)
        if arrow:
            self.check(expected.split())

    def check(self, expected: list[str]) -> None:
        shown = [f"{framework}:{agent}={offered}" for framework, _, agent, offered in self.offers]
        if expected[0].startswith("any*"):
            assert len(self.offers) == int(expected[0].removeprefix("any*")), shown
            return
        if "*" in expected[0]:
            assert Counter(offer[0] for offer in self.offers) == {
                item.split("*")[0]: int(item.split("*")[1]) for item in expected
            }, shown
            return
        wanted = {} if expected == ["-"] else dict((item.partition("=")[::2]) for item in expected)
        got = {f"{framework}:{agent}": offered for framework, _, agent, offered in self.offers}
        assert len(got) == len(self.offers), "one agent offered twice to one framework"
        assert sorted(got) == sorted(wanted), shown
        for key, text in wanted.items():
            if text:
                assert got[key].allocated_to(None) == expand(text), shown

    # --- Commands -----------------------------------------------------------------------------------

    def do_agent(self, name: str, total: str, host: str = "h", caps: str | None = None, used: str = "") -> None:
        capabilities = ALL_AGENT_CAPABILITIES if caps is None else frozenset(filter(None, caps.split(",")))
        self.agents[name] = AgentInfo(name, hostname=host, capabilities=capabilities)
        holdings = {}
        for item in filter(None, used.split(",")):
            holder, text = item.split("@", 1)
            framework, role = holder, text.split("~")[0]
            holdings[framework] = expand(text.split("~")[1]).allocated_to(role)
            self.held[framework, name] = holdings[framework]
        self.allocator.add_agent(self.agents[name], expand(total), holdings)

    def do_framework(self, name: str, roles: str, caps: str = "", minimum: str | None = None) -> None:
        named = frozenset(roles.split(","))
        self.infos[name] = FrameworkInfo(
            name,
            named,
            frozenset({"MULTI_ROLE", *filter(None, caps.split(","))}),
            minimums={} if minimum is None else dict.fromkeys(named, parse_minimum(minimum)),
        )
        self.allocator.add_framework(self.infos[name])

    def do_roles(self, name: str, roles: str) -> None:
        self.infos[name] = replace(self.infos[name], roles=frozenset(roles.split(",")))
        self.allocator.update_framework(self.infos[name])

    def do_tick(self, seconds: str = "1") -> None:
        self.now += float(seconds)

    def do_recover(self, framework: str, agent: str, text: str | None = None, refuse: str | None = None) -> None:
        held = self.held[framework, agent]
        role = next(iter(held)).allocation_role
        part = held if text is None else expand(text).allocated_to(role)
        self.held[framework, agent] = held - part
        self.allocator.recover_resources(framework, agent, part, None if refuse is None else float(refuse))

    def do_recover_all(self) -> None:
        for framework, agent in list(self.held):
            if self.held[framework, agent]:
                self.do_recover(framework, agent)

    def do_accept(self, framework: str, agent: str) -> None:
        self.allocator.transition_offered_to_allocated(agent, self.held[framework, agent])

    def do_revive(self, framework: str) -> None:
        self.allocator.revive(framework)

    def do_suppress(self, framework: str) -> None:
        self.allocator.suppress(framework)

    def do_deactivate(self, framework: str) -> None:
        self.allocator.deactivate_framework(framework)

    def do_activate(self, framework: str) -> None:
        self.allocator.activate_framework(framework)

    def do_remove(self, framework: str) -> None:
        self.allocator.remove_framework(framework)

    def do_agent_off(self, agent: str) -> None:
        self.allocator.deactivate_agent(agent)

    def do_agent_on(self, agent: str) -> None:
        self.allocator.activate_agent(agent)

    def do_weight(self, role: str, weight: str) -> None:
        self.allocator.update_weights({role: float(weight)})

    def do_quota(self, role: str, guarantee: str = "", limit: str | None = None) -> None:
        amounts = expand(guarantee).scalar_quantities() if guarantee else Quantities()
        bounds = dict(amounts) if limit is None else _amounts(limit)
        self.allocator.update_quota(role, Quota(amounts, Limits(bounds)))

    def do_no_quota(self, role: str) -> None:
        self.allocator.update_quota(role, Quota())

    def do_whitelist(self, hosts: str = "") -> None:
        self.allocator.update_whitelist([host for host in hosts.split(",") if host])

    def do_unavailable(self, *agents: str) -> None:
        for agent in agents:
            self.allocator.update_unavailability(agent, Unavailability(self.now + DAY))

    def do_inverse_offers(self, *expected: str) -> None:
        """What the step before asked to be given back."""
        assert sorted(f"{framework}:{agent}" for framework, agent in self.inverse) == sorted(expected)

    def do_attributes(self, agent: str, value: str) -> None:
        self.agents[agent] = replace(self.agents[agent], attributes=(("rack", value),))
        self.allocator.update_agent(self.agents[agent])

    def do_total(self, agent: str, text: str) -> None:
        self.allocator.update_agent(self.agents[agent], expand(text))

    def do_reserve(self, agent: str, role: str, text: str, holder: str | None = None) -> None:
        plain = expand(text)
        reserved = push(plain, Reservation("DYNAMIC", role))
        self._convert(agent, plain, reserved, holder)

    def do_create(self, agent: str, before: str, after: str, holder: str | None = None) -> None:
        self._convert(agent, expand(before), expand(after), holder)

    def _convert(self, agent: str, before: Resources, after: Resources, holder: str | None) -> None:
        if holder is None:
            assert self.allocator.update_available(agent, [Conversion(before, after)])
            return
        held = self.held[holder, agent]
        role = next(iter(held)).allocation_role
        step = Conversion(before.allocated_to(role), after.allocated_to(role))
        self.allocator.update_allocation(holder, agent, held, [step])
        self.held[holder, agent] = held - step.consumed + step.converted

    def do_recovery(self, known: str, role: str, guarantee: str) -> None:
        amounts = expand(guarantee).scalar_quantities()
        self.allocator.recover(int(known), {role: Quota(amounts, Limits(dict(amounts)))})

    def do_metric(self, name: str, value: str) -> None:
        figures = self.allocator.metrics()
        assert figures.get("allocator/mesos/" + name) == (None if value == "absent" else float(value)), figures


def _amounts(text: str) -> dict[str, int]:
    """`cpus:0` must stay: a limit of zero is one."""
    return {entry.name: entry.value for entry in parse_entries(text) if isinstance(entry.value, int)}


def player(*steps: str, **flags: Any) -> Player:
    made = Player(Options(**flags))
    for step in steps:
        made.play(step)
    return made
