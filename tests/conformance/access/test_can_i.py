"""`can-i` on every master: it answers as the ACLs say, and leaves the master as it was."""

import json
import random
from typing import Any

import pytest

from mesosctl.can_i.command_permissions import VERBS, PermissionQuestion, judge
from mesosctl.can_i.work import CAN_BE_TRIED, PermissionsOfMaster
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings, Credentials
from mesosctl.mesos.messages.acls import OBJECT_FIELDS, from_json
from tests.conformance.callers.command_line import Kept, run_for_json
from tests.conformance.callers.frameworks import Framework
from tests.conformance.histories.playing import SEED
from tests.conformance.masters.carriers import Carrier, Pool
from tests.conformance.masters.cluster import SECRET, Cluster, Setup, basic
from tests.conformance.scenarios.scenario import scalars

ANY = {"type": "ANY"}
PRINCIPALS = ("root", "ops", "team/x")
ROLES = ("dev", "dev/x", "devs", "web")
OLD = ("quota", "reserve", "unreserve", "volumes")
"""The commands that can be tried on masters before 1.9 too."""
NAMES = {"role": (*ROLES, "has"), "principal": ("root", "team/x", "team/y")}


def random_acls(dice: random.Random) -> dict[str, Any]:
    """Rules about every change; root and agents may do what the test needs, and all may see the flags."""

    def entity(names: tuple[str, ...]) -> dict[str, Any]:
        if dice.random() < 0.4:
            return {"type": dice.choice(("ANY", "NONE"))}
        return {"values": dice.sample(names, dice.choice((1, 2)))}

    found: dict[str, Any] = {"permissive": dice.random() < 0.5}
    for verb in VERBS.values():
        for action in verb.actions if verb.changes else ():
            kind = OBJECT_FIELDS[action]
            names = {"roles": (*ROLES, "dev/%", "web/%"), "reserver_principals": ("team/x", "team/%", "root")}
            objects = names.get(kind)
            found[action] = [
                {
                    "principals": entity(("ops", "team/x", "team/%", "root")),
                    kind: {"type": dice.choice(("ANY", "NONE"))} if objects is None else entity(objects),
                }
                for _ in range(dice.choice((1, 2, 3)))
            ]
    views = ("view_flags", "view_roles", "view_frameworks", "get_quotas")
    for action in ("register_agents", "register_frameworks", *views):
        found[action] = [{"principals": ANY, OBJECT_FIELDS[action]: ANY}]
    first = {"principals": {"values": ["root"]}, "roles": {"values": ["has"]}}
    return found | {"update_quotas": [first, *found["update_quotas"]]}


def questions(carrier: Carrier) -> list[PermissionQuestion]:
    """Every change, about each name; a master that is too old for a call knows nothing about it."""
    return [
        PermissionQuestion(verb, name)
        for verb in VERBS.values()
        if verb.changes and (carrier.version != "documents" or verb.command.split()[0] in OLD)
        for name in NAMES.get(verb.of, (None,))
    ]


def hides_from_trials(question: PermissionQuestion) -> bool:
    """Whether a master refuses the trial before it authorizes: of a role with quota, or below another."""
    name = question.name or ""
    return question.verb.command.startswith("quota") and (name == "has" or "/" in name)


def shown(master: Cluster) -> list[bytes]:
    paths = ("/slaves", "/quota", "/weights", "/roles", "/maintenance/schedule", "/frameworks")
    return [master.request("GET", path, headers=basic("root")).content for path in paths]


@pytest.mark.parametrize("number", range(2))
def test_it_answers_as_the_acls_say_and_changes_nothing(number: int, carrier: Carrier, pool: Pool) -> None:
    acls = random_acls(random.Random(f"{SEED} {number}"))
    flags = {"authenticate_http_readwrite": "true", "authenticate_http_readonly": "true"}
    setup = Setup(("cpus:4;mem:2048;disk:1000",), flags, PRINCIPALS, acls)
    master = pool.start(carrier, setup)
    try:
        quota = json.dumps({"role": "has", "guarantee": scalars(cpus=1)})
        assert master.request("POST", "/quota", content=quota, headers=basic("root")).status == 200
        framework = Framework(master, "web", principal="ops").subscribe()
        framework.settle()
        before, rules = shown(master), from_json(acls)
        for principal in PRINCIPALS:
            secret = SECRET.format(principal)
            with asking(master, ClientSettings(credentials=Credentials(principal, secret))) as asked:
                permissions = PermissionsOfMaster(asked)
                for question in questions(carrier):
                    found, wanted = permissions.ask(question), judge(question, rules, principal, "master")
                    assert found._replace(reason="") == wanted._replace(reason=""), (principal, found)
                    is_tried = question.verb.command in CAN_BE_TRIED and not hides_from_trials(question)
                    assert is_tried == (found.reason != wanted.reason), found
                assert asked.changes_sent == 0
            who = {"MESOSCTL_PRINCIPAL": principal, "MESOSCTL_SECRET": secret}
            status, said = run_for_json(master, "can-i reserve web", **who)
            assert status == (0 if rules.allows("reserve_resources", principal, "web") else 1)
            assert said["known"]
        assert shown(master) == before
        framework.settle()
        assert [event["type"] for event in framework.stream.events if event["type"] == "RESCIND"] == []
    finally:
        master.stop()


def asking(master: Cluster, settings: ClientSettings) -> LeadingMaster:
    transport = None if master.transport is None else Kept(master.transport)
    return LeadingMaster(parse_address(master.address), settings, transport)
