"""Frameworks that end with the test, and what a master shows of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from tests.conformance.callers.frameworks import Framework
from tests.conformance.masters.cluster import Cluster, Setup

TICK = 0.2
"""Seconds between allocations in these setups, so that waiting for one does not take long."""
Join = Callable[..., Framework]


def quick(*agents: str, **more: Any) -> Setup:
    """A setup that allocates every TICK."""
    flags = {"allocation_interval": f"{TICK * 1000:.0f}ms", **more.pop("flags", {})}
    return Setup(agents=agents, flags=flags, **more)


@contextmanager
def joining(master: Cluster) -> Iterator[Join]:
    """Make frameworks, and end those that are left."""
    made: list[Framework] = []

    def new(*roles: str, **info: Any) -> Framework:
        made.append(Framework(master, *roles, **info))
        return made[-1]

    yield new
    for framework in made:
        if framework.id is not None:
            # Mesos 1.4 has no such call of the v1 API.
            body, headers = f"frameworkId={quote(framework.id)}", master.setup.operator()
            master.request("POST", "/teardown", content=body, headers=headers)
        if framework.subscription is not None:
            framework.subscription.hang_up()


def shown(master: Cluster, framework: Framework, key: str = "frameworks") -> list[dict[str, Any]]:
    """What /frameworks has of a framework."""
    return [entry for entry in master.read("/frameworks")[key] if entry["id"] == framework.id]
