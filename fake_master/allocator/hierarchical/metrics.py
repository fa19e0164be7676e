"""The allocator's metrics under Mesos's own names."""

from collections import Counter, deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType

from fake_master.allocator.hierarchical.role_tree import RoleNode
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import quota_metric
from mesosctl.mesos.amounts.quantities import add_up, to_double, to_shown

# Mesos keeps the samples of two weeks, at most 1,000 of them.
_SAMPLES = 1000
_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999, "p9999": 0.9999}
_SHOWN = ("cpus", "disk", "mem")


class StopWatch(AbstractContextManager[None]):
    """A timer in milliseconds that keeps its samples; used as `with timer:`."""

    def __init__(self, name: str, perf_counter: Callable[[], float]) -> None:
        self._name = name
        self._clock = perf_counter
        self._started = 0.0
        self._samples: deque[float] = deque(maxlen=_SAMPLES)

    def __enter__(self) -> None:
        self._started = self._clock()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.record((self._clock() - self._started) * 1000.0)

    def record(self, milliseconds: float) -> None:
        """Add a sample."""
        self._samples.append(milliseconds)

    def figures(self) -> dict[str, float]:
        """The last sample, and statistics of all; nothing before the first."""
        if not self._samples:
            return {}
        ordered = sorted(self._samples)
        figures = {
            self._name: self._samples[-1],
            f"{self._name}/count": float(len(ordered)),
            f"{self._name}/min": ordered[0],
            f"{self._name}/max": ordered[-1],
        }
        for label, part in _PERCENTILES.items():
            figures[f"{self._name}/{label}"] = percentile(ordered, part)
        return figures


def percentile(ordered: list[float], part: float) -> float:
    """Linear between the two nearest ranks; `ordered` ascending and not empty."""
    position = part * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def state_figures(state: State) -> dict[str, float]:
    """The present resources, quota, filters and shares."""
    used = state.total_used()
    figures: dict[str, float] = {}
    for name in _SHOWN:
        prefix = f"allocator/mesos/resources/{name}"
        figures[f"{prefix}/total"] = to_double(state.totals.amounts.get(name, 0))
        figures[f"{prefix}/offered_or_allocated"] = to_double(used.get(name, 0))
    for role in state.roles:
        figures |= _quota_figures(state, role)
    figures |= _consumed_figures(state)
    filters: Counter[str] = Counter()
    for framework in state.frameworks.values():
        filters.update({name: client.filters.count for name, client in framework.clients.items()})
    for role in state.roles:
        figures[f"allocator/mesos/offer_filters/roles/{role.name}/active"] = float(filters[role.name])
        if role.sorter is not None:
            figures[f"allocator/mesos/roles/{role.name}/shares/dominant"] = state.role_sorter.share(role.name)
    return figures


def _quota_figures(state: State, role: RoleNode) -> dict[str, float]:
    held = state.role_sorter.allocation(role.name) if role.leaf is not None else {}
    figures = {}
    for kind, amounts in (("guarantee", role.quota.guarantees), ("limit", role.quota.limits)):
        for resource, amount in amounts.items():
            prefix = quota_metric(role.name, resource)
            figures[f"{prefix}/{kind}"] = to_shown(amount)
            figures[f"{prefix}/offered_or_allocated"] = to_double(held.get(resource, 0))
    return figures


def _consumed_figures(state: State) -> dict[str, float]:
    figures = {}
    for role in (state.roles.root, *state.roles):
        consumed = dict(role.allocated_unreserved)
        if state.options.reservations_consume_quota:
            add_up(consumed, role.reservations.items())
        for resource, amount in consumed.items():
            figures[f"{quota_metric(role.name, resource)}/consumed"] = to_shown(amount)
    return figures
