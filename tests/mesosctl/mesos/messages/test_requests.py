"""Requests that are sent are those that the models of the documented JSON read."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import ValidationError

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota, to_milli
from mesosctl.mesos.messages.quota.calls import (
    SetQuota,
    SetQuotaCall,
    UpdateQuotaCall,
    read_quota_request,
    read_update_quota,
)
from mesosctl.mesos.messages.quota.request import QuotaRequest
from mesosctl.mesos.messages.strict.json_faults import is_placeholder
from tests.helpers.profiles import examples

NAMES = st.sampled_from(["cpus", "mem", "disk", "gpus", "ports"])
AMOUNTS = st.dictionaries(NAMES, st.integers(1, 10**12))
BOUNDS = st.dictionaries(NAMES, st.integers(0, 10**12))
ROLES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: not is_placeholder(text))


def amounts(scalars):
    return {name: to_milli(scalar.value) for name, scalar in scalars.items()}


def test_the_documented_request():
    assert json.loads(QuotaRequest.of("role1", Quantities({"cpus": 12000, "mem": 6144000}), force=False).body()) == {
        "role": "role1",
        "guarantee": [
            {"name": "cpus", "type": "SCALAR", "scalar": {"value": 12}},
            {"name": "mem", "type": "SCALAR", "scalar": {"value": 6144}},
        ],
        "force": False,
    }


def test_the_documented_update():
    quota = Quota(Quantities({"cpus": 1500}), Limits({"cpus": 2000, "gpus": 0}))
    assert json.loads(UpdateQuotaCall.of({"dev": quota}, force=True).body()) == {
        "type": "UPDATE_QUOTA",
        "update_quota": {
            "force": True,
            "quota_configs": [
                {
                    "role": "dev",
                    "guarantees": {"cpus": {"value": 1.5}},
                    "limits": {"cpus": {"value": 2.0}, "gpus": {"value": 0.0}},
                }
            ],
        },
    }


@given(ROLES, AMOUNTS, st.booleans())
def test_a_request_is_read_as_it_was_meant(role, wanted, force):
    request = QuotaRequest.of(role, Quantities(wanted), force=force)
    body = request.body()
    read = read_quota_request(body.decode(), "body")
    assert (read.role, read.force) == (role, force)
    assert {entry.name: entry.scalar and to_milli(entry.scalar.value) for entry in read.guarantee} == wanted
    call = json.loads(SetQuotaCall(set_quota=SetQuota(quota_request=request)).body())
    assert call == {"type": "SET_QUOTA", "set_quota": {"quota_request": json.loads(body)}}


@settings(max_examples=examples(150))
@given(st.dictionaries(ROLES, st.tuples(AMOUNTS, BOUNDS)), st.booleans())
def test_an_update_is_read_as_it_was_meant(wanted, force):
    quotas = {role: Quota(Quantities(least), Limits(bounds)) for role, (least, bounds) in wanted.items()}
    read = read_update_quota(UpdateQuotaCall.of(quotas, force=force).body().decode(), "body")
    assert read.force == force
    assert {
        config.role: Quota(Quantities(amounts(config.guarantees)), Limits(amounts(config.limits)))
        for config in read.quota_configs
    } == quotas


@pytest.mark.parametrize(("role", "force"), [(None, False), ("dev", "yes"), ("dev", 1)])
def test_what_is_not_as_documented_is_not_sent(role, force):
    with pytest.raises(ValidationError):
        QuotaRequest.of(role, Quantities({"cpus": 1000}), force=force)
