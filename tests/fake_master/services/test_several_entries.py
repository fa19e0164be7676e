"""A request with several entries is all of them or none: what a principal may not do, it may not do in company."""

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from fake_master.http.request_response import Request
from mesosctl.mesos.amounts.resource import Disk, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.resources import list_to_json
from tests.helpers.lab import JSON, Lab, Scheduler
from tests.helpers.profiles import examples

PRINCIPALS = ("p", "q", "s")
OWNERS = (*PRINCIPALS * 3, None)
"""Whoever reserved something; None named no principal, so that no rule names whose it is."""
ROLES = ("r", "r/x", "r/x/y")
"""One below the other: a framework of the last is offered what is reserved for any of them."""
AGENT = "cpus:40;mem:4096;disk:4000"
DOORS = ("form", "call", "framework")


class Kind(NamedTuple):
    """One kind of operation, and what the ACLs ask about an entry of it."""

    operation: str
    call: str
    path: str
    field: str
    action: str
    objects: str
    target: Callable[[Resource], str | None]


KINDS = {
    kind.operation: kind
    for kind in (
        Kind(
            *("RESERVE", "RESERVE_RESOURCES", "/reserve", "resources"),
            *("reserve_resources", "roles"),
            lambda entry: entry.role,
        ),
        Kind(
            *("UNRESERVE", "UNRESERVE_RESOURCES", "/unreserve", "resources"),
            *("unreserve_resources", "reserver_principals"),
            lambda entry: entry.reservations[-1].principal,
        ),
        Kind(
            *("CREATE", "CREATE_VOLUMES", "/create-volumes", "volumes"),
            *("create_volumes", "roles"),
            lambda entry: entry.role,
        ),
        Kind(
            *("DESTROY", "DESTROY_VOLUMES", "/destroy-volumes", "volumes"),
            *("destroy_volumes", "creator_principals"),
            lambda entry: None if entry.disk is None else entry.disk.principal,
        ),
    )
}
OF_VOLUMES = ("CREATE", "DESTROY")


@st.composite
def requests(draw: st.DrawFn, kind: str, depths: Sequence[int] = (1, 2, 3)) -> tuple[str, list[Resource]]:
    """A principal, and two to four entries, each with one to three levels of other owners; one may be there twice."""
    by = draw(st.sampled_from(PRINCIPALS))
    found = []
    for number in range(draw(st.integers(2, 4))):
        roles = ROLES[: draw(st.sampled_from(depths))]
        stack = [Reservation("DYNAMIC", role, draw(st.sampled_from(OWNERS))) for role in roles]
        if kind == "RESERVE":  # a principal reserves in its own name
            stack[-1] = stack[-1]._replace(principal=by)
        if kind in OF_VOLUMES:
            creator = by if kind == "CREATE" else draw(st.sampled_from(PRINCIPALS))
            disk = Disk(f"v{number}", principal=creator, container_path="data", mode="RW")
            found.append(Resource("disk", 10_000, tuple(stack), disk=disk))
        else:
            found.append(Resource(draw(st.sampled_from(["cpus", "mem"])), 1000, tuple(stack)))
    if kind not in OF_VOLUMES and draw(st.booleans()):
        found.append(found[0])
    return by, found


class Master:
    """A master on which one principal may act upon some targets alone, with whatever a request is about."""

    def __init__(self, credentials: Path, kind: Kind, by: str, allowed: Iterable[str]) -> None:
        self.kind, self.by = kind, by
        rules = [
            {"principals": {"values": [by]}, kind.objects: {"values": sorted(allowed)}},
            {"principals": {"values": [by]}, kind.objects: {"type": "NONE"}},
        ]
        flags = {
            "credentials": str(credentials),
            "authenticate_http_readwrite": "true",
            "acls": json.dumps({"permissive": True, kind.action: rules}),
        }
        self.lab = Lab(AGENT, flags=flags)
        (self.agent,) = self.lab.master.state.agents.values()

    def provide(self, entries: Iterable[Resource]) -> "Master":
        """Make what these entries take: somebody whom no rule names does it level by level."""
        does = self.lab.master.reservations
        for entry in entries:
            stack = entry.reservations[: -1 if self.kind.operation == "RESERVE" else None]
            for level in range(len(stack)):
                does.reserve(None, self.agent, [Resource(entry.name, entry.value, stack[: level + 1])], None)
            if self.kind.operation == "DESTROY":
                does.create(None, self.agent, [entry])
        return self

    def ask(self, door: str, entries: Sequence[Resource]) -> bool:
        """Whether the request with all of these entries is carried out."""
        before = self.agent.total
        listed = list_to_json(entries, "POST")
        if door == "framework":
            # Of the lowest role, so that an offer holds what is reserved for each.
            framework = Scheduler(self.lab, principal=self.by, roles=[ROLES[-1]])
            (offer,) = framework.offers()
            operation = {"type": self.kind.operation, self.kind.operation.lower(): {self.kind.field: listed}}
            framework.ask("ACCEPT", offer_ids=[offer["id"]], operations=[operation])
            return self.agent.total != before
        header = {"authorization": "Basic " + base64.b64encode(f"{self.by}:secret".encode()).decode()}
        if door == "form":
            content = urlencode({"slaveId": self.agent.id, self.kind.field: json.dumps(listed)})
            answer = self.lab.application.handle(Request("POST", self.kind.path, header, content.encode()))
        else:
            fields = {"agent_id": {"value": self.agent.id}, self.kind.field: listed}
            body = {"type": self.kind.call, self.kind.call.lower(): fields}
            answer = self.lab.application.handle(Request("POST", "/api/v1", JSON | header, json.dumps(body).encode()))
        assert answer.status in (202, 403), answer
        return answer.status == 202


@pytest.fixture(scope="module")
def credentials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("credentials") / "credentials"
    known = [{"principal": name, "secret": "secret"} for name in PRINCIPALS]
    path.write_text(json.dumps({"credentials": known}), encoding="utf-8")
    return path


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=examples(90))
@given(data=st.data())
def test_all_entries_are_authorized_each_by_its_own_target(
    credentials: Path, name: str, door: str, data: st.DataObject
) -> None:
    kind = KINDS[name]
    # A framework reserves for the role of its offer alone.
    depths = (3,) if (name, door) == ("RESERVE", "framework") else (1, 2, 3)
    by, entries = data.draw(requests(name, depths))
    targets = [kind.target(entry) for entry in entries]
    refused = data.draw(st.sets(st.sampled_from(targets), max_size=2)) | {None}
    may = [target not in refused for target in targets]
    allowed = {target for target in (*PRINCIPALS, *ROLES) if target not in refused}
    event(f"{sum(may)} of {len(may)}")
    together = Master(credentials, kind, by, allowed).provide(entries)
    before = together.agent.total
    assert together.ask(door, entries) is all(may)
    if not all(may):
        assert together.agent.total == before
        return
    one_by_one = Master(credentials, kind, by, allowed).provide(entries)
    for entry in entries:
        assert one_by_one.ask("call", [entry])
    assert Resources(one_by_one.agent.total) == Resources(together.agent.total)
