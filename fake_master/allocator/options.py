"""What an operator can set on the allocator, by the names of the master's flags."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from mesosctl.core.quantities import Quantities
from mesosctl.core.scalars import to_milli

SorterName = Literal["drf", "random"]
Shuffle = Callable[[list[Any]], None]


def keep_order(_items: list[Any]) -> None:
    """Shuffle nothing: agents in the order of registration, entries in their own."""


def parse_minimum(text: str) -> tuple[Quantities, ...]:
    """The flag --min_allocatable_resources: `cpus:0.01|mem:32`, alternatives of `name:amount` joined by ";".

    Raises ValueError.
    """
    alternatives = []
    for alternative in text.split("|"):
        amounts: dict[str, int] = {}
        for token in filter(None, (part.strip() for part in alternative.split(";"))):
            name, colon, amount = token.partition(":")
            if not colon:
                raise ValueError(f"'{token}' is not NAME:AMOUNT")
            amounts[name.strip()] = to_milli(float(amount))
        if amounts:
            alternatives.append(Quantities(amounts))
    return tuple(alternatives)


@dataclass(frozen=True, slots=True)
class Options:
    """Flags, and the three places where the outer world leaks in: shuffling, chance and the stop watch."""

    allocation_interval: float = 1.0
    min_allocatable_resources: tuple[Quantities, ...] = parse_minimum("cpus:0.01|mem:32")
    filter_gpu_resources: bool = True
    fair_sharing_excluded_resource_names: frozenset[str] = frozenset()
    role_sorter: SorterName = "drf"
    framework_sorter: SorterName = "drf"
    allocator_agent_recovery_factor: float = 0.8
    allocator_recovery_timeout: float = 600.0
    region: str | None = None
    """Region of the master's own fault domain."""
    reservations_consume_quota: bool = True
    """What `mesosctl.core.profile` says of the master's version."""
    shuffle: Shuffle = keep_order
    """Called with the agents of a run twice, and with the entries of a shrink whose names repeat."""
    random: Random = field(default_factory=lambda: Random(0))  # noqa: S311  # no secrets here
    """What the random sorter draws from."""
    perf_counter: Callable[[], float] = time.perf_counter
    """Seconds, for the metric allocation_run_ms alone; no decision hangs on it."""
