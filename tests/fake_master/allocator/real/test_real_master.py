"""Random situations on the allocator and on a real master: the same resources for each framework.

Frameworks subscribe first and hold whatever they are offered; agents of different sizes come one
after another, so the outcome does not hang on the order in which a run walks agents.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import Mapping

import pytest

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.interface import AgentInfo, Callbacks, FrameworkInfo
from fake_master.allocator.options import Options
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota, to_double, to_milli
from mesosctl.mesos.amounts.resources import Resources
from tests.fake_master.allocator.real.real_master import Agents, RealMaster, Scheduler, hold

RUNS = "allocator/mesos/allocation_runs"
ROLES = ["a", "a/b", "a/b/c", "b", "q", "*", "a-b"]
Shares = dict[str, dict[str, float]]
"""By framework name, and by resource name with its reservation."""


class Situation:
    """Weights, quotas, frameworks and agents, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        draw = random.Random(seed)
        self.weights = {role: draw.choice([0.5, 2.0, 3.0]) for role in draw.sample(ROLES, 2)}
        self.quotas: dict[str, tuple[dict[str, float], dict[str, float]]] = {}
        for role in draw.sample(["a", "b", "q", "*"], draw.randint(0, 2)):
            guarantees = {"cpus": float(draw.randint(1, 9)), "mem": float(draw.randint(1, 9) * 512)}
            more = draw.choice([None, 0.0, 3.0])
            self.quotas[role] = (guarantees, {} if more is None else {"cpus": guarantees["cpus"] + more})
        self.roles = [draw.choice(ROLES) for _ in range(draw.randint(3, 7))]
        self.agents = []
        for _ in range(draw.randint(6, 12)):
            cpus, mem = draw.randint(1, 40) / draw.choice([1, 3, 10]), draw.randint(1, 24) * 128
            text = f"cpus:{cpus:.3f};mem:{mem};disk:{draw.randint(1, 9) * 100}"
            if draw.random() < 0.3:
                role = draw.choice([role for role in ROLES if role != "*"])
                text += f";cpus({role}):{draw.randint(1, 4)};mem({role}):{draw.randint(1, 4) * 100}"
            self.agents.append(text)


def ours(epoch: Situation) -> Shares:
    held: Shares = {}

    def on_offers(framework: str, by_role: Mapping[str, Mapping[str, Resources]]) -> None:
        for by_agent in by_role.values():
            for offered in by_agent.values():
                for entry in offered:
                    assert isinstance(entry.value, int)
                    _add(held, framework, entry.name, entry.role, entry.value)

    allocator = HierarchicalAllocator(Options(), Callbacks(on_offers), 0.0)
    allocator.update_weights(epoch.weights)
    for role, (guarantees, limits) in epoch.quotas.items():
        allocator.update_quota(role, Quota(Quantities(_milli(guarantees)), Limits(_milli(limits))))
    for index, role in enumerate(epoch.roles):
        allocator.add_framework(FrameworkInfo(f"f{index}", frozenset({role})))
    for index, text in enumerate(epoch.agents):
        allocator.add_agent(AgentInfo(f"agent{index}"), parse_resources(text))
        allocator.advance_to(index + 1.0)
    allocator.advance_to(len(epoch.agents) + 3.0)
    return _doubles(held)


async def theirs(epoch: Situation) -> Shares:
    with RealMaster() as master:
        configs = [
            {"role": role, "guarantees": _scalars(guarantees), "limits": _scalars(limits)}
            for role, (guarantees, limits) in epoch.quotas.items()
        ]
        await asyncio.to_thread(
            master.call, {"type": "UPDATE_QUOTA", "update_quota": {"force": True, "quota_configs": configs}}
        )
        weights = [{"role": role, "weight": weight} for role, weight in epoch.weights.items()]
        await asyncio.to_thread(master.call, {"type": "UPDATE_WEIGHTS", "update_weights": {"weight_infos": weights}})
        schedulers = [Scheduler(master.port, f"f{index}", [role], hold) for index, role in enumerate(epoch.roles)]
        tasks = []
        for scheduler in schedulers:  # one by one, so that their ids sort as ours do
            tasks.append(asyncio.create_task(scheduler.run()))
            await scheduler.subscribed.wait()
        agents = Agents(master.port)
        await agents.start()
        for index, text in enumerate(epoch.agents):
            await agents.register(text)
            await _settled(master, schedulers, agents=index + 1)
        await agents.stop()
        for task in tasks:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks)
        held: Shares = {}
        for scheduler in schedulers:
            for offer in scheduler.offers:
                for entry in offer["resources"]:
                    owner = entry["reservations"][-1]["role"] if entry.get("reservations") else "*"
                    _add(held, scheduler.name, entry["name"], owner, to_milli(entry["scalar"]["value"]))
        return _doubles(held)


async def _settled(master: RealMaster, schedulers: list[Scheduler], agents: int) -> None:
    """Until the master knows so many agents, has run for them, and everybody has the offers that it made.

    A run is counted when it begins, and may have been due before the agent came: of three the second is whole and new.
    """
    deadline, enough = time.monotonic() + 120, 0.0
    while time.monotonic() < deadline:
        figures = await asyncio.to_thread(master.metrics)
        if figures["master/slaves_active"] == agents:
            enough = enough or figures[RUNS] + 3
            arrived = sum(len(scheduler.offers) for scheduler in schedulers)
            if figures[RUNS] >= enough and arrived == figures["master/outstanding_offers"]:
                return
    raise TimeoutError("the real master stopped allocating")


def _add(held: Shares, framework: str, name: str, owner: str, milli: int) -> None:
    amounts = held.setdefault(framework, {})
    amounts[f"{name}({owner})"] = amounts.get(f"{name}({owner})", 0) + milli


def _doubles(held: Shares) -> Shares:
    return {name: {key: to_double(int(milli)) for key, milli in amounts.items()} for name, amounts in held.items()}


def _milli(amounts: dict[str, float]) -> dict[str, int]:
    return {name: to_milli(amount) for name, amount in amounts.items()}


def _scalars(amounts: dict[str, float]) -> dict[str, dict[str, float]]:
    return {name: {"value": amount} for name, amount in amounts.items()}


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@pytest.mark.parametrize("seed", range(4))
def test_same_shares_as_the_real_master(seed: int) -> None:
    epoch = Situation(seed)
    assert ours(epoch) == asyncio.run(theirs(epoch)), vars(epoch)
