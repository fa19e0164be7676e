"""Random histories of one framework that speaks through a real driver, and of an operator beside it.

A history is drawn once and played on any master: a step names offers and agents by their place, not by their ids.
After each step nothing is under way any more (`Player.settle`), and what the scheduler has heard is written down: its
statuses, errors and registrations, and the offers that it holds.  The framework has one role at a time, since a real
master shares out agents among roles by chance.  What is filtered for the default time, by an answer of the framework or
where an operation of an operator rescinds an offer, is offered again before the next step: five seconds are over in the
middle of a history, and on each master at another step.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.protobuf_json.resource_lists import resource_at
from mesosctl.mesos.messages.resources import list_to_json
from tests.conformance.masters.cluster import Cluster, Setup
from tests.fake_master.driver.history_steps import AGENTS, Step
from tests.fake_master.driver.hosting import Program, RealDriver
from tests.helpers.waiting import wait_until

SETUP = Setup(agents=AGENTS, flags={"allocation_interval": "10ms"})


@dataclass
class Told:
    """What a scheduler heard in one step, and what it holds then."""

    heard: list[Any] = field(default_factory=list)
    offers: list[Any] = field(default_factory=list)

    def sorted(self) -> "Told":
        return Told(sorted(self.heard, key=repr), sorted(self.offers, key=repr))


# --- Playing ------------------------------------------------------------------------------------------


class Player:
    """Plays steps on one master.  Close it."""

    def __init__(self, made: Program, master: Cluster) -> None:
        self._made = made
        self.master = master
        self._agents = [agent["id"] for agent in master.agents()]
        self._barriers = 0
        self._seen = 0
        self._has_brief_filter = False
        self.driver: RealDriver | None = None
        self.info: dict[str, Any] = {}
        self._begin()

    def close(self) -> None:
        if self.driver is not None:
            self.driver.close()

    def play(self, step: Step) -> Told:
        """One step, and what was heard of it."""
        kind, details = step
        told = Told()
        if self._has_brief_filter:
            self._revive([])
            self.settle()
        self._has_brief_filter = kind.startswith("operator_") or details.get("refuse", 0.0) is None
        if self._is_over():
            told.heard.append("over")
            self._start({**self.info, "id": self.framework_id})
            self.settle()
        getattr(self, f"_{kind}")(**details)
        self.settle()
        assert self.driver is not None
        told.heard += [one for one in map(self._outline, self.driver.heard[self._seen :]) if one is not None]
        self._seen = len(self.driver.heard)
        told.offers = [self._outline_of_offer(offer) for offer in self._held()]
        return told.sorted()

    def settle(self) -> None:
        """Until the driver's calls have been processed, allocations made, and all that came of it has been heard."""
        self._barrier()
        self.master.await_allocations()
        self._barrier()

    def _barrier(self) -> None:
        """Until an answer has come after everything else: messages stay in order both ways."""
        assert self.driver is not None
        driver, name = self.driver, f"barrier-{self._barriers}"
        self._barriers += 1
        if self._is_over():
            return
        driver.reconcile(name)
        driver.wait(lambda: driver.ended or self._is_over() or name in map(_task_of, driver.of("statusUpdate")))

    def _is_over(self) -> bool:
        """Whether the driver has given up, and does nothing any more."""
        assert self.driver is not None
        return self._aborted or bool(self.driver.of("error"))

    # --- What it holds --------------------------------------------------------------------------------

    def _held(self) -> list[Any]:
        """What is offered on each agent, in their order; nothing to a driver that has given up.

        How much of it is in one offer is a matter of moments: what comes back to a master in two steps may be offered
        in two.
        """
        if self._is_over():
            return []
        assert self.driver is not None
        held: dict[str, Any] = {}
        for kind, documents in self.driver.heard:
            if kind == "resourceOffers":
                held |= {offer["id"]["value"]: offer for offer in documents}
            elif kind == "offerRescinded":
                held.pop(documents[0]["value"], None)
        groups: dict[tuple[int, str], list[Any]] = {}
        for name, offer in held.items():
            if name not in self._used:
                place = self._agents.index(offer["agent_id"]["value"])
                groups.setdefault((place, offer["allocation_info"]["role"]), []).append(offer)
        return [_together(groups[key]) for key in sorted(groups)]

    def _offer(self, place: int) -> Any:
        held = self._held()
        return held[place % len(held)] if held else None

    def _use(self, offer: Any) -> list[Any]:
        offers: list[Any] = offer["offers"]
        self._used.update(one["id"]["value"] for one in offers)
        return offers

    # --- Steps of the framework -----------------------------------------------------------------------

    def _begin(self) -> None:
        self.info = {
            "user": "u",
            "name": "driver",
            "roles": ["ads"],
            "failover_timeout": 3600.0,
            "capabilities": [{"type": name} for name in ("MULTI_ROLE", "RESERVATION_REFINEMENT")],
        }
        self._start(self.info)

    def _start(self, info: dict[str, Any]) -> None:
        before = self.driver
        self.driver = RealDriver(self._made)
        self._seen, self._used, self._aborted = 0, set[str](), False
        self.driver.start(self.master.address.removeprefix("http://"), info)
        self.framework_id, _ = self.driver.next("registered")
        if before is not None:
            before.close()

    def _fail_over(self) -> None:
        self._start({**self.info, "id": self.framework_id})

    def _come_back(self) -> None:
        """After a crash."""
        assert self.driver is not None
        self.driver.close()
        wait_until(lambda: not self.master.read("/frameworks")["frameworks"][0]["connected"], "disconnected")
        self._fail_over()

    def _begin_anew(self) -> None:
        assert self.driver is not None
        self.driver.do("stop", "false")
        wait_until(lambda: not self.master.read("/frameworks")["frameworks"], "torn down")
        self._begin()

    def _abort(self) -> None:
        assert self.driver is not None
        self.driver.do("abort")
        self._aborted = True
        wait_until(lambda: not self.master.read("/frameworks")["frameworks"][0]["active"], "inactive")

    def _decline(self, place: int, refuse: float | None) -> None:
        offer = self._offer(place)
        if offer is not None and self.driver is not None:
            for one in self._use(offer):
                self.driver.decline(one, refuse)

    def _decline_gone(self, place: int, refuse: float | None) -> None:
        assert self.driver is not None
        self.driver.decline({"id": {"value": "gone"}}, refuse)

    def _operate(self, place: int, refuse: float | None, make: Callable[[Any], list[Any]]) -> None:
        offer = self._offer(place)
        if offer is None:
            return
        operations = make(offer)
        assert self.driver is not None
        self.driver.accept(self._use(offer), operations, refuse)

    def _reserve(self, place: int, refuse: float | None, amounts: dict[str, float], label: str | None) -> None:
        def make(offer: Any) -> list[Any]:
            role = offer["allocation_info"]["role"]
            labels = {} if label is None else {"labels": {"labels": [{"key": label}]}}
            reserved = {"type": "DYNAMIC", "role": role, **labels}
            entries = [_scalar(name, amount, role, reservations=[reserved]) for name, amount in amounts.items()]
            return [{"type": "RESERVE", "reserve": {"resources": entries}}]

        self._operate(place, refuse, make)

    _reserve_too_much = _reserve

    def _unreserve(self, place: int, refuse: float | None) -> None:
        def make(offer: Any) -> list[Any]:
            entries = [entry for entry in offer["resources"] if _is_dynamic(entry) and "disk" not in entry]
            return [{"type": "UNRESERVE", "unreserve": {"resources": entries[:1]}}] if entries else []

        self._operate(place, refuse, make)

    def _create(self, place: int, refuse: float | None, disk: float) -> None:
        def make(offer: Any) -> list[Any]:
            role = offer["allocation_info"]["role"]
            reserved = {"reservations": [{"type": "DYNAMIC", "role": role}]}
            self._barriers += 1
            persistent = {
                "persistence": {"id": f"v{self._barriers}"},
                "volume": {"container_path": "data", "mode": "RW"},
            }
            return [
                {"type": "RESERVE", "reserve": {"resources": [_scalar("disk", disk, role, **reserved)]}},
                {"type": "CREATE", "create": {"volumes": [_scalar("disk", disk, role, **reserved, disk=persistent)]}},
            ]

        self._operate(place, refuse, make)

    def _destroy(self, place: int, refuse: float | None) -> None:
        def make(offer: Any) -> list[Any]:
            volumes = [entry for entry in offer["resources"] if "persistence" in entry.get("disk", {})]
            return [{"type": "DESTROY", "destroy": {"volumes": volumes[:1]}}] if volumes else []

        self._operate(place, refuse, make)

    def _accept_nothing(self, place: int, refuse: float | None) -> None:
        self._operate(place, refuse, lambda _offer: [])

    def _accept_gone(self, place: int, refuse: float | None) -> None:
        assert self.driver is not None
        reserve = {"type": "RESERVE", "reserve": {"resources": [_scalar("cpus", 1.0, "ads")]}}
        self.driver.accept([{"id": {"value": "gone"}}], [reserve], refuse)

    def _launch(self, place: int, refuse: float | None, task: dict[str, Any]) -> None:
        offer = self._offer(place)
        if offer is not None and self.driver is not None:
            whole = {"name": "t", "agent_id": offer["agent_id"], "command": {"value": "true"}, **task}
            if "cpus" in task:
                role = offer["allocation_info"]["role"]
                whole["resources"] = [_scalar("cpus", whole.pop("cpus"), role), _scalar("mem", 32.0, role)]
            self.driver.launch(self._use(offer), [whole], refuse)

    def _launch_too_much(self, place: int, refuse: float | None, task: str) -> None:
        self._launch(place, refuse, {"task_id": {"value": task}, "cpus": 500.0})

    def _launch_elsewhere(self, place: int, refuse: float | None, task: str) -> None:
        self._launch(place, refuse, {"task_id": {"value": task}, "cpus": 1.0, "agent_id": {"value": "elsewhere"}})

    def _launch_nameless(self, place: int, refuse: float | None) -> None:
        self._launch(place, refuse, {"task_id": {"value": "a/b"}, "cpus": 1.0})

    def _launch_gone(self, place: int, refuse: float | None, task: str) -> None:
        assert self.driver is not None
        agent = {"value": self._agents[place % len(self._agents)]}
        whole: dict[str, Any] = {"name": "t", "task_id": {"value": task}, "agent_id": agent}
        whole["command"] = {"value": "true"}
        whole["resources"] = [_scalar("cpus", 1.0, "ads")]
        self.driver.launch([{"id": {"value": "gone"}}], [whole], refuse)

    def _kill(self, task: str) -> None:
        assert self.driver is not None
        self.driver.kill(task)

    def _reconcile(self, tasks: list[str]) -> None:
        assert self.driver is not None
        self.driver.reconcile(*tasks)

    def _reconcile_on_agent(self, task: str, agent: int) -> None:
        assert self.driver is not None
        self.driver.reconcile(task, agent=self._agent(agent))

    def _revive(self, roles: list[str]) -> None:
        assert self.driver is not None
        self.driver.do("revive", *roles)

    def _suppress(self, roles: list[str]) -> None:
        assert self.driver is not None
        self.driver.do("suppress", *roles)

    def _message(self, agent: int) -> None:
        assert self.driver is not None
        self.driver.message("executor", self._agent(agent), b"data")

    def _request(self) -> None:
        assert self.driver is not None
        self.driver.do("request")

    def _update(self, roles: list[str]) -> None:
        assert self.driver is not None
        self.info = {**self.info, "roles": sorted(roles)}
        self.driver.update({**self.info, "id": self.framework_id})

    def _update_badly(self) -> None:
        assert self.driver is not None
        driver = self.driver
        driver.update({**self.info, "id": self.framework_id, "checkpoint": True})
        driver.next("error")
        wait_until(lambda: not self.master.read("/frameworks")["frameworks"][0]["active"], "inactive")

    # --- Steps of an operator -------------------------------------------------------------------------

    def _set_quota(self, role: str, limit: float | None) -> None:
        limits = {} if limit is None else {"limits": {"cpus": {"value": limit}}}
        update = {"force": True, "quota_configs": [{"role": role, **limits}]}
        assert self.master.call("UPDATE_QUOTA", update_quota=update).status == 200

    def _operator_reserves(self, agent: int, role: str, cpus: float) -> None:
        entry = _scalar("cpus", cpus, None, reservations=[{"type": "DYNAMIC", "role": role}])
        body = {"agent_id": {"value": self._agents[agent]}, "resources": [entry]}
        self.status = self.master.call("RESERVE_RESOURCES", reserve_resources=body).status

    def _operator_unreserves(self, agent: int) -> None:
        shown = self.master.agents()[agent]["reserved_resources_full"]
        entries = [entry for role in sorted(shown) for entry in shown[role]]
        mine = [entry for entry in entries if _is_dynamic(entry) and "disk" not in entry]
        if mine:
            body = {"agent_id": {"value": self._agents[agent]}, "resources": mine[:1]}
            self.master.call("UNRESERVE_RESOURCES", unreserve_resources=body)

    def _weigh(self, weight: float) -> None:
        update = {"weight_infos": [{"role": "web", "weight": weight}]}
        assert self.master.call("UPDATE_WEIGHTS", update_weights=update).status == 200

    # --- What was heard -------------------------------------------------------------------------------

    def _agent(self, place: int) -> str:
        return self._agents[place] if place < len(self._agents) else "nobody"

    def _outline(self, heard: tuple[str, Any]) -> Any:
        """What must be the same on every master; None for what is no news, or only on its way."""
        kind, documents = heard
        if kind in ("resourceOffers", "offerRescinded"):
            return None  # what is held in the end counts
        if kind != "statusUpdate":
            return kind
        status = dict(documents[0])
        if status["task_id"]["value"].startswith("barrier-"):
            return None
        agent = status.get("agent_id", {}).get("value")
        place = self._agents.index(agent) if agent in self._agents else agent
        fields = ("state", "source", "reason")
        return (kind, status["task_id"]["value"], place, "uuid" in status, *(status.get(name) for name in fields))

    def _outline_of_offer(self, offer: Any) -> Any:
        place = self._agents.index(offer["agent_id"]["value"])
        entries = sorted(repr(_in_order(entry)) for entry in offer["resources"])
        shape = sorted(set(offer["offers"][0]))
        return (place, offer["allocation_info"]["role"], entries, shape)


def _together(offers: list[Any]) -> dict[str, Any]:
    """Offers on one agent as one, with their resources added up."""
    entries = [resource_at(entry, "") for offer in offers for entry in offer["resources"]]
    resources = sorted(list_to_json(Resources(entries), "POST"), key=repr)
    return {**offers[0], "resources": resources, "offers": offers}


def _scalar(name: str, amount: float, role: str | None, **more: Any) -> dict[str, Any]:
    allocated = {} if role is None else {"allocation_info": {"role": role}}
    return {"name": name, "type": "SCALAR", "scalar": {"value": amount}, **allocated, **more}


def _is_dynamic(entry: Any) -> bool:
    stack = entry.get("reservations", [])
    return bool(stack) and stack[-1]["type"] == "DYNAMIC"


def _task_of(documents: Any) -> str:
    return str(documents[0]["task_id"]["value"])


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        # The ids of volumes are drawn; those of both masters are the same.
        return {key: _in_order(value[key]) for key in sorted(value)}
    return [_in_order(part) for part in value] if isinstance(value, list) else value
