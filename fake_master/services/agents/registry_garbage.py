"""Agents that are unreachable or gone are forgotten in time, and what ran on them is unknown from then on.

Source: Mesos documentation, "Configuration", "Master Flags": registry_gc_interval, registry_max_agent_age,
registry_max_agent_count.
"""

from fake_master.registry.records import AgentRecord
from fake_master.services.agents.registry_records import AgentRecords
from fake_master.state.master_state import MasterState
from mesosctl.mesos.amounts.notation import parse_duration


class RegistryGarbageCollection:
    """Forgets the agents that have been away for too long, and the oldest if there are too many."""

    def __init__(self, state: MasterState, records: AgentRecords) -> None:
        self._state = state
        self._records = records
        shown = state.flags.shown
        self._interval = parse_duration(shown["registry_gc_interval"])
        self._most_seconds = parse_duration(shown["registry_max_agent_age"])
        self._most_agents = state.flags.count("registry_max_agent_count")

    def begin(self) -> None:
        """Collect once in every interval."""
        self._state.timers.at(self._state.now + self._interval, self._collect)

    def _collect(self) -> None:
        records = self._state.known_agents.records
        kinds = {
            "unreachable": {host: at for host, record in records.items() if (at := _unreachable_since(record))},
            "gone": {host: at for host, record in records.items() if (at := _gone_since(record))},
        }
        hosts = [host for since in kinds.values() for host in self._too_many_or_old(since)]
        if hosts:
            with self._records.transaction():
                for host in hosts:
                    self._records.note(host, forgotten=True)
        self.begin()

    def _too_many_or_old(self, since: dict[str, float]) -> list[str]:
        oldest_first = sorted(since, key=since.__getitem__)
        excess = oldest_first[: max(0, len(oldest_first) - self._most_agents)]
        return [host for host in oldest_first if host in excess or self._state.now - since[host] > self._most_seconds]


def _unreachable_since(record: AgentRecord) -> float | None:
    is_other = record.get("gone") or record.get("shut_down") or record.get("forgotten")
    return None if is_other else record.get("unreachable_time")


def _gone_since(record: AgentRecord) -> float | None:
    return record.get("gone_time") if record.get("gone") and not record.get("forgotten") else None
