"""JSON as messages of the tables: nested ones too, as a real 1.11.0 master was seen to read them."""

import math
from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from mesosctl.mesos.messages.protobuf_json.messages import read

TASK = mesos_message("mesos.v1.TaskInfo")
NAMED: dict[str, Any] = {"name": "t", "task_id": {"value": "t"}, "agent_id": {"value": "a"}}


@pytest.mark.parametrize(
    ("nested", "as_read"),
    [
        (
            {"command": {"shell": "false", "uris": {"value": "u", "cache": None}}},
            {"command": {"shell": False, "uris": [{"value": "u"}]}},
        ),
        ({"command": {"value": "x", "strange": 1}}, {"command": {"value": "x"}}),
        (
            {"container": {"type": "DOCKER", "docker": {"image": "i", "network": "MOON"}}},
            {"container": {"type": "DOCKER", "docker": {"image": "i"}}},
        ),
        (
            {"kill_policy": {"grace_period": {"nanoseconds": "5"}}},
            {"kill_policy": {"grace_period": {"nanoseconds": 5}}},
        ),
        ({"health_check": {"delay_seconds": "Infinity"}}, {"health_check": {"delay_seconds": math.inf}}),
        ({"max_completion_time": {"nanoseconds": 1}}, {"max_completion_time": {"nanoseconds": 1}}),
        ({"limits": {"cpus": {"value": "Infinity"}}}, {"limits": {"cpus": {"value": math.inf}}}),
    ],
)
def test_what_is_nested_in_a_task_is_read(nested: dict[str, Any], as_read: dict[str, Any]) -> None:
    assert read(TASK, NAMED | nested) == NAMED | as_read


@pytest.mark.parametrize(
    ("nested", "where"),
    [
        ({"container": {"docker": {}}}, "container.docker.image"),
        ({"command": {"uris": [{"value": "u"}, {}]}}, "command.uris[1].value"),
        ({"health_check": {"http": {"port": "x"}}}, "health_check.http.port"),
        ({"health_check": {"delay_seconds": "NaN"}}, "health_check.delay_seconds"),
        ({"health_check": {"consecutive_failures": "Infinity"}}, "health_check.consecutive_failures"),
        ({"discovery": {"visibility": "MOON"}}, "discovery.visibility"),
        ({"kill_policy": {"grace_period": {}}}, "kill_policy.grace_period.nanoseconds"),
        ({"command": "true"}, "command"),
    ],
)
def test_what_is_wrong_in_a_task_is_named(nested: dict[str, Any], where: str) -> None:
    with pytest.raises(ConversionError) as refused:
        read(TASK, NAMED | nested)
    assert refused.value.path == where


@pytest.mark.parametrize("name", ["mesos.v1.Nothing", "mesos.v2.TaskInfo", "../tables/mesos.v1.TaskInfo", "", "mesos"])
def test_a_message_of_no_table_is_unknown(name: str) -> None:
    with pytest.raises(KeyError):
        mesos_message(name)
