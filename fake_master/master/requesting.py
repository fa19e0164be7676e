"""REQUEST: a framework says what its tasks require (spec/endpoints.md §5).

The hierarchical allocator ignores it, as Mesos's own does; the strict priority module listens.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fake_master.allocator.interface import ResourceRequest
from fake_master.master.frameworks import Framework
from mesosctl.core.errors import RuleViolation
from mesosctl.core.resources import Resources
from mesosctl.wire.resources import to_core

if TYPE_CHECKING:
    from fake_master.master.master import Master


def request(master: "Master", framework: Framework, requests: Sequence[Mapping[str, Any]]) -> None:
    """Every request of a call, each for one agent; scalars count, and one that is not valid is passed over."""
    wanted = []
    for message in requests:
        try:
            entries = [to_core(resource) for resource in message.get("resources", ())]
        except RuleViolation:
            continue
        roles = {entry.allocation_role for entry in entries} - {None}
        wanted.append(
            ResourceRequest(
                Resources(entries).scalar_quantities(),
                agent=message.get("agent_id", {}).get("value"),
                role=min(roles) if len(roles) == 1 else None,  # type: ignore[type-var]  # None was taken out
            )
        )
    master.allocator.request_resources(framework.id, wanted)
