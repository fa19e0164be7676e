"""Situations that are drawn: frameworks, quotas, limits, weights, reservations, and what then happens."""

import random
from dataclasses import replace

from tests.conformance.situations.playing import SIMPLE, WITH_GPUS, Situation, Step, client

ROLES = ("a", "a/x", "a/y", "b", "b/x", "c", "d")
LONG = 1000.0


def drawn(release: str, seed: str) -> Situation:
    """One situation; where agents are not alike, they are few and little happens, so that there are few results."""
    draw = random.Random(seed)
    alike = draw.random() < 0.7
    agents = [_agent(draw)] * draw.randint(2, 6) if alike else [_agent(draw) for _ in range(draw.randint(2, 3))]
    clients = []
    for _ in range(draw.randint(2, 5)):
        roles = tuple(dict.fromkeys(draw.choice(ROLES) for _ in range(draw.choice((1, 1, 1, 1, 2)))))
        suppressed = roles[:1] if draw.random() < 0.12 else ()
        clients.append(client(*roles, capabilities=draw.choice((SIMPLE, WITH_GPUS)), suppressed=suppressed))
    quotas = {role: _guarantee(draw) for role in draw.sample("abcq", draw.choice((0, 1, 1, 2, 2, 3)))}
    limits = {}
    for role in list(quotas) if release == "1.11.0" else ():
        if draw.random() < 0.5:
            guarantee = quotas.pop(role)
            more = draw.choice((1.0, 1.0, 1.5))
            bounds = {name: amount * more for name, amount in guarantee.items()}
            limits[role] = (guarantee if draw.random() < 0.7 else {}, bounds)
    weights = {
        role: draw.choice((0.5, 2, 3)) for role in draw.sample(("a", "b", "c", "d", "a/x"), draw.choice((0, 0, 1, 2)))
    }
    steps = _steps(draw, draw.randint(0, 4 if alike else 2), [each.roles for each in clients], {*quotas, *limits})
    flags: dict[str, str] = {}
    elsewhere: tuple[str, ...] = ()
    if draw.random() < 0.15:
        flags["min_allocatable_resources"] = draw.choice(("cpus:5", "mem:3000", "cpus:7|mem:7000"))
    if alike and draw.random() < 0.15:
        elsewhere = ("cpus:8;mem:4096;disk:100",) * draw.randint(1, 2)
        clients = [
            replace(each, capabilities=(*each.capabilities, "REGION_AWARE")) if draw.random() < 0.5 else each
            for each in clients
        ]
    return Situation(tuple(agents), tuple(clients), quotas, limits, weights, flags, tuple(steps), elsewhere=elsewhere)


def _agent(draw: random.Random) -> str:
    text = f"cpus:{draw.choice((4, 8, 8, 12))};mem:{draw.choice((2048, 4096, 8192))};disk:100;ports:[31000-31003]"
    if draw.random() < 0.35:
        owner = draw.choice(("a", "b", "c", "a/x"))
        text += f";cpus({owner}):{draw.choice((1, 2, 4))};mem({owner}):{draw.choice((256, 1024))}"
    return text + (";gpus:1" if draw.random() < 0.15 else "")


def _guarantee(draw: random.Random) -> dict[str, float]:
    found: dict[str, float] = {}
    if draw.random() < 0.85:
        found["cpus"] = draw.choice((0.5, 3, 4, 8, 10, 12, 16, 20))
    if draw.random() < 0.6 or not found:
        found["mem"] = draw.choice((512, 1024, 3000, 4096, 8192, 12288, 16384))
    if draw.random() < 0.1:
        found["disk"] = 150
    return found


def _steps(draw: random.Random, count: int, of_frameworks: list[tuple[str, ...]], has_quota: set[str]) -> list[Step]:
    steps: list[Step] = []
    for _ in range(count):
        number, kind = draw.randrange(len(of_frameworks)), draw.random()
        without = sorted({"a", "b", "c"} - has_quota)
        if kind < 0.6:
            steps.append(("decline", number, draw.choice((0.0, LONG))))
        elif kind < 0.7:
            steps.append(("suppress", number))
        elif kind < 0.8:
            steps.append(("revive", number))
        elif kind < 0.9 and without:
            has_quota.add(role := draw.choice(without))
            steps.append(("quota", role, {"cpus": draw.choice((2, 6, 9)), "mem": draw.choice((1024, 5000))}))
        elif kind < 0.95:
            steps.append(("reserve", number, 1.0))
        else:
            below = [place for place, roles in enumerate(of_frameworks) if "/" in roles[0]]
            if below:
                number = draw.choice(below)
                steps.append(("refine", number, of_frameworks[number][0].partition("/")[0], 1.0))
    return steps
