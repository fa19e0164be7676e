"""Agents as a master that errs might show them: an answer that is not as documented, and no bug."""

import pytest

from mesosctl.mesos.errors import UnexpectedAnswer
from mesosctl.mesos.messages.elements.listed_agents import agents_in_service, registered_agents

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


@pytest.mark.parametrize("agent", ['{"id": 7}', "7", "[]"])
def test_which_are_in_service(agent: str) -> None:
    with pytest.raises(UnexpectedAnswer, match="not as documented"):
        agents_in_service([f'{{"slaves": [{agent}]}}'.encode()])


@pytest.mark.parametrize("awaited", ["7", "null", "{}"])
def test_how_many_are_awaited(awaited: str) -> None:
    with pytest.raises(UnexpectedAnswer, match="recovered_slaves"):
        agents_in_service([f'{{"slaves": [], "recovered_slaves": {awaited}}}'.encode()])
