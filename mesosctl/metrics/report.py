"""The present moment of a cluster as metrics, in the form of prometheus-client.

Names follow Prometheus's conventions: base units, so memory and disk in bytes, and a label `unit` where the resource
decides about it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector

from mesosctl.mesos.amounts.quantities import SIZED_NAMES, to_number
from mesosctl.mesos.cluster.account import Overview
from mesosctl.mesos.cluster.message_rates import MessageCounts
from mesosctl.mesos.cluster.role_status import RoleStatus

if TYPE_CHECKING:
    from mesosctl.capacity.losses import Spare
    from mesosctl.usage.cost import Cost

Messages = Mapping[str, tuple[MessageCounts, int | None]]
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
        "guarantee_kept": "The part of a role's guarantee that it neither has nor is offered, and that lies free until "
        "it asks for offers; absent if that is unknown.",
        "guarantee_unmet": "The part of a role's guarantee that it neither has nor is offered, and that is not kept "
        "for it either; if that is unknown, all that it lacks.",
        "limit": "The limit of a role.",
    }
    of_role = {name: _gauge(f"role_{name}", text, ("role", *_OF)) for name, text in amounts.items()}
    share = _gauge("role_dominant_share", "The dominant share of a role, as a part of the cluster.", ("role",))
    weight = _gauge("role_weight", "The weight of a role.", ("role",))
    wanting = _gauge(
        "role_wanting", "One if a framework wants offers in a role, else zero; absent if unknown.", ("role",)
    )
    for status in seen.roles:
        for name, gauge in of_role.items():
            for resource, milli in _amounts_of(status, name).items():
                resource_name, unit, value = _measured(resource, milli)
                gauge.add_metric([status.role, resource_name, unit], value)
        part = status.share_of(seen.total)
        share.add_metric([status.role], 0.0 if part is None else part.used)
        if status.weight is not None:
            weight.add_metric([status.role], status.weight)
        if status.usage is not None and status.usage.wanting is not None:
            wanting.add_metric([status.role], float(status.usage.wanting))
    yield from (*of_role.values(), share, weight, wanting)


def _amounts_of(status: RoleStatus, name: str) -> Mapping[str, int]:
    if name == "used":
        return status.used
    if name == "reserved_idle":
        return {} if status.usage is None or status.usage.idle is None else status.usage.idle
    if name == "guarantee":
        return status.quota.guarantees
    if name == "limit":
        return status.quota.limits
    unmet = status.unmet
    if status.usage is None or (name == "guarantee_kept" and unmet is None):
        return {}
    lacking = status.missing
    part = lacking if unmet is None else lacking - unmet if name == "guarantee_kept" else unmet
    # A zero says that nothing is missing, so that an alert can end.
    return {resource: part.get(resource, 0) for resource in status.quota.guarantees}


def _offers(seen: Overview) -> Iterator[Metric]:
    of = ("framework", "framework_id")
    outstanding = _gauge("offers_outstanding", "Offers that a framework has not answered.", of)
    oldest = _gauge(
        "offers_oldest_age_seconds",
        "The time for which the oldest offer of a framework has been seen; a master does not tell its age.",
        of,
    )
    for waiting in seen.offers:
        outstanding.add_metric([waiting.framework, waiting.framework_id], waiting.offers)
        oldest.add_metric([waiting.framework, waiting.framework_id], waiting.oldest)
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


def cost_families(cost: "Cost") -> Iterator[Metric]:
    """The cost of a month; gauges, because a cell that is rounded within its month can also fall by a hundredth."""
    from mesosctl.history.records import to_seconds

    currency = cost.options.prices.currency
    of_role = _gauge(
        "role_cost_month", "The cost of a role since the month began, by part.", ("role", "part", "currency")
    )
    idle = _gauge("cluster_idle_cost_month", "The cost of what was idle since the month began.", ("currency",))
    for key, parts in cost.by_key().items():
        for part, amount in parts.items():
            if key:
                of_role.add_metric([key, part, currency], amount / 100)
            else:
                idle.add_metric([currency], amount / 100)
    covered = _gauge("cost_month_covered_ratio", "The part of the time since the month began that the recording saw.")
    covered.add_metric([], cost.covered)
    begin = _gauge("cost_month_start_timestamp_seconds", "When the month of the cost began.")
    begin.add_metric([], to_seconds(cost.options.since))
    end = _gauge("cost_month_end_timestamp_seconds", "Until when the cost of the month is added up.")
    end.add_metric([], to_seconds(cost.options.until))
    yield from (of_role, idle, covered, begin, end)


def spare_families(found: "Iterable[Spare]") -> Iterator[Metric]:
    """The losses that break a guarantee, by what is lost."""
    breaking = _gauge(
        "spare_losses_that_break_a_guarantee",
        "The losses of an agent, or of the agents with a value of an attribute, that take a role below its guarantee.",
        ("each",),
    )
    hurting = _gauge(
        "spare_losses_that_hurt",
        "The losses that starve somebody, or leave a task without a place.",
        ("each",),
    )
    for spare in found:
        breaking.add_metric([spare.by], spare.breaking)
        hurting.add_metric([spare.by], sum(one.count for one in spare.harmful))
    yield from (breaking, hurting)


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
    readable = copy(metric)  # several may be shown at once
    readable.samples = [
        sample._replace(labels={label: label_value(value) for label, value in sample.labels.items()})
        for sample in metric.samples
    ]
    return readable


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


def application(metrics: CollectorRegistry) -> WSGIApplication:
    """The application of prometheus-client at /metrics alone; other paths answer 404."""
    at_metrics: WSGIApplication = make_wsgi_app(metrics)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO") == "/metrics":
            return at_metrics(environ, start_response)
        start_response("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
        return [b"the metrics are at /metrics\n"]

    return answer


def text(read: Read) -> str:
    """The metrics now, as OpenMetrics text."""
    written: bytes = generate_latest(registry(read))  # type: ignore[no-untyped-call]  # it brings no types
    return written.decode()
