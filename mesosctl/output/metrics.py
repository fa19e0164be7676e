"""The present moment of a cluster as metrics, in the form of prometheus-client.

Names follow Prometheus's conventions: base units, so memory and disk in bytes, and a label `unit` where the resource
decides about it.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector

from mesosctl.model.quantities import SIZED_NAMES, to_number
from mesosctl.model.quota.role_status import RoleStatus
from mesosctl.planning.account import Overview
from mesosctl.planning.message_rates import Counts

Messages = Mapping[str, tuple[Counts, int | None]]
"""By principal: its messages, and the capacity of its queue."""
_MEBIBYTE = 1 << 20
_OF = ("resource", "unit")


def _measured(name: str, milli: int) -> tuple[str, str, float]:
    """The resource, its unit, and the amount in it."""
    if name in SIZED_NAMES:
        return name, "byte", to_number(milli) * _MEBIBYTE
    return name, {"cpus": "core", "gpus": "gpu"}.get(name, "count"), to_number(milli)


def _gauge(name: str, text: str, labels: tuple[str, ...] = ()) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"mesosctl_{name}", text, labels=labels)


def families(seen: Overview, messages: Messages) -> Iterator[Metric]:
    """Every metric of a reading."""
    up = _gauge("master_up", "One if the leading master answered, else zero.")
    up.add_metric([], 1)
    yield up
    yield from _cluster(seen)
    yield from _roles(seen)
    yield from _offers(seen)
    yield from _messages(messages)


def no_master() -> Iterator[Metric]:
    """The only metric while no master answers."""
    up = _gauge("master_up", "One if the leading master answered, else zero.")
    up.add_metric([], 0)
    yield up


def _cluster(seen: Overview) -> Iterator[Metric]:
    whole = {
        "resources": ("Resources of the agents in service.", seen.total),
        "used": ("Resources that tasks and executors hold.", seen.used),
        "offered": ("Resources in offers that are not answered.", seen.offered),
        "reserved_idle": ("Resources that are reserved, and neither used nor offered.", seen.idle),
        "lent": ("Revocable resources that tasks hold.", seen.revocable),
    }
    for name, (text, amounts) in whole.items():
        gauge = _gauge(f"cluster_{name}", text, _OF)
        for resource, milli in amounts.items():
            *labels, value = _measured(resource, milli)
            gauge.add_metric([str(label) for label in labels], float(value))
        yield gauge
    agents = _gauge("agents", "Agents by their state.", ("state",))
    for state, count in sorted(seen.agents.items()):
        agents.add_metric([state], count)
    yield agents
    frameworks = _gauge("frameworks", "Frameworks that are registered.")
    frameworks.add_metric([], seen.frameworks)
    yield frameworks


def _roles(seen: Overview) -> Iterator[Metric]:
    amounts = {
        "used": "Resources that the tasks and executors of a role and the roles below it hold.",
        "reserved_idle": "Resources that are reserved for a role, and neither used nor offered.",
        "guarantee": "The guarantee of a role.",
        "guarantee_unmet": "The part of a role's guarantee that it neither has nor is offered.",
        "limit": "The limit of a role.",
    }
    of_role = {name: _gauge(f"role_{name}", text, ("role", *_OF)) for name, text in amounts.items()}
    share = _gauge("role_dominant_share", "The dominant share of a role, as a part of the cluster.", ("role",))
    weight = _gauge("role_weight", "The weight of a role.", ("role",))
    wanting = _gauge(
        "role_wanting", "One if a framework wants offers in a role, else zero; absent if unknown.", ("role",)
    )
    for one in seen.roles:
        for name, gauge in of_role.items():
            for resource, milli in _amounts_of(one, name).items():
                resource_name, unit, value = _measured(resource, milli)
                gauge.add_metric([one.role, resource_name, unit], value)
        part = one.share_of(seen.total)
        share.add_metric([one.role], 0.0 if part is None else part.used)
        if one.weight is not None:
            weight.add_metric([one.role], one.weight)
        if one.usage is not None and one.usage.wanting is not None:
            wanting.add_metric([one.role], float(one.usage.wanting))
    yield from (*of_role.values(), share, weight, wanting)


def _amounts_of(one: RoleStatus, name: str) -> Mapping[str, int]:
    if name == "used":
        return one.used
    if name == "reserved_idle":
        return {} if one.usage is None or one.usage.idle is None else one.usage.idle
    if name == "guarantee":
        return one.quota.guarantees
    if name == "limit":
        return one.quota.limits
    # A zero says that nothing is missing, so that an alert can end.
    return {} if one.usage is None else {resource: one.missing.get(resource, 0) for resource in one.quota.guarantees}


def _offers(seen: Overview) -> Iterator[Metric]:
    of = ("framework", "framework_id")
    outstanding = _gauge("offers_outstanding", "Offers that a framework has not answered.", of)
    oldest = _gauge(
        "offers_oldest_age_seconds",
        "The time for which the oldest offer of a framework has been seen; a master does not tell its age.",
        of,
    )
    for one in seen.offers:
        outstanding.add_metric([one.framework, one.framework_id], one.offers)
        oldest.add_metric([one.framework, one.framework_id], one.oldest)
    yield outstanding
    yield oldest


def _messages(messages: Messages) -> Iterator[Metric]:
    received = CounterMetricFamily(
        "mesosctl_messages_received", "Messages of a principal that the master received.", labels=["principal"]
    )
    processed = CounterMetricFamily(
        "mesosctl_messages_processed", "Messages of a principal that the master processed.", labels=["principal"]
    )
    backlog = _gauge(
        "messages_backlog", "Messages of a principal that wait, as far as its queue holds.", ("principal",)
    )
    dropped = _gauge(
        "messages_dropped",
        "Messages of a principal that the master dropped, at least: those that no queue can hold.",
        ("principal",),
    )
    for principal, (counts, capacity) in sorted(messages.items()):
        received.add_metric([principal], counts.received)
        processed.add_metric([principal], counts.processed)
        held = counts.difference if capacity is None else min(counts.difference, capacity)
        backlog.add_metric([principal], held)
        dropped.add_metric([principal], counts.difference - held)
    yield from (received, processed, backlog, dropped)


_LOOKS_ESCAPED = re.compile(r"\\(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")


def label_value(name: str) -> str:
    r"""The name, with every character that could control a terminal written as `\x1b`, `\u202e` or `\U000e0001`.

    OpenMetrics escapes only the backslash, the quote and the newline. A name with a character that is not printable, or
    that reads as if it were escaped already, has its backslashes doubled, so that no two names get the same value.
    """
    if name.isprintable() and _LOOKS_ESCAPED.search(name) is None:
        return name
    return "".join(map(_escaped, name))


def _escaped(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _readable(metric: Metric) -> Metric:
    """The same metric, with labels that cannot control a terminal."""
    metric.samples = [
        sample._replace(labels={label: label_value(value) for label, value in sample.labels.items()})
        for sample in metric.samples
    ]
    return metric


Read = Callable[[], Iterator[Metric]]


class _ReadingCollector(Collector):
    """Reads the cluster whenever somebody asks for its metrics, and not when it is registered."""

    def __init__(self, read: Read) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """The metrics now."""
        yield from map(_readable, self._read())

    def describe(self) -> Iterator[Metric]:
        """Nothing, so that no cluster is read for it."""
        return iter(())


def registry(read: Read) -> CollectorRegistry:
    """A registry of metrics that are read when they are asked for."""
    made = CollectorRegistry()
    made.register(_ReadingCollector(read))
    return made


def text(read: Read) -> str:
    """The metrics now, as OpenMetrics text."""
    written: bytes = generate_latest(registry(read))  # type: ignore[no-untyped-call]  # it brings no types
    return written.decode()
