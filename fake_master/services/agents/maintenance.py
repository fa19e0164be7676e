"""Operators schedule maintenance, take machines down and bring them up (Mesos documentation, "Maintenance Primitives").

The registry holds the schedule's windows and the machines in it.
"""

import ipaddress
from collections.abc import Iterable, Mapping, Sequence

from fake_master.allocator.interface import Allocator
from fake_master.registry.interface import Registry
from fake_master.registry.records import MachineId, MachineRecord, Window
from fake_master.services.offers import Offers
from fake_master.state.agents import KnownAgent
from fake_master.state.maintenance import Mode, id_of_agent, key_of, key_of_agent
from fake_master.state.master_state import MasterState
from mesosctl.mesos.errors import RuleViolation

_SCHEDULE, _WINDOWS, _MACHINE = "schedule", "windows", "machine"


class Maintenance:
    """Changes the schedule and the modes of machines, and rescinds the offers of their agents."""

    def __init__(self, state: MasterState, registry: Registry, allocator: Allocator, offers: Offers) -> None:
        self._state = state
        self._schedule = state.maintenance
        self._registry = registry
        self._allocator = allocator
        self._offers = offers

    def load(self) -> None:
        """Take over the schedule that the registry holds, and tell the agents if it is news to them."""
        windows: list[Window] = self._registry.records(_SCHEDULE).get(_WINDOWS, [])
        before = [self._schedule.unavailability(agent) for agent in self._state.agents.values()]
        self._schedule.replace(windows, self._registry.records(_MACHINE))
        for agent, old in zip(list(self._state.agents.values()), before, strict=True):
            if self._schedule.unavailability(agent) != old:
                self._tell(agent)

    # --- What operators do ----------------------------------------------------------------------------

    def schedule(self, principal: str | None, windows: Sequence[Window]) -> None:
        """Replace the whole schedule.  Raises RuleViolation or Forbidden.

        Whatever it says, every offer of every agent is taken back, and inverse offers with it: so does Mesos.
        """
        named = {key_of(machine): machine for machine in self._checked(windows)}
        for machine in named.values():
            self._may("update_maintenance_schedules", principal, machine)
        for agent in self._state.agents.values():
            self._schedule.spelled.setdefault(key_of_agent(agent), id_of_agent(agent))
        known = self._schedule.machines
        machines: dict[str, MachineRecord] = {
            key: known.get(key) or {"id": self._schedule.spelled.get(key, machine), "mode": "DRAINING"}
            for key, machine in named.items()
        }
        self._keep(list(windows), machines)
        for agent in list(self._state.agents.values()):
            self._tell(agent)

    def take_down(self, principal: str | None, machines: Sequence[MachineId]) -> list[KnownAgent]:
        """DRAINING → DOWN; the registered agents of these machines are for the caller to remove.

        Raises RuleViolation or Forbidden.
        """
        self._change(machines, "DRAINING", "brought down", "start_maintenances", principal)
        down: dict[str, MachineRecord] = {
            key: {"id": self._schedule.machines[key]["id"], "mode": "DOWN"} for key in map(key_of, machines)
        }
        self._keep(self._schedule.windows, self._schedule.machines | down)
        return [agent for agents in self._schedule.agents_on(machines) for agent in agents]

    def bring_up(self, principal: str | None, machines: Sequence[MachineId]) -> None:
        """DOWN → UP, and out of the schedule.  Raises RuleViolation or Forbidden."""
        self._change(machines, "DOWN", "brought up", "stop_maintenances", principal)
        gone = set(map(key_of, machines))
        windows: list[Window] = []
        for window in self._schedule.windows:
            left = [machine for machine in window["machine_ids"] if key_of(machine) not in gone]
            if left:
                windows.append({**window, "machine_ids": left})
        self._keep(windows, {key: machine for key, machine in self._schedule.machines.items() if key not in gone})

    # --- Within ---------------------------------------------------------------------------------------

    def _keep(self, windows: list[Window], machines: Mapping[str, MachineRecord]) -> None:
        self._registry.write(_SCHEDULE, _WINDOWS, windows or None)
        for key in [*self._schedule.machines.keys() - machines.keys(), *machines]:
            if machines.get(key) != self._schedule.machines.get(key):
                self._registry.write(_MACHINE, key, machines.get(key))
        self._schedule.replace(windows, dict(machines))

    def _tell(self, agent: KnownAgent) -> None:
        """Rescind the offers of an agent with a new unavailability, and tell the allocator."""
        self._offers.rescind_all_on(agent.id)
        agent.answers.clear()
        self._allocator.update_unavailability(agent.id, self._schedule.span(agent))

    def _may(self, action: str, principal: str | None, machine: MachineId) -> None:
        self._state.flags.authorizer.require(action, principal, _shown(machine))

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
        wanted = set(map(key_of, named))
        for key, machine in self._schedule.machines.items():
            if machine["mode"] == "DOWN" and key not in wanted:
                raise RuleViolation(
                    f"Machine {_shown(machine['id'])} is deactivated and cannot be removed from the schedule",
                    rule="maintenance.down",
                    hint="bring it up first",
                )
        return named

    def _change(self, machines: Sequence[MachineId], mode: Mode, verb: str, action: str, principal: str | None) -> None:
        """Return whether machines that are all in `mode` may leave it.  Raises RuleViolation or Forbidden."""
        if not machines:
            raise RuleViolation("List of machines is empty", rule="maintenance.machines")
        _check_ids(machines)
        for machine, agents in zip(machines, self._schedule.agents_on(machines), strict=True):
            found = self._schedule.mode(key_of(machine))
            if found is None and not agents:
                raise RuleViolation(
                    f"Machine {_shown(machine)} is not part of a maintenance schedule", rule="maintenance.scheduled"
                )
            if found != mode:
                raise RuleViolation(
                    f"Machine {_shown(machine)} is not in {mode} mode and cannot be {verb}", rule="maintenance.mode"
                )
        for machine in machines:
            self._may(action, principal, machine)


def _check_ids(machines: Iterable[MachineId]) -> None:
    """Check MachineIDs.  Raises RuleViolation."""
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
        if key_of(machine) in seen:
            raise RuleViolation(
                f"Machine {_shown(machine)} appears more than once in the schedule", rule="maintenance.once"
            )
        seen.add(key_of(machine))


def _shown(machine: MachineId) -> str:
    """A machine as error messages name it."""
    return "'" + " at ".join(machine[name] for name in ("hostname", "ip") if machine.get(name)) + "'"
