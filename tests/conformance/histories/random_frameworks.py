"""Random frameworks on masters with ACLs: how each authenticates, the principal that it names, and what it tries."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Step = tuple[str, dict[str, Any]]
PRINCIPALS = ("p", "q", "root")
STRANGER = "stranger"
"""Somebody whom the master does not know."""
AGENTS = (
    "cpus:2;mem:512;disk:100;ports:[31000-31003];cpus(r):1;disk(r):30",
    "cpus(q):2;mem(q):256;disk(q):10;ports(q):[31000-31001]",
    "cpus:1;mem:128;disk:10;ports:[31000-31001];mem(r/x):64",
    "cpus:1;mem:256;disk:20;ports:[31000-31001]",
)


@dataclass(frozen=True)
class Guest:
    """One framework: `by` authenticates, `claim` is the principal in its FrameworkInfo; None leaves either out."""

    by: str | None
    claim: str | None
    roles: tuple[str, ...]
    user: str
    steps: list[Step] = field(default_factory=list)


class FrameworkDice:
    """A source of frameworks that a seed fixes."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._kinds: dict[str, tuple[int, Callable[[], dict[str, Any]]]] = {
            "reserve": (4, lambda: {"principal": self._principal(), "under": self._choose("r", "q", "r/x", "own/x")}),
            "unreserve": (3, lambda: {"place": self._random.randrange(6)}),
            "create": (2, lambda: {"principal": self._principal(), "place": self._random.randrange(4)}),
            "destroy": (2, lambda: {"place": self._random.randrange(4)}),
            "update": (2, lambda: {"claim": self._principal(), "roles": self._roles()}),
            "come_back": (2, lambda: {"by": self._authenticated(), "claim": self._principal()}),
            "watch": (1, lambda: {"by": self._choose(*PRINCIPALS)}),
            "tear_down": (1, lambda: {"by": self._choose(*PRINCIPALS)}),
            "launch": (1, lambda: {"user": self._choose(None, None, "u", "root")}),
        }

    def agents(self) -> tuple[str, ...]:
        """The resources of the agents of a master: reserved in part, as a whole, or not at all."""
        return tuple(self._random.sample(AGENTS, self._choose(1, 2, 3)))

    def guest(self) -> Guest:
        """One framework; it mostly names the principal that it authenticates as, or none."""
        by = self._authenticated()
        claim = self._choose(by, None, None, self._principal())
        kinds = [kind for kind, (weight, _) in self._kinds.items() for _ in range(weight)]
        drawn = self._random.choices(kinds, k=self._choose(2, 4, 6))
        return Guest(by, claim, self._roles(), self._choose("u", "root"), [(k, self._kinds[k][1]()) for k in drawn])

    def is_likely(self) -> bool:
        """Three times in four."""
        return self._random.random() < 0.75

    def _choose(self, *among: Any) -> Any:
        return self._random.choice(among)

    def _authenticated(self) -> str | None:
        return self._choose(*("p", "q") * 4, "root", None, STRANGER)

    def _principal(self) -> str | None:
        return self._choose(*("p", "q") * 3, None, None, "root", "")

    def _roles(self) -> tuple[str, ...]:
        return self._choose(("r",), ("r",), ("r",), ("q",), ("q",), ("q", "r"), ("r/x",))
