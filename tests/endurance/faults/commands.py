"""Commands that are typed through the proxy: what must be there before, and how often the master shows them done."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conformance.masters.cluster import Cluster, Setup

SETUP = Setup(agents=("cpus:16;mem:8192;disk:1000", "cpus:8;mem:4096;disk:500"), flags={"allocation_interval": "100ms"})
_CPUS, _DISK = {"cpus": 2}, {"disk": 400}


@dataclass(frozen=True)
class State:
    """What the master says when it is asked directly.  Two are the same where nothing was changed."""

    quotas: Mapping[str, Mapping[str, float]]
    weights: Mapping[str, float]
    reserved: Mapping[str, Mapping[str, float]]
    """By role, over all agents; volumes are part of it."""
    volumes: tuple[str, ...]

    @classmethod
    def of(cls, master: Cluster) -> "State":
        infos = master.read("/quota").get("infos", [])
        reserved: dict[str, dict[str, float]] = {}
        volumes: list[str] = []
        for agent in master.read("/slaves")["slaves"]:
            for role, entries in agent["reserved_resources_full"].items():
                sums = reserved.setdefault(role, {})
                for entry in entries:
                    sums[entry["name"]] = sums.get(entry["name"], 0) + entry["scalar"]["value"]
                    volumes += [entry["disk"]["persistence"]["id"]] if "disk" in entry else []
        return cls(
            {info["role"]: {one["name"]: one["scalar"]["value"] for one in info["guarantee"]} for info in infos},
            {entry["role"]: entry["weight"] for entry in master.read("/weights") if entry["weight"] != 1},
            reserved,
            tuple(sorted(volumes)),
        )


@dataclass(frozen=True)
class Command:
    """Words; `prepare` makes what they need; `count` tells how often a state shows them done, None for in part.

    `again` are the statuses of the same words where all is as they want it.
    """

    words: str
    count: Callable[[State], int | None] = lambda _: 0
    quotas: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    reserved: Mapping[str, float] = field(default_factory=dict)
    volume: bool = False
    targets: str | None = None
    changes: bool = True
    steps: int = 1
    again: tuple[int, ...] = (0,)

    def prepare(self, master: Cluster) -> None:
        """A master on which these words have something to do."""
        master.clear_quota()
        master.clear_reservations()
        master.request("PUT", "/weights", content='[{"role": "web", "weight": 1.0}]')
        for role, amounts in self.quotas.items():
            body = {"role": role, "guarantee": _scalars(amounts)}
            assert master.request("POST", "/quota", content=json.dumps(body)).status == 200
        agent = {"agent_id": {"value": master.agents()[0]["id"]}}
        if self.reserved:
            entries = _scalars(self.reserved, reservations=[{"type": "DYNAMIC", "role": "ads"}])
            assert master.call("RESERVE_RESOURCES", reserve_resources={**agent, "resources": entries}).status == 202
        if self.volume:
            disk = {"persistence": {"id": "v1"}, "volume": {"mode": "RW", "container_path": "data"}}
            made = _scalars({"disk": 100}, reservations=[{"type": "DYNAMIC", "role": "ads"}], disk=disk)
            assert master.call("CREATE_VOLUMES", create_volumes={**agent, "volumes": made}).status == 202

    def typed(self, master: Cluster, folder: Path) -> list[str]:
        """The words, with the agent's id in place of AGENT."""
        words = [master.agents()[0]["id"] if word == "AGENT" else word for word in self.words.split()]
        if self.targets is None:
            return words
        file = folder / "wishes.toml"
        file.write_text(self.targets.replace("AGENT", master.agents()[0]["id"]))
        return [*words, "-f", str(file)]


def _scalars(amounts: Mapping[str, float], **more: Any) -> list[dict[str, Any]]:
    return [{"name": name, "type": "SCALAR", "scalar": {"value": value}, **more} for name, value in amounts.items()]


def _quota(role: str, amounts: Mapping[str, float] | None, before: Mapping[str, float] | None) -> Callable[..., Any]:
    def count(state: State) -> int | None:
        found = state.quotas.get(role)
        return 1 if found == amounts else 0 if found == before else None

    return count


def _removed(*roles: str) -> Callable[[State], int | None]:
    def count(state: State) -> int | None:
        left = sum(role in state.quotas for role in roles)
        return {0: 1, len(roles): 0}.get(left)

    return count


def _reserved(name: str, first: float, step: float) -> Callable[[State], int | None]:
    """How many times `step` was added to what `ads` had at first."""

    def count(state: State) -> int | None:
        times = (state.reserved.get("ads", {}).get(name, 0) - first) / step
        return int(times) if times == int(times) else None

    return count


def _applied(state: State) -> int | None:
    done = (
        state.quotas == {"web": {"cpus": 3}},
        state.weights == {"web": 2},
        state.reserved == {"ads": {"cpus": 2}},
    )
    return 1 if all(done) else None if any((state.quotas, state.weights, state.reserved)) else 0


CHANGING = (
    Command("quota set web cpus:2 mem:512", _quota("web", {"cpus": 2, "mem": 512}, None), again=(3,)),
    Command("quota set web cpus:2 mem:512 --api v0", _quota("web", {"cpus": 2, "mem": 512}, None), again=(3,)),
    Command(
        "quota update web cpus:2 --limit none", _quota("web", {"cpus": 2}, {"cpus": 1}), quotas={"web": {"cpus": 1}}
    ),
    Command("quota update web cpus:2 --api v0", _quota("web", {"cpus": 2}, {"cpus": 1}), quotas={"web": {"cpus": 1}}),
    Command("quota remove web", _removed("web"), quotas={"web": {"cpus": 1}}, again=(5,)),
    Command("quota remove web ops", _removed("web", "ops"), quotas={"web": _CPUS, "ops": _CPUS}, again=(5,)),
    Command("reserve AGENT cpus:2 --role ads", _reserved("cpus", 0, 2)),
    Command("unreserve AGENT cpus:2 --role ads", _reserved("cpus", 6, -2), reserved={"cpus": 6}),
    Command(
        "volumes create AGENT v1 disk:100 --role ads",
        lambda state: len(state.volumes),
        reserved=_DISK,
        again=(3, 6),
    ),
    Command(
        "volumes destroy AGENT v1 --yes", lambda state: 1 - len(state.volumes), reserved=_DISK, volume=True, again=(5,)
    ),
    Command(
        "apply --yes",
        _applied,
        targets='[quotas.web]\nguarantee = "cpus:3"\n[weights]\nweb = 2.0\n'
        '[[reservations]]\nagent = "AGENT"\nrole = "ads"\nresources = "cpus:2"\n',
        steps=4,
    ),
    Command("offers take --role ads --reserve cpus:2", _reserved("cpus", 0, 2)),
)
READING = (
    Command("quota list", quotas={"web": {"cpus": 1}}, changes=False),
    Command("quota show web", quotas={"web": {"cpus": 1}}, changes=False),
    Command("reservations", reserved=_CPUS, changes=False),
    Command("volumes list", reserved=_DISK, volume=True, changes=False),
    Command("export", quotas={"web": {"cpus": 1}}, reserved=_CPUS, changes=False),
)
