"""Which endpoint a path means, as libprocess finds it (spec/endpoints.md §1).

The first part of a path names an actor, and may be percent-encoded; who is no actor's name is the
master's own path.  Of the rest, which is taken as it stands, the longest beginning that is an
endpoint decides.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, TypeVar
from urllib.parse import unquote

from fake_master.http import (
    agents,
    frameworks,
    information,
    maintenance,
    operator_api,
    quota,
    reservations,
    scheduler_api,
)
from fake_master.http.exchange import Realm, Refusal, Request, Response, authenticate, standard_refusal, wrong_method
from fake_master.master import Master
from fake_master.registry.interface import HeldRegistry, RegistryFailure
from mesosctl.model.errors import Forbidden

_MASTER = "master"
Handler = TypeVar("Handler")


class Router(Generic[Handler]):
    """Finds what stands at a path; `apart` are the paths whose first part is an actor beside the master."""

    def __init__(self, by_path: Mapping[str, Handler], apart: Collection[str]) -> None:
        self._of_master = {path: endpoint for path, endpoint in by_path.items() if path not in apart}
        self._apart: dict[str, dict[str, Handler]] = {}
        for path in apart:
            actor, _, name = path.partition("/")
            self._apart.setdefault(actor, {})[name] = by_path[path]

    def find(self, path: str) -> Handler | None:
        """The endpoint of a raw path, or None."""
        first = next(filter(None, path.split("/")), None)
        if first is None or "/.." in path:
            return None
        actor = unquote(first)
        if actor != _MASTER and actor not in self._apart:
            return _longest(self._of_master, path)
        below = self._of_master if actor == _MASTER else self._apart[actor]
        return _longest(below, path.removeprefix("/" + first))


def _longest(endpoints: Mapping[str, Handler], path: str) -> Handler | None:
    """What the path's longest beginning names; repeated slashes within it are none of ours."""
    name = path.strip("/")
    if not name:
        return endpoints.get(name)
    while name:
        if name in endpoints:
            return endpoints[name]
        name = name.rpartition("/")[0].rstrip("/")
    return None


Endpoint = Callable[[Master, Request, str | None], Response]
_READING = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Route:
    """Where an endpoint answers, to whom, and to which methods.

    `reads` answers every method; `methods` answers those it names.  `prefixed`: the master's own, so
    also below /master.  `begins_itself` where the body says whether anything is changed: the endpoint begins a
    transaction itself, if it has to.
    """

    path: str
    realm: Realm | None
    reads: Endpoint | None = None
    methods: Mapping[str, Endpoint] = field(default_factory=lambda: MappingProxyType({}))
    prefixed: bool = True
    begins_itself: bool = False


ROUTES = (
    Route("health", None, information.health),
    Route("version", None, information.version, prefixed=False),
    Route("redirect", None, information.redirect),
    Route("flags", Realm.READONLY, information.flags),
    Route("metrics/snapshot", Realm.READONLY, information.metrics_snapshot, prefixed=False),
    Route("slaves", Realm.READONLY, information.slaves),
    Route("state", Realm.READONLY, information.state),
    Route("state-summary", Realm.READONLY, information.state_summary),
    Route("roles", Realm.READONLY, information.roles),
    Route("frameworks", Realm.READONLY, frameworks.frameworks),
    Route("tasks", Realm.READONLY, frameworks.tasks),
    Route("teardown", Realm.READWRITE, methods={"POST": frameworks.teardown_endpoint}),
    Route("reserve", Realm.READWRITE, methods={"POST": reservations.reserve}),
    Route("unreserve", Realm.READWRITE, methods={"POST": reservations.unreserve}),
    Route("create-volumes", Realm.READWRITE, methods={"POST": reservations.create_volumes}),
    Route("destroy-volumes", Realm.READWRITE, methods={"POST": reservations.destroy_volumes}),
    Route("quota", Realm.READWRITE, methods={"GET": quota.get, "POST": quota.post, "DELETE": quota.delete}),
    Route("weights", Realm.READWRITE, methods={"GET": quota.get_weights, "PUT": quota.put}),
    Route(
        "maintenance/schedule",
        Realm.READWRITE,
        methods={"GET": maintenance.get_schedule, "POST": maintenance.post_schedule},
    ),
    Route("maintenance/status", Realm.READONLY, methods={"GET": maintenance.get_status}),
    Route("machine/down", Realm.READWRITE, methods={"POST": maintenance.machine_down}),
    Route("machine/up", Realm.READWRITE, methods={"POST": maintenance.machine_up}),
    Route("api/v1", Realm.READWRITE, methods={"POST": operator_api.call}, begins_itself=True),
    Route("api/v1/scheduler", Realm.SCHEDULER, methods={"POST": scheduler_api.call}),
)
ROUTER = Router({route.path: route for route in ROUTES}, {route.path for route in ROUTES if not route.prefixed})


class Application:
    """Answers requests to one master.  Not thread-safe: a carrier sends one at a time."""

    def __init__(self, master: Master) -> None:
        self.master = master

    def tick(self) -> None:
        """Do what has become due."""
        self.master.advance()

    def handle(self, request: Request) -> Response:
        """The answer, whatever happens; a change it reports is already kept."""
        try:
            return self.respond(request)
        except RegistryFailure as failure:
            return registry_failed(failure, request)

    def respond(self, request: Request) -> Response:
        """The same; raises RegistryFailure where a change was not kept.

        Nothing was changed then only if it is a HeldRegistry.  Otherwise what an operator asked for is undone; what a
        framework's call made agents do goes on, and is written when that is possible (`AgentStore`).
        """
        self.master.advance()
        try:
            response = self._answer(request)
        except Refusal as refusal:
            response = refusal.response
        finally:
            self.master.advance()
        return _as_asked(response, request)

    def _answer(self, request: Request) -> Response:
        route = ROUTER.find(request.path)
        if route is None:
            from_agent = agents.answer(self.master, request)
            if from_agent is None:
                raise standard_refusal(404)
            return from_agent
        principal = authenticate(self.master.state.flags, route.realm, request)
        endpoint = route.reads or route.methods.get(request.method)
        if endpoint is None:
            raise wrong_method(tuple(route.methods), request.method)
        try:
            if route.reads is not None or request.method in _READING or route.begins_itself:
                self.master.refresh()
                return endpoint(self.master, request, principal)
            with self.master.transaction():
                return endpoint(self.master, request, principal)
        except Forbidden:
            raise standard_refusal(403) from None


def registry_failed(failure: RegistryFailure, request: Request) -> Response:
    """What `Application.handle` makes of what `respond` raised."""
    hint = f" ({failure.hint})" if failure.hint else ""
    nothing = isinstance(failure, HeldRegistry) or request.method in _READING
    outcome = "nothing was changed" if nothing else "what was asked was not kept"
    refusal = Refusal(500, f"The registry failed, and {outcome}: {failure}{hint}")
    return _as_asked(refusal.response, request)


def _as_asked(response: Response, request: Request) -> Response:
    if request.method != "HEAD":
        return response
    return Response(response.status, b"", {**response.headers, "Content-Length": str(len(response.body))})
