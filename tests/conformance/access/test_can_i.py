"""`can-i` on every master: it answers as the ACLs say, and leaves the master as it was."""

import json
import random
from typing import Any

import pytest

from mesosctl.api.acls import OBJECT_FIELDS, from_json
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import Master
from mesosctl.client.settings import ClientSettings, Credentials
from mesosctl.model.command_permissions import VERBS, judge, parse_question
from mesosctl.operations.permissions import CAN_BE_TRIED, PermissionsOfMaster
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
NAMES = {"role": ROLES, "principal": ("root", "team/x", "team/y")}


def random_acls(dice: random.Random) -> dict[str, Any]:
    """Rules about everything that can be tried; root and agents may do what the test needs."""

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
    for action in ("register_agents", "register_frameworks", "view_roles", "view_frameworks", "get_quotas"):
        found[action] = [{"principals": ANY, OBJECT_FIELDS[action]: ANY}]
    first = {"principals": {"values": ["root"]}, "roles": {"values": ["has"]}}
    return found | {"update_quotas": [first, *found["update_quotas"]]}


def questions(carrier: Carrier) -> list[str]:
    """Every change that can be tried, about each name; the quota of a role below another is not told."""
    verbs = [verb for verb in VERBS.values() if verb.changes and verb.command in CAN_BE_TRIED]
    return [
        f"{verb.command} {name}".strip()
        for verb in verbs
        if carrier.version != "1.4" or verb.command.split()[0] in OLD
        for name in NAMES.get(verb.of, ("",))
        if not (verb.command.startswith("quota") and "/" in name)
    ]


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
                for words in questions(carrier):
                    question = parse_question(words.split())
                    found, wanted = permissions.ask(question), judge(question, rules, principal)
                    assert (found.allowed, found.by) == (wanted.allowed, "master"), (principal, words, found)
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


def asking(master: Cluster, settings: ClientSettings) -> Master:
    transport = None if master.transport is None else Kept(master.transport)
    return Master(parse_address(master.address), settings, transport)
