"""Random wishes, one after the other on the same master: each is reached, or refused before anything is done."""

from pathlib import Path
from random import Random

import pytest

from mesosctl.files.desired_state import dump
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities
from mesosctl.mesos.desired.desired_state import DesiredState
from mesosctl.mesos.desired.reservation_plan import DesiredOnAgent
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange
from tests.conformance.callers.command_line import run_command
from tests.conformance.callers.joining import quick
from tests.conformance.masters.carriers import Carrier, Pool
from tests.conformance.masters.cluster import Cluster
from tests.helpers.surroundings import Ran

SETUP = quick("cpus:8;mem:4096;disk:10;ports:[1-20]", "cpus:8;mem:4096;disk:10;cpus(s):4;ports:[1-20]")
STACKS = (("a",), ("b",), ("a", "a/x"), ("a", "a/y"), ("a", "a/x", "a/x/z"), ("s", "s/t"))
ROUNDS = 6


def some_wishes(random: Random, agents: list[str]) -> DesiredState:
    reservations: list[DesiredOnAgent] = []
    for index, agent in enumerate(agents):
        ports = random.sample(range(1, 21), 20)
        stacks: set[tuple[str, ...]] = set()
        for roles in random.sample(STACKS, random.randint(0, 4)):
            static = roles[0] == "s"
            if (static and index != 1) or (not static and len(roles) > 1 and roles[:-1] not in stacks):
                continue  # there is nothing that it could stand upon
            stacks.add(roles)
            mine = [ports.pop() for _ in range(0 if static else random.randint(0, 3))]
            spans = ",".join(f"{port}-{port}" for port in mine)
            amounts = f"cpus:{random.choice(['0.1', '0.5', '1', '2.125'])};ports:[{spans}]"
            reservations.append(DesiredOnAgent(agent, roles[-1], parse_resources(amounts), roles[:-1]))
    quotas = {
        role: DesiredQuotaChange(
            Quantities({"cpus": random.randint(1, 9000), "mem": random.randint(1, 4096000)}),
            Limits(),  # where nothing is said, the limit would be the guarantee, and less than some role consumes
        )
        for role in random.sample(["a", "b", "web", "s"], random.randint(0, 4))
    }
    weights = {role: random.choice([0.5, 1.0, 3.0]) for role in random.sample(["a", "a/x", "q"], random.randint(0, 3))}
    return DesiredState(quotas, weights, reservations)


@pytest.mark.parametrize("seed", range(4))
def test_one_wish_after_the_other(carrier: Carrier, pool: Pool, tmp_path: Path, seed: int) -> None:
    master = pool.lend(carrier, SETUP)
    random = Random(seed)
    reached = 0
    for _ in range(ROUNDS):
        text = dump(some_wishes(random, [agent["id"] for agent in master.agents()]))
        before = run(master, tmp_path, "export").out
        ran = run(master, tmp_path, "apply", text, "--yes")
        if ran.status == 6:  # more than there is
            assert run(master, tmp_path, "export").out == before, (text, ran.err)
            continue
        assert ran.status == 0, (text, before, ran.err)
        reached += 1
        assert all(step["done"] for step in ran.json["steps"])
        assert run(master, tmp_path, "diff", text).status == 0, (text, before)
    assert reached


def run(master: Cluster, folder: Path, verb: str, text: str | None = None, *more: str) -> Ran:
    targets = () if text is None else ("-f", "-", "--prune", "-o", "json")
    return run_command(master, verb, *targets, *more, stdin=text or "", XDG_STATE_HOME=str(folder))
