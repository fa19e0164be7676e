"""Snapshots of the masters of tests, and a fake master made from one."""

import json
from dataclasses import replace
from typing import Any

import httpx

from fake_master.master import Master as FakeMaster
from fake_master.sources.snapshot import RestoredCluster
from fake_master.transports.in_process import InProcessTransport
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.messages.snapshots import snapshot as snapshot_api
from mesosctl.snapshot.work import read_snapshot
from tests.conformance.masters.cluster import Cluster


def read_from(address: str, transport: httpx.BaseTransport | None, **more: Any) -> ClusterSnapshot:
    client = LeadingMaster(parse_address(address), transport=transport)
    try:
        return read_snapshot(client, **more)
    finally:
        if transport is None:  # one that was lent lives on
            client.close()


def snapshot_of(cluster: Cluster) -> ClusterSnapshot:
    return read_from(cluster.address, cluster.transport)


def again(snapshot: ClusterSnapshot) -> tuple[ClusterSnapshot, FakeMaster]:
    """A snapshot of the fake master that is made from a snapshot, by way of a file, once it has allocated."""
    clock = [1000.0]
    fake = RestoredCluster(snapshot_api.load(snapshot_api.dump(snapshot))).start(clock=lambda: clock[0])
    for _ in range(5):
        clock[0] += 1.0
        fake.advance()
    return read_from("http://fake.invalid", InProcessTransport(fake)), fake


def comparable(snapshot: ClusterSnapshot) -> Any:
    """Return the parts of a snapshot to compare: all but agent addresses, times and the order of entries."""
    same = replace(
        snapshot,
        taken_at=0.0,
        agents=tuple(sorted((replace(agent, pid="") for agent in snapshot.agents), key=lambda agent: agent.id)),
        frameworks=tuple(sorted(snapshot.frameworks, key=lambda framework: framework.id)),
        usages=tuple(sorted(snapshot.usages, key=lambda u: (u.framework_id, u.agent_id, u.role))),
        offers=tuple(sorted(snapshot.offers, key=lambda offer: offer.id)),
    )
    value = json.loads(snapshot_api.dump(same))
    for kind in ("agents", "usages", "offers"):
        for entry in value[kind]:
            entry["resources"].sort(key=lambda resource: json.dumps(resource, sort_keys=True))
    for framework in value["frameworks"]:
        framework["roles"].sort()
    return value
