"""The JSON in which roles are shown (Mesos documentation, "HTTP Endpoints"; "Operator HTTP API", "GET_ROLES")."""

from collections.abc import Iterable, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any

from fake_master.http.json_text import AnswerPart, JsonPieces, dumps
from fake_master.http.views.response_cache import texts, texts_seen
from fake_master.state import roles
from fake_master.state.master_state import MasterState
from fake_master.state.roles import RoleView
from mesosctl.mesos.amounts.quantities import Quantities, to_double, to_shown
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.resources import list_to_json, summary

# GET_ROLES tells of these alone, whatever else agents have.
_KNOWN_SCALARS = frozenset({"cpus", "gpus", "mem", "disk"})
_NO_RESOURCES = summary(Resources())
_revision = attrgetter("revision")


def role(state: MasterState, of: RoleView) -> dict[str, Any]:
    """A role as /roles shows it."""
    stored = state.quotas.get(of.name)
    if not state.profile.roles_are_a_tree:
        guarantee = None if stored is None else _with_plain_zeros({**_NO_RESOURCES, **_sums(stored.meaning.guarantees)})
        return {
            "name": of.name,
            "weight": of.weight,
            **({} if guarantee is None else {"quota": {"role": of.name, "guarantee": guarantee}}),
            "resources": _with_plain_zeros(summary(of.own)),
            "frameworks": list(of.frameworks),
        }
    return {
        "name": of.name,
        "weight": of.weight,
        "quota": {
            "role": of.name,
            "guarantee": dict(stored.guarantees) if stored else {},
            "limit": dict(stored.limits) if stored else {},
            "consumed": amounts(of.consumed),
        },
        "resources": amounts(of.allocated + of.offered),
        "allocated": amounts(of.allocated),
        "offered": amounts(of.offered),
        "reserved": amounts(of.reserved),
        "frameworks": list(of.frameworks),
    }


def _sums(quantities: Quantities) -> dict[str, float]:
    """Quantities as a master shows them that has calculated with them."""
    return {name: to_double(milli) for name, milli in quantities.items()}


def _with_plain_zeros(shown: Mapping[str, Any]) -> dict[str, Any]:
    """Write a 0, and not a 0.0, where there is nothing."""
    return {name: value or 0 for name, value in shown.items()}


def roles_in_full(state: MasterState, principal: str | None) -> JsonPieces:
    """Every role that a principal may see, as /roles shows it: a JSON array."""

    def make() -> JsonPieces:
        return JsonPieces([dumps([role(state, of) for of in visible_roles(state, principal)])])

    return texts_seen(state, "roles", principal, "view_roles").whole(lambda: _parts_of_roles(state), make)


def roles_described(state: MasterState, principal: str | None) -> dict[str, AnswerPart]:
    """Every role that a principal may see, as GET_ROLES shows it."""

    def values() -> list[dict[str, Any]]:
        return [role_message(state, of) for of in visible_roles(state, principal)]

    def pieces() -> JsonPieces:
        kept = texts_seen(state, "roles described", principal, "view_roles")
        return kept.whole(lambda: _parts_of_roles(state), lambda: JsonPieces([dumps(values())]))

    return {"roles": AnswerPart(pieces, values)} if visible_roles(state, principal) else {}


def _parts_of_roles(state: MasterState) -> Iterable[Any]:
    frameworks = [(of.info, of.used(), of.offered()) for of in state.frameworks.values()]
    parts = (*frameworks, *state.weights.items(), *state.quotas.items())
    return chain(map(_revision, state.agents.values()), chain.from_iterable(parts))


def role_message(state: MasterState, of: RoleView) -> dict[str, Any]:
    """A role as GET_ROLES shows it; where roles are a tree, of resources the sums of those that every master knows."""
    message: dict[str, Any] = {"name": of.name, "weight": of.weight}
    if of.frameworks:
        message["frameworks"] = [{"value": framework_id} for framework_id in of.frameworks]
    if not state.profile.roles_are_a_tree:
        return message | ({"resources": list_to_json(of.own, "POST")} if of.own else {})
    held = {name: milli for name, milli in (of.allocated + of.offered).items() if name in _KNOWN_SCALARS}
    if held:
        message["resources"] = [
            {"name": name, "type": "SCALAR", "scalar": {"value": to_shown(milli)}} for name, milli in held.items()
        ]
    return message


def visible_roles(state: MasterState, principal: str | None) -> list[RoleView]:
    """The roles that a principal may see, by name."""
    sees = roles.sees(state, principal)
    every = texts(state, "figures of roles").whole(lambda: _parts_of_roles(state), lambda: roles.views(state))
    return [of for of in every if sees(of.name)]


def amounts(quantities: Quantities) -> dict[str, float]:
    """Quantities as an object of doubles."""
    return {name: to_shown(milli) for name, milli in quantities.items()}
