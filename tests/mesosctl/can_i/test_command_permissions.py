"""Questions in words, and what ACLs say about them."""

import pytest
import typer

from mesosctl.can_i.command_permissions import VERBS, Client, PermissionQuestion, deciding, judge, who_can
from mesosctl.mesos.errors import MesosctlError
from mesosctl.mesos.rules.acls import AclEntry, Acls, Entity
from tests.mesosctl.can_i.questions import asked, typed

WEB = AclEntry(Entity("principals", "SOME", ("dev",)), Entity("roles", "SOME", ("web",)))
ACLS = Acls(False, {"update_quotas": (WEB,), "view_roles": (WEB,), "register_frameworks": (WEB,)})


@pytest.mark.parametrize(
    ("words", "role", "command", "names"),
    [
        ("quota set web", None, "quota set", ("web",)),
        ("quota set web cpus:1 mem:1GiB --limit cpus:4", None, "quota set", ("web",)),
        ("quota set --limit=cpus:4 web", None, "quota set", ("web",)),
        ("quota set", "web", "quota set", ("web",)),
        ("quota set", None, "quota set", ()),
        ("quota set -f quota.json", None, "quota set", ()),
        ("quota remove web ads web", None, "quota remove", ("web", "ads")),
        ("reserve", "web", "reserve", ("web",)),
        ("reserve agent-1 cpus:1 --label a=b", "web", "reserve", ("web",)),
        ("reserve --any cpus:1", None, "reserve", ()),
        ("quota", None, "quota list", ()),
        ("quota --sort cpus", None, "quota list", ()),
        ("tasks --watch", None, "tasks list", ()),
        ("teardown ops", None, "frameworks teardown", ("ops",)),
        ("reservations web", None, "reservations", ("web",)),
        ("weights set web", None, "weights set", ("web",)),
        ("weights set web=2 a=b=3", None, "weights set", ("web", "a=b")),
        ("volumes create agent-1 v disk:1GiB", "db", "volumes create", ("db",)),
        ("unreserve agent-1 cpus:1 --reserver ops", "web", "unreserve", ("ops",)),
        ("volumes destroy agent-1 v", "db", "volumes destroy", ()),
        ("agents drain agent-1 agent-2 --wait", None, "agents drain", ()),
        ("maintenance plan agent-1 --at 2030-01-01T00:00Z", None, "maintenance plan", ()),
        ("cleanup", "web", "cleanup", ()),
        ("apply -f wanted.toml", None, "apply", ()),
        ("context set prod timeout=3", None, "context set", ()),
    ],
)
def test_a_question_in_words(words: str, role: str | None, command: str, names: tuple[str, ...]):
    found = typed(words, role)
    assert (found.verb.command, found.names) == (command, names)


@pytest.mark.parametrize(
    ("words", "role", "said"),
    [
        ("", None, "can-i knows nothing about ''"),
        ("set web", None, "'set web' is not one command"),
        ("quota kill", None, "'quota kill' is not one command"),
        ("quota show web ads", None, "does not take 'ads'"),
        ("quota set web --limt cpus:1", None, "No such option"),
        ("agents drain x", "web", "agents drain is about no role"),
        ("teardown ops", "web", "frameworks teardown is about a principal"),
        ("quota set web", "ads", "quota set and --role both name a role"),
        ("quota set a//b", None, "a//b"),
        ("reserve *", None, "reserve"),
    ],
)
def test_what_is_no_question(words: str, role: str | None, said: str):
    with pytest.raises((MesosctlError, typer.TyperException)) as refused:
        typed(words, role)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        ("quota set web", True),
        ("quota set ads", False),
        ("quota set web cpus:1 --limit cpus:2", True),
        ("quota remove web ads", False),
        ("offers take web", True),
        ("offers reserve web", False),
        ("agents list", True),
        ("agents drain", False),
        ("maintenance plan", False),
        ("cleanup", False),
        ("apply", None),
        ("quota show ads", False),
    ],
)
def test_all_the_actions_must_be_allowed(words: str, allowed: bool | None):
    assert deciding([judge(one, ACLS, "dev") for one in asked(words)]).allowed is allowed
    nobody = deciding([judge(one, ACLS, None) for one in asked(words)])
    assert nobody.allowed is (words == "agents list")


@pytest.mark.parametrize("verb", VERBS.values(), ids=str)
def test_without_acls_everybody_may_do_everything(verb):
    assert judge(PermissionQuestion(verb), Acls(), None).allowed is True
    assert judge(PermissionQuestion(verb), Acls(permissive=False), None).allowed is (verb.command == "agents list")


def test_who_can_names_every_principal_of_the_rules_and_the_others():
    found = who_can(asked("quota set web"), ACLS)
    assert [(one.client, one.found.allowed) for one in found] == [
        (Client("dev"), True),
        (Client(None, "anybody else"), False),
        (Client(None, "unauthenticated"), False),
    ]
    open_ = Acls(True, {"update_quotas": (WEB, AclEntry(Entity("principals", "ANY"), Entity("roles", "NONE")))})
    assert [one.found.allowed for one in who_can(asked("quota set web"), open_)] == [True, False, False]
    assert "to anybody else" in who_can(asked("quota set web"), open_)[1].found.reason


@pytest.mark.parametrize(("you", "place"), [("dev", 0), ("nobody named", 1), (None, 2)])
def test_who_can_marks_the_one_that_asks(you, place):
    marks = [answer.is_you for answer in who_can(asked("quota set web"), ACLS, you=you)]
    assert marks == [index == place for index in range(3)]


def test_without_a_name_a_change_needs_all_and_a_read_some():
    found = {words: judge(asked(words)[0], ACLS, "dev") for words in ("quota set", "roles list")}
    assert [one.allowed for one in found.values()] == [False, True]
    assert "only for some: update_quotas: web" in found["quota set"].reason
    assert not judge(asked("roles list")[0], ACLS, "other").allowed
