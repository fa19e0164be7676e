"""Requests to one master, each in its own transaction if it changes something."""

from collections.abc import Callable
from dataclasses import replace

from fake_master.http.json_text import with_short_numbers
from fake_master.http.request_response import (
    JSON,
    JSONP,
    Refusal,
    Request,
    Response,
    authenticate,
    standard_refusal,
    wrong_method,
)
from fake_master.http.routes import Endpoints
from fake_master.master import Master
from fake_master.registry.interface import HeldRegistry, RegistryFailure
from mesosctl.mesos.errors import Forbidden
from mesosctl.mesos.messages.http_statuses import NOT_ALLOWED
from mesosctl.mesos.rules.version_profile import Profile

_READING = ("GET", "HEAD")


class Application:
    """Answers requests to one master, and with `has_page` shows it to browsers.

    Not thread-safe: a transport sends one request at a time.
    """

    master: Master
    endpoints: Endpoints

    def __init__(self, master: Master, *, has_page: bool = False) -> None:
        self._has_page = has_page
        self._begin(master)

    def follow(self, master: Master) -> None:
        """Answer requests to this master from now on."""
        self.endpoints.page.close()
        self._begin(master)

    def _begin(self, master: Master) -> None:
        self.master = master
        self.endpoints = Endpoints(master, has_page=self._has_page)
        self.find_message: Callable[[Request], Callable[[], Response] | None] = lambda _request: None
        """Finds the taker of a request that is a message of a driver, if drivers are served; None for any other."""

    def tick(self) -> None:
        """Do what has become due."""
        self.master.advance()

    def longest_body(self, path: str) -> int | None:
        """Return how many bytes the body of a request may have there; None: as many as any."""
        route = self.endpoints.find(path)
        return None if route is None else route.longest_body

    def publish(self) -> float | None:
        """Send an update to open pages; see `PageEndpoints.publish`."""
        return self.endpoints.page.publish()

    def handle(self, request: Request) -> Response:
        """Return the answer to a request, also if the registry fails; a change that it reports is on disk."""
        try:
            return self.respond(request)
        except RegistryFailure as failure:
            return registry_failed(failure, request)

    def respond(self, request: Request) -> Response:
        """Return the answer to a request.  Raises RegistryFailure if a change was not kept.

        A HeldRegistry means that nothing was changed.  After any other failure, an operator's change is undone, but
        what agents do because of a framework's call continues, and is written when that is possible
        (`CheckpointedTasks`).
        """
        self.master.advance()
        try:
            response = self._answer(request)
            response = _as_written(response, self.master.state.profile)
        except Refusal as refusal:
            response = refusal.response
            if refusal.is_bare and not self.master.state.profile.bare_statuses_have_text:
                response = without_text(response)
        finally:
            self.master.advance()
        return without_body_for_head(response, request.method)

    def _answer(self, request: Request) -> Response:
        take_message = self.find_message(request)
        if take_message is not None:
            with self.master.transaction():
                return take_message()
        route = self.endpoints.find(request.path)
        if route is None:
            from_agent = self.endpoints.of_agents.answer(request)
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
                return endpoint(request, principal)
            with self.master.transaction():
                return endpoint(request, principal)
        except Forbidden:
            raise standard_refusal(NOT_ALLOWED) from None


def _as_written(response: Response, profile: Profile) -> Response:
    """JSON as a master of the release writes it."""
    media = response.headers.get("Content-Type")
    if media in (JSON, JSONP) and profile.json_numbers_are_short:
        response = replace(response, content=with_short_numbers(response.body))
    if media == JSONP and profile.jsonp_ends_with_semicolon:
        response = replace(response, content=response.body + b";")
    return response


def registry_failed(failure: RegistryFailure, request: Request) -> Response:
    """Return the answer of `Application.handle` where `respond` raised this."""
    hint = f" ({failure.hint})" if failure.hint else ""
    nothing = isinstance(failure, HeldRegistry) or request.method in _READING
    outcome = "nothing was changed" if nothing else "the change was not saved"
    refusal = Refusal(500, f"The registry failed, and {outcome}: {failure}{hint}")
    return without_body_for_head(refusal.response, request.method)


def without_text(response: Response) -> Response:
    """A refusal without its text."""
    headers = {name: value for name, value in response.headers.items() if name != "Content-Type"}
    return Response(response.status, b"", headers)


def without_body_for_head(response: Response, method: str) -> Response:
    """The answer, without its body if the method is HEAD."""
    if method != "HEAD":
        return response
    return Response(response.status, b"", {**response.headers, "Content-Length": str(response.size)})
