"""The steps of a random history of drivers: what may be done next, and with what."""

import random
from collections.abc import Callable
from typing import Any

AGENTS = (
    "cpus:12;mem:6144;disk:1000;ports:[31000-31009]",
    "cpus:4;mem:2048;disk:500;cpus(ads):2;ports:[31000-31002]",
    "cpus:8;mem:4096;disk:200;ports:[31000-31004]",
)
ROLES = ("ads", "web")
Step = tuple[str, dict[str, Any]]


# --- Drawing ------------------------------------------------------------------------------------------


def draw(seed: int, length: int) -> list[Step]:
    """The steps of one history."""
    chance = random.Random(seed)
    kinds = [kind for kind, (weight, _) in _STEPS.items() for _ in range(weight)]
    return [(kind, _STEPS[kind][1](chance)) for kind in chance.choices(kinds, k=length)]


def _amounts(chance: random.Random) -> dict[str, float]:
    found: dict[str, float] = {"cpus": chance.choice([0.5, 1, 2, 3.25])}
    if chance.random() < 0.6:
        found["mem"] = chance.choice([64, 512, 1024.5])
    return found


def _place(chance: random.Random) -> dict[str, Any]:
    return {"place": chance.randrange(6), "refuse": chance.choice([0.0, 0.0, 0.0, None, 3600.0])}


_STEPS: dict[str, tuple[int, Callable[[random.Random], dict[str, Any]]]] = {
    "decline": (5, _place),
    "decline_gone": (1, _place),
    "reserve": (5, lambda c: {**_place(c), "amounts": _amounts(c), "label": c.choice([None, "k"])}),
    "reserve_too_much": (1, lambda c: {**_place(c), "amounts": {"cpus": 1000.0}, "label": None}),
    "unreserve": (4, _place),
    "create": (3, lambda c: {**_place(c), "disk": c.choice([8.0, 64.0])}),
    "destroy": (3, _place),
    "accept_nothing": (1, _place),
    "accept_gone": (1, _place),
    "launch_too_much": (2, lambda c: {**_place(c), "task": f"t{c.randrange(5)}"}),
    "launch_elsewhere": (1, lambda c: {**_place(c), "task": f"t{c.randrange(5)}"}),
    "launch_gone": (1, lambda c: {**_place(c), "task": f"t{c.randrange(5)}"}),
    "launch_nameless": (1, _place),
    "kill": (2, lambda c: {"task": f"t{c.randrange(5)}"}),
    "reconcile": (2, lambda c: {"tasks": [f"t{n}" for n in range(c.randrange(4))]}),
    "reconcile_on_agent": (1, lambda c: {"task": f"t{c.randrange(5)}", "agent": c.randrange(4)}),
    "revive": (3, lambda c: {"roles": c.sample(ROLES, c.randrange(2))}),
    "suppress": (2, lambda c: {"roles": c.sample(ROLES, c.randrange(2))}),
    "message": (1, lambda c: {"agent": c.randrange(4)}),
    "request": (1, lambda _: {}),
    "update": (1, lambda c: {"roles": c.sample(ROLES, 1)}),
    "update_badly": (1, lambda _: {}),
    "fail_over": (1, lambda _: {}),
    "come_back": (1, lambda _: {}),
    "begin_anew": (1, lambda _: {}),
    "abort": (1, lambda _: {}),
    "set_quota": (2, lambda c: {"role": c.choice(ROLES), "limit": c.choice([None, 100.0])}),
    "operator_reserves": (
        2,
        lambda c: {"agent": c.randrange(3), "role": c.choice(ROLES), "cpus": c.choice([0.5, 2.0])},
    ),
    "operator_unreserves": (1, lambda c: {"agent": c.randrange(3)}),
    "weigh": (1, lambda c: {"weight": c.choice([0.5, 2.0])}),
}
