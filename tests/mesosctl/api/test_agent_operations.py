"""Requests for reservations, volumes and weights: the documented JSON, as a form and as a call."""

import json

import pytest

from mesosctl.api.agent_operations import (
    CreateVolumes,
    DestroyVolumes,
    ReserveResources,
    UnreserveResources,
    reserve_message,
    unreserve_message,
)
from mesosctl.api.weights import UpdateWeightsCall, WeightInfos
from mesosctl.model.errors import BadInput
from mesosctl.model.notation import parse_resources

CPUS = {
    "name": "cpus",
    "type": "SCALAR",
    "scalar": {"value": 8.0},
    "reservations": [{"type": "STATIC", "role": "ads"}],
}
PORTS = {"name": "ports", "type": "RANGES", "ranges": {"range": [{"begin": 31000, "end": 31001}]}}
RESOURCES = list(parse_resources("cpus(ads):8;ports:[31000-31001]"))
EACH = [
    (ReserveResources.of("S1", RESOURCES, None), "/reserve", "reserve_resources", "resources"),
    (UnreserveResources.of("S1", RESOURCES), "/unreserve", "unreserve_resources", "resources"),
    (CreateVolumes.of("S1", RESOURCES), "/create-volumes", "create_volumes", "volumes"),
    (DestroyVolumes.of("S1", RESOURCES), "/destroy-volumes", "destroy_volumes", "volumes"),
]


@pytest.mark.parametrize(("message", "path", "name", "field"), EACH)
def test_an_operation_is_a_form_or_a_call(message, path, name, field):
    assert message.path == path
    form = message.form()
    assert form.keys() == {"slaveId", field}
    assert (form["slaveId"], json.loads(form[field])) == ("S1", [CPUS, PORTS])
    assert json.loads(message.call().body()) == {
        "type": name.upper(),
        name: {"agent_id": {"value": "S1"}, field: [CPUS, PORTS]},
    }


def test_a_source_goes_with_what_it_becomes():
    message = ReserveResources.of("S1", RESOURCES[:1], RESOURCES[1:])
    assert json.loads(message.form()["source"]) == [PORTS]
    assert json.loads(message.call().body())["reserve_resources"]["source"] == [PORTS]


def test_weights():
    infos = [{"role": "web", "weight": 2.0}, {"role": "dept/team", "weight": 0.5}]
    wanted = {"web": 2.0, "dept/team": 0.5}
    assert json.loads(WeightInfos.of(wanted).body()) == infos
    assert json.loads(UpdateWeightsCall.of(wanted).body()) == {
        "type": "UPDATE_WEIGHTS",
        "update_weights": {"weight_infos": infos},
    }


@pytest.mark.parametrize(
    ("read", "name", "operation"),
    [(reserve_message, "reserve_resources", "reserve"), (unreserve_message, "unreserve_resources", "unreserve")],
)
def test_the_forms_that_a_file_may_have(read, name, operation):
    inside = {"resources": [CPUS, PORTS]}
    for document in (
        [CPUS, PORTS],
        inside,
        {name: inside},
        {"type": name.upper(), name: inside},
        {"type": operation.upper(), operation: inside},
        {"type": operation.upper(), "id": {"value": "op"}, operation: inside},
    ):
        assert [entry.to_model("entry") for entry in read(json.dumps(document), "file").resources] == RESOURCES


@pytest.mark.parametrize(
    ("read", "document", "sentence"),
    [
        (reserve_message, {"unreserve": {"resources": []}}, "file: unreserve: this is a request to unreserve"),
        (unreserve_message, {"reserve_resources": {}}, "file: reserve_resources: this is a request to reserve"),
        (
            reserve_message,
            {"type": "RESERVE", "reserve_resources": {"resources": []}},
            "type: it should be 'RESERVE_RES",
        ),
        (unreserve_message, {"resources": [], "source": []}, "file: source: there is no key 'source' here"),
        (reserve_message, {"resources": {}}, "file: resources: it should be an array"),
        (
            reserve_message,
            [{**CPUS, "reservations": [{"role": "a", "princpal": "p"}]}],
            "there is no key 'princpal' here",
        ),
    ],
)
def test_what_a_file_may_not_have(read, document, sentence):
    with pytest.raises(BadInput) as refused:
        read(json.dumps(document), "file")
    assert sentence in refused.value.message


def test_a_misspelt_key_is_told_with_the_likely_one():
    with pytest.raises(BadInput) as refused:
        reserve_message(json.dumps([{**CPUS, "reservations": [{"role": "a", "princpal": "p"}]}]), "file")
    assert refused.value.field == "resources[0].reservations[0].princpal"
    assert refused.value.hint == "did you mean principal?"
