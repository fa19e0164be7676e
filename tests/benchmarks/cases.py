"""The clusters that the allocation benchmark measures."""

from dataclasses import dataclass, replace
from typing import Any, Literal

FreeResources = Literal["pass", "decline"]


@dataclass(frozen=True)
class Case:
    """A cluster whose frameworks answer every offer in the same way."""

    name: str
    agents: int
    frameworks: int
    shape: FreeResources = "pass"
    """`pass`: declined without a filter, so every cycle hands everything out again; `decline`: with a
    long one, until nobody wants anything and a cycle finds nothing."""
    role: str = "r{0}"
    """Role of framework number {0}; {1} and {2} are coarser numbers."""
    quota_every: int = 0
    """Every so many roles have a quota of two agents."""
    reserved_every: int = 0
    """On every so many agents a quarter is reserved for one of the roles."""
    release: str = "1.11.0"
    """Of Mesos, here and there."""

    def role_of(self, framework: int) -> str:
        return self.role.format(framework, framework % 10, framework % 50)

    def roles(self) -> list[str]:
        return list(dict.fromkeys(self.role_of(index) for index in range(self.frameworks)))

    def resources_of(self, agent: int) -> str:
        if self.reserved_every and agent % self.reserved_every == 0:
            role = self.role_of(agent % self.frameworks)
            return f"cpus:18;mem:49152;disk:4096;cpus({role}):6;mem({role}):16384"
        return "cpus:24;mem:65536;disk:4096"

    def with_quota(self) -> list[str]:
        return self.roles()[:: self.quota_every] if self.quota_every else []


OLDER = ("1.4.3", "1.8.1")
"""The releases before 1.11.0 that are measured too."""
QUOTA = {"cpus": 48.0, "mem": 131072.0}


def quota_configs(case: Case) -> list[dict[str, Any]]:
    """The quotas of a case as UPDATE_QUOTA takes them."""
    amounts = {name: {"value": amount} for name, amount in QUOTA.items()}
    return [{"role": role, "guarantees": amounts, "limits": amounts} for role in case.with_quota()]


SMALL = [
    Case("pass", 200, 20),
    Case("decline", 200, 20, "decline"),
    Case("pass, one role", 200, 20, role="shared"),
    Case("pass, quota", 200, 20, quota_every=2),
    *(Case("pass, quota", 100, 10, quota_every=2, release=release) for release in OLDER),
]

# A real master needs a round of offers for each framework until everybody has declined everything, so a larger
# cluster would take an hour to fall silent.
LARGE = [
    Case("pass", 1000, 50),
    Case("pass", 1000, 200),
    Case("pass", 5000, 200),
    Case("pass", 10000, 1000),
    Case("pass", 50000, 1000),
    Case("pass, quota on half the roles", 50000, 1000, quota_every=2),
    Case("pass, one role", 1000, 200, role="shared"),
    Case("pass, quota on half the roles", 1000, 200, quota_every=2),
    Case("pass, roles three deep", 1000, 200, role="t{1}/m{2}/r{0}"),
    Case("pass, a third reserved", 1000, 200, reserved_every=3),
    Case("decline", 1000, 50, "decline"),
    Case("decline", 1000, 200, "decline"),
    Case("decline, one role", 1000, 50, "decline", role="shared"),
    Case("decline, quota on half the roles", 1000, 50, "decline", quota_every=2),
    Case("decline, roles three deep", 1000, 50, "decline", role="t{1}/m{2}/r{0}"),
    Case("decline, a third reserved", 1000, 50, "decline", reserved_every=3),
    *(
        replace(case, release=release)
        for release in OLDER
        for case in (
            Case("pass", 1000, 50),
            Case("pass, one role", 1000, 50, role="shared"),
            Case("pass, quota on half the roles", 1000, 50, quota_every=2),
            Case("pass, a third reserved", 1000, 50, reserved_every=3),
            Case("decline", 500, 20, "decline"),
            Case("decline, quota on half the roles", 500, 20, "decline", quota_every=2),
        )
    ),
]
