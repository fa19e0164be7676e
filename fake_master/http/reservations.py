"""`/reserve`, `/unreserve`, the volumes, and their calls of the operator API (spec/reservation.md §5, §8)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote_plus

from fake_master.http.exchange import Refusal, Request, Response, accepted_silently
from fake_master.master.agents import Agent
from fake_master.master.state import Master
from mesosctl.core.errors import Conflict, RuleViolation
from mesosctl.core.resources import Resource
from mesosctl.core.scalars import to_milli
from mesosctl.wire.decoding import ConversionError, decode
from mesosctl.wire.messages import Field, Message, read
from mesosctl.wire.resources import RESOURCE, SCALAR, to_core

_AGENT_ID = Field(Message("AgentID", {"value": Field("string", "required")}), "required")
_MANY = Field(RESOURCE, "repeated")
_ONE = Field(RESOURCE, "required")
RESERVE = Message("Call.ReserveResources", {"agent_id": _AGENT_ID, "source": _MANY, "resources": _MANY})
UNRESERVE = Message("Call.UnreserveResources", {"agent_id": _AGENT_ID, "resources": _MANY})
CREATE = Message("Call.CreateVolumes", {"agent_id": _AGENT_ID, "volumes": _MANY})
DESTROY = Message("Call.DestroyVolumes", {"agent_id": _AGENT_ID, "volumes": _MANY})
GROW = Message("Call.GrowVolume", {"agent_id": _AGENT_ID, "volume": _ONE, "addition": _ONE})
SHRINK = Message("Call.ShrinkVolume", {"agent_id": _AGENT_ID, "volume": _ONE, "subtract": Field(SCALAR, "required")})

Operation = Callable[[Agent], None]


def reserve(master: Master, request: Request, principal: str | None) -> Response:
    """POST /reserve."""
    form = _Form(request)
    agent_id, entries, source = form.text("slaveId"), form.resources("resources"), form.resources("source", None)

    def perform(agent: Agent) -> None:
        resources = _to_core(entries, "resources")
        master.reservations.reserve(principal, agent, resources, _to_core(source, "source") if source else None)

    return _perform(master, agent_id, "RESERVE", perform)


def unreserve(master: Master, request: Request, principal: str | None) -> Response:
    """POST /unreserve."""
    return _plain(master, request, "resources", "UNRESERVE", principal)


def create_volumes(master: Master, request: Request, principal: str | None) -> Response:
    """POST /create-volumes."""
    return _plain(master, request, "volumes", "CREATE", principal)


def destroy_volumes(master: Master, request: Request, principal: str | None) -> Response:
    """POST /destroy-volumes."""
    return _plain(master, request, "volumes", "DESTROY", principal)


def _plain(master: Master, request: Request, field: str, kind: str, principal: str | None) -> Response:
    form = _Form(request)
    agent_id, entries = form.text("slaveId"), form.resources(field)
    return _perform(
        master, agent_id, kind, lambda agent: _deed(master, kind)(principal, agent, _to_core(entries, field))
    )


def _deed(master: Master, kind: str) -> Callable[[str | None, Agent, Sequence[Resource]], None]:
    return {
        "UNRESERVE": master.reservations.unreserve,
        "CREATE": master.reservations.create,
        "DESTROY": master.reservations.destroy,
    }[kind]


def call_reserve(master: Master, body: Mapping[str, Any], principal: str | None) -> None:
    """RESERVE_RESOURCES."""
    source = body.get("source")

    def perform(agent: Agent) -> None:
        resources = _to_core(body.get("resources", ()), "resources")
        master.reservations.reserve(principal, agent, resources, _to_core(source, "source") if source else None)

    _perform(master, body["agent_id"]["value"], "RESERVE", perform)


def call_unreserve(master: Master, body: Mapping[str, Any], principal: str | None) -> None:
    """UNRESERVE_RESOURCES."""
    _call(master, body, "resources", "UNRESERVE", principal)


def call_create(master: Master, body: Mapping[str, Any], principal: str | None) -> None:
    """CREATE_VOLUMES."""
    _call(master, body, "volumes", "CREATE", principal)


def call_destroy(master: Master, body: Mapping[str, Any], principal: str | None) -> None:
    """DESTROY_VOLUMES."""
    _call(master, body, "volumes", "DESTROY", principal)


def call_grow(master: Master, body: Mapping[str, Any], principal: str | None) -> None:
    """GROW_VOLUME."""

    def perform(agent: Agent) -> None:
        volume, addition = to_core(body["volume"], "volume"), to_core(body["addition"], "addition")
        master.reservations.grow(principal, agent, volume, addition)

    _perform(master, body["agent_id"]["value"], "GROW_VOLUME", perform)


def call_shrink(master: Master, body: Mapping[str, Any], principal: str | None) -> None:
    """SHRINK_VOLUME."""

    def perform(agent: Agent) -> None:
        subtract = to_milli(body["subtract"]["value"])
        master.reservations.shrink(principal, agent, to_core(body["volume"], "volume"), subtract)

    _perform(master, body["agent_id"]["value"], "SHRINK_VOLUME", perform)


def _call(master: Master, body: Mapping[str, Any], field: str, kind: str, principal: str | None) -> None:
    _perform(
        master,
        body["agent_id"]["value"],
        kind,
        lambda agent: _deed(master, kind)(principal, agent, _to_core(body.get(field, ()), field)),
    )


def _perform(master: Master, agent_id: str, kind: str, operation: Operation) -> Response:
    """Find the agent and do it.  202: the agent is told, and will show it."""
    agent = master.agents.get(agent_id)
    if agent is None:
        raise Refusal(400, "No agent found with specified ID")
    try:
        operation(agent)
    except RuleViolation as error:
        raise Refusal(400, f"Invalid {kind} operation: {error.message}") from error
    except Conflict as error:
        raise Refusal(409, error.message) from error
    return accepted_silently(202)


def _to_core(messages: Sequence[Mapping[str, Any]], field: str) -> list[Resource]:
    return [to_core(message, f"{field}[{index}]") for index, message in enumerate(messages)]


class _Form:
    """A form-encoded body, whatever its content type; "&" and ";" both part the fields."""

    def __init__(self, request: Request) -> None:
        text = request.body.decode("utf-8", errors="replace")
        self._fields: dict[str, str] = {}
        for pair in filter(None, text.replace(";", "&").split("&")):
            name, _, value = pair.partition("=")
            self._fields[unquote_plus(name)] = unquote_plus(value)

    def text(self, name: str) -> str:
        """A field that must be there.  Raises Refusal (400)."""
        if name not in self._fields:
            raise Refusal(400, f"Missing '{name}' query parameter in the request body")
        return self._fields[name]

    def resources(self, name: str, default: object = ...) -> list[dict[str, Any]]:
        """A field that is a JSON array of resources.  Raises Refusal (400)."""
        if default is None and name not in self._fields:
            return []
        text = self.text(name)
        try:
            array = decode(text)
            if isinstance(array, list):
                return [read(RESOURCE, entry, f"{name}[{index}]") for index, entry in enumerate(array)]
        except ConversionError as error:
            raise Refusal(400, f"Error parsing '{name}' query parameter in the request body: {error}") from error
        raise Refusal(400, f"Error parsing '{name}' query parameter in the request body: not a JSON array")
