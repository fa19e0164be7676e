"""Requests for reservations, volumes and weights: the documented JSON, as a form and as a call."""

import json

import pytest

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.agent_operations import (
    CreateVolumes,
    DestroyVolumes,
    ReserveResources,
    UnreserveResources,
    read_reserve,
    read_unreserve,
)
from mesosctl.mesos.messages.weights import weights_body, weights_call

CPUS = {
    "name": "cpus",
    "type": "SCALAR",
    "scalar": {"value": 8.0},
    "reservations": [{"type": "STATIC", "role": "ads"}],
}
PORTS = {"name": "ports", "type": "RANGES", "ranges": {"range": [{"begin": 31000, "end": 31001}]}}
RESOURCES = list(parse_resources("cpus(ads):8;ports:[31000-31001]"))
EACH = [
    (ReserveResources("S1", resources=RESOURCES), "/reserve", "reserve_resources", "resources"),
    (UnreserveResources("S1", resources=RESOURCES), "/unreserve", "unreserve_resources", "resources"),
    (CreateVolumes("S1", volumes=RESOURCES), "/create-volumes", "create_volumes", "volumes"),
    (DestroyVolumes("S1", volumes=RESOURCES), "/destroy-volumes", "destroy_volumes", "volumes"),
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
    message = ReserveResources("S1", resources=RESOURCES[:1], source=RESOURCES[1:])
    assert json.loads(message.form()["source"]) == [PORTS]
    assert json.loads(message.call().body())["reserve_resources"]["source"] == [PORTS]


def test_weights():
    infos = [{"role": "web", "weight": 2.0}, {"role": "dept/team", "weight": 0.5}]
    wanted = {"web": 2.0, "dept/team": 0.5}
    assert json.loads(weights_body(wanted)) == infos
    assert json.loads(weights_call(wanted).body()) == {
        "type": "UPDATE_WEIGHTS",
        "update_weights": {"weight_infos": infos},
    }


@pytest.mark.parametrize(
    ("read", "name", "operation"),
    [(read_reserve, "reserve_resources", "reserve"), (read_unreserve, "unreserve_resources", "unreserve")],
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
        assert read(json.dumps(document), "file").resources == RESOURCES


@pytest.mark.parametrize(
    ("read", "document", "sentence"),
    [
        (read_reserve, {"unreserve": {"resources": []}}, "file: unreserve: this is a request to unreserve"),
        (read_unreserve, {"reserve_resources": {}}, "file: reserve_resources: this is a request to reserve"),
        (
            read_reserve,
            {"type": "RESERVE", "reserve_resources": {"resources": []}},
            "type: it should be 'RESERVE_RES",
        ),
        (read_unreserve, {"resources": [], "source": []}, "file: source: there is no key 'source' here"),
        (read_reserve, {"resources": {}}, "file: resources: it should be an array"),
        (
            read_reserve,
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
        read_reserve(json.dumps([{**CPUS, "reservations": [{"role": "a", "princpal": "p"}]}]), "file")
    assert refused.value.field == "resources[0].reservations[0].princpal"
    assert refused.value.hint == "did you mean principal?"
