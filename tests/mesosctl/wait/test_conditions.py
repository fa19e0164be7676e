"""Conditions that somebody waits for, as they are written."""

from typing import Any, cast

import pytest

from mesosctl.mesos.amounts.notation import parse_of_agents
from mesosctl.mesos.errors import RuleViolation, UsageError
from mesosctl.wait.conditions import FORMS, Condition, Subject, parse_condition

READ: dict[str, dict[str, Any]] = {
    "agent/a.example.com=drained": {"subject": "agent", "agent": "a.example.com", "status": "drained"},
    "role/a=b=met": {"subject": "role", "role": "a=b"},
    "role/a/b=met": {"subject": "role", "role": "a/b"},
    "master=recovered": {"subject": "master"},
    "offers/a/b": {"subject": "offers", "role": "a/b"},
    "reserved/agent-1/a/b=none": {"subject": "reserved", "agent": "agent-1", "role": "a/b", "resources": []},
}
MALFORMED = [
    *("master/recovered", "master=", "master=up", "agent/a", "agent/=drained", "agent/a=", "agent/a=gone"),
    *(
        "role/a=unmet",
        "role/=met",
        "offers",
        "offers/",
        "offers=a",
        "reserved/a=none",
        "reserved//a=none",
        "reserved/a/b",
    ),
    *("role=a=met", "agent=a=drained", "reserved=a=none"),
    *("", "/", "=", "nothing/a=b", "master=a=recovered"),
]


@pytest.mark.parametrize("text", READ)
def test_a_condition_is_read(text: str):
    assert parse_condition(text) == Condition(text, **READ[text])


def test_resources_are_those_of_an_agent():
    found = parse_condition("reserved/agent-1/ads=cpus:2;mem:1GiB")
    assert (found.agent, found.role, found.resources) == ("agent-1", "ads", parse_of_agents("cpus:2;mem:1024"))


@pytest.mark.parametrize("text", MALFORMED)
def test_what_is_none_is_refused(text: str):
    with pytest.raises(UsageError) as refused:
        parse_condition(text)
    assert refused.value.field == "CONDITION"
    assert f"'{text}'" in str(refused.value) or text == "agent/a=gone"
    assert text != "agent/a=gone" or "'gone'" in str(refused.value)
    subject = text.partition("/")[0].partition("=")[0]
    assert FORMS.get(cast("Subject", subject), "/") in str(refused.value.hint)
    assert ("write " in str(refused.value.hint)) is (subject in FORMS)


@pytest.mark.parametrize("text", ["role/-a=met", "offers/-a", "reserved/agent-1/-a=none"])
def test_a_role_that_cannot_be_is_refused_in_a_condition(text: str):
    with pytest.raises(RuleViolation) as refused:
        parse_condition(text)
    assert (refused.value.rule, refused.value.field) == ("role.syntax", "CONDITION")
