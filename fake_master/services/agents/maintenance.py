"""Machines and their maintenance: the schedule, and which machines are draining or down (spec/endpoints.md §3).

A machine is a host name, an address, or both, and an agent is on the machine that has both of its
own: a schedule that names only one of them is kept, and concerns no agent.  The registry holds the
schedule's windows and the machines in it; a machine that is in neither state is up.
"""

import ipaddress
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS, Unavailability
from fake_master.state.frameworks import Framework
from mesosctl.model.errors import RuleViolation

if TYPE_CHECKING:
    from fake_master.master import Master
    from fake_master.state.agents import Agent


_SCHEDULE, _WINDOWS, _MACHINE = "schedule", "windows", "machine"
_NANOSECONDS = 1_000_000_000
MachineId = Mapping[str, Any]
"""A MachineID message: `hostname`, `ip`, or both."""
Window = Mapping[str, Any]
"""A maintenance.Window message: `machine_ids` and `unavailability`."""
Mode = Literal["DRAINING", "DOWN"]


class Machines:
    """Every machine of the schedule, and what the agents on them are told of it."""

    def __init__(self, master: "Master") -> None:
        self._master = master
        self._windows: list[Window] = []
        self._machines: dict[str, Mapping[str, Any]] = {}
        """By key: {"id": MachineID, "mode": Mode}."""
        self._spelled: dict[str, MachineId] = {}
        """By key: each machine as it was first named, which is how it is shown ever after."""
        self._spans: dict[str, Mapping[str, Any]] = {}
        """By key: the Unavailability message of its window."""

    def load(self) -> None:
        """What the registry holds, and word of it to the agents where it is news."""
        windows: list[Window] = self._master.registry.records(_SCHEDULE).get(_WINDOWS, [])
        before = [self.unavailability(agent) for agent in self._master.agents.values()]
        self._hold(windows, self._master.registry.records(_MACHINE))
        for agent, old in zip(list(self._master.agents.values()), before, strict=True):
            if self.unavailability(agent) != old:
                self._tell(agent)

    # --- What there is --------------------------------------------------------------------------------

    @property
    def windows(self) -> Sequence[Window]:
        """The schedule."""
        return self._windows

    def in_mode(self, mode: Mode) -> list[MachineId]:
        """The machines that are draining, or down."""
        return [machine["id"] for machine in self._machines.values() if machine["mode"] == mode]

    def is_down(self, agent: "Agent") -> bool:
        """Whether the agent's machine is down, so that the agent may not register."""
        return self._mode(_key_of(agent)) == "DOWN"

    def unavailability(self, agent: "Agent") -> Mapping[str, Any] | None:
        """The Unavailability message of the agent's machine, if it is scheduled."""
        return self._spans.get(_key_of(agent)) if self._spans else None

    def span(self, agent: "Agent") -> Unavailability | None:
        """The same for the allocator."""
        message = self.unavailability(agent)
        if message is None:
            return None
        duration = message.get("duration")
        return Unavailability(
            message["start"]["nanoseconds"] / _NANOSECONDS,
            None if duration is None else duration["nanoseconds"] / _NANOSECONDS,
        )

    def agents_on(self, machines: Sequence[MachineId]) -> "list[list[Agent]]":
        """The registered agents of each machine."""
        by_machine: dict[str, list[Agent]] = {}
        for agent in self._master.agents.values():
            by_machine.setdefault(_key_of(agent), []).append(agent)
        return [by_machine.get(_key(machine), []) for machine in machines]

    # --- What operators do ----------------------------------------------------------------------------

    def schedule(self, principal: str | None, windows: Sequence[Window]) -> None:
        """Replace the whole schedule.  Raises RuleViolation or Forbidden.

        Whatever it says, every offer of every agent is taken back, and inverse offers with it: so does Mesos.
        """
        named = {_key(machine): machine for machine in self._checked(windows)}
        for machine in named.values():
            self._may("update_maintenance_schedules", principal, machine)
        for agent in self._master.agents.values():
            self._spelled.setdefault(_key_of(agent), _id_of(agent))
        known = self._machines
        machines: dict[str, Mapping[str, Any]] = {
            key: known.get(key) or {"id": self._spelled.get(key, machine), "mode": "DRAINING"}
            for key, machine in named.items()
        }
        self._keep(list(windows), machines)
        for agent in list(self._master.agents.values()):
            self._tell(agent)

    def take_down(self, principal: str | None, machines: Sequence[MachineId]) -> "list[Agent]":
        """DRAINING → DOWN; the registered agents of these machines are for the caller to remove.

        Raises RuleViolation or Forbidden.
        """
        self._change(machines, "DRAINING", "brought down", "start_maintenances", principal)
        down = {key: {**self._machines[key], "mode": "DOWN"} for key in map(_key, machines)}
        self._keep(self._windows, self._machines | down)
        return [agent for agents in self.agents_on(machines) for agent in agents]

    def bring_up(self, principal: str | None, machines: Sequence[MachineId]) -> None:
        """DOWN → UP, and out of the schedule.  Raises RuleViolation or Forbidden."""
        self._change(machines, "DOWN", "brought up", "stop_maintenances", principal)
        gone = set(map(_key, machines))
        windows: list[Window] = []
        for window in self._windows:
            left = [machine for machine in window["machine_ids"] if _key(machine) not in gone]
            if left:
                windows.append({**window, "machine_ids": left})
        self._keep(windows, {key: machine for key, machine in self._machines.items() if key not in gone})

    # --- Within ---------------------------------------------------------------------------------------

    def _keep(self, windows: list[Window], machines: Mapping[str, Mapping[str, Any]]) -> None:
        registry = self._master.registry
        registry.write(_SCHEDULE, _WINDOWS, windows or None)
        for key in [*self._machines.keys() - machines.keys(), *machines]:
            if machines.get(key) != self._machines.get(key):
                registry.write(_MACHINE, key, machines.get(key))
        self._hold(windows, dict(machines))

    def _hold(self, windows: list[Window], machines: dict[str, Mapping[str, Any]]) -> None:
        self._windows, self._machines = windows, machines
        for key, machine in machines.items():
            self._spelled.setdefault(key, machine["id"])
        self._spans = {
            _key(machine): window["unavailability"] for window in windows for machine in window["machine_ids"]
        }

    def _tell(self, agent: "Agent") -> None:
        """Another unavailability: offers were made without knowing of it."""
        master = self._master
        for offer in master.offers.on_agent(agent.id):
            master.offers.rescind(offer)
        master.inverse_offers.rescind_on(agent.id)
        agent.answers.clear()
        master.allocator.update_unavailability(agent.id, self.span(agent))

    def _mode(self, key: str) -> str | None:
        return self._machines[key]["mode"] if key in self._machines else None

    def _may(self, action: str, principal: str | None, machine: MachineId) -> None:
        self._master.flags.authorizer.require(action, principal, _shown(machine))

    def _checked(self, windows: Sequence[Window]) -> list[MachineId]:
        """The machines of a schedule that may be.  Raises RuleViolation."""
        named: list[MachineId] = []
        for index, window in enumerate(windows):
            if not window.get("machine_ids"):
                raise RuleViolation(
                    "List of machines in the maintenance window is empty",
                    field=f"windows[{index}].machine_ids",
                    rule="maintenance.window",
                )
            if window["unavailability"].get("duration", {"nanoseconds": 0})["nanoseconds"] < 0:
                raise RuleViolation(
                    "Unavailability 'duration' is negative",
                    field=f"windows[{index}].unavailability.duration",
                    rule="maintenance.duration",
                )
            named += window["machine_ids"]
        _check_ids(named)
        wanted = set(map(_key, named))
        for key, machine in self._machines.items():
            if machine["mode"] == "DOWN" and key not in wanted:
                raise RuleViolation(
                    f"Machine {_shown(machine['id'])} is deactivated and cannot be removed from the schedule",
                    rule="maintenance.down",
                    hint="bring it up first",
                )
        return named

    def _change(self, machines: Sequence[MachineId], mode: Mode, deed: str, action: str, principal: str | None) -> None:
        """Whether machines that are all in `mode` may leave it.  Raises RuleViolation or Forbidden."""
        if not machines:
            raise RuleViolation("List of machines is empty", rule="maintenance.machines")
        _check_ids(machines)
        for machine, agents in zip(machines, self.agents_on(machines), strict=True):
            found = self._mode(_key(machine))
            if found is None and not agents:
                raise RuleViolation(
                    f"Machine {_shown(machine)} is not part of a maintenance schedule", rule="maintenance.scheduled"
                )
            if found != mode:
                raise RuleViolation(
                    f"Machine {_shown(machine)} is not in {mode} mode and cannot be {deed}", rule="maintenance.mode"
                )
        for machine in machines:
            self._may(action, principal, machine)


def _check_ids(machines: Iterable[MachineId]) -> None:
    """What MachineIDs must be.  Raises RuleViolation."""
    seen: set[str] = set()
    for machine in machines:
        hostname, ip = machine.get("hostname", ""), machine.get("ip", "")
        if not hostname and not ip:
            raise RuleViolation("Both 'hostname' and 'ip' for a machine are empty", rule="maintenance.machine")
        if ip:
            try:
                ipaddress.IPv4Address(ip)
            except ValueError:
                raise RuleViolation(f"Failed to parse IPv4: {ip}", field="ip", rule="maintenance.ip") from None
        if _key(machine) in seen:
            raise RuleViolation(
                f"Machine {_shown(machine)} appears more than once in the schedule", rule="maintenance.once"
            )
        seen.add(_key(machine))


def _key(machine: MachineId) -> str:
    """What makes two ids the same machine: host names in any case, addresses as they are; an empty one is not none."""
    hostname = machine.get("hostname")
    return json.dumps([None if hostname is None else hostname.lower(), machine.get("ip")])


def _key_of(agent: "Agent") -> str:
    return _key(_id_of(agent))


def _id_of(agent: "Agent") -> MachineId:
    return {"hostname": agent.hostname, "ip": agent.ip}


def _shown(machine: MachineId) -> str:
    """A machine as error messages name it."""
    return "'" + " at ".join(machine[name] for name in ("hostname", "ip") if machine.get(name)) + "'"


Answer = Literal["ACCEPT", "DECLINE"]


class InverseOffers:
    """The inverse offers of every framework: `Framework.inverse_offers` holds them, agent id by id."""

    def __init__(self, master: "Master") -> None:
        self._master = master
        self._by_agent: dict[str, dict[str, str]] = {}
        """By agent id: framework id by inverse offer id."""

    def make(self, framework_id: str, unavailable: Mapping[str, Unavailability]) -> None:
        """The allocator's decision: ask this framework to leave these agents, in one event."""
        framework = self._master.frameworks.get(framework_id)
        if framework is None:
            return
        made = {self._master.offers.new_id(): agent_id for agent_id in unavailable}
        framework.inverse_offers |= made
        for offer_id, agent_id in made.items():
            self._by_agent.setdefault(agent_id, {})[offer_id] = framework_id
        self._master.events.inverse_offers(framework, made)
        seconds = self._master.flags.offer_seconds
        if seconds is not None:
            self._master.timers.at(self._master.now + seconds, lambda: self._time_out(framework, made))

    def _time_out(self, framework: Framework, made: Mapping[str, str]) -> None:
        for offer_id, agent_id in made.items():
            if framework.inverse_offers.pop(offer_id, None) is not None:
                del self._by_agent[agent_id][offer_id]
                self._master.events.rescind_inverse_offer(framework, offer_id)
                self._master.allocator.update_inverse_offer(framework.id, agent_id)

    def answer(
        self, framework: Framework, offer_ids: Iterable[str], answer: Answer, refuse_seconds: float | None
    ) -> None:
        """ACCEPT_INVERSE_OFFERS or DECLINE_INVERSE_OFFERS; ids that are not outstanding are passed over.

        The answer is kept for /maintenance/status.  Either way the framework is asked again once its filter is over.
        """
        master = self._master
        for offer_id in offer_ids:
            agent_id = framework.inverse_offers.pop(offer_id, None)
            if agent_id is None:
                continue
            del self._by_agent[agent_id][offer_id]
            master.agents[agent_id].answers[framework.id] = {
                "framework_id": {"value": framework.id},
                "status": answer,
                "timestamp": {"nanoseconds": int(master.wall_time * _NANOSECONDS)},
            }
            seconds = DEFAULT_REFUSE_SECONDS if refuse_seconds is None else refuse_seconds
            master.allocator.update_inverse_offer(framework.id, agent_id, seconds)

    def rescind_on(self, agent_id: str) -> None:
        """Whatever was asked about this agent is void, and those who were asked are told."""
        for offer_id, framework_id in self._by_agent.pop(agent_id, {}).items():
            framework = self._master.frameworks[framework_id]
            del framework.inverse_offers[offer_id]
            self._master.events.rescind_inverse_offer(framework, offer_id)
            self._master.allocator.update_inverse_offer(framework_id, agent_id)

    def forget(self, framework: Framework) -> None:
        """The framework's stream is gone: it cannot answer any more, and need not be told."""
        for offer_id, agent_id in framework.inverse_offers.items():
            del self._by_agent[agent_id][offer_id]
            self._master.allocator.update_inverse_offer(framework.id, agent_id)
        framework.inverse_offers.clear()
