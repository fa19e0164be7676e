"""Requests of quota and weights with several entries: as if each were sent alone, or nothing of it happens.

What is wrong with one entry is wrong with the whole request, whatever stands beside it, and wherever it stands.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from tests.conformance.histories import payloads
from tests.helpers.lab import Lab
from tests.helpers.profiles import examples

OK, WRONG, FORBIDDEN = 200, 400, 403


def state(lab: Lab) -> tuple[Any, Any]:
    """Quota and weights, in one order."""
    shown = lab.call("GET_QUOTA")["status"].get("configs", [])
    return sorted(shown, key=lambda one: str(one["role"])), sorted(map(str, lab.read("/weights")))


def asked(lab: Lab, door: str, call: str, key: str, body: Any) -> int:
    """The status of one request; a refused one has changed nothing."""
    before = state(lab)
    if door == "call":
        status = lab.post("/api/v1", {"type": call, call.lower(): body if key == "" else {key: body}})
    else:
        status = lab.request("POST" if door == "/quota" else "PUT", door, body).status
    assert status == OK or state(lab) == before
    return status


def set_quota(lab: Lab, door: str, role: str, guarantee: Sequence[Any]) -> int:
    request = {"role": role, "guarantee": list(guarantee), "force": True}
    return asked(lab, door, "SET_QUOTA", "quota_request", request)


@pytest.mark.parametrize("door", ["/quota", "call"])
@settings(max_examples=examples(180))
@given(guarantee=payloads.guarantees_in_company)
def test_a_guarantee_is_accepted_if_each_of_its_entries_is_and_none_has_the_name_of_another(
    door: str, guarantee: list[Any]
) -> None:
    lab = Lab()
    there = [entry for entry in guarantee if entry is not None]  # null is no entry
    alone = [set_quota(lab, door, f"alone-{number}", [entry]) for number, entry in enumerate(there)]
    names = Counter(entry.get("name") for entry in there if isinstance(entry, dict))
    expected = OK if set(alone) == {OK} and max(names.values()) == 1 else WRONG
    event(f"{expected}, {alone.count(WRONG)} of {len(alone)} are wrong")
    assert set_quota(lab, door, "whole", guarantee) == expected
    if expected == OK:
        quotas = lab.master.state.quotas
        for part in ("guarantees", "limits"):
            sums: dict[str, float] = {}
            for number in range(len(there)):
                sums |= dict(getattr(quotas[f"alone-{number}"].meaning, part).items())
            assert dict(getattr(quotas["whole"].meaning, part).items()) == sums


@settings(max_examples=examples(180))
@given(configs=payloads.configs_in_company)
def test_an_update_of_quota_is_accepted_if_each_of_its_configs_is(configs: list[Any]) -> None:
    lab, together = Lab(), Lab()
    alone = [asked(lab, "call", "UPDATE_QUOTA", "", {"quota_configs": [one], "force": True}) for one in configs]
    expected = OK if set(alone) == {OK} else WRONG
    event(f"{expected}, {alone.count(WRONG)} of {len(alone)} are wrong")
    assert asked(together, "call", "UPDATE_QUOTA", "", {"quota_configs": configs, "force": True}) == expected
    if expected == OK:  # of a role that is there twice, the last counts
        assert state(together) == state(lab)


@pytest.mark.parametrize("door", ["/weights", "call"])
@settings(max_examples=examples(180))
@given(weights=payloads.weights_in_company)
def test_weights_are_accepted_if_each_of_them_is(door: str, weights: list[Any]) -> None:
    lab, together = Lab(), Lab()
    alone = [asked(lab, door, "UPDATE_WEIGHTS", "weight_infos", [one]) for one in weights]
    expected = OK if set(alone) == {OK} else WRONG
    event(f"{expected}, {alone.count(WRONG)} of {len(alone)} are wrong")
    assert asked(together, door, "UPDATE_WEIGHTS", "weight_infos", weights) == expected
    if expected == OK:
        assert state(together) == state(lab)


ROLES = ("a", "b", "c", "d")
REQUESTS = {
    "/weights": ("update_weights", "UPDATE_WEIGHTS", "weight_infos"),
    "UPDATE_WEIGHTS": ("update_weights", "UPDATE_WEIGHTS", "weight_infos"),
    "UPDATE_QUOTA": ("update_quotas", "UPDATE_QUOTA", ""),
}
"""By the way in: the action of ACLs, the call and its key."""


@pytest.mark.parametrize("door", REQUESTS)
@settings(max_examples=examples(60))
@example(named=["a", "b", "c"], refused={"a"})
@example(named=["a", "b", "c"], refused={"b"})
@example(named=["a", "b", "c"], refused={"c"})
@given(named=st.lists(st.sampled_from(ROLES), min_size=2, unique=True), refused=st.sets(st.sampled_from(ROLES)))
def test_every_role_that_a_request_names_is_authorized(door: str, named: list[str], refused: set[str]) -> None:
    action, call, key = REQUESTS[door]
    anybody, others = {"type": "ANY"}, sorted(set(ROLES) - refused)
    rules = [
        {"principals": anybody, "roles": {"values": others}},
        {"principals": anybody, "roles": {"type": "NONE"}},
    ]
    lab = Lab(flags={"acls": json.dumps({action: rules})})
    body: Any
    if key:
        body = [{"role": role, "weight": 2.0} for role in named]
    else:
        body = {"quota_configs": [{"role": role, "limits": {"cpus": {"value": 2}}} for role in named]}
    may = refused.isdisjoint(named)
    event(f"{len(refused.intersection(named))} of {len(named)} are refused")
    assert asked(lab, door if door.startswith("/") else "call", call, key, body) == (OK if may else FORBIDDEN)
    changed = lab.master.state.weights if key else lab.master.state.quotas
    assert set(changed) == (set(named) if may else set())
