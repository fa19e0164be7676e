"""Mesos's document "Reservation": the JSON that it prints, given to mesosctl as a person copies it.

Placeholders such as `<offer_id>` are filled with bare words, as they stand; the commas before closing
brackets, which the document has too many of, are left out where JSON is to be read.
"""

import json
from typing import Any

import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.errors import BadInput, Conflict
from mesosctl.mesos.messages.agent_operations import read_reserve
from mesosctl.mesos.messages.offers import accept_call, read_offer
from mesosctl.mesos.rules.offers import offers

ENGINEERING = {"role": "engineering", "reservation": {"principal": "p"}}
ABOVE = {"type": "DYNAMIC", "role": "engineering", "principal": "q"}
REFINED = {"reservations": [ABOVE, {"type": "DYNAMIC", "role": "engineering/backend", "principal": "p"}]}


def entries(allocated: str, cpus: int, mem: int, **reserved: Any) -> list[dict[str, Any]]:
    return [
        {
            "allocation_info": {"role": allocated},
            "name": name,
            "type": "SCALAR",
            "scalar": {"value": amount},
            **reserved,
        }
        for name, amount in (("cpus", cpus), ("mem", mem))
    ]


def offered(role: str, resources: list[dict[str, Any]]) -> str:
    return json.dumps(
        {
            "allocation_info": {"role": role},
            "id": "offer_id",
            "framework_id": "framework_id",
            "slave_id": "slave_id",
            "hostname": "hostname",
            "resources": resources,
        }
    )


PLAIN = offered("engineering", entries("engineering", 12, 6144, role="*"))
RESERVED = offered("engineering", entries("engineering", 8, 4096, **ENGINEERING))
TO_REFINE = offered("engineering/backend", entries("engineering/backend", 12, 6144, reservations=[ABOVE]))
TO_GIVE_BACK = offered("engineering/backend", entries("engineering/backend", 8, 4096, **REFINED))


@pytest.mark.parametrize(
    ("offer", "words", "printed"),
    [
        (PLAIN, "cpus:8;mem:4096", entries("engineering", 8, 4096, **ENGINEERING)),
        (
            TO_REFINE,
            "cpus(engineering):8;mem(engineering):4096",
            entries("engineering/backend", 8, 4096, **REFINED),
        ),
    ],
)
def test_a_reserve_of_the_offer_is_the_operation_that_is_printed(offer, words, printed):
    received = read_offer(offer, "file")
    call = accept_call([received], offers.reserve(parse_entries(words), received, offers.Reserver("p"))).content()
    assert call["accept"]["operations"] == [{"type": "RESERVE", "reserve": {"resources": printed}}]
    assert call["accept"]["offer_ids"] == [{"value": "offer_id"}]


@pytest.mark.parametrize(
    ("offer", "printed"),
    [
        (RESERVED, entries("engineering", 8, 4096, **ENGINEERING)),
        (TO_GIVE_BACK, entries("engineering/backend", 8, 4096, **REFINED)),
    ],
)
def test_an_unreserve_of_the_offer_is_the_operation_that_is_printed(offer, printed):
    received = read_offer(offer, "file")
    call = accept_call([received], offers.unreserve(parse_entries("cpus:8;mem:4096"), received)).content()
    assert call["accept"]["operations"] == [{"type": "UNRESERVE", "unreserve": {"resources": printed}}]


def test_what_is_reserved_already_is_refined_by_naming_its_owner():
    received = read_offer(TO_REFINE, "file")
    with pytest.raises(Conflict) as refused:
        offers.reserve(parse_entries("cpus:8"), received, offers.Reserver("p"))
    assert refused.value.hint is not None
    assert "cpus(engineering):" in refused.value.hint


def test_a_field_that_an_offer_lacks_is_named():
    with pytest.raises(BadInput, match="resources: it is missing"):
        read_offer(json.dumps({"id": "o", "framework_id": "f", "slave_id": "s"}), "file")
    with pytest.raises(BadInput, match="id: it should be an object") as refused:
        read_offer(json.dumps({"id": 3, "framework_id": "f", "slave_id": "s", "resources": []}), "file")
    assert "indices" not in refused.value.message


AS_PRINTED = """\
[
        {
          "name": "cpus",
          "type": "SCALAR",
          "scalar": { "value": 8 },
          "reservations": [
            {
              "type": "DYNAMIC",
              "role": "ads",
              "principal": "op",
            }
          ]
        }
]
"""


def test_the_payload_of_the_endpoint_is_read_and_its_comma_is_shown():
    [resource] = read_reserve(AS_PRINTED.replace('"op",', '"op"'), "file").resources
    assert str(resource) == "cpus(reservations: [(DYNAMIC,ads,op)]):8"
    with pytest.raises(BadInput, match="line 10, column 32: there is a comma too many before '}'"):
        read_reserve(AS_PRINTED, "file")


def test_the_operation_of_a_framework_is_told_apart_from_a_payload():
    operation = {"type": "RESERVE", "reserve": {"resources": entries("engineering", 8, 4096, **ENGINEERING)}}
    assert [resource.allocation_role for resource in read_reserve(json.dumps(operation), "file").resources] == [
        "engineering"
    ] * 2


ANY, NONE = {"type": "ANY"}, {"type": "NONE"}
RESERVERS = [
    {"principals": {"values": ["trusted"]}, "roles": ANY},
    {"principals": {"values": ["ads-only"]}, "roles": {"values": ["ads"]}},
    {"principals": ANY, "roles": NONE},
]


@pytest.mark.parametrize(
    ("acls", "principal", "registered"),
    [
        ({}, None, ["plain", "static"]),
        ({"reserve_resources": RESERVERS}, None, ["plain"]),
        ({"reserve_resources": RESERVERS}, "stranger", ["plain"]),
        ({"reserve_resources": RESERVERS}, "ads-only", ["plain"]),
        ({"reserve_resources": RESERVERS}, "trusted", ["plain", "static"]),
        ({"permissive": False}, "trusted", []),
        ({"permissive": False, "register_agents": [{"principals": ANY, "agents": ANY}]}, "trusted", ["plain"]),
        ({"register_agents": [{"principals": NONE, "agents": ANY}]}, "trusted", []),
    ],
)
def test_an_agent_registers_where_its_principal_may_reserve_what_is_static(acls, principal, registered):
    """ "the master can be configured to use the reserve_resources ACL to check that the agent's principal is
    allowed to statically reserve resources for specific roles"; Mesos 1.11.0 refuses the registration.
    """
    agents = (
        AgentSpec("cpus:1;cpus(ads):1;mem(web):64", "static", principal=principal),
        AgentSpec("cpus:1", "plain"),
    )
    master = ClusterSpec(agents, flags={"acls": json.dumps(acls)}).start()
    assert sorted(agent.hostname for agent in master.state.agents.values()) == registered
    assert sorted([*registered, *master.agent_registry.refused]) == ["plain", "static"]
