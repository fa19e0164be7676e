"""Agents as a master that errs might show them: an answer that is not as documented, and no bug."""

from typing import Any

import pytest

from mesosctl.api.agents import agent_usages, registered_agents
from mesosctl.model.errors import UnexpectedAnswer

JSON = """{"id": "S0", "hostname": "h", "pid": "slave(1)@h:1", "unreserved_resources": {},
"unreserved_resources_full": [], "reserved_resources_full": {}%s}"""


@pytest.mark.parametrize(
    "wrong",
    [
        '"capabilities": [[]]',
        '"capabilities": [{}]',
        '"capabilities": [7]',
    ],
)
def test_what_is_held_there(wrong: str) -> None:
    with pytest.raises(UnexpectedAnswer, match="not as documented"):
        registered_agents([b'{"slaves": [' + (JSON % f", {wrong}").encode() + b"]}"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"capabilities": None},
        {"capabilities": [[]]},
        {"hostname": None},
        {"id": 7},
        {"attributes": {"rack": []}},
        {"attributes": {"rack": "r", "zone": None}},
        {"domain": {"fault_domain": {"region": 7}}},
        {"used_resources_full": [7]},
    ],
)
def test_how_they_stand(wrong: dict[str, Any]) -> None:
    with pytest.raises(UnexpectedAnswer, match="not as documented"):
        agent_usages({"slaves": [{"id": "S0", "hostname": "h", "unreserved_resources": {}, **wrong}]})


@pytest.mark.parametrize("awaited", [7, None, {}])
def test_how_many_are_awaited(awaited: Any) -> None:
    with pytest.raises(UnexpectedAnswer, match="recovered_slaves"):
        agent_usages({"slaves": [], "recovered_slaves": awaited})
