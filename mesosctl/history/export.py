"""A recording as JSON lines, one object for each row; without names, if it is to be passed on.

Each object says in `table` what it is.  Times are seconds since 1970, or since the first moment that the recording has
of the cluster, where they are shifted.  Resources are lists of the documented JSON, with reservation stacks.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mesosctl.api.resources import list_to_json, to_model
from mesosctl.history.interface import Recording
from mesosctl.history.records import (
    Micros,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedSetting,
    RecordedTask,
    Suppression,
    to_seconds,
)
from mesosctl.model.resources import Resources
from mesosctl.planning.anonymisation import Aliases

Line = dict[str, Any]


class _Same(Aliases):
    """Every name is its own alias."""

    def of(self, kind: str, name: str) -> str:
        """The name."""
        del kind
        return name

    def role(self, role: str) -> str:
        """The role."""
        return role

    def resource_name(self, name: str) -> str:
        """The name."""
        return name

    def resources(self, resources: Resources) -> Resources:
        """The resources."""
        return resources


def lines(recording: Recording, clusters: list[RecordedCluster], *, anonymise: bool, keep_times: bool) -> Iterator[str]:
    """Every row of these clusters, as lines of JSON."""
    aliases = Aliases() if anonymise else _Same()
    for cluster in clusters:
        shift = 0 if keep_times or cluster.first_seen is None else cluster.first_seen
        for line in _Exporter(aliases, shift).rows(recording, cluster):
            yield json.dumps(line) + "\n"


class _Exporter:
    """The rows of one cluster, with names and times as they are to be shown."""

    def __init__(self, aliases: Aliases, shift: Micros) -> None:
        self._aliases, self._shift = aliases, shift

    def rows(self, recording: Recording, cluster: RecordedCluster) -> Iterator[Line]:
        """All rows, table by table."""
        of = cluster.cluster_id
        yield self._cluster(cluster)
        yield from ({"table": "agents", **self._agent(one)} for one in recording.agents(of))
        yield from ({"table": "frameworks", **self._framework(one)} for one in recording.frameworks(of))
        yield from ({"table": "suppressed", **self._suppression(one)} for one in recording.suppressions(of))
        yield from ({"table": "settings", **self._setting(one)} for one in recording.settings(of))
        # Those that never held anything are demand alone, and executors hold something alone.
        yield from ({"table": "tasks", **self._task(one)} for one in recording.tasks(of))
        never = (one for one in recording.demand(of) if one.start is None)
        yield from ({"table": "tasks", **self._task(one)} for one in never)
        yield from ({"table": "runs", "time": self._time(at)} for at in recording.runs(of))
        yield from ({"table": "gaps", **self._span(one.start, one.end)} for one in recording.gaps(of))
        for done in recording.imports():
            if done.cluster_id == of:
                skipped = {one.cause: one.rows for one in done.skipped}
                file = self._aliases.of("file", done.file)
                counts = {"rows": done.rows, "used": done.used, "skipped": skipped}
                yield {"table": "imports", "file": file, "format": done.format, **counts}

    def _time(self, at: Micros | None) -> float | None:
        return None if at is None else to_seconds(at - self._shift)

    def _span(self, start: Micros | None, end: Micros | None) -> Line:
        return {"from": self._time(start), "to": self._time(end)}

    def _resources(self, resources: Resources) -> list[Any]:
        return list_to_json(self._aliases.resources(resources), "POST")

    def _cluster(self, one: RecordedCluster) -> Line:
        alias = self._aliases
        return {
            "table": "clusters",
            "cluster_id": alias.of("cluster", one.cluster_id),
            "address": alias.of("address", one.address),
            "mesos_version": one.version,
            "first_seen": self._time(one.first_seen),
            "last_seen": self._time(one.last_seen),
            "clean_end": one.clean_end,
            "principal": alias.maybe("principal", one.principal),
        }

    def _agent(self, one: RecordedAgent) -> Line:
        alias = self._aliases
        attributes = {
            alias.of("attribute", name): alias.of("value", value) if isinstance(value, str) else value
            for name, value in one.attributes.items()
        }
        return {
            "id": alias.of("agent", one.id),
            "host": alias.of("host", one.host),
            "attributes": attributes,
            "resources": self._resources(one.total),
            **self._span(one.start, one.end),
            "cause": one.cause,
        }

    def _framework(self, one: RecordedFramework) -> Line:
        return {
            "id": self._aliases.of("framework", one.id),
            "name": self._aliases.of("name", one.name),
            "principal": self._aliases.maybe("principal", one.principal),
            "roles": [self._aliases.role(role) for role in one.roles],
            "capabilities": list(one.capabilities),
            **self._span(one.start, one.end),
        }

    def _suppression(self, one: Suppression) -> Line:
        return {
            "framework_id": self._aliases.of("framework", one.framework_id),
            "role": self._aliases.role(one.role),
            "suppressed": one.suppressed,
            **self._span(one.start, one.end),
        }

    def _task(self, one: RecordedTask) -> Line:
        return {
            "framework_id": self._aliases.of("framework", one.framework_id),
            "id": self._aliases.of("task", one.id),
            "is_executor": one.is_executor,
            "run": one.run,
            "role": self._aliases.role(one.role),
            "agent_id": self._aliases.maybe("agent", one.agent_id),
            "resources": self._resources(one.resources),
            "asked": self._time(one.asked),
            **self._span(one.start, one.end),
            "lasts": None if one.lasts is None else to_seconds(one.lasts),
            "from_known": one.start_known,
            "to_known": one.end_known,
            "state": one.state,
            "reason": one.reason,
        }

    def _setting(self, one: RecordedSetting) -> Line:
        value = json.loads(one.value)
        name = one.name
        if one.kind in ("quota", "weight"):
            name = self._aliases.role(name)
            value["role"] = name
            for key in ("guarantees", "limits"):
                if key in value:
                    value[key] = {self._aliases.resource_name(of): amount for of, amount in value[key].items()}
        elif one.kind == "reservation":
            name = self._aliases.of("agent", name)
            value = self._resources(Resources(map(to_model, value)))
        else:
            self._hide_principals(value)
        return {"kind": one.kind, "name": name, "value": value, **self._span(one.start, one.end)}

    def _hide_principals(self, limits: Mapping[str, Any]) -> None:
        for limit in limits.get("limits") or ():
            limit["principal"] = self._aliases.of("principal", limit["principal"])
