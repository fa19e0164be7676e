"""The changes that are forecast and then made.

Clusters are such that the outcome does not hang on the order in which an allocation looks at agents.
"""

from typing import Any

from tests.conformance.callers.joining import quick
from tests.conformance.callers.owning import owned
from tests.conformance.forecasts.forecasting import FILTERED, Case, Preparation, all_share, asks, joins
from tests.conformance.masters.cluster import Setup
from tests.conformance.scenarios.scenario import Step, config, delete, form, post_quota, send, update_quota

AGENT = "cpus:4;mem:4096;disk:1000;ports:[31000-31009]"
FOUR, SIX, ONE = quick(*[AGENT] * 4), quick(*[AGENT] * 6), quick(AGENT)
TWO_SIZES = quick(AGENT, "cpus:8;mem:2048;disk:1000;ports:[31000-31009]")


def volume(role: str, disk: float, name: str) -> list[dict[str, Any]]:
    about = {"persistence": {"id": name}, "volume": {"mode": "RW", "container_path": "data"}}
    return [entry | {"disk": about} for entry in owned(role, disk=disk)]


def refined(*roles: str, **amounts: float) -> list[dict[str, Any]]:
    stack = [{"type": "DYNAMIC", "role": role} for role in roles]
    return [entry | {"reservations": stack} for entry in owned(roles[-1], **amounts)]


def reserve(resources: list[dict[str, Any]]) -> Step:
    return form("/reserve", slaveId="@A1", resources=resources)


def sets_quota(
    setup: Setup,
    prepared: tuple[Preparation, ...],
    role: str,
    *,
    force: bool = False,
    status: int = 200,
    tasks: bool = False,
    **amounts: float,
) -> Case:
    """`quota set` with --api v0, and POST /quota."""
    words = " ".join(["quota set --api v0", role, *(f"{name}:{amount}" for name, amount in amounts.items())])
    request = post_quota(role, force=force or None, **amounts)
    return Case(setup, prepared, f"{words} --force" if force else words, request, status, tasks=tasks)


def weighs(
    setup: Setup, prepared: tuple[Preparation, ...], role: str, weight: int, *, status: int = 200, tasks: bool = False
) -> Case:
    """`whatif` of a weight and PUT /weights."""
    request = send("PUT", "/weights", [{"role": role, "weight": weight}])
    return Case(setup, prepared, f"whatif weight:{role}={weight}", request, status, tasks=tasks)


PARTLY_OWNED = quick("cpus:12;mem:6144;disk:1000", "cpus:4;mem:2048;cpus(ads):8;mem(ads):4096;disk:500")
OWNED_AND_NOT = quick("cpus:2;mem:1024;disk:100", "cpus(ads):8;mem(ads):4096")

ONE_HOLDS_ALL = (joins("ads"), joins("web"))
EVERYBODY_SHARES = (joins("ads"), joins("web"), joins("batch"), all_share)
TREE = (joins("eng/dev"), joins("eng/qa"), joins("ops"), all_share)

CASES = {
    # --- quota set ---
    "quota for a role with nothing": sets_quota(FOUR, ONE_HOLDS_ALL, "web", cpus=8, mem=8192),
    # Which offers go hangs on the order of agents, which a snapshot has as the master has it.
    "quota for one of two who share": sets_quota(
        FOUR, (joins("ads"), joins("web"), all_share), "web", cpus=12, mem=12288
    ),
    "quota for one of three who share": sets_quota(SIX, EVERYBODY_SHARES, "web", cpus=8, mem=8192),
    "quota for a part of an agent": sets_quota(FOUR, ONE_HOLDS_ALL, "web", cpus=1, mem=1024),
    "quota for whoever holds all": sets_quota(FOUR, ONE_HOLDS_ALL, "ads", cpus=4, mem=4096),
    "quota for a role that nobody asks for": sets_quota(FOUR, ONE_HOLDS_ALL, "idle", cpus=4, mem=4096),
    "quota beyond capacity": sets_quota(FOUR, ONE_HOLDS_ALL, "web", cpus=17, status=409),
    "quota beyond capacity, forced": sets_quota(FOUR, ONE_HOLDS_ALL, "web", cpus=17, mem=9999, force=True),
    "quota that no agent holds whole": sets_quota(FOUR, ONE_HOLDS_ALL, "web", cpus=12, mem=1024),
    "quota below a hierarchy": sets_quota(FOUR, TREE, "eng/dev", cpus=4, status=400),
    "quota for a hierarchy that holds all": sets_quota(FOUR, (joins("eng/dev"), joins("ops")), "eng", cpus=8, mem=8192),
    "quota for a hierarchy that holds nothing": sets_quota(
        FOUR, (joins("ops"), joins("eng/dev")), "eng", cpus=8, mem=8192
    ),
    "quota that is set already": sets_quota(
        FOUR, (asks(post_quota("web", cpus=4)), *ONE_HOLDS_ALL), "web", cpus=1, status=400
    ),
    # --- quota remove ---
    "quota removed": Case(
        FOUR,
        (asks(post_quota("web", cpus=8, mem=8192)), *ONE_HOLDS_ALL),
        "quota remove web",
        delete("/quota/web"),
        200,
    ),
    "quota removed that was held back for nobody": Case(
        FOUR,
        (asks(post_quota("idle", cpus=8, mem=8192)), joins("ads")),
        "quota remove idle",
        delete("/quota/idle"),
        200,
    ),
    "quota removed that is not there": Case(FOUR, ONE_HOLDS_ALL, "quota remove web", delete("/quota/web"), 400),
    # --- quota update ---
    "guarantee raised": Case(
        FOUR,
        (asks(post_quota("web", cpus=4, mem=4096)), *ONE_HOLDS_ALL),
        "quota update web cpus:12 mem:12288 --limit cpus:12;mem:12288",
        update_quota(config("web", {"cpus": 12, "mem": 12288}, {"cpus": 12, "mem": 12288})),
        200,
        newest=True,
    ),
    "guarantee and limits lowered": Case(
        FOUR,
        (asks(post_quota("web", cpus=12, mem=12288)), joins("web"), joins("ads")),
        "quota update web cpus:4 mem:4096 --limit cpus:4;mem:4096",
        update_quota(config("web", {"cpus": 4, "mem": 4096}, {"cpus": 4, "mem": 4096})),
        200,
        newest=True,
    ),
    "limits alone": Case(
        FOUR,
        (asks(update_quota(config("ads", {"cpus": 4}, {}))), joins("ads"), joins("web")),
        "quota update ads --limit cpus:8;mem:8192",
        update_quota(config("ads", {"cpus": 4}, {"cpus": 8, "mem": 8192})),
        200,
        newest=True,
    ),
    "limits of a hierarchy": Case(
        SIX,
        (joins("eng/dev"), joins("ops"), all_share),
        "quota update eng --create --limit cpus:8;mem:8192",
        update_quota(config("eng", {}, {"cpus": 8, "mem": 8192})),
        200,
        newest=True,
    ),
    "limits below what is consumed": Case(
        FOUR,
        (asks(reserve(owned("web", cpus=3))), asks(post_quota("web", cpus=4)), joins("ads")),
        "quota update web cpus:1 --limit cpus:2",
        update_quota(config("web", {"cpus": 1}, {"cpus": 2})),
        400,
        newest=True,
    ),
    "update beyond capacity": Case(
        FOUR,
        (asks(post_quota("web", cpus=4)), *ONE_HOLDS_ALL),
        "quota update web cpus:20 --limit cpus:20",
        update_quota(config("web", {"cpus": 20}, {"cpus": 20})),
        400,
        newest=True,
    ),
    # What others own counts towards a guarantee, although the role cannot have it: one of the two offers is enough.
    "guarantee that an offer of reserved resources seems to cover": Case(
        PARTLY_OWNED,
        (joins("ads"),),
        "quota update web cpus:10 --limit cpus:12 --create",
        update_quota(config("web", {"cpus": 10}, {"cpus": 12})),
        200,
        newest=True,
    ),
    "guarantee between what is owned and what is not": Case(
        OWNED_AND_NOT,
        (joins("ads"),),
        "quota update web cpus:2 --limit none --create",
        update_quota(config("web", {"cpus": 2}, {})),
        200,
        newest=True,
    ),
    # What the role owns itself and is offered counts twice, consumed and offered.
    "limits that the role's own offered reservations pass": Case(
        OWNED_AND_NOT,
        (joins("ads"),),
        "quota update ads cpus:1 --limit cpus:9 --create",
        update_quota(config("ads", {"cpus": 1}, {"cpus": 9})),
        200,
        newest=True,
    ),
    "a v0 quota beside reserved resources": sets_quota(PARTLY_OWNED, (joins("ads"),), "web", cpus=10),
    "a heavier role beside reserved resources": weighs(PARTLY_OWNED, (joins("ads"), joins("web")), "web", 2),
    # --- weights ---
    "a heavier role": weighs(SIX, (joins("ads"), joins("web"), all_share), "web", 2),
    "weights of a hierarchy": weighs(SIX, (joins("eng/dev"), joins("ops"), all_share), "eng", 2),
    "a weight of nobody here": weighs(SIX, EVERYBODY_SHARES, "idle", 2),
    "a weight of nothing": weighs(FOUR, ONE_HOLDS_ALL, "web", 0, status=400),
    # --- reservations ---
    "reserved for another role": Case(
        TWO_SIZES,
        ONE_HOLDS_ALL,
        "reserve @A1 cpus:2 mem:1024 --role web",
        reserve(owned("web", cpus=2, mem=1024)),
        202,
        waits=FILTERED,
    ),
    "reserved for whoever holds it": Case(
        ONE,
        (joins("ads"),),
        "reserve @A1 cpus:2 --role ads",
        reserve(owned("ads", cpus=2)),
        202,
        waits=FILTERED,
    ),
    "reserved beyond what the agent has": Case(
        FOUR, ONE_HOLDS_ALL, "reserve @A1 cpus:9 --role web", reserve(owned("web", cpus=9)), 409, waits=FILTERED
    ),
    "unreserved": Case(
        ONE,
        (asks(reserve(owned("web", cpus=2, mem=1024))), joins("ads"), joins("web")),
        "unreserve @A1 cpus:2 mem:1024 --role web",
        form("/unreserve", slaveId="@A1", resources=owned("web", cpus=2, mem=1024)),
        202,
        waits=FILTERED,
    ),
    "unreserved what is not reserved": Case(
        ONE,
        (joins("ads"),),
        "unreserve @A1 cpus:2 --role web",
        form("/unreserve", slaveId="@A1", resources=owned("web", cpus=2)),
        409,
    ),
    "refined": Case(
        ONE,
        (asks(reserve(owned("eng", cpus=2, mem=1024))), joins("eng/dev"), joins("eng/qa")),
        "reserve @A1 cpus:2 mem:1024 --role eng/qa --under eng",
        reserve(refined("eng", "eng/qa", cpus=2, mem=1024)),
        202,
        waits=FILTERED,
    ),
    # --- volumes ---
    "a volume": Case(
        ONE,
        (asks(reserve(owned("web", disk=500))), joins("ads"), joins("web")),
        "volumes create @A1 v1 disk:200 --role web",
        form("/create-volumes", slaveId="@A1", volumes=volume("web", 200, "v1")),
        202,
        waits=FILTERED,
    ),
    "a volume destroyed": Case(
        ONE,
        (
            asks(reserve(owned("web", disk=500))),
            asks(form("/create-volumes", slaveId="@A1", volumes=volume("web", 200, "v1"))),
            joins("ads"),
            joins("web"),
        ),
        "volumes destroy @A1 v1 --role web",
        form("/destroy-volumes", slaveId="@A1", volumes=volume("web", 200, "v1")),
        202,
        waits=FILTERED,
    ),
    "a volume of an id that is taken": Case(
        ONE,
        (
            asks(reserve(owned("web", disk=500))),
            asks(form("/create-volumes", slaveId="@A1", volumes=volume("web", 200, "v1"))),
            joins("web"),
        ),
        "volumes create @A1 v1 disk:100 --role web",
        form("/create-volumes", slaveId="@A1", volumes=volume("web", 100, "v1")),
        400,
    ),
    # --- frameworks ---
    "a framework that is torn down": Case(
        FOUR,
        ONE_HOLDS_ALL,
        "whatif --lose-framework @F1",
        form("/teardown", frameworkId="@F1"),
        200,
    ),
}


WISHES = """
[quotas.web]
guarantee = "cpus:4;mem:4GiB"
[quotas.eng]
guarantee = "cpus:4;mem:4GiB"
[weights]
web = 2.0
"""
AS_TYPED = {
    "several steps of a file": Case(FOUR, ONE_HOLDS_ALL, "apply -f @FILE", None, 0, waits=FILTERED, targets=WISHES),
    "taken from an offer": Case(
        FOUR,
        (joins("ads", suppressed_roles=["ads"]),),
        "offers take --role web --reserve cpus:1 --timeout 10",
        None,
        0,
        waits=FILTERED,
        suppresses=True,
    ),
}
CASES |= AS_TYPED
