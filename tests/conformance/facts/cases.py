"""A case for each fact of a profile: the requests by whose answers two masters are told apart that differ in it.

The generators of histories draw from the cases that are requests of operators (`DRAWN`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.frameworks import amounts as amounts_of
from tests.conformance.callers.holding import amounts
from tests.conformance.callers.joining import joining, quick
from tests.conformance.callers.subscribers import Event
from tests.conformance.callers.tasks import executor, group, launch, task
from tests.conformance.masters.cluster import Answer, Cluster, MasterDied, Setup
from tests.conformance.masters.comparing import steady
from tests.conformance.masters.leaving import lose_an_agent
from tests.conformance.scenarios.reserving import cpus, create, destroy, disk, dynamic, ports, reserve, unreserve
from tests.conformance.scenarios.scenario import Step, api, config, delete, get, post_quota, send, update_quota
from tests.conformance.scenarios.setups import AUTHENTICATED, STANDARD
from tests.conformance.situations.playing import play
from tests.conformance.situations.table import AGENT, GIB, WITHOUT_LIMITS, of

ENDED = "the master has ended"
SHARED = ("cpus", "mem")
Told = list[Any]


@dataclass(frozen=True)
class Case:
    """The requests for a master, and the parts of its answers that count."""

    steps: tuple[Step, ...] = ()
    read: Callable[[Cluster], Told] | None = None
    """How it is asked, if it is more than steps."""
    setup: Setup = STANDARD
    shuffles: bool = False
    """Whether it tells only masters apart that visit agents in random orders, as all real ones do."""
    ends: bool = False
    """Whether the last step ends a real master of one side of the boundary; the fake one of it refuses it."""

    def told(self, master: Cluster) -> Told:
        """The answers of a master; the last is `ENDED` if the master does not live on."""
        if self.read is not None:
            return self.read(master)
        found: Told = []
        for step in self.steps:
            try:
                found.append(outline(asked(master, step)))
            except MasterDied:
                assert self.ends, step
                return [*found, ENDED]
        return found


def asked(master: Cluster, step: Step) -> Answer:
    """The answer to a step."""
    path, content = master.fill(step.path), master.fill(step.content)
    return master.request(step.method, str(path), content=content, headers=step.headers)


def outline(answer: Answer) -> Any:
    """The status, and the JSON of an answer that has some; of refusals, whether they have a text."""
    is_json = answer.status == 200 and answer.content and "json" in answer.headers.get("Content-Type", "")
    return answer.status, steady(answer.json()) if is_json else bool(answer.content)


def sharing(*names: str) -> Case:
    """The cpus and memory of frameworks in situations of one cluster, one after the other.

    Disks and ports tell from how many agents a part came, which the order of the agents decides.
    """

    def read(master: Cluster) -> Told:
        found: Told = []
        for name in names:
            shares = play(master, WITHOUT_LIMITS[name])
            found.append([{key: value for key, value in share.items() if key.startswith(SHARED)} for share in shares])
            master.clear_quota()
        return found

    return Case(read=read, setup=WITHOUT_LIMITS[names[0]].setup())


# --- Those that are more than requests of an operator --------------------------------------------------

ONE_AGENT = quick("cpus:4;mem:2048;disk:100;ports:[31000-31009]")
ALIKE = of(2, "a", "b", "c", quotas={"a": {"cpus": 4, "mem": 4 * GIB}}, at_once=True)
"""`a` takes a half of the first agent of the first stage; `b` gets the first one of the second stage."""
TOLD = "UPDATE_OPERATION_STATUS"
ROUNDS = 10
"""After so many, chance would hardly have kept an order."""


def order_of_stages(master: Cluster) -> Told:
    """Whether the rest of an agent is always the first to be shared out."""
    for _ in range(ROUNDS):
        if play(master, ALIKE)[1]["cpus"] != ALIKE.quotas["a"]["cpus"]:
            return [False]
        master.clear_quota()
    return [True]


def shares_beside_a_guarantee(master: Cluster) -> Told:
    """The shares of two frameworks to which everything is offered, when the role of the first has a guarantee.

    Where UPDATE_QUOTA is known, it has no limit any more.
    """
    with joining(master) as join:
        first = join("z").subscribe()
        first.settle()
        others = [join(role).subscribe() for role in ("a", "b")]
        assert asked(master, post_quota("a", cpus=8, mem=8 * GIB)).status == 200
        asked(master, update_quota(config("a", {"cpus": 8, "mem": 8 * GIB}, {})))
        first.leave()
        first.id = None
        for framework in others:
            framework.settle()
        return [amounts(framework, "cpus", "mem") for framework in others]


def heard_when_suppressed(master: Cluster) -> Told:
    """The kinds of events that frameworks get that suppress nothing, their role, and a role that is not theirs."""
    found: Told = []
    for suppressed in ([], ["ads"], ["web"]):
        framework = Framework(master, "ads")
        stream = framework.open(suppressed_roles=suppressed)
        master.subscribers.wait(lambda stream=stream: bool(stream.events) or stream.closed)  # type: ignore[misc]
        if stream.events[0]["type"] == "SUBSCRIBED":
            framework.id = stream.events[0]["subscribed"]["framework_id"]["value"]
            framework.settle()
            framework.leave()
        stream.hang_up()
        found.append({event["type"] for event in stream.events} - {"HEARTBEAT"})
    return found


def told_of_an_operation_with_an_id(master: Cluster) -> Told:
    """The states that a framework is told of an operation with an id, and what it is offered then."""
    framework = Framework(master, "ads").subscribe()
    operation = {"type": "RESERVE", "id": {"value": "o"}, "reserve": {"resources": [cpus(1, dynamic("ads"))]}}
    framework.accept(framework.offers(), operation)
    (offer,) = framework.offers()
    framework.settle()
    told = {one["update_operation_status"]["status"]["state"] for one in framework.stream.events if one["type"] == TOLD}
    framework.leave()
    return [told, amounts_of(offer["resources"])]


def launched_again(master: Cluster) -> Told:
    """The statuses that a master gives the tasks of an ACCEPT, of which several have one id, and which it has then."""
    framework = Framework(master, "ads").subscribe()
    (offer,) = framework.offers()

    def refused(name: str) -> Event:
        return task(offer, name, resources=[])

    def one(name: str) -> Event:
        return task(offer, name, cpus=0.1)

    under = executor(framework)
    alone = [launch(refused("a")), launch(one("a"), one("b"))]
    in_groups = [group(under, refused("c")), group(under, one("c"), one("d"))]
    framework.accept([offer], *alone, *in_groups)
    framework.ask("RECONCILE", reconcile={"tasks": [{"task_id": {"value": "marker"}}]})
    told: list[tuple[str, str, str]] = []
    while not told or told[-1][0] != "marker":
        status = framework.next("UPDATE")["update"]["status"]
        if status.get("source") == "SOURCE_MASTER":
            told.append((status["task_id"]["value"], status["state"], status.get("reason", "")))
    tasks = master.call("GET_TASKS").json()["get_tasks"]
    known = sorted(entry["task_id"]["value"] for listed in tasks.values() for entry in listed)
    framework.leave()
    return [told, known]


def offered_while_the_rest_is_refused(master: Cluster) -> Told:
    """Whether a framework is offered what it has just reserved."""
    framework = Framework(master, "ads").subscribe()
    operation = {"type": "RESERVE", "reserve": {"resources": [cpus(1, dynamic("ads"))]}}
    framework.accept(framework.offers(), operation, refuse=1000)
    before = len(framework.stream.events)
    framework.settle()
    found = [event["type"] for event in framework.stream.events[before:]]
    framework.leave()
    return ["OFFERS" in found]


def counted_of_a_broken_acknowledgement(master: Cluster) -> Told:
    """The metrics of an ACKNOWLEDGE with a broken uuid."""
    framework = Framework(master, "ads").subscribe()
    agent = framework.offers()[0]["agent_id"]
    broken = {"agent_id": agent, "task_id": {"value": "t"}, "uuid": "AA=="}
    counter = "master/invalid_status_update_acknowledgements"
    before = master.read("/metrics/snapshot")[counter]
    answer = framework.call("ACKNOWLEDGE", acknowledge=broken)
    framework.leave()
    return [answer.status, master.read("/metrics/snapshot")[counter] - before]


def reactivated_when_gone(master: Cluster) -> Told:
    """Whether an agent can be reactivated that was deactivated and is gone since."""
    agent_id = master.agents()[0]["id"]
    found: Told = []
    for call in ("DEACTIVATE_AGENT", "MARK_AGENT_GONE", "REACTIVATE_AGENT"):
        try:
            found.append(outline(master.call(call, **{call.lower(): {"agent_id": {"value": agent_id}}})))
        except MasterDied:
            return [*found, ENDED]
        if call == "MARK_AGENT_GONE" and found[-1][0] == 200:
            assert master.subscribers.wait(lambda: not master.agents())
    return found


def promised_of_a_lost_agent(master: Cluster) -> Told:
    """Whether a guarantee passes that needs an agent which is disconnected."""
    lose_an_agent(master, "cpus:6;mem:1024")
    return [outline(asked(master, step)) for step in (post_quota("web", cpus=10), delete("/quota/web"))]


def role_of_a_path(master: Cluster) -> Told:
    """Whether the master looks for the quota of a role with a slash; no such role can have any."""
    answer = asked(master, delete("/quota/ads/x"))
    return [answer.status, b"no quota set" in answer.content]


R, Q, BELOW = dynamic("r"), dynamic("q"), dynamic("r/x")
PORTS = ports((31000, 31001), by=R)
VOLUME: dict[str, Any] = {"persistence": {"id": "v"}, "volume": {"mode": "RW", "container_path": "p"}}
SEEN_AFTERWARDS = get("/quota"), delete("/quota/web")
LIMITED = update_quota(config("web", {"cpus": 1}, {"cpus": 2}))

CASES: dict[str, Case] = {
    # Requests about quota
    "default_role_may_have_quota": Case(
        (
            post_quota("*", cpus=1),
            get("/quota"),
            delete("/quota/*"),
            update_quota(config("web", {"cpus": 1}), config("*")),
            update_quota(config("*", {}, {"cpus": 4})),
            get("/quota"),
        )
    ),
    "quota_request_sets_limit": Case((post_quota("web", cpus=1), api("GET_QUOTA"), *SEEN_AFTERWARDS)),
    "capacity_includes_static_reservations": Case((post_quota("web", cpus=24), *SEEN_AFTERWARDS)),
    "capacity_includes_inactive_agents": Case(read=promised_of_a_lost_agent, setup=ONE_AGENT),
    "capacity_compares_resources": Case(
        (post_quota("web", [cpus(1, allocation_info={"role": "r"})]), *SEEN_AFTERWARDS)
    ),
    "guarantee_may_repeat_names": Case((post_quota("web", [cpus(1), cpus(2)]), *SEEN_AFTERWARDS)),
    "quota_amounts_are_bounded": Case(
        (
            *(update_quota(config("web", {}, {name: 2e12}), force=True) for name in ("cpus", "mem")),
            *(update_quota(config("web", {"cpus": amount}), force=True) for amount in (2e12, 9e15, -1, 0.0001, 1e-310)),
            update_quota(config("web", {"cpus": 4e12}, {"cpus": 3e12}), force=True),
            get("/quota"),
            post_quota("web", cpus=2e12, force=True),
        ),
        ends=True,
    ),
    "guarantee_is_kept_as_sent": Case(
        (post_quota("web", cpus=1, gpus=0), *SEEN_AFTERWARDS, post_quota("web", cpus=7.7777777), *SEEN_AFTERWARDS)
    ),
    "guarantee_shows_role": Case((post_quota("web", cpus=2), *SEEN_AFTERWARDS)),
    "configs_shown": Case((post_quota("web", cpus=2), *SEEN_AFTERWARDS, LIMITED, *SEEN_AFTERWARDS)),
    "delete_path_may_contain_slash": Case((delete("/quota/ads/x"),), read=role_of_a_path),
    "knows_update_quota": Case((LIMITED, *SEEN_AFTERWARDS)),
    # The allocator
    "guarantee_is_limit": Case(read=shares_beside_a_guarantee, setup=quick(*[AGENT] * 4)),
    "reservations_consume_quota": sharing("reservations count"),
    "quota_takes_whole_agents": sharing("a part of an agent", "half a cpu for nobody"),
    "agents_keep_headroom_whole": sharing("half a cpu for nobody"),
    "subroles_consume_quota": sharing("reserved for a role below"),
    "stages_share_an_order": Case(read=order_of_stages, setup=ALIKE.setup(), shuffles=True),
    "forgets_roles_without_scalars": Case(
        (
            reserve(cpus(1, R)),
            reserve(PORTS, on="@A2"),
            unreserve(cpus(1, R)),
            reserve(cpus(1, Q), on="@A2"),
        ),
        ends=True,
    ),
    # Endpoints
    "roles_are_a_tree": Case((reserve(cpus(1, dynamic("ads/x"))), get("/roles"), unreserve(cpus(1, dynamic("ads/x"))))),
    "whitelist_shows_roles_above": Case((get("/roles"),), setup=Setup(flags={"roles": "a/b"})),
    "path_may_end_with_slash": Case((get("/weights/"), get("/master/quota//"))),
    "bare_statuses_have_text": Case((get("/nosuch"),)),
    "takes_no_entries": Case((reserve(),)),
    "quota_shows_principal": Case(
        (post_quota("web", cpus=1).by("op"), get("/quota").by("op"), delete("/quota/web").by("op")), setup=AUTHENTICATED
    ),
    "json_numbers_are_short": Case(
        (send("PUT", "/weights", [{"role": "ads/x", "weight": 1.7149999999999999}]), get("/weights"))
    ),
    # The status alone: a master that is lent may show the weights of others.
    "has_json_paths": Case((get("/roles.json"),), read=lambda master: [master.request("GET", "/roles.json").status]),
    "jsonp_ends_with_semicolon": Case(
        (get("/quota?jsonp=f"),), read=lambda master: [master.request("GET", "/quota?jsonp=f").content[-2:]]
    ),
    "master_capabilities": Case(read=lambda master: [steady(master.read("/state").get("capabilities", "none"))]),
    "agent_capabilities": Case(read=lambda master: [sorted(agent["capabilities"]) for agent in master.agents()]),
    # Reservations
    "reserves_volumes": Case(
        (
            reserve(disk(8, R)),
            create(disk(8, R, **VOLUME)),
            reserve(disk(8, R, BELOW, **VOLUME)),
            *(destroy(disk(8, *stack, **VOLUME)) for stack in ((R, BELOW), (R,))),
            *(unreserve(disk(8, *stack)) for stack in ((R, BELOW), (R,))),
        )
    ),
    "reserve_passes_over_nothing": Case((reserve(cpus(1, R), cpus(0, Q)),) * 2, ends=True),
    # Frameworks
    "operations_with_ids": Case(read=told_of_an_operation_with_an_id, setup=ONE_AGENT),
    "reactivating_the_absent_ends_master": Case(read=reactivated_when_gone, setup=ONE_AGENT, ends=True),
    "launches_ids_once": Case(read=launched_again, setup=ONE_AGENT),
    "converted_comes_back_at_once": Case(read=offered_while_the_rest_is_refused, setup=ONE_AGENT),
    "counts_broken_acknowledgements": Case(read=counted_of_a_broken_acknowledgement, setup=ONE_AGENT),
    "honours_suppressed_roles": Case(read=heard_when_suppressed, setup=ONE_AGENT),
}
"""By the name of the field."""
DRAWN = {name: case.steps for name, case in CASES.items() if case.steps and not case.ends and case.setup is STANDARD}
"""The cases that are requests, which an operator may send at any time: histories of operators have them."""
DRAWN_AS_CALLS = {"honours_suppressed_roles": "suppressed_roles"}
"""The members of a SUBSCRIBE that random calls draw."""
DRAWN_AS_TASKS = frozenset({"launches_ids_once"})
"""The cases that random tasks draw."""
NEED_A_CLUSTER = frozenset(
    {
        *("guarantee_is_limit", "reservations_consume_quota", "quota_takes_whole_agents", "agents_keep_headroom_whole"),
        *("subroles_consume_quota", "stages_share_an_order"),  # they show in shares alone
        "capacity_includes_inactive_agents",
        *("whitelist_shows_roles_above", "quota_shows_principal", "operations_with_ids"),
        *("converted_comes_back_at_once", "counts_broken_acknowledgements"),
        *("master_capabilities", "agent_capabilities"),  # they are always the same
    }
)
"""The cases that need a cluster of their own."""
