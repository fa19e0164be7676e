"""Questions in words, and what ACLs say about them."""

import pytest

from mesosctl.model.acls import Acls, Entity, Rule
from mesosctl.model.command_permissions import judge, parse_question
from mesosctl.model.errors import UsageError

WEB = Rule(Entity("principals", "SOME", ("dev",)), Entity("roles", "SOME", ("web",)))
ACLS = Acls(False, {"update_quotas": (WEB,), "view_roles": (WEB,), "register_frameworks": (WEB,)})


@pytest.mark.parametrize(
    ("words", "role", "command", "name"),
    [
        ("quota set web", None, "quota set", "web"),
        ("quota set", "web", "quota set", "web"),
        ("quota set", None, "quota set", None),
        ("reserve", "web", "reserve", "web"),
        ("quota", None, "quota list", None),
        ("teardown ops", None, "frameworks teardown", "ops"),
        ("reservations web", None, "reservations", "web"),
    ],
)
def test_a_question_in_words(words: str, role: str | None, command: str, name: str | None):
    question = parse_question(words.split(), role)
    assert (question.verb.command, question.name) == (command, name)


@pytest.mark.parametrize("words", ["", "set web", "quota set web ads", "agents drain x", "apply", "quota kill"])
def test_what_is_no_question(words: str):
    with pytest.raises(UsageError):
        parse_question(words.split())


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        ("quota set web", True),
        ("quota set ads", False),
        ("offers take web", True),
        ("offers reserve web", False),
        ("agents list", True),
        ("agents drain", False),
    ],
)
def test_all_the_actions_must_be_allowed(words: str, allowed: bool):
    assert judge(parse_question(words.split()), ACLS, "dev").allowed is allowed
    assert judge(parse_question(words.split()), ACLS, None).allowed is (words == "agents list")


def test_without_a_name_a_change_needs_all_and_a_read_some():
    found = {words: judge(parse_question(words.split()), ACLS, "dev") for words in ("quota set", "roles list")}
    assert [one.allowed for one in found.values()] == [False, True]
    assert "only for some: update_quotas: web" in found["quota set"].reason
    assert not judge(parse_question(["roles", "list"]), ACLS, "other").allowed
