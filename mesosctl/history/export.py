"""A recording as JSON lines, one object for each row; without names, if it is to be passed on.

Each object says in `table` what it is.  Times are seconds since 1970, or since the first moment that the recording has
of the cluster, where they are shifted.  Resources are lists of the documented JSON, with reservation stacks.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

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
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.anonymisation import Aliases
from mesosctl.mesos.messages.resources import list_to_json, to_model

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
        yield from ({"table": "agents", **self._agent(agent)} for agent in recording.agents(of))
        yield from ({"table": "frameworks", **self._framework(framework)} for framework in recording.frameworks(of))
        yield from (
            {"table": "suppressed", **self._suppression(suppression)} for suppression in recording.suppressions(of)
        )
        yield from ({"table": "settings", **self._setting(setting)} for setting in recording.settings(of))
        # Those that never held anything are demand alone, and executors hold something alone.
        yield from ({"table": "tasks", **self._task(task)} for task in recording.tasks(of))
        never = (task for task in recording.demand(of) if task.start is None)
        yield from ({"table": "tasks", **self._task(task)} for task in never)
        yield from ({"table": "runs", "time": self._time(at)} for at in recording.runs(of))
        yield from ({"table": "gaps", **self._span(gap.start, gap.end)} for gap in recording.gaps(of))
        for done in recording.imports():
            if done.cluster_id == of:
                skipped = {skipped_rows.cause: skipped_rows.rows for skipped_rows in done.skipped}
                file = self._aliases.of("file", done.file)
                counts = {"rows": done.rows, "used": done.used, "skipped": skipped}
                yield {"table": "imports", "file": file, "format": done.format, **counts}

    def _time(self, at: Micros | None) -> float | None:
        return None if at is None else to_seconds(at - self._shift)

    def _span(self, start: Micros | None, end: Micros | None) -> Line:
        return {"from": self._time(start), "to": self._time(end)}

    def _resources(self, resources: Resources) -> list[Any]:
        return list_to_json(self._aliases.resources(resources), "POST")

    def _cluster(self, cluster: RecordedCluster) -> Line:
        alias = self._aliases
        return {
            "table": "clusters",
            "cluster_id": alias.of("cluster", cluster.cluster_id),
            "address": alias.of("address", cluster.address),
            "mesos_version": cluster.version,
            "mesos_profile": cluster.mesos_profile,
            "first_seen": self._time(cluster.first_seen),
            "last_seen": self._time(cluster.last_seen),
            "clean_end": cluster.clean_end,
            "principal": alias.maybe("principal", cluster.principal),
        }

    def _agent(self, agent: RecordedAgent) -> Line:
        alias = self._aliases
        attributes = {
            alias.of("attribute", name): alias.of("value", value) if isinstance(value, str) else value
            for name, value in agent.attributes.items()
        }
        return {
            "id": alias.of("agent", agent.id),
            "host": alias.of("host", agent.host),
            "attributes": attributes,
            "resources": self._resources(agent.total),
            **self._span(agent.start, agent.end),
            "cause": agent.cause,
        }

    def _framework(self, framework: RecordedFramework) -> Line:
        return {
            "id": self._aliases.of("framework", framework.id),
            "name": self._aliases.of("name", framework.name),
            "principal": self._aliases.maybe("principal", framework.principal),
            "roles": [self._aliases.role(role) for role in framework.roles],
            "capabilities": list(framework.capabilities),
            **self._span(framework.start, framework.end),
        }

    def _suppression(self, suppression: Suppression) -> Line:
        return {
            "framework_id": self._aliases.of("framework", suppression.framework_id),
            "role": self._aliases.role(suppression.role),
            "suppressed": suppression.suppressed,
            **self._span(suppression.start, suppression.end),
        }

    def _task(self, task: RecordedTask) -> Line:
        return {
            "framework_id": self._aliases.of("framework", task.framework_id),
            "id": self._aliases.of("task", task.id),
            "is_executor": task.is_executor,
            "run": task.run,
            "role": self._aliases.role(task.role),
            "agent_id": self._aliases.maybe("agent", task.agent_id),
            "resources": self._resources(task.resources),
            "asked": self._time(task.asked),
            **self._span(task.start, task.end),
            "lasts": None if task.lasts is None else to_seconds(task.lasts),
            "from_known": task.start_known,
            "to_known": task.end_known,
            "state": task.state,
            "reason": task.reason,
        }

    def _setting(self, setting: RecordedSetting) -> Line:
        value = json.loads(setting.value)
        name = setting.name
        if setting.kind in ("quota", "weight"):
            name = self._aliases.role(name)
            value["role"] = name
            for key in ("guarantees", "limits"):
                if key in value:
                    value[key] = {self._aliases.resource_name(of): amount for of, amount in value[key].items()}
        elif setting.kind == "reservation":
            name = self._aliases.of("agent", name)
            value = self._resources(Resources(map(to_model, value)))
        elif setting.kind == "out of service":
            name = self._aliases.of("agent", name)
        elif setting.kind == "lending":
            value = {"names": [self._aliases.resource_name(of) for of in value["names"]]}
        else:
            self._hide_principals(value)
        return {"kind": setting.kind, "name": name, "value": value, **self._span(setting.start, setting.end)}

    def _hide_principals(self, limits: Mapping[str, Any]) -> None:
        for limit in limits.get("limits") or ():
            limit["principal"] = self._aliases.of("principal", limit["principal"])
