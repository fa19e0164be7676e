"""Since when masters show a flag, a metric or a member of an answer; what is not here is in every release.

Source: docs/explanation/releases.md, "What each release shows".
"""

import re
from collections.abc import Iterable, Mapping

from mesosctl.mesos.messages.protobuf_json.releases import has
from mesosctl.mesos.rules.version_profile import RELEASES

FLAGS = {
    "require_agent_domain": "1.5.3",
    "memory_profiling": "1.6.2",
    "max_operator_event_stream_subscribers": "1.8.1",
    "publish_per_framework_metrics": "1.8.1",
    "allocator_agent_recovery_factor": "1.11.0",
    "allocator_recovery_timeout": "1.11.0",
    "offer_constraints_re2_max_mem": "1.11.0",
    "offer_constraints_re2_max_program_size": "1.11.0",
}
MEMBERS = {
    "/state capabilities": "1.5.3",
    "agent deactivated": "1.9.0",
    "framework offer_constraints": "1.11.0",
}
METRICS = {
    "master/invalid_operation_status_update_acknowledgements": "1.6.2",
    "master/messages_operation_status_update_acknowledgement": "1.6.2",
    "master/messages_reconcile_operations": "1.6.2",
    "master/valid_operation_status_update_acknowledgements": "1.6.2",
    "master/frameworks/.+": "1.7.3",
    "master/http_cache_hits": "1.8.1",
    "master/invalid_operation_status_updates": "1.8.1",
    "master/messages_operation_status_update": "1.8.1",
    "master/operations/.+": "1.8.1",
    "master/operator_event_stream_subscribers": "1.8.1",
    "master/valid_operation_status_updates": "1.8.1",
    "allocator/mesos/quota/roles/.*/limit": "1.9.0",
    "master/frameworks/.+/calls/update_framework": "1.9.0",
    "allocator/mesos/quota/roles/.*/consumed": "1.10.0",
}
"""By regular expressions of whole names."""


def flags_of(release: str | None, names: Iterable[str]) -> list[str]:
    """The flags that a release has, of these."""
    return [name for name in names if has(release, since(name))]


def flags_at(release: str | None, flags: Mapping[str, str]) -> dict[str, str]:
    """The flags of a master that another one, of this release, has too."""
    return {name: flags[name] for name in flags_of(release, flags)}


def since(flag: str) -> str:
    """The release that brought a flag."""
    return FLAGS.get(flag, RELEASES[0])


def has_member(release: str | None, member: str) -> bool:
    """Whether a release shows a member of `MEMBERS`."""
    return has(release, MEMBERS[member])


def pattern_of(metric: str) -> str | None:
    """The names in `METRICS` that a metric belongs to, if its own is not among them: `master/frameworks/…`."""
    for pattern in METRICS:
        if metric != pattern and re.fullmatch(pattern, metric):
            return re.sub(r"\.[+*]", "…", pattern)
    return None


def metrics_of(release: str | None, metrics: dict[str, float]) -> dict[str, float]:
    """The metrics that a release has, of these; the same object if it has all of them."""
    later = [pattern for pattern, first in METRICS.items() if not has(release, first)]
    if not later:
        return metrics
    is_later = re.compile("|".join(later)).fullmatch
    return {name: value for name, value in metrics.items() if not is_later(name)}
