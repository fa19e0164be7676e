"""The lines of a snapshot: the JSON of each agent, framework, usage and offer.

`line_reader` reads them back. A large snapshot has hundreds of thousands of them, and their resources, attributes and
capabilities mostly repeat: the text of each is made once.
"""

import json
from json.encoder import encode_basestring as quoted
from typing import Any, TypeVar

from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import FrameworkUsage, SnapshotFramework
from mesosctl.mesos.messages.resources import to_json
from mesosctl.mesos.rules.offers.offers import OutstandingOffer

Value = TypeVar("Value")

encode = json.JSONEncoder(ensure_ascii=False).encode


class LineWriter:
    """Writes entries, each without its line break."""

    def __init__(self) -> None:
        self._entry = IdentityCache(lambda entry: encode(to_json(entry, "POST"))).of
        self._resources = IdentityCache(self._list).of
        self._attributes = IdentityCache(lambda values: encode(dict(values))).of
        self._names = IdentityCache(lambda names: encode(sorted(names))).of

    def agent(self, agent: ClusterAgent) -> str:
        """The text of an agent."""
        region = "" if agent.region is None else f', "region": {encode(agent.region)}'
        zone = "" if agent.zone is None else f', "zone": {encode(agent.zone)}'
        return (
            f'{{"id": {quoted(agent.id)}, "hostname": {quoted(agent.hostname)}, "pid": {quoted(agent.pid)}, '
            f'"active": {_boolean(agent.active)}, "resources": {self._resources(agent.total)}, '
            f'"attributes": {self._attributes(agent.attributes)}, '
            f'"capabilities": {self._names(agent.capabilities)}{region}{zone}}}'
        )

    def usage(self, usage: FrameworkUsage) -> str:
        """The text of a usage."""
        return (
            f'{{"framework_id": {quoted(usage.framework_id)}, "agent_id": {quoted(usage.agent_id)}, '
            f'"role": {quoted(usage.role)}, "tasks": {usage.tasks}, "resources": {self._resources(usage.resources)}}}'
        )

    def offer(self, offer: OutstandingOffer) -> str:
        """The text of an offer."""
        return (
            f'{{"id": {quoted(offer.id)}, "role": {quoted(offer.role)}, '
            f'"framework_id": {quoted(offer.framework_id)}, "framework": {quoted(offer.framework)}, '
            f'"agent_id": {quoted(offer.agent_id)}, "hostname": {quoted(offer.hostname)}, '
            f'"refined": {_boolean(offer.stacked_format)}, "resources": {self._resources(offer.resources)}}}'
        )

    def _list(self, resources: Resources) -> str:
        return f"[{', '.join([self._entry(entry) for entry in resources for _ in range(entry.copies)])}]"


def framework_line(framework: SnapshotFramework) -> str:
    """The text of a framework."""
    written: dict[str, Any] = {
        "id": framework.id,
        "name": framework.name,
        "roles": list(framework.roles),
        "capabilities": sorted(framework.capabilities),
        "active": framework.active,
        "connected": framework.connected,
        "offer_constraints": dict(framework.offer_constraints),
        "offer_filters": dict(framework.offer_filters),
    }
    if framework.principal is not None:
        written["principal"] = framework.principal
    if framework.suppressed is not None:
        written["suppressed"] = sorted(framework.suppressed)
    if framework.failover_timeout:
        written["failover_timeout"] = framework.failover_timeout
    if framework.ended is not None:
        written["ended"] = framework.ended
    return encode(written)


def _boolean(value: bool) -> str:
    return "true" if value else "false"
