"""A fake and a real master whose agents have the same random descriptions: both start or neither, and show the same.

Nothing is undone: to destroy a volume empties its disk.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import quick
from tests.conformance.histories.playing import SEED, SLOW_STEPS
from tests.conformance.histories.random_agents import AgentDice, Entry
from tests.conformance.histories.random_operations import rounded
from tests.conformance.masters.carriers import Carrier, Pool, judged
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.comparing import steady
from tests.conformance.masters.judges import JUDGES_OF_HISTORIES

AGENTS = 6
ODD = 3
"""Descriptions that may be refused, beside each lot of agents."""
OPERATIONS = 4
"""On each agent."""
OWN = {"capabilities", "domain", "hostname", "id", "pid", "port", "registered_time", "version"}
"""The members that an agent gives itself, whatever its description."""


def started(pool: Pool, carrier: Carrier, setup: Setup) -> Cluster | None:
    """The master with its agents; None if they do not start."""
    try:
        return pool.start(carrier, setup)
    except Exception:  # noqa: BLE001  # each carrier fails in its own way
        return None


def entries(agent: Any) -> list[Entry]:
    """Everything that an agent has, in no particular order, to three decimals."""
    owned = [entry for listed in agent["reserved_resources_full"].values() for entry in listed]
    return sorted(
        map(rounded, [*agent["unreserved_resources_full"], *owned]), key=lambda entry: json.dumps(entry, sort_keys=True)
    )


def described(master: Cluster) -> list[Any]:
    """The agents that a master shows, regardless of the order of roles."""
    shown = [{key: part for key, part in agent.items() if key not in OWN} for agent in master.agents()]
    return [steady({**agent, "reserved_resources_full": entries(agent)}) for agent in shown]


def offered(master: Cluster) -> dict[int, Any]:
    """The offers of a framework, by agent: its number, its attributes and its unordered resources."""
    framework = Framework(master, "ads/video").subscribe()
    framework.settle()
    number = {agent["id"]: place for place, agent in enumerate(master.agents())}
    offers = [
        offer for event in framework.stream.events if event["type"] == "OFFERS" for offer in event["offers"]["offers"]
    ]
    framework.leave()
    framework.stream.hang_up()
    return {
        number[offer["agent_id"]["value"]]: (
            offer.get("attributes"),
            sorted(json.dumps(entry, sort_keys=True) for entry in offer["resources"]),
        )
        for offer in offers
    }


def operate(masters: list[Cluster], dice: AgentDice) -> Counter[int]:
    """A few operations on every agent of both masters; how often each status came."""
    statuses: Counter[int] = Counter()
    for number in range(AGENTS * OPERATIONS):
        agents = [master.agents()[number % AGENTS] for master in masters]
        call, about = dice.operation(entries(agents[0]), number)
        field = "resources" if call == "RESERVE_RESOURCES" else "volumes"
        given = [
            master.call(call, **{call.lower(): {"agent_id": {"value": agent["id"]}, field: about}}).status
            for master, agent in zip(masters, agents, strict=True)
        ]
        assert given[1] == given[0], (call, about)
        assert entries(masters[1].agents()[number % AGENTS]) == entries(masters[0].agents()[number % AGENTS]), about
        statuses[given[0]] += 1
    return statuses


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@pytest.mark.parametrize("carriers", judged(*JUDGES_OF_HISTORIES), ids=lambda pair: str(pair[0]))
def test_agents_are_what_their_descriptions_say(pool: Pool, tmp_path: Path, carriers: tuple[Carrier, Carrier]) -> None:
    dice = AgentDice(SEED, tmp_path)
    statuses: Counter[int] = Counter()
    starts: Counter[bool] = Counter()
    steps = 0
    while steps < SLOW_STEPS:
        for texts in (*([dice.odd_agent()] for _ in range(ODD)), dice.agents(AGENTS)):
            setup = quick(*texts, attributes=dice.attributes())
            real, fake = (started(pool, carrier, setup) for carrier in carriers)
            assert (fake is None) is (real is None), texts
            steps += len(texts)
            if real is None or fake is None:
                assert len(texts) == 1, texts
                starts[False] += 1
                continue
            assert described(fake) == described(real), texts
            if len(texts) == AGENTS:
                assert offered(fake) == offered(real), texts
                statuses += operate([real, fake], dice)
                steps += AGENTS * OPERATIONS
            else:
                starts[True] += 1
            real.stop()
            fake.stop()
    # Otherwise little would have been tried.
    assert starts.keys() == {False, True}
    assert min(statuses[status] for status in (202, 409)) > SLOW_STEPS / 50, statuses
