"""The agents that the registry knows, registered or not: by host name, with what operators have said of them."""

from collections.abc import Mapping
from typing import Any

from fake_master.state.agents import Agent


class KnownAgents:
    """Every host with an agent, and the registry's record of each."""

    def __init__(self) -> None:
        self.hosts: dict[str, Agent] = {}
        """By host name."""
        self.records: dict[str, Any] = {}
        """By host name: the registry's record, kept at hand because there may be thousands of hosts."""
        self.former: dict[str, Any] = {}
        """By id: agents that a master has shut down, whose ids are spent."""
        self.awaited: dict[str, str] = {}
        """Agent id by host name: those that a former leader knew, and that have not registered again."""
        self.deactivated_from_start: set[str] = set()
        """Hosts whose agents were started out of service, which counts until an operator says otherwise."""

    def record(self, agent: Agent) -> Mapping[str, Any]:
        """Return the record of an agent's host; an empty one where there is none."""
        record: Mapping[str, Any] = self.records.get(agent.hostname, {})
        return record

    def hostname_of(self, agent_id: str) -> str | None:
        """Return the host of an agent that is registered or cannot be reached at the moment, or None."""
        for hostname, record in self.records.items():
            if record["id"] == agent_id and not (record.get("gone") or record.get("shut_down")):
                return hostname
        return None

    def service(self, hostname: str) -> tuple[bool, Mapping[str, Any] | None]:
        """Return whether the agent of a host, registered or awaited, is out of service, and its DrainInfo."""
        record = self.records.get(hostname, {})
        return bool(record.get("deactivated", hostname in self.deactivated_from_start)), record.get("drain_info")

    def is_gone(self, agent_id: str) -> bool:
        """Return whether an operator has given up this agent for good."""
        return any(record["id"] == agent_id and record.get("gone") for record in self.records.values())

    def awaits(self, agent_id: str) -> bool:
        """Return whether an agent may still register again, so that the fate of its tasks is unknown."""
        return agent_id in self.awaited.values()

    def unreachable(self) -> dict[str, float]:
        """Return since when each lost agent cannot be reached, by id, in seconds since the epoch."""
        return {
            record["id"]: record["unreachable_time"]
            for record in self.records.values()
            if "unreachable_time" in record and not record.get("gone")
        }

    def expected(self) -> dict[str, str]:
        """Return the agents that the registry holds as registered: id by host name."""
        return {
            hostname: record["id"]
            for hostname, record in self.records.items()
            if not (record.get("gone") or record.get("shut_down") or "unreachable_time" in record)
        }

    def next_number(self, master_id: str) -> int:
        """Return the number of the next agent; each master begins at 0, and ids of former leaders stay."""
        own = f"{master_id}-S"
        ids = (*self.former, *(record["id"] for record in self.records.values()))
        numbers = [known.removeprefix(own) for known in ids if known.startswith(own)]
        return max((int(number) for number in numbers if number.isdecimal()), default=-1) + 1
