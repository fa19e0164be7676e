"""Whole agents are taken back for a new quota, as few as needed; only what quota can use of them counts."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from fake_master.sources.agent_tables import AgentSpec
from mesosctl.mesos.amounts.quantities import Quantities
from tests.helpers.lab import Lab, Scheduler, scalar
from tests.helpers.profiles import examples

NAMES = ("cpus", "mem")
OFFER_HOLDERS = ("other", "web", "q")


def resources(free: int, reserved: int, mounted: int, role: str) -> str:
    """An agent with both names in parts: free, and reserved for a role; and a disk of its own beside the usual one."""
    entries = [scalar(name, free) for name in NAMES if free]
    entries += [scalar(name, reserved) | {"reservations": [{"type": "STATIC", "role": role}]} for name in NAMES]
    entries += [scalar("disk", free + 1)]
    source = {"type": "MOUNT", "mount": {"root": "/mnt"}}
    entries += [scalar("disk", mounted) | {"disk": {"source": source}}] if mounted else []
    return json.dumps(entries)


agents = st.builds(
    resources,
    free=st.integers(0, 4),
    reserved=st.integers(1, 9),
    mounted=st.sampled_from([0, 0, 50]),
    role=st.sampled_from(OFFER_HOLDERS[:2]),
)


def usable(offers: list[Any]) -> Quantities:
    """What offers have for quota: amounts that nobody reserved, of no particular disk."""
    sums: dict[str, int] = {}
    for offer in offers:
        for part in offer["resources"]:
            if "scalar" in part and not part.get("reservations") and "disk" not in part:
                sums[part["name"]] = sums.get(part["name"], 0) + round(part["scalar"]["value"] * 1000)
    return Quantities(sums)


@pytest.mark.parametrize("door", ["/quota", "SET_QUOTA"])
@settings(max_examples=examples(90))
@example(
    listed=[resources(1, 9, 0, "other"), resources(1, 9, 0, "web"), resources(2, 1, 0, "other")],
    wanted={"cpus": 2},
    of_role=1,
    away=[],
    gone_away=0,
)
@example(
    listed=[resources(0, 1, 50, "other"), resources(2, 1, 0, "other")],
    wanted={"disk": 20},
    of_role=0,
    away=[],
    gone_away=0,
)
@example(listed=[resources(4, 1, 0, "other")] * 3, wanted={"cpus": 1}, of_role=3, away=[], gone_away=2)
@given(
    listed=st.lists(agents, min_size=1, max_size=5),
    wanted=st.dictionaries(st.sampled_from([*NAMES, "disk"]), st.integers(1, 8), min_size=1),
    of_role=st.integers(0, 3),
    away=st.lists(st.booleans(), max_size=5),
    gone_away=st.integers(0, 2),
)
def test_whole_agents_go_until_what_quota_can_use_covers_the_guarantee(
    door: str, listed: list[str], wanted: dict[str, int], of_role: int, away: list[bool], gone_away: int
) -> None:
    """One for each framework of the role that is there in any case.

    Agents that are out of service, and what they have, stay; a framework that is not connected counts for nothing.
    """
    lab = Lab(*(AgentSpec(text) for text in listed))
    frameworks = [Scheduler(lab, name=name) for name in OFFER_HOLDERS[:2]]
    frameworks += [Scheduler(lab, name=f"q{number}", roles=["q"]) for number in range(of_role)]
    for framework in frameworks[2:][:gone_away]:
        framework.stream.abandon()
    of_role = max(0, of_role - gone_away)
    offers = [offer for framework in frameworks for offer in framework.offers()]
    for agent_id, is_away in zip(list(lab.master.state.agents), away, strict=False):
        if is_away:
            lab.about("DEACTIVATE_AGENT", agent_id)
            offers = [offer for offer in offers if offer["agent_id"]["value"] != agent_id]
    for framework in frameworks:
        framework.heard("RESCIND")
    request = {"role": "q", "force": True, "guarantee": [scalar(name, amount) for name, amount in wanted.items()]}
    if door == "/quota":
        assert lab.post(door, request) == 200
    else:
        lab.call(door, quota_request=request)
    gone = {one["offer_id"]["value"] for framework in frameworks for one in framework.heard("RESCIND")}

    by_agent = [
        found
        for agent_id in lab.master.state.agents
        if (found := [offer for offer in offers if offer["agent_id"]["value"] == agent_id])
    ]
    needed = Quantities({name: amount * 1000 for name, amount in wanted.items()})
    visited = 0
    while visited < len(by_agent):
        so_far = usable([offer for found in by_agent[:visited] for offer in found])
        if visited >= of_role and so_far.contains(needed):
            break
        visited += 1
    event(f"{visited} of {len(by_agent)} agents")
    assert gone == {offer["id"]["value"] for found in by_agent[:visited] for offer in found}


def spread(lab: Lab, subscribed: Sequence[Sequence[str]]) -> tuple[list[Scheduler], list[Any]]:
    """Frameworks with these roles that share the agents, and their offers."""
    frameworks, kept = [], []
    for number, roles in enumerate(subscribed):
        framework = Scheduler(lab, name=f"f{number}", roles=list(roles))
        offers = framework.offers()
        share = -(-len(offers) // (len(subscribed) - number))
        others = offers[share:]
        while others:  # once for each of its roles
            framework.ask("DECLINE", offer_ids=[one["id"] for one in others], filters={"refuse_seconds": 10000})
            others = framework.offers()
        frameworks.append(framework)
        kept += offers[:share]
    return frameworks, kept


TREE = ("web", "web/shop", "web/shop/cart", "other", "website")
"""Roles, of which the first three count towards the quota of web."""
EACH = 4
"""The cpus of every agent."""


@settings(max_examples=examples(60))
@example(subscribed=["web", "web/shop", "web/shop/cart", "other"], agents=8, limit=5, guarantee=0)
@example(subscribed=["web/shop/cart", "other", "web/shop/cart"], agents=6, limit=0, guarantee=0)
@example(subscribed=["other", "website", "web", "other"], agents=8, limit=40, guarantee=24)
@given(
    subscribed=st.lists(st.sampled_from(TREE), min_size=1, max_size=5),
    agents=st.integers(4, 8),
    limit=st.integers(0, 40),
    guarantee=st.integers(0, 40),
)
def test_an_update_takes_back_down_to_the_limit_and_then_up_to_the_guarantee(
    subscribed: list[str], agents: int, limit: int, guarantee: int
) -> None:
    """Offers to the role and to every role below it first, of all frameworks; then those of others."""
    guarantee = min(guarantee, limit)
    lab = Lab(*[f"cpus:{EACH};mem:64"] * agents)
    frameworks, offers = spread(lab, [[role] for role in subscribed])
    assert len(offers) == agents
    own = {framework.id for framework, role in zip(frameworks, subscribed, strict=True) if role in TREE[:3]}
    offered = sum(offer["framework_id"]["value"] in own for offer in offers)
    amounts = {"limits": {"cpus": {"value": limit}}}
    amounts |= {"guarantees": {"cpus": {"value": guarantee}}} if guarantee else {}
    lab.call("UPDATE_QUOTA", quota_configs=[{"role": "web", **amounts}], force=True)
    gone = {framework.id: len(framework.heard("RESCIND")) for framework in frameworks}

    stays = min(offered, limit // EACH)
    needed = max(0, -(-guarantee // EACH) - stays)
    event(f"{offered - stays} of its own, {min(needed, agents - offered)} of others")
    assert sum(gone[one] for one in own) == offered - stays
    assert sum(gone.values()) - (offered - stays) == min(needed, agents - offered)


ROLES = ("web", "web/shop", "other")


@settings(max_examples=examples(60))
@example(subscribed=[{"web"}, {"other"}], changed={"web"})
@example(subscribed=[{"other"}, {"web", "other"}], changed={"web", "nobody"})
@example(subscribed=[{"web/shop"}, {"other"}], changed={"web"})
@given(
    subscribed=st.lists(st.sets(st.sampled_from(ROLES), min_size=1), min_size=1, max_size=4),
    changed=st.sets(st.sampled_from([*ROLES, "nobody"]), min_size=1),
)
def test_every_offer_goes_if_one_framework_has_one_of_the_roles_whose_weights_change(
    subscribed: list[set[str]], changed: set[str]
) -> None:
    """A role below one of them is another role."""
    lab = Lab(*["cpus:4;mem:64"] * 5)
    frameworks, made = spread(lab, [sorted(roles) for roles in subscribed])
    offers = {offer["id"]["value"] for offer in made}
    assert len(offers) == len(lab.agents)
    assert lab.request("PUT", "/weights", [{"role": role, "weight": 3} for role in sorted(changed)]).status == 200
    gone = {one["offer_id"]["value"] for framework in frameworks for one in framework.heard("RESCIND")}
    concerned = [roles for roles in subscribed if not roles.isdisjoint(changed)]
    event(f"{len(concerned)} of {len(subscribed)} frameworks")
    assert gone == (offers if concerned else set())


def in_parts(lab: Lab, parts: Sequence[dict[str, int]]) -> tuple[list[Scheduler], list[Any]]:
    """Frameworks of which each is offered one of these parts of the agent, and the offers, the oldest first."""
    holder = Scheduler(lab, name="holder")
    (offer,) = holder.offers()
    tasks = [
        {
            "name": "t",
            "task_id": {"value": str(number)},
            "agent_id": offer["agent_id"],
            "command": {"value": "true"},
            "resources": [scalar(name, amount) for name, amount in part.items()],
        }
        for number, part in enumerate(parts)
    ]
    operations = [{"type": "LAUNCH", "launch": {"task_infos": tasks}}]
    holder.ask("ACCEPT", offer_ids=[offer["id"]], operations=operations)
    holder.acknowledge()
    holder.ask("SUPPRESS")
    frameworks, offers = [], []
    for number in range(len(parts)):
        frameworks.append(Scheduler(lab, name=f"f{number}"))
        holder.ask("KILL", task_id={"value": str(number)})
        holder.acknowledge()
        offers += frameworks[-1].offers()
    return frameworks, offers


@settings(max_examples=examples(40))
@example(parts=[{"cpus": 2}, {"cpus": 1}, {"cpus": 1, "mem": 128}], wanted={"cpus": 2, "mem": 64})
@example(parts=[{"cpus": 1}, {"mem": 64}, {"cpus": 1}], wanted={"cpus": 2})
@given(
    parts=st.lists(
        st.dictionaries(st.sampled_from(NAMES), st.sampled_from([1, 2, 3]), min_size=1).map(
            lambda part: {name: amount * (1 if name == "cpus" else 64) for name, amount in part.items()}
        ),
        min_size=1,
        max_size=4,
    ),
    wanted=st.dictionaries(st.sampled_from(NAMES), st.integers(1, 4), min_size=1),
)
def test_an_operation_takes_back_offers_in_turn_that_have_of_what_is_missing_still(
    parts: list[dict[str, int]], wanted: dict[str, int]
) -> None:
    total = {name: sum(part.get(name, 0) for part in parts) for name in NAMES}
    lab = Lab(";".join(f"{name}:{amount}" for name, amount in total.items()))
    frameworks, offers = in_parts(lab, parts)
    assert len(offers) == len(parts)
    entries = [scalar(name, n) | {"reservations": [{"type": "DYNAMIC", "role": "r"}]} for name, n in wanted.items()]
    lab.request("POST", "/api/v1", reserving(offers[0]["agent_id"], entries))
    gone = {one["offer_id"]["value"] for framework in frameworks for one in framework.heard("RESCIND")}
    missing, expected = dict(wanted), set()
    for offer, part in zip(offers, parts, strict=True):
        if any(missing.get(name, 0) > 0 for name in part):
            expected.add(offer["id"]["value"])
            missing = {name: amount - part.get(name, 0) for name, amount in missing.items()}
        if max(missing.values()) <= 0:
            break
    event(f"{len(expected)} of {len(offers)} offers")
    assert gone == expected


def reserving(agent_id: Any, entries: list[Any]) -> dict[str, Any]:
    return {"type": "RESERVE_RESOURCES", "reserve_resources": {"agent_id": agent_id, "resources": entries}}
