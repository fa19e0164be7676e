"""A conformance suite for allocators: it sends events and checks what a master relies on.

In your own test:

    from fake_master.allocator.conformance import check_class

    def test_it_conforms():
        check_class(MyAllocator)

The checks hold for every allocator, whatever its order of frameworks: resources are offered once,
to active frameworks, in roles that may have them, and not while a refusal lasts; limits of quota
are kept; only what is held is revoked; misuse raises the documented errors; nothing else raises any;
and an idle cluster is offered in the end.
"""

import random
from collections.abc import Callable

from fake_master.allocator import custom
from fake_master.allocator.conformance_history import History, MakeWithCallbacks, Violation
from fake_master.allocator.custom import CustomAllocator
from fake_master.allocator.interface import (
    AgentInfo,
    Allocator,
    Callbacks,
    FrameworkInfo,
    OfferCallback,
    OffersByRole,
)
from fake_master.allocator.options import Options
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import BadInput

__all__ = ["MakeAllocator", "Violation", "check", "check_class"]

MakeAllocator = Callable[[OfferCallback], Allocator]
"""Makes a new allocator, whose clock is at 0."""

_BATCHES = 10


def check_class(
    allocator: CustomAllocator, options: Options | None = None, *, seeds: int = 20, steps: int = 60
) -> None:
    """Run every check on a class, as for `--allocator`.

    Raises Violation, which says what is wrong. It runs `seeds` histories of `steps` random events.
    """
    if isinstance(allocator, type):
        try:
            custom.check_class(allocator.__name__, allocator)
        except BadInput as error:
            raise Violation(error.message) from error
    _check(lambda callbacks: allocator(options or Options(), callbacks, 0.0), seeds, steps)


def check(make: MakeAllocator, *, seeds: int = 20, steps: int = 60) -> None:
    """Run every check on allocators that a function makes.  Raises Violation."""
    _check(lambda callbacks: make(callbacks.offers), seeds, steps)


def _check(make: MakeWithCallbacks, seeds: int, steps: int) -> None:
    for name, check in (("misuse", _check_errors), ("one framework alone", _check_progress)):
        try:
            check(make)
        except Violation:
            raise
        except Exception as error:
            raise Violation(f"{name}: {custom.explain(error)}") from error
    for seed in range(seeds):
        _check_history(make, seed, steps)


def _check_errors(make: MakeWithCallbacks) -> None:
    """Misuse raises the documented errors."""
    allocator = make(Callbacks(offers=lambda _framework, _by_role: None))
    allocator.add_agent(AgentInfo("A"), parse_resources("cpus:1"))
    allocator.add_framework(FrameworkInfo("F", frozenset({"a"})))
    for name, misuse in {
        "remove_agent": lambda: allocator.remove_agent("?"),
        "deactivate_agent": lambda: allocator.deactivate_agent("?"),
        "remove_framework": lambda: allocator.remove_framework("?"),
        "suppress": lambda: allocator.suppress("?"),
        "revive": lambda: allocator.revive("?"),
    }.items():
        _expect(KeyError, misuse, f"{name} with an unknown id")
    held = parse_resources("cpus:1").allocated_to("a")
    _expect(ValueError, lambda: allocator.recover_resources("F", "A", held), "giving back resources that are not held")
    # Unknown ids are not an error here, because a master may be late.
    allocator.recover_resources("?", "A", held)
    allocator.recover_resources("F", "?", held)


def _expect(error: type[Exception], misuse: Callable[[], None], what: str) -> None:
    try:
        misuse()
    except error:
        return
    except Exception as other:
        raise Violation(f"{what} must raise {error.__name__}, not {custom.explain(other)}") from other
    raise Violation(f"{what} must raise {error.__name__}")


def _check_progress(make: MakeWithCallbacks) -> None:
    """A single framework is eventually offered a whole agent, and again after it returns it."""
    offered: list[Resources] = []

    def on_offers(_framework: str, by_role: OffersByRole) -> None:
        offered.extend(resources for by_agent in by_role.values() for resources in by_agent.values())

    allocator = make(Callbacks(offers=on_offers))
    total = parse_resources("cpus:4;mem:1024")
    allocator.add_agent(AgentInfo("A"), total)
    allocator.add_framework(FrameworkInfo("F", frozenset({"a"})))
    for _ in range(2):
        for _ in range(_BATCHES):
            deadline = allocator.next_deadline()
            if deadline is None:
                break
            allocator.advance_to(deadline)
        if Resources(entry for part in offered for entry in part.allocated_to(None)) != total:
            raise Violation("a framework that is alone must eventually be offered the whole agent")
        for part in offered:
            allocator.recover_resources("F", "A", part)
        offered.clear()


def _check_history(make: MakeWithCallbacks, seed: int, steps: int) -> None:
    """Send random events, and check every decision."""
    history = History(make, random.Random(seed))  # noqa: S311  # no secrets here
    for step in range(steps):
        try:
            history.step()
        except Violation as violation:
            raise Violation(f"{violation} (history {seed}, event {step}: {history.event})") from violation
        except Exception as error:
            raise Violation(f"history {seed}, event {step}: {history.event}: {custom.explain(error)}") from error
