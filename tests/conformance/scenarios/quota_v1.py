"""UPDATE_QUOTA, SET_QUOTA, REMOVE_QUOTA and GET_QUOTA: the QV rows that need no framework."""

from collections.abc import Iterable
from typing import Any

from tests.conformance.scenarios.scenario import (
    Row,
    Step,
    api,
    config,
    delete,
    get,
    info,
    old_status,
    post_quota,
    quota_request,
    role_entry,
    status,
    update_quota,
)
from tests.conformance.scenarios.setups import NO_AGENTS, OPERATORS, STANDARD, WHITELIST_R1

TRILLION = 10**12
EXABYTE = 1099511627776  # in megabytes
NOTHING_SET = get("/quota").gives(200, {})


def set_quota(role: str, *, force: bool | None = None, **amounts: float) -> Step:
    return api("SET_QUOTA", set_quota={"quota_request": quota_request(role, force=force, **amounts)})


def remove_quota(role: str) -> Step:
    return api("REMOVE_QUOTA", remove_quota={"role": role})


def refused(row: str, *updates: Step) -> Row:
    return Row(row, STANDARD, *(update.gives(400) for update in updates), NOTHING_SET)


def taken(row: str, update: Step, *shown: dict[str, Any]) -> Row:
    """An update that is accepted, and the configs that GET /quota shows afterwards."""
    configs = {"configs": [*shown]}
    old_configs = configs if any("limits" in entry for entry in shown) else {}
    return Row(
        row,
        STANDARD,
        update.gives(200),
        get("/quota").gives(200, _infos(shown) | configs).old(200, _infos(shown, "*") | old_configs),
    )


def _infos(shown: Iterable[dict[str, Any]], owner: str | None = None) -> dict[str, Any]:
    """The infos that go with some configs."""
    amounts = {c["role"]: {name: v["value"] for name, v in c.get("guarantees", {}).items()} for c in shown}
    return {"infos": [info(role, owner, **guarantees) for role, guarantees in amounts.items()]}


R1 = config("r1", {"cpus": 1, "mem": 1024}, {"cpus": 2, "mem": 2048})

CALLS = (
    Row("QV-1", STANDARD, api("GET_QUOTA").gives(200, {"type": "GET_QUOTA", "get_quota": {"status": {}}})),
    Row(
        "QV-2",
        NO_AGENTS,
        update_quota(R1, force=True).gives(200),
        get("/roles").gives(
            200, {"roles": [role_entry("r1", guarantee={"cpus": 1, "mem": 1024}, limit={"cpus": 2, "mem": 2048})]}
        ),
        api("GET_QUOTA")
        .gives(
            200,
            {
                "type": "GET_QUOTA",
                "get_quota": {"status": {"infos": [info("r1", cpus=1, mem=1024)], "configs": [R1]}},
            },
        )
        .old(
            200,
            {
                "type": "GET_QUOTA",
                "get_quota": {"status": {"infos": [info("r1", "*", cpus=1, mem=1024)], "configs": [R1]}},
            },
        ),
    ),
    refused(
        "QV-3",
        api("UPDATE_QUOTA"),
        api("UPDATE_QUOTA", update_quota=None),
        api("UPDATE_QUOTA", update_quota={"quota_configs": [{"limits": {"cpus": {"value": 1}}}]}),
        api("UPDATE_QUOTA", update_quota={"quota_configs": [{"role": "r1", "limits": {"cpus": {}}}]}),
        api("UPDATE_QUOTA", update_quota={"quota_configs": [{"role": "r1", "limits": {"cpus": 1}}]}),
        api("UPDATE_QUOTA", update_quota={"quota_configs": ["r1"]}),
        api("UPDATE_QUOTA", update_quota=[]),
    ),
    Row(
        "QV-4",
        STANDARD,
        api("UPDATE_QUOTA", update_quota={}).gives(200),
        api("UPDATE_QUOTA", update_quota={"quota_configs": []}).gives(200),
        api("UPDATE_QUOTA", update_quota={"quota_configs": [None]}).gives(200),
        NOTHING_SET,
    ),
    Row(
        "QV-16",
        STANDARD,
        set_quota("r1", cpus=1).gives(200),
        set_quota("r1", cpus=1, force=True).gives(400),
        get("/quota").gives(200, status(r1={"cpus": 1})).old(200, old_status(r1={"cpus": 1})),
        remove_quota("r1").gives(200),
        NOTHING_SET,
    ),
    Row("QV SET_QUOTA is checked as POST is", STANDARD, set_quota("r1", cpus=25, mem=1).gives(409), NOTHING_SET),
    refused(
        "QV calls without their body",
        api("SET_QUOTA"),
        api("SET_QUOTA", set_quota={}),
        api("SET_QUOTA", set_quota={"quota_request": {}}),
        api("REMOVE_QUOTA"),
        api("REMOVE_QUOTA", remove_quota={}),
    ),
)

VALUES = (
    refused(
        "QV-5",
        update_quota(config("r1", {"cpus": TRILLION}, {"cpus": TRILLION + 1}), force=True),
        update_quota(config("r1", {}, {"mem": EXABYTE + 1})),
        update_quota(config("r1", {"disk": EXABYTE + 1}), force=True),
        update_quota(config("r1", {"cpus": -3})),
        update_quota(config("r1", {"cpus": -1}, {"cpus": 2 * TRILLION})),
        update_quota(config("r1", {"cpus": 1e300}), force=True),
        update_quota(config("r1", {}, {"cpus": -0.001})),
    ),
    taken("QV-5 the largest", update_quota(config("r1", {"cpus": TRILLION}, {"mem": EXABYTE}), force=True),
          config("r1", {"cpus": TRILLION}, {"mem": EXABYTE})),
    refused("QV-6", update_quota(config("r1", {"cpus": 3}, {"cpus": 2}))),
    taken("QV-7", update_quota(config("r1", {"cpus": 1}, {"mem": 1})), config("r1", {"cpus": 1}, {"mem": 1})),
    Row(
        "QV-8",
        STANDARD,
        update_quota(config("r1", {"cpus": 2})).gives(200),
        update_quota(config("r2", {"cpus": 23})).gives(400),
        update_quota(config("r2", {"cpus": 22})).gives(200),
        update_quota(config("r2", {"cpus": 23}), force=True).gives(200),
        update_quota(config("r1", {"cpus": 1})).gives(200),
    ),
    taken("QV-9", update_quota(config("r2", {"cpus": 1}), config("r2", {"cpus": 3})), config("r2", {"cpus": 3})),
    taken("QV-9 later replaces all", update_quota(config("r2", {}, {"cpus": 1}), config("r2", {"mem": 3})),
          config("r2", {"mem": 3})),
    Row(
        "QV-10",
        STANDARD,
        update_quota(config("ads", {}, {"cpus": 4})).gives(400).old(200),
        update_quota(config("ads", {}, {"cpus": 4}), force=True).gives(200),
        update_quota(config("ads", {}, {"cpus": 8, "mem": 4096})).gives(200),
    ),
    Row(
        "QV-13",
        STANDARD,
        update_quota(config("r1", {"cpus": 1})).gives(200),
        update_quota(config("r1")).gives(200),
        get("/quota")
        .gives(200, {"infos": [{"role": "r1"}], "configs": [{"role": "r1"}]})
        .old(200, {"infos": [{"role": "r1"}]}),
        post_quota("r1", cpus=1).gives(400),
        delete("/quota/r1").gives(200),
        NOTHING_SET,
    ),
    taken("QV a guarantee of zero", update_quota(config("r1", {"cpus": 0}, {"mem": 0})), config("r1", {}, {"mem": 0})),
    taken("QV four decimals", update_quota(config("r1", {"cpus": 1.2344}, {"cpus": 1.2341})),
          config("r1", {"cpus": 1.2344}, {"cpus": 1.2341})),
    taken("QV numbers as texts", update_quota(config("r1", {"cpus": "1.5"}), force="true"),
          config("r1", {"cpus": 1.5})),
    taken("QV null is absent", update_quota({**config("r1", {"cpus": 1}), "limits": None}), config("r1", {"cpus": 1})),
    taken("QV a lone config", api("UPDATE_QUOTA", update_quota={"quota_configs": config("r1", {"cpus": 1})}),
          config("r1", {"cpus": 1})),
)  # fmt: skip

ROLES = (
    refused(
        "QV-14",
        update_quota(config("a/b", {"cpus": 1})),
        update_quota(config("a/b", {}, {"cpus": 1}), force=True),
        update_quota(config("", {"cpus": 1})),
        update_quota(config("a b", {"cpus": 1})),
        update_quota(config("..", {"cpus": 1})),
    ),
    refused(
        "QV all or nothing",
        update_quota(config("r1", {"cpus": 1}), config("r2", {"cpus": -1})),
        update_quota(config("r1", {"cpus": 1}), config("a/b", {"cpus": 1})),
        update_quota(config("r1", {"cpus": 20}), config("r2", {"cpus": 20})),
    ),
    Row("QV the default role", STANDARD, update_quota(config("*", {"cpus": 1})).gives(200)),
    Row(
        "QV-15",
        OPERATORS,
        update_quota(config("dev", {"cpus": 1}), config("web", {"cpus": 1})).by("dev").gives(403),
        get("/quota").by("op").gives(200, {}),
        update_quota(config("dev", {"cpus": 1})).by("dev").gives(200),
        update_quota(config("web", {"cpus": 1000})).by("dev").gives(400),
        set_quota("web", cpus=1).by("dev").gives(403),
        remove_quota("dev").by("dev").gives(200),
        get("/quota").by("op").gives(200, {}),
        ends=dict.fromkeys(("1.4.3", "1.8.1"), "no quota was set, since there is no UPDATE_QUOTA"),
    ),
    Row(
        "QV whitelist",
        WHITELIST_R1,
        update_quota(config("r2", {"cpus": 1})).gives(400),
        update_quota(config("r1", {"cpus": 1})).gives(200),
        set_quota("r2", cpus=1).gives(400),
    ),
)

# What a map of amounts may look like, and what is kept of it.
MAPS_TAKEN: dict[str, tuple[Any, dict[str, float]]] = {
    "list of objects": ([{"cpus": {"value": 1}}, {"mem": {"value": 2}}], {"cpus": 1, "mem": 2}),
    "null": (None, {}),
    "empty list": ([], {}),
    "empty name": ({"": {"value": 1}}, {"": 1}),
    "tiny": ({"cpus": {"value": 0.0001}}, {"cpus": 0.0001}),
}
MAPS_REFUSED = {
    "list of numbers": [1],
    "text": "cpus:1",
    "key and value": {"key": "cpus", "value": {"value": 1}},
    "null amount": {"cpus": None},
    "null value": {"cpus": {"value": None}},
    "subnormal": {"cpus": {"value": 1e-310}},
    "negative below three decimals": {"cpus": {"value": -0.0001}},
}
MAPS = (
    *(
        taken(f"QV limits: {name}", update_quota({"role": "r1", "limits": given}), config("r1", {}, kept))
        for name, (given, kept) in MAPS_TAKEN.items()
    ),
    *(
        refused(f"QV limits refused: {name}", update_quota({"role": "r1", "limits": given}, force=True))
        for name, given in MAPS_REFUSED.items()
    ),
    taken("QV a guarantee that rounds to zero", update_quota(config("r1", {"cpus": 0.0001})), config("r1")),
    taken("QV the smallest guarantee", update_quota(config("r1", {"cpus": 0.0005})), config("r1", {"cpus": 0.0005})),
    taken(
        "QV configs in a list in the list",
        api("UPDATE_QUOTA", update_quota={"quota_configs": [[config("r1", {"cpus": 1})], None]}),
        config("r1", {"cpus": 1}),
    ),
)

ROWS = (*CALLS, *VALUES, *ROLES, *MAPS)
