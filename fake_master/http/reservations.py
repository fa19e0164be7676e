"""`/reserve`, `/unreserve`, the volumes, and their calls of the operator API; a form is read into the body of a call.

Sources: Mesos documentation, "Reservation", "Operator HTTP Endpoints"; Mesos documentation, "Persistent Volumes".
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fake_master.http.operator_api import Body, Change
from fake_master.http.request_response import Refusal, Request, Response, accepted_silently, refusing
from fake_master.services.reservations import Reservations
from fake_master.state.agents import KnownAgent
from fake_master.state.master_state import MasterState
from mesosctl.mesos.amounts.quantities import to_milli
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError, decode
from mesosctl.mesos.messages.protobuf_json.message_tables import Message
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.resources import RESOURCE, to_model


class ReservationEndpoints:
    """Carries out operations on the resources of agents."""

    def __init__(self, state: MasterState, reservations: Reservations) -> None:
        self._agents: Mapping[str, KnownAgent] = state.agents
        self._reservations = reservations
        self._resource = state.message(RESOURCE.name)
        self._fields = state.message("mesos.v1.master.Call.ReserveResources").fields

    def reserve(self, request: Request, principal: str | None) -> Response:
        """POST /reserve."""
        form = self._form(request)
        body = form.body("resources")
        if "source" in form and "source" in self._fields:
            body["source"] = form.resources("source")
        self._reserve(body, principal)
        return accepted_silently(202)

    def unreserve(self, request: Request, principal: str | None) -> Response:
        """POST /unreserve."""
        self._unreserve(self._form(request).body("resources"), principal)
        return accepted_silently(202)

    def create_volumes(self, request: Request, principal: str | None) -> Response:
        """POST /create-volumes."""
        self._create(self._form(request).body("volumes"), principal)
        return accepted_silently(202)

    def destroy_volumes(self, request: Request, principal: str | None) -> Response:
        """POST /destroy-volumes."""
        self._destroy(self._form(request).body("volumes"), principal)
        return accepted_silently(202)

    def _form(self, request: Request) -> "_Form":
        return _Form(request, self._resource)

    def calls(self) -> tuple[Change, ...]:
        """Return the calls of the operator API about reservations and volumes; they are taken on, not done at once."""
        return (
            Change("RESERVE_RESOURCES", self._reserve, 202, check_resources),
            Change("UNRESERVE_RESOURCES", self._unreserve, 202, check_resources),
            Change("CREATE_VOLUMES", self._create, 202),
            Change("DESTROY_VOLUMES", self._destroy, 202),
            Change("GROW_VOLUME", self._grow, 202, check_agent),
            Change("SHRINK_VOLUME", self._shrink, 202, check_agent),
        )

    def _reserve(self, body: Body, principal: str | None) -> None:
        """RESERVE_RESOURCES."""
        with self._operation(body, "RESERVE") as agent:
            resources, source = _many(body, "resources"), _many(body, "source")
            self._reservations.reserve(principal, agent, resources, source or None)

    def _unreserve(self, body: Body, principal: str | None) -> None:
        """UNRESERVE_RESOURCES."""
        with self._operation(body, "UNRESERVE") as agent:
            self._reservations.unreserve(principal, agent, _many(body, "resources"))

    def _create(self, body: Body, principal: str | None) -> None:
        """CREATE_VOLUMES."""
        with self._operation(body, "CREATE") as agent:
            self._reservations.create(principal, agent, _many(body, "volumes"))

    def _destroy(self, body: Body, principal: str | None) -> None:
        """DESTROY_VOLUMES."""
        with self._operation(body, "DESTROY") as agent:
            self._reservations.destroy(principal, agent, _many(body, "volumes"))

    def _grow(self, body: Body, principal: str | None) -> None:
        """GROW_VOLUME."""
        with self._operation(body, "GROW_VOLUME") as agent:
            volume, addition = to_model(body["volume"], "volume"), to_model(body["addition"], "addition")
            self._reservations.grow(principal, agent, volume, addition)

    def _shrink(self, body: Body, principal: str | None) -> None:
        """SHRINK_VOLUME."""
        with self._operation(body, "SHRINK_VOLUME") as agent:
            try:
                subtract = to_milli(body["subtract"]["value"])
            except ValueError as error:
                raise RuleViolation(f"subtract: {error}") from None
            volume = to_model(body["volume"], "volume")
            self._reservations.shrink(principal, agent, volume, subtract)

    @contextmanager
    def _operation(self, body: Body, kind: str) -> Iterator[KnownAgent]:
        """The agent that a call names, and the refusals; the agent gets the operation, and will show it."""
        agent = self._agents.get(body["agent_id"]["value"])
        if agent is None:
            raise Refusal(400, "No agent found with specified ID")
        with refusing(f"Invalid {kind} operation: ", in_conflict=""):
            yield agent


def check_resources(body: Body) -> None:
    """Check RESERVE_RESOURCES or UNRESERVE_RESOURCES before anything else.  Raises Refusal (400)."""
    with refusing("Failed to validate master::Call: "):
        _many(body, "resources")


def check_agent(body: Body) -> None:
    """Check that GROW_VOLUME or SHRINK_VOLUME names an agent: only agents have resources.  Raises Refusal (400)."""
    if "agent_id" not in body:
        raise Refusal(400, "Failed to validate master::Call: Expecting 'agent_id' to be present")


def _many(body: Body, field: str) -> list[Resource]:
    return [to_model(message, f"{field}[{index}]") for index, message in enumerate(body.get(field, ()))]


class _Form:
    """The fields of a form, of resources as a master reads them.  Raises Refusal (400) for a body that is none."""

    def __init__(self, request: Request, resource: Message) -> None:
        self._fields = request.form()
        self._resource = resource

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def body(self, field: str) -> dict[str, Any]:
        """The agent and the resources of one field, as a call has them.  Raises Refusal (400)."""
        return {"agent_id": {"value": self.text("slaveId")}, field: self.resources(field)}

    def text(self, name: str) -> str:
        """A field that must be there.  Raises Refusal (400)."""
        if name not in self._fields:
            raise Refusal(400, f"Missing '{name}' query parameter in the request body")
        return self._fields[name]

    def resources(self, name: str) -> list[dict[str, Any]]:
        """A field that is a JSON array of resources.  Raises Refusal (400)."""
        text = self.text(name)
        try:
            array = decode(text)
            if isinstance(array, list):
                return [read(self._resource, entry, f"{name}[{index}]") for index, entry in enumerate(array)]
        except ConversionError as error:
            raise Refusal(400, f"Error parsing '{name}' query parameter in the request body: {error}") from error
        raise Refusal(400, f"Error parsing '{name}' query parameter in the request body: not a JSON array")
