"""A snapshot without names but with the same structure and amounts, so that it can be shared.

Equal names become equal aliases everywhere, and a role below another stays below it. Parts without names stay: amounts,
ports, numbers as attributes, capabilities, and the names of the resources that every Mesos has.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Disk, DiskSource, Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Items
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import (
    ClusterSnapshot,
    Debt,
    FrameworkUsage,
    Lending,
    Refusal,
    SnapshotFramework,
    SnapshotTask,
)
from mesosctl.mesos.roles import DEFAULT_ROLE
from mesosctl.mesos.rules.offers.offers import OutstandingOffer

_KNOWN_RESOURCES = frozenset({"cpus", "gpus", "mem", "disk", "ports"})
_RESOURCE_FLAGS = frozenset({"fair_sharing_excluded_resource_names", "lendable_names"})
_TELLING_FLAGS = frozenset({"roles", "domain", "priorities", *_RESOURCE_FLAGS})
"""The kept flags that hold names."""
Placed = TypeVar("Placed", FrameworkUsage, OutstandingOffer, SnapshotTask, Debt, Refusal)


def anonymised(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """The same cluster without names."""
    return Aliases().snapshot(snapshot)


class Aliases:
    """Aliases, numbered in the order of the names: `host-1`."""

    def __init__(self) -> None:
        self._aliases: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self.resources = IdentityCache(self._resources, most=None).of
        """Resources, entry by entry; thousands of agents may share one value, so each value is converted once."""

    def of(self, kind: str, name: str) -> str:
        """The alias of a name of this kind."""
        key = (kind, name)
        if key not in self._aliases:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._aliases[key] = f"{kind}-{self._counts[kind]}"
        return self._aliases[key]

    def maybe(self, kind: str, name: str | None) -> str | None:
        """The alias, or None for None."""
        return None if name is None else self.of(kind, name)

    def role(self, role: str) -> str:
        """Component by component, so that `a/b` is still below `a`."""
        return role if role == DEFAULT_ROLE else "/".join(self.of("role", part) for part in role.split("/"))

    def resource_name(self, name: str) -> str:
        """A custom resource loses its name."""
        return name if name in _KNOWN_RESOURCES else self.of("resource", name)

    # --- The parts ----------------------------------------------------------------------------------

    def snapshot(self, snapshot: ClusterSnapshot) -> ClusterSnapshot:
        """All of it."""
        dropped: list[str] = []
        frameworks = tuple(self._framework(framework, dropped) for framework in snapshot.frameworks)
        return replace(
            snapshot,
            agents=tuple(self._agent(agent) for agent in snapshot.agents),
            frameworks=frameworks,
            usages=tuple(map(self._place, snapshot.usages)),
            offers=tuple(self._offer(offer) for offer in snapshot.offers),
            quotas={self.role(role): self._quota(quota) for role, quota in snapshot.quotas.items()},
            weights={self.role(role): weight for role, weight in snapshot.weights.items()},
            flags={name: self._flag(name, text) for name, text in snapshot.flags.items()},
            lending=None if snapshot.lending is None else self._lending(snapshot.lending),
            completed=tuple(self._framework(framework, dropped) for framework in snapshot.completed),
            unreachable=tuple(agent._replace(id=self.of("agent", agent.id)) for agent in snapshot.unreachable),
            unreachable_tasks=tuple(
                replace(self._place(task), id=self.of("task", task.id)) for task in snapshot.unreachable_tasks
            ),
            unknown=(*snapshot.unknown, *dropped),
        )

    def _lending(self, lending: Lending) -> Lending:
        return replace(
            lending,
            tasks=tuple(
                replace(
                    self._place(task),
                    id=self.of("task", task.id),
                    executor_id=self.maybe("executor", task.executor_id),
                    executor_resources=self.resources(task.executor_resources),
                )
                for task in lending.tasks
            ),
            debts=tuple(map(self._place, lending.debts)),
            refusals=tuple(map(self._place, lending.refusals)),
        )

    def _place(self, placed: Placed) -> Placed:
        return replace(
            placed,
            framework_id=self.of("framework", placed.framework_id),
            agent_id=self.of("agent", placed.agent_id),
            role=self.role(placed.role),
            resources=self.resources(placed.resources),
        )

    def _agent(self, agent: ClusterAgent) -> ClusterAgent:
        hostname = self.of("host", agent.hostname)
        return replace(
            agent,
            id=self.of("agent", agent.id),
            hostname=hostname,
            pid=f"slave(1)@{hostname}:5051",
            total=self.resources(agent.total),
            attributes={
                self.of("attribute", name): self.of("value", value) if isinstance(value, str) else value
                for name, value in agent.attributes.items()
            },
            region=self.maybe("region", agent.region),
            zone=self.maybe("zone", agent.zone),
        )

    def _framework(self, framework: SnapshotFramework, dropped: list[str]) -> SnapshotFramework:
        return replace(
            framework,
            id=self.of("framework", framework.id),
            name=self.of("name", framework.name),
            roles=tuple(map(self.role, framework.roles)),
            principal=self.maybe("principal", framework.principal),
            suppressed=None if framework.suppressed is None else frozenset(map(self.role, framework.suppressed)),
            offer_constraints=self._constraints(framework.offer_constraints, dropped),
            offer_filters={
                self.role(role): self._minimum(filters) for role, filters in framework.offer_filters.items()
            },
        )

    def _offer(self, offer: OutstandingOffer) -> OutstandingOffer:
        return replace(
            self._place(offer),
            id=self.of("offer", offer.id),
            framework=self.of("name", offer.framework),
            hostname=self.of("host", offer.hostname),
        )

    def _quota(self, quota: Quota) -> Quota:
        return Quota(
            Quantities({self.resource_name(name): milli for name, milli in quota.guarantees.items()}),
            Limits({self.resource_name(name): milli for name, milli in quota.limits.items()}),
        )

    def _flag(self, name: str, text: str) -> str:
        if name not in _TELLING_FLAGS:
            return text
        if name == "roles":
            return ",".join(self.role(role) for role in text.split(",") if role)
        if name in _RESOURCE_FLAGS:
            return ",".join(self.resource_name(resource.strip()) for resource in text.split(",") if resource)
        if name == "priorities":
            pairs = (pair.partition("=") for pair in text.split(",") if pair.strip())
            return ",".join(f"{self.role(role.strip())}={priority}" for role, _, priority in pairs)
        try:
            domain = json.loads(text)["fault_domain"]
            region, zone = str(domain["region"]["name"]), str(domain["zone"]["name"])
        except (ValueError, KeyError, TypeError):
            return "{}"
        fault = {"region": {"name": self.of("region", region)}, "zone": {"name": self.of("zone", zone)}}
        return json.dumps({"fault_domain": fault})

    # --- Resources ----------------------------------------------------------------------------------

    def _resources(self, resources: Resources) -> Resources:
        return Resources(map(self._resource, resources))

    def _resource(self, entry: Resource) -> Resource:
        value = entry.value
        if isinstance(value, Items):
            value = Items.of(self.of("item", name) for name in value)
        return replace(
            entry,
            name=self.resource_name(entry.name),
            value=value,
            reservations=tuple(map(self._reservation, entry.reservations)),
            disk=None if entry.disk is None else self._disk(entry.disk),
            provider_id=self.maybe("provider", entry.provider_id),
        )

    def _reservation(self, reservation: Reservation) -> Reservation:
        return reservation._replace(
            role=self.role(reservation.role),
            principal=self.maybe("principal", reservation.principal),
            labels=self._labels(reservation.labels),
        )

    def _labels(self, labels: Labels | None) -> Labels | None:
        if labels is None:
            return None
        return Labels((self.of("label", key), self.maybe("value", value)) for key, value in labels)

    def _disk(self, disk: Disk) -> Disk:
        return disk._replace(
            persistence_id=self.maybe("volume", disk.persistence_id),
            principal=self.maybe("principal", disk.principal),
            container_path=self.maybe("path", disk.container_path),
            host_path=self.maybe("path", disk.host_path),
            more=None,
            source=None if disk.source is None else self._source(disk.source),
        )

    def _source(self, source: DiskSource) -> DiskSource:
        return source._replace(
            root=None if source.root is None else "/" + self.of("root", source.root),
            vendor=self.maybe("vendor", source.vendor),
            id=self.maybe("disk", source.id),
            profile=self.maybe("profile", source.profile),
            metadata=self._labels(source.metadata),
        )

    # --- What frameworks say of offers --------------------------------------------------------------

    def _minimum(self, filters: Any) -> Any:
        """OfferFilters: only the names of resources say anything."""
        if isinstance(filters, list):
            return [self._minimum(part) for part in filters]
        if not isinstance(filters, Mapping):
            return filters
        return {
            key: {self.resource_name(name): amount for name, amount in part.items()}
            if key == "quantities" and isinstance(part, Mapping)
            else self._minimum(part)
            for key, part in filters.items()
        }

    def _constraints(self, constraints: Mapping[str, object], dropped: list[str]) -> Mapping[str, object]:
        """OfferConstraints; a regular expression has no alias, so constraints with one are left out."""
        by_role = constraints.get("role_constraints")
        if not isinstance(by_role, Mapping):
            return {}
        kept = {}
        for role, body in by_role.items():
            if "regex" in json.dumps(body):
                dropped.append(
                    "offer constraints with regular expressions: left out with the names; assumed that there are none"
                )
            else:
                kept[self.role(role)] = self._constraint(body)
        return {"role_constraints": kept} if kept else {}

    def _constraint(self, part: Any) -> Any:
        if isinstance(part, list):
            return [self._constraint(element) for element in part]
        if not isinstance(part, Mapping):
            return part
        kinds = {"attribute_name": "attribute", "value": "value"}
        return {
            key: self.of(kinds[key], value) if key in kinds and isinstance(value, str) else self._constraint(value)
            for key, value in part.items()
        }
