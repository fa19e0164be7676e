"""Flags of a master that both halves read, as the texts of its command line and of /flags.

The rest of the flags are the fake master's own affair.
"""

import json
from collections.abc import Mapping

from mesosctl.core.durations import parse_duration
from mesosctl.core.minimum import parse_minimum
from mesosctl.core.quantities import Quantities

DEFAULTS: Mapping[str, str] = {
    "allocator_agent_recovery_factor": "0.8",
    "allocator_recovery_timeout": "10mins",
    "filter_gpu_resources": "true",
    "min_allocatable_resources": "cpus:0.01|mem:32",
    "offer_constraints_re2_max_mem": "4KB",
    "offer_constraints_re2_max_program_size": "100",
}
STRICT_PRIORITY_ALLOCATOR = "strict-priority"
"""What `--allocator` calls the module that shares by priority (seeds/drf.txt), which no Mesos has."""
LENDABLE_NAMES = "cpus,mem"
"""Of lending idle reservations, which no Mesos has: not shown until given."""


def text_of(flags: Mapping[str, str], name: str) -> str:
    """A flag of `DEFAULTS`, as given or by default."""
    return flags.get(name, DEFAULTS[name])


def minimum(flags: Mapping[str, str]) -> tuple[Quantities, ...]:
    """The alternatives of --min_allocatable_resources.  Raises ValueError."""
    return parse_minimum(text_of(flags, "min_allocatable_resources"))


def recovery_factor(flags: Mapping[str, str]) -> float:
    """The part of the agents that recovery waits for.  Raises ValueError."""
    return float(text_of(flags, "allocator_agent_recovery_factor"))


def recovery_seconds(flags: Mapping[str, str]) -> float:
    """How long it waits at most.  Raises ValueError."""
    return parse_duration(text_of(flags, "allocator_recovery_timeout"))


def filters_gpus(flags: Mapping[str, str]) -> bool:
    """Whether agents with GPUs are kept for frameworks that ask for them."""
    return text_of(flags, "filter_gpu_resources") == "true"


def lendable_names(flags: Mapping[str, str]) -> frozenset[str]:
    """What is lent of idle reservations, by name.  Raises ValueError."""
    return parse_names(flags.get("lendable_names", LENDABLE_NAMES))


def parse_names(text: str) -> frozenset[str]:
    """`NAME,NAME…`.  Raises ValueError for one that is empty."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise ValueError(f"'{text}' is not NAME,NAME…")
    return frozenset(names)


def region(flags: Mapping[str, str]) -> str | None:
    """The region in --domain; None where there is none, or where the flag names a file."""
    try:
        return str(json.loads(flags["domain"])["fault_domain"]["region"]["name"])
    except (KeyError, TypeError, ValueError):
        return None
