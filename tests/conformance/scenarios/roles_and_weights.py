"""GET /roles, /weights and UPDATE_WEIGHTS: the RO and WE rows that need no framework.

A weight cannot be taken back, so a row that sets one, or would if it failed, spoils its master.
"""

from typing import Any

from tests.conformance.scenarios.scenario import (
    Row,
    Step,
    api,
    config,
    delete,
    get,
    post_quota,
    role_entry,
    send,
    update_quota,
)
from tests.conformance.scenarios.setups import (
    AUTHENTICATED,
    NESTED_RESERVATION,
    NO_AGENTS,
    OPERATORS,
    STANDARD,
    WHITELIST_TWO,
    WHITELIST_WEIGHTED,
)

ALLOW = {"Allow": "GET, PUT"}
CHALLENGE = {"WWW-Authenticate": 'Basic realm="mesos-master-readwrite"'}
NO_WEIGHTS = get("/weights").gives(200, [])


def put(*weights: Any) -> Step:
    return send("PUT", "/weights", list(weights))


def weight(role: str, value: Any) -> dict[str, Any]:
    return {"role": role, "weight": value}


def roles(*entries: dict[str, Any]) -> Step:
    return get("/roles").gives(200, {"roles": list(entries)})


def refused(row: str, *bodies: Any) -> Row:
    updates = (send("PUT", "/weights", body).gives(400) for body in bodies)
    return Row(row, NO_AGENTS, *updates, NO_WEIGHTS, spoils=True)


BRANCH = {"reserved": {"cpus": 1, "mem": 10}, "consumed": {"cpus": 1, "mem": 10}}
UNCONSUMED_BRANCH = {"reserved": {"cpus": 1, "mem": 10}}

ROLES = (
    Row("RO-4", WHITELIST_WEIGHTED, roles(role_entry("*"), role_entry("role1", 5.0), role_entry("role2"))),
    Row(
        "RO-6",
        NESTED_RESERVATION,
        roles(role_entry("ancestor", **BRANCH), role_entry("ancestor/child", **BRANCH)).old(
            200,
            {"roles": [role_entry("ancestor", **UNCONSUMED_BRANCH), role_entry("ancestor/child", **UNCONSUMED_BRANCH)]},
        ),
    ),
    Row(
        "RO-7",
        NO_AGENTS,
        roles(),
        post_quota("r1", cpus=1, force=True).gives(200),
        roles(role_entry("r1", guarantee={"cpus": 1}, limit={"cpus": 1})).old(
            200, {"roles": [role_entry("r1", guarantee={"cpus": 1})]}
        ),
        delete("/quota/r1").gives(200),
        roles(),
    ),
    Row(
        "RO limit of zero",
        NO_AGENTS,
        update_quota(config("r1", {}, {"cpus": 0})).gives(200),
        roles(role_entry("r1", limit={"cpus": 0})),
    ),
)

WEIGHTS = (
    refused(
        "WE-1",
        "x",
        weight("a", 1),
        [{"weight": 1}],
        [weight("", 1)],
        [weight("a b", 1)],
        [{"role": "a"}],
        ["a"],
        "[",
        [weight("a", 1), weight("b", 0)],
        [weight("a", None)],
        [weight("a", True)],
        [{"role": 1, "weight": 1}],
    ),
    refused("WE-2", [weight("a", 0)], [weight("a", -1)], [weight("a", "two")]),
    Row("WE-2 a number as text", NO_AGENTS, put(weight("a", "2.5")).gives(200),
        get("/weights").gives(200, [weight("a", 2.5)]), spoils=True),
    Row("WE-3", NO_AGENTS, put(weight(" a ", 2), weight("b/c", 0.5)).gives(200),
        get("/weights").gives(200, [weight("a", 2), weight("b/c", 0.5)]),
        roles(role_entry("a", 2.0), role_entry("b"), role_entry("b/c", 0.5)), spoils=True),
    Row("WE-4", NO_AGENTS, put().gives(200), NO_WEIGHTS, put(weight("*", 3), weight("a", 2)).gives(200),
        put(weight("a", 1)).gives(200), get("/weights").gives(200, [weight("*", 3), weight("a", 1)]), spoils=True),
    Row("WE-4 the same role twice", NO_AGENTS, put(weight("a", 2), weight("a", 3)).gives(200),
        get("/weights").gives(200, [weight("a", 3)]), spoils=True),
    Row("WE-5", NO_AGENTS, send("POST", "/weights", []).gives(405, headers=ALLOW),
        delete("/weights").gives(405, headers=ALLOW), send("HEAD", "/weights").gives(405, headers=ALLOW)),
    Row("WE-6", WHITELIST_TWO, put(weight("role1", 4), weight("role2", 0.5)).gives(200),
        roles(role_entry("*"), role_entry("role1", 4.0), role_entry("role2", 0.5)),
        put(weight("role1", 1), weight("role3", 1)).gives(400),
        get("/weights").gives(200, [weight("role1", 4), weight("role2", 0.5)]), spoils=True),
    Row("WE-7", AUTHENTICATED, get("/weights").gives(401, headers=CHALLENGE), put().gives(401, headers=CHALLENGE),
        get("/weights").by("op").gives(200, [])),
    Row("WE-8", OPERATORS, put(weight("a", 2)).by("dev").gives(403), put(weight("a", 2)).by("op").gives(200),
        get("/weights").by("dev").gives(200, []), get("/weights").by("op").gives(200, [weight("a", 2)]),
        send("PUT", "/weights", "[").by("dev").gives(400), put(weight("a", 0)).by("dev").gives(400),
        put().by("dev").gives(403), put().by("op").gives(200), spoils=True),
    Row("WE the flag shows", WHITELIST_WEIGHTED, get("/weights").gives(200, [weight("role1", 5)])),
    Row("UPDATE_WEIGHTS", STANDARD,
        api("UPDATE_WEIGHTS").gives(400),
        api("UPDATE_WEIGHTS", update_weights={}).gives(200),
        api("UPDATE_WEIGHTS", update_weights={"weight_infos": [{"role": "a"}]}).gives(400),
        api("UPDATE_WEIGHTS", update_weights={"weight_infos": [weight("a", 0)]}).gives(400),
        api("GET_WEIGHTS").gives(200, {"type": "GET_WEIGHTS"}),
        api("UPDATE_WEIGHTS", update_weights={"weight_infos": [weight("a", 2), weight("b", "0.5")]}).gives(200),
        api("GET_WEIGHTS").gives(200, {"type": "GET_WEIGHTS",
                                       "get_weights": {"weight_infos": [weight("a", 2), weight("b", 0.5)]}}),
        api("GET_ROLES").gives(200, {"type": "GET_ROLES", "get_roles": {"roles": [
            {"name": "a", "weight": 2.0}, {"name": "ads", "weight": 1.0}, {"name": "b", "weight": 0.5}]}}),
        spoils=True),
)  # fmt: skip

READING = (
    refused("WE body refused", "null", "[]x", "[null]", [[weight("a", 1)]], [weight("a", 1), None]),
    refused("WE role refused", [weight(" ", 1)], [weight("a/", 1)], [weight("\va", 1)], [weight("a/ b", 1)]),
    refused("WE number refused", '[{"role":"a","weight":1e400}]', '[{"role":"a","weight":NaN}]', [weight("a", "1 ")]),
    *(
        Row(f"WE role {sent!r}", NO_AGENTS, put(weight(sent, 2)).gives(200),
            get("/weights").gives(200, [weight(kept, 2)]), spoils=True)
        for sent, kept in {"\t a/b \n": "a/b", "é": "é", "a\N{NO-BREAK SPACE}": "a\N{NO-BREAK SPACE}"}.items()
    ),
    Row("WE any positive weight", NO_AGENTS, put(weight("a", 0.0001), weight("b", 1e300)).gives(200),
        get("/weights").gives(200, [weight("a", 0.0001), weight("b", 1e300)]), spoils=True),
    Row("UPDATE_WEIGHTS reads lists as every call does", NO_AGENTS,
        api("UPDATE_WEIGHTS", update_weights={"weight_infos": [[weight(" a ", 2)], None]}).gives(200),
        api("UPDATE_WEIGHTS", update_weights={"weight_infos": weight("b", 3)}).gives(200),
        api("UPDATE_WEIGHTS", update_weights={"weight_infos": None}).gives(200),
        get("/weights").gives(200, [weight("a", 2), weight("b", 3)]), spoils=True),
)  # fmt: skip

ROWS = (*READING, *ROLES, *WEIGHTS)
