"""Random frameworks played on one master: what each is told, and what it is offered after every step."""

import json
from collections.abc import Iterable
from typing import Any

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.tasks import launch, task
from tests.conformance.histories.random_frameworks import Guest
from tests.conformance.masters.cluster import Cluster, basic
from tests.conformance.scenarios.scenario import scalar

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
Offer = dict[str, Any]


def play(master: Cluster, guest: Guest) -> list[Any]:
    """One framework and the master's answers to it, from its SUBSCRIBE to its end."""
    named: dict[str, Any] = {} if guest.claim is None else {"principal": guest.claim}
    framework = Framework(
        master, *guest.roles, by=guest.by, user=guest.user, checkpoint=True, failover_timeout=1000.0, **named
    )
    met: list[Any] = [_opened(framework)]
    if framework.id is None:
        return met
    player = _Player(master, framework)
    met.append(player.seen())
    for kind, details in guest.steps:
        met.append((kind, getattr(player, f"_{kind}")(**details), player.seen()))
        if player.is_over:
            break
    else:
        framework.leave()
    framework.stream.hang_up()
    return met


def _opened(framework: Framework) -> Any:
    """The status of a SUBSCRIBE, and its first event; the framework has its id then."""
    stream = framework.open()
    if stream.status != 200:
        return stream.status
    assert framework.cluster.subscribers.wait(lambda: bool(stream.events))
    kind = stream.events[0]["type"]
    if kind == "SUBSCRIBED":
        framework.id = stream.events[0]["subscribed"]["framework_id"]["value"]
    return stream.status, kind


class _Player:
    """The steps of one framework.  A step returns what answered it."""

    def __init__(self, master: Cluster, framework: Framework) -> None:
        self._master = master
        self._framework = framework
        self._places = {agent["id"]: place for place, agent in enumerate(master.agents())}
        self._used: set[str] = set()
        self._made = 0
        self.is_over = False

    def seen(self) -> Any:
        """The principal that the master shows, and the offers on each agent once nothing is under way."""
        if self.is_over:
            return None
        self._framework.settle()
        shown = self._master.call("GET_FRAMEWORKS").json()["get_frameworks"].get("frameworks", ())
        principals = [entry["framework_info"].get("principal") for entry in shown]
        counted = [name for name in self._master.read("/metrics/snapshot") if name.endswith("/messages_received")]
        return principals, sorted(counted), self._together()

    def _has_many_roles(self) -> bool:
        """Whether a real master shares the agents out among its roles, by chance."""
        return len(self._framework.info["roles"]) > 1

    def _together(self) -> Any:
        """Agent, entry without its amount, and the amount of all offers together."""
        sums: dict[str, float] = {}
        for offer in () if self._has_many_roles() else self._held():
            for entry in offer["resources"]:
                amount = entry.get("scalar", {"value": 1})["value"]
                rest = {key: part for key, part in _plain(entry).items() if key != "scalar"}
                key = f"{self._place(offer)} {json.dumps(rest, sort_keys=True)}"
                sums[key] = round(sums.get(key, 0.0) + amount, 3)
        return sorted(sums.items())

    def _place(self, offer: Offer) -> int:
        """The agent of an offer, by its place."""
        return self._places[offer["agent_id"]["value"]]

    def _held(self) -> list[Offer]:
        held: dict[str, Offer] = {}
        for event in self._framework.stream.events:
            if event["type"] == "OFFERS":
                held |= {offer["id"]["value"]: offer for offer in event["offers"]["offers"]}
            elif event["type"] == "RESCIND":
                held.pop(event["rescind"]["offer_id"]["value"], None)
        return [offer for name, offer in held.items() if name not in self._used]

    def _take(self, place: int = 0) -> list[Offer]:
        """All offers of one agent, which are used then."""
        held = [] if self._has_many_roles() else self._held()
        places = sorted({self._place(offer) for offer in held})
        if not places:
            return []
        taken = [offer for offer in held if self._place(offer) == places[place % len(places)]]
        self._used |= {offer["id"]["value"] for offer in taken}
        return taken

    def _accept(self, offers: list[Offer], *operations: dict[str, Any]) -> int:
        accept = {"offer_ids": [offer["id"] for offer in offers], "operations": list(operations)}
        body = {**accept, "filters": {"refuse_seconds": 0}}
        return self._framework.call("ACCEPT", accept=body).status

    def _reserve(self, principal: str | None, under: str) -> Any:
        offers = self._take()
        if not offers:
            return None
        own = offers[0]["allocation_info"]["role"]
        by = {} if principal is None else {"principal": principal}
        wanted = {"type": "DYNAMIC", "role": under.replace("own", own), **by}
        for entry in _entries(offers):
            if entry["type"] == "SCALAR" and entry["name"] != "mem":
                levels = [*entry.get("reservations", ()), wanted]
                part = {**entry, "scalar": {"value": 1}, "reservations": levels}
                return self._accept(offers, {"type": "RESERVE", "reserve": {"resources": [part]}})
        return self._accept(offers)

    def _unreserve(self, place: int) -> Any:
        offers = self._take(place)
        plain = [entry for entry in _entries(offers) if _is_dynamic(entry) and "disk" not in entry]
        if not offers or not plain:
            return self._accept(offers) if offers else None
        entry = plain[place % len(plain)]
        return self._accept(offers, {"type": "UNRESERVE", "unreserve": {"resources": [entry]}})

    def _create(self, principal: str | None, place: int) -> Any:
        offers = self._take(place)
        free = [entry for entry in _entries(offers) if entry["name"] == "disk" and entry.get("reservations")]
        plain = [entry for entry in free if "disk" not in entry]
        if not offers or not plain:
            return self._accept(offers) if offers else None
        self._made += 1
        by = {} if principal is None else {"principal": principal}
        info = {
            "persistence": {"id": f"v{self._made}", **by},
            "volume": {"mode": "RW", "container_path": "data"},
        }
        volume = {**plain[0], "scalar": {"value": 1}, "disk": info}
        return self._accept(offers, {"type": "CREATE", "create": {"volumes": [volume]}})

    def _destroy(self, place: int) -> Any:
        offers = self._take(place)
        volumes = [entry for entry in _entries(offers) if "persistence" in entry.get("disk", {})]
        if not offers or not volumes:
            return self._accept(offers) if offers else None
        entry = volumes[place % len(volumes)]
        return self._accept(offers, {"type": "DESTROY", "destroy": {"volumes": [entry]}})

    def _update(self, claim: str | None, roles: tuple[str, ...]) -> int:
        info = self._renamed(claim) | {"roles": list(roles)}
        whole = info | {"id": {"value": self._framework.id}}
        status = self._framework.call("UPDATE_FRAMEWORK", update_framework={"framework_info": whole}).status
        if status == 200:
            self._framework.info = info
        return status

    def _come_back(self, by: str | None, claim: str | None) -> Any:
        """A further SUBSCRIBE; if it is refused, the framework goes on as before."""
        framework, stream = self._framework, self._framework.stream
        before = framework.headers, framework.info
        headers = {name: value for name, value in framework.headers.items() if name != "Authorization"}
        framework.headers = headers | ({} if by is None else basic(by))
        framework.info = self._renamed(claim)
        met = _opened(framework)
        if met == (200, "SUBSCRIBED"):
            stream.hang_up()
            self._used.clear()
            return met
        framework.stream.hang_up()
        framework.subscription = stream
        framework.headers, framework.info = before
        return met

    def _renamed(self, claim: str | None) -> dict[str, Any]:
        info = {name: value for name, value in self._framework.info.items() if name != "principal"}
        return info | ({} if claim is None else {"principal": claim})

    def _watch(self, by: str) -> Any:
        """The framework as an operator sees it."""
        answers = [self._master.request("GET", path, headers=basic(by)) for path in ("/frameworks", "/state", "/roles")]
        if any(answer.status != 200 for answer in answers):
            return [answer.status for answer in answers]
        frameworks, state, roles = (answer.json() for answer in answers)
        named = sorted(entry["name"] for entry in roles["roles"])
        return len(frameworks["frameworks"]), len(state["frameworks"]), "flags" in state, named

    def _tear_down(self, by: str) -> int:
        body = f"frameworkId={self._framework.id}"
        status = self._master.request("POST", "/teardown", content=body, headers={**FORM, **basic(by)}).status
        self.is_over = status == 200
        return status

    def _launch(self, user: str | None) -> Any:
        """Whether the master refuses the task; what becomes of one that an agent gets is the agent's affair."""
        offers = self._take()
        if not offers:
            return None
        of = {"value": "true"} if user is None else {"value": "true", "user": user}
        entries = [entry for entry in _entries(offers) if entry["type"] == "SCALAR" and "disk" not in entry]
        first = task(offers[0], "t", resources=entries[:1] or [scalar("cpus", 1)], command=of)
        status = self._accept(offers, launch(first))
        update = self._framework.next("UPDATE")["update"]["status"]
        self._framework.leave()
        self.is_over = True
        return status, (update["reason"] if update["source"] == "SOURCE_MASTER" else "an agent has it")


def _entries(offers: Iterable[Offer]) -> list[Any]:
    """The offered entries, in an order that does not depend on the master."""
    found = [_plain(entry) for offer in offers for entry in offer["resources"]]
    return sorted(found, key=lambda entry: json.dumps(entry, sort_keys=True))


def _plain(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in entry.items() if key != "allocation_info"}


def _is_dynamic(entry: dict[str, Any]) -> bool:
    levels = entry.get("reservations", ())
    return bool(levels) and levels[-1]["type"] == "DYNAMIC"
