"""The maintenance schedule: which machines are draining or down, and when.

Source: Mesos documentation, "Maintenance Primitives".

A machine is a host name, an address, or both, and an agent is on the machine that has both of its own: a schedule that
names only one of them is kept, but applies to no agent.  A machine that is in neither state is up.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fake_master.allocator.interface import Unavailability
from fake_master.registry.records import MachineId, MachineRecord, Window
from fake_master.state.agents import KnownAgent
from fake_master.state.clock import NANOSECONDS

Mode = Literal["DRAINING", "DOWN"]


class MaintenanceSchedule:
    """The machines of the schedule, and the agents on them."""

    def __init__(self, agents: Mapping[str, KnownAgent]) -> None:
        self._agents = agents
        self.windows: list[Window] = []
        self.machines: dict[str, MachineRecord] = {}
        """Machine records by key."""
        self.spelled: dict[str, MachineId] = {}
        """Machines as they were first named, by key: they are shown so from then on."""
        self._spans: dict[str, Mapping[str, Any]] = {}
        """The Unavailability message of each machine's window, by key."""

    def replace(self, windows: list[Window], machines: dict[str, MachineRecord]) -> None:
        """Replace the whole schedule and the modes of its machines."""
        self.windows, self.machines = windows, machines
        for key, machine in machines.items():
            self.spelled.setdefault(key, machine["id"])
        self._spans = {
            key_of(machine): window["unavailability"] for window in windows for machine in window["machine_ids"]
        }

    def mode(self, key: str) -> str | None:
        """Return the mode of the machine with this key; None for one that is up."""
        return self.machines[key]["mode"] if key in self.machines else None

    def in_mode(self, mode: Mode) -> list[MachineId]:
        """Return the machines that are draining, or down."""
        return [machine["id"] for machine in self.machines.values() if machine["mode"] == mode]

    def is_down(self, agent: KnownAgent) -> bool:
        """Return whether the agent's machine is down, so that the agent may not register."""
        return bool(self.machines) and self.mode(key_of_agent(agent)) == "DOWN"

    def unavailability(self, agent: KnownAgent) -> Mapping[str, Any] | None:
        """Return the Unavailability message of the agent's machine, or None if it is not scheduled."""
        return self._spans.get(key_of_agent(agent)) if self._spans else None

    def span(self, agent: KnownAgent) -> Unavailability | None:
        """Return the same for the allocator, in seconds."""
        message = self.unavailability(agent)
        if message is None:
            return None
        duration = message.get("duration")
        return Unavailability(
            message["start"]["nanoseconds"] / NANOSECONDS,
            None if duration is None else duration["nanoseconds"] / NANOSECONDS,
        )

    def agents_on(self, machines: Sequence[MachineId]) -> list[list[KnownAgent]]:
        """Return the registered agents of each machine."""
        by_machine: dict[str, list[KnownAgent]] = {}
        for agent in self._agents.values():
            by_machine.setdefault(key_of_agent(agent), []).append(agent)
        return [by_machine.get(key_of(machine), []) for machine in machines]


def key_of(machine: MachineId) -> str:
    """Return the key of a machine id: host names are compared without case, addresses exactly; "" is not None."""
    hostname = machine.get("hostname")
    return json.dumps([None if hostname is None else hostname.lower(), machine.get("ip")])


def key_of_agent(agent: KnownAgent) -> str:
    """Return the key of the machine that an agent is on."""
    return key_of(id_of_agent(agent))


def id_of_agent(agent: KnownAgent) -> MachineId:
    """Return the MachineID of the machine that an agent is on."""
    return {"hostname": agent.hostname, "ip": agent.ip}
