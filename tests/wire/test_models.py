import json

import pytest

from mesosctl.core.errors import BadInput, RuleViolation
from mesosctl.core.quantities import Limits, Quantities
from mesosctl.core.quota import Quota
from mesosctl.core.text import parse_entries
from mesosctl.wire.models import QuotaConfig, QuotaRequest, UpdateQuota, UpdateQuotaCall, read_quota_request

DOCUMENTED = {
    "role": "role1",
    "guarantee": [
        {"name": "cpus", "type": "SCALAR", "scalar": {"value": 12}},
        {"name": "mem", "type": "SCALAR", "scalar": {"value": 6144}},
    ],
}


def test_the_documented_request_both_ways():
    request = read_quota_request(json.dumps(DOCUMENTED))
    assert request.to_core() == parse_entries("cpus:12;mem:6144")
    written = json.loads(QuotaRequest.of("role1", request.to_core(), force=False).body())
    assert written == DOCUMENTED | {"force": False}


def test_numbers_may_be_quoted_as_a_master_allows():
    quoted = DOCUMENTED | {"guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": "1.5"}}]}
    assert read_quota_request(json.dumps(quoted)).to_core() == parse_entries("cpus:1.5")


def test_a_null_is_an_absent_field():
    null = DOCUMENTED["guarantee"][0] | {"revocable": None}
    assert read_quota_request(json.dumps(DOCUMENTED | {"guarantee": [null]})).to_core() == parse_entries("cpus:12")


def test_text_which_aborts_a_master_makes_no_value():
    text = {"name": "a", "type": "TEXT", "text": {"value": "b"}}
    with pytest.raises((BadInput, RuleViolation)):
        read_quota_request(json.dumps(DOCUMENTED | {"guarantee": [text]})).to_core()


def test_the_update_call():
    quota = Quota(Quantities({"cpus": 1500}), Limits({"cpus": 2000, "gpus": 0}))
    call = UpdateQuotaCall(update_quota=UpdateQuota(force=True, quota_configs=[QuotaConfig.of("dev", quota)]))
    assert json.loads(call.body()) == {
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
    assert call.update_quota.quota_configs[0].to_core() == quota
