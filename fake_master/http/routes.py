"""The paths of the fake master: which endpoint answers where, to whom, and to which methods.

To add an endpoint, write a method in the class of its noun, and add a `Route` to `Endpoints.routes`.  A call of
the operator API is added to `calls` of that class instead.

The first part of a path names an actor and may be percent-encoded; where it names no actor, the path is the master's
own. Of the rest, which is read literally, the longest prefix that is an endpoint decides, as in libprocess. `python -m
fake_master.http.routes` prints the page `docs/reference/served.md`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Generic, TypeVar
from urllib.parse import unquote

from fake_master.http.agents import AgentCalls, AgentEndpoints
from fake_master.http.frameworks import FrameworkEndpoints
from fake_master.http.maintenance import MaintenanceEndpoints
from fake_master.http.operator_api import STREAMS, Change, OperatorApi, Reading
from fake_master.http.page import LONGEST_WISH, PageEndpoints
from fake_master.http.quota import QuotaEndpoints, WeightEndpoints
from fake_master.http.request_response import Realm, Request, Response
from fake_master.http.reservations import ReservationEndpoints
from fake_master.http.scheduler_api import SchedulerApi
from fake_master.http.state_flags_metrics import LoggingCalls, StateEndpoints
from fake_master.master import Master

_MASTER = "master"
Handler = TypeVar("Handler")


class Router(Generic[Handler]):
    """Finds the endpoint of a path; `apart` are the paths whose first part is another actor than the master.

    `with_slash`: whether slashes at the end of the whole path do not matter.
    """

    def __init__(self, by_path: Mapping[str, Handler], apart: Collection[str], *, with_slash: bool = True) -> None:
        self._with_slash = with_slash
        self._of_master = {path: endpoint for path, endpoint in by_path.items() if path not in apart}
        self._apart: dict[str, dict[str, Handler]] = {}
        for path in apart:
            actor, _, name = path.partition("/")
            self._apart.setdefault(actor, {})[name] = by_path[path]

    def find(self, path: str) -> Handler | None:
        """The endpoint of a raw path, or None."""
        first = next(filter(None, path.split("/")), None)
        if "/.." in path:
            return None
        if first is None:
            return self._apart.get("", {}).get("")
        actor = unquote(first)
        if actor != _MASTER and actor not in self._apart:
            return self._longest(self._of_master, path)
        below = self._of_master if actor == _MASTER else self._apart[actor]
        return self._longest(below, path.removeprefix("/" + first))

    def _longest(self, endpoints: Mapping[str, Handler], path: str) -> Handler | None:
        """Return the endpoint of the longest prefix of the path; repeated slashes within it match nothing."""
        name = path.lstrip("/")
        if not name:
            return endpoints.get(name)
        if self._with_slash:
            name = name.rstrip("/")
        while name:
            if name in endpoints:
                return endpoints[name]
            name = name.rstrip("/").rpartition("/")[0].rstrip("/")
        return None


Endpoint = Callable[[Request, str | None], Response]


@dataclass(frozen=True, slots=True)
class Route:
    """Where an endpoint answers, to whom, and to which methods.

    `reads` answers every method; `methods` answers those it names.  `prefixed`: the master's own, so also below
    /master.  `begins_itself` if only the body says whether anything is changed: the endpoint begins a transaction
    itself, if necessary.  `longest_body` in bytes, if it is shorter than that of others.
    """

    path: str
    realm: Realm | None
    reads: Endpoint | None = None
    methods: Mapping[str, Endpoint] = field(default_factory=lambda: MappingProxyType({}))
    prefixed: bool = True
    begins_itself: bool = False
    longest_body: int | None = None


class Endpoints:
    """Every endpoint of one master, made with the services that it needs; `has_page`: with the page at its address."""

    def __init__(self, master: Master, *, has_page: bool = False) -> None:
        state, transaction = master.state, master.transaction
        state_endpoints = StateEndpoints(state, master.runtime, master.metrics.snapshot, master.run_times)
        logging = LoggingCalls(state, master.logging_level)
        frameworks = FrameworkEndpoints(state, master.subscriptions)
        quota = QuotaEndpoints(state, master.quotas)
        weights = WeightEndpoints(state, master.weights)
        reservations = ReservationEndpoints(state, master.reservations)
        maintenance = MaintenanceEndpoints(state, master.maintenance, master.agent_removal, master.agent_registry)
        agents = AgentCalls(state, master.agent_removal, master.draining)
        nouns = (state_endpoints, logging, frameworks, quota, weights, reservations, maintenance, agents)
        calls = [call for noun in nouns for call in noun.calls()]
        self.of_agents = AgentEndpoints(state, master.refresh, master.oversubscription)
        self.operator_api = OperatorApi(state, master.events, transaction, state_endpoints.get_state, calls)
        self.scheduler_api = SchedulerApi(
            state,
            master.rate_limiting,
            master.subscriptions,
            master.offer_answers,
            master.offers.inverse,
            master.task_runner,
            master.operation_updates,
        )
        self.page = PageEndpoints(master)
        of_page = (
            Route("", Realm.READONLY, methods={"GET": self.page.html, "HEAD": self.page.html}, prefixed=False),
            Route(
                "page/cluster",
                Realm.READONLY,
                methods={"GET": self.page.document, "HEAD": self.page.document},
                prefixed=False,
            ),
            Route("page/events", Realm.READONLY, methods={"GET": self.page.events}, prefixed=False),
            Route(
                "page/clock",
                Realm.READWRITE,
                methods={"POST": self.page.clock},
                prefixed=False,
                begins_itself=True,
                longest_body=LONGEST_WISH,
            ),
        )
        self.routes: tuple[Route, ...] = (
            *(of_page if has_page else ()),
            Route("health", None, state_endpoints.health),
            Route("version", None, state_endpoints.version, prefixed=False),
            Route("redirect", None, state_endpoints.redirect),
            Route("flags", Realm.READONLY, state_endpoints.flags),
            Route("metrics/snapshot", Realm.READONLY, state_endpoints.metrics_snapshot, prefixed=False),
            Route("registrar(1)/registry", Realm.READONLY, state_endpoints.registry, prefixed=False),
            Route("allocation-runs", Realm.READONLY, state_endpoints.allocation_runs),
            Route("slaves", Realm.READONLY, state_endpoints.slaves),
            Route("state", Realm.READONLY, state_endpoints.state),
            Route("state-summary", Realm.READONLY, state_endpoints.state_summary),
            Route("roles", Realm.READONLY, state_endpoints.roles),
            Route("frameworks", Realm.READONLY, frameworks.frameworks),
            Route("tasks", Realm.READONLY, frameworks.tasks),
            Route("teardown", Realm.READWRITE, methods={"POST": frameworks.teardown}),
            Route("reserve", Realm.READWRITE, methods={"POST": reservations.reserve}),
            Route("unreserve", Realm.READWRITE, methods={"POST": reservations.unreserve}),
            Route("create-volumes", Realm.READWRITE, methods={"POST": reservations.create_volumes}),
            Route("destroy-volumes", Realm.READWRITE, methods={"POST": reservations.destroy_volumes}),
            Route("quota", Realm.READWRITE, methods={"GET": quota.get, "POST": quota.post, "DELETE": quota.delete}),
            Route("weights", Realm.READWRITE, methods={"GET": weights.get, "PUT": weights.put}),
            Route(
                "maintenance/schedule",
                Realm.READWRITE,
                methods={"GET": maintenance.get_schedule, "POST": maintenance.post_schedule},
            ),
            Route("maintenance/status", Realm.READONLY, methods={"GET": maintenance.get_status}),
            Route("machine/down", Realm.READWRITE, methods={"POST": maintenance.machine_down}),
            Route("machine/up", Realm.READWRITE, methods={"POST": maintenance.machine_up}),
            Route("api/v1", Realm.READWRITE, methods={"POST": self.operator_api.call}, begins_itself=True),
            Route("api/v1/scheduler", Realm.SCHEDULER, methods={"POST": self.scheduler_api.call}),
        )
        if state.profile.has_json_paths:
            self.routes += tuple(
                replace(route, path=f"{route.path}.json") for route in self.routes if route.path in _JSON
            )
        router = Router(
            {route.path: route for route in self.routes},
            {route.path for route in self.routes if not route.prefixed},
            with_slash=state.profile.path_may_end_with_slash,
        )
        self.find = router.find


_JSON = ("roles", "state", "tasks")
"""The endpoints that older masters also serve with `.json` at the end."""
NOT_SERVED = {
    "`/help`, `/help/…`": "the pages of this site and `mesos-fake-master --help` take its place",
    "`/logging/toggle`": "`GET_LOGGING_LEVEL` and `SET_LOGGING_LEVEL` do the same",
    "`/files/browse`, `/files/read`, `/files/download`, `/files/debug`": "there are no sandboxes and no log files",
    "metrics `registrar/…`": "the registry is a file, not a replicated log",
    "`/system/stats.json`": "the figures of the machine are not those of a cluster",
    "`/profiler/start`, `/profiler/stop`, `/__processes__`": "they are about libprocess",
    "`/allocator/offer_constraints_debug`": "`/frameworks` and GET_FRAMEWORKS show the constraints of offers",
    "`/slave(N)/flags`, `/slave(N)/health`, `/slave(N)/monitor/statistics`, `/slave(N)/containers`, "
    "`/slave(N)/containerizer/debug`, `/slave(N)/api/v1`, `/slave(N)/api/v1/executor`, "
    "`/slave(N)/api/v1/resource_provider`": "agents are simulated: they have no containers, executors or providers",
    "flag `whitelist`": "agents are taken out of service by DEACTIVATE_AGENT, or by leaving them out",
    "flag `agent_removal_rate_limit`": "agents leave when a cluster file or a test says so",
    "flag `max_executors_per_agent`": "a simulated agent runs any number of executors",
    "flag `quorum`": "there is one master, which is the leader",
}
"""The endpoints and flags of a real master that this one does not have, and the reasons."""


def page(endpoints: Endpoints) -> str:
    """Return the page `docs/reference/served.md`, Markdown."""
    return "\n".join(_lines(endpoints)) + "\n"


def _lines(endpoints: Endpoints) -> Iterator[str]:
    yield "# What the fake master serves"
    yield ""
    yield "`python -m fake_master.http.routes` generates this page from the routes of the fake master."
    yield from ("", "## Endpoints", "", "| path | methods | realm of credentials | also below /master |")
    yield "| --- | --- | --- | --- |"
    for route in sorted(endpoints.routes, key=lambda route: route.path):
        yield _endpoint(route)
    for of_agent in endpoints.of_agents.routes:
        yield f"| `/slave(N)/{of_agent.path}` | {of_agent.method or 'any'} | {of_agent.realm.name.lower()} | no |"
    yield ""
    yield "`/allocation-runs` is not in Mesos: it shows when the last allocation runs were, for recordings."
    yield "`/` is a page, which shows the document of `/page/cluster`, listens to `/page/events` and changes the clock"
    yield "by `POST /page/clock`. Only `mesos-fake-master` serves these four; `--no-page` leaves them out."
    yield ""
    yield "The calls, answers and event streams of `/api/v1` and `/api/v1/scheduler` are `application/json`, or"
    yield "`application/x-protobuf` if `mesosctl[protobuf]` is installed."
    yield ""
    yield "With `--driver`, the fake master also serves the messages of scheduler drivers:"
    yield "`POST /master/mesos.scheduler.Call`, the older messages of `mesos.internal`, and those of CRAM-MD5."
    yield from ("", "## Operator calls (`POST /api/v1`)", "")
    calls = endpoints.operator_api.calls.values()
    yield f"Calls that read: {_names([*(call.name for call in calls if isinstance(call, Reading)), *STREAMS])}."
    yield ""
    yield f"Calls that change something: {_names(call.name for call in calls if isinstance(call, Change))}."
    yield ""
    if endpoints.operator_api.not_served:
        yield f"Calls that the fake master answers with 501: {_names(endpoints.operator_api.not_served)}."
        yield ""
    yield "`LIST_FILES` and `READ_FILE` are always answered with 404, because there are no files."
    yield from ("", "## Scheduler calls (`POST /api/v1/scheduler`)", "")
    yield f"{_names(endpoints.scheduler_api.served)}."
    yield from ("", "## Not served", "", "| what | why |", "| --- | --- |")
    for what, why in NOT_SERVED.items():
        yield f"| {what} | {why} |"


def _endpoint(route: Route) -> str:
    methods = "any" if route.reads is not None else ", ".join(route.methods)
    realm = route.realm.name.lower() if route.realm is not None else "none"
    return f"| `/{route.path}` | {methods} | {realm} | {'yes' if route.prefixed else 'no'} |"


def _names(calls: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(calls))


if __name__ == "__main__":
    from fake_master.sources.cluster_file import BUILT_IN

    print(page(Endpoints(BUILT_IN.start(), has_page=True)), end="")  # noqa: T201  # a page on standard output is what it is for
