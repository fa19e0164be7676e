"""Random descriptions of agents: resources in JSON with disks of every kind, or as text, and attributes."""

import json
import random
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
WRITABLE = "/dev/shm"
MOUNTED = (WRITABLE, "/proc", "/sys")
"""Where something is mounted on every Linux, as a real agent requires of a MOUNT disk."""
ODD_ROLES = ("", "*", "a b", "/ads", "ads/", "ads//x", ".", "ads/..", "-x", "ünï", "ads/*")
ODD_AMOUNTS: tuple[Any, ...] = (0, -1, 0.0004, 0.00051, 1e13, 1e16, "7", "x", True, None, "Infinity", [])


_NAMES = {"cpus", "mem", "disk", "ports"}


class AgentDice:
    """A source of descriptions that a seed fixes.

    Every description has cpus, mem, disk and ports: an agent fills in from its machine what one leaves out.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        self._random = random.Random(seed)
        self._roots = (str(folder / "one"), str(folder / "two"))
        """Of PATH disks: an agent makes folders there for its volumes."""

    def agents(self, count: int) -> list[str]:
        """Valid descriptions, of which an agent makes each its resources."""
        return [self._text() if self._chance(0.2) else json.dumps(self._entries()) for _ in range(count)]

    def odd_agent(self) -> str:
        """A description that an agent may refuse."""
        while True:
            entries = self._entries()
            for _ in range(self._choose(1, 1, 2)):
                self._spoil(entries)
            if {str(entry.get("name")) for entry in entries if isinstance(entry, dict)} >= _NAMES:
                return json.dumps(entries)

    def attributes(self) -> dict[str, str | float]:
        """Attributes of an agent."""
        pool: dict[str, tuple[str | float, ...]] = {
            "rack": ("r1", "r-2.b", "a/b"),
            "level": (10.0, 0.5, 1234567.0, 3.14159),
            "zone": ("é", "x_y"),
            "ssd": ("true",),
        }
        return {name: self._choose(*values) for name, values in pool.items() if self._chance(0.5)}

    def operation(self, entries: list[Entry], number: int) -> tuple[str, list[Entry]]:
        """A call on what an agent has, and what it is about: mostly disks."""
        disks = [entry for entry in entries if entry["name"] == "disk" and "persistence" not in entry.get("disk", {})]
        reserved = [entry for entry in disks if "reservations" in entry]
        if reserved and self._chance(0.4):
            return "CREATE_VOLUMES", [self._volume(self._choose(*reserved), number)]
        chosen = disks if self._chance(0.7) else entries
        return "RESERVE_RESOURCES", [self._reserved(entry) for entry in self._some(chosen or entries)]

    def _some(self, entries: list[Entry]) -> list[Entry]:
        return self._random.sample(entries, min(len(entries), self._choose(1, 1, 2)))

    def _reserved(self, entry: Entry) -> Entry:
        part = {key: value for key, value in entry.items() if key not in ("role", "reservation")}
        below = part.get("reservations", [])
        if part["type"] == "SCALAR" and self._chance(0.5):
            part["scalar"] = {"value": self._choose(part["scalar"]["value"] / 2, 1.0, part["scalar"]["value"])}
        above = f"{below[-1]['role']}/below" if below else self._choose("db", "ads")
        return {**part, "reservations": [*below, {"type": "DYNAMIC", "role": above}]}

    def _volume(self, entry: Entry, number: int) -> Entry:
        """A volume of a disk."""
        info = {
            "persistence": {"id": f"v{number}"},
            "volume": {"mode": self._choose("RW", "RW", "RW", "RO"), "container_path": "data"},
        }
        return {**entry, "disk": {**entry.get("disk", {}), **info}}

    # --- The parts of a description -----------------------------------------------------------------

    def _choose(self, *among: Any) -> Any:
        return self._random.choice(among)

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _amount(self) -> float | int:
        return self._choose(1, 2, 4, 8, 64, 0.5, 1.25, 0.1, 1.14, 100, 1000, 0.0015)

    def _text(self) -> str:
        owner, amount = ("", "", "(ads)", "(ads/video)"), (1, 64, 0.5, 1.14, 0.001)
        parts = [f"{name}{self._choose(*owner)}:{self._choose(*amount)}" for name in ("cpus", "mem", "disk")]
        parts.append("ports:[31000-31009]")
        if self._chance(0.3):
            parts.append(self._choose("disks:{a,b}", "licenses:3", "ports(ads):[32000-32001]", "cpus:0.3"))
        return ";".join(parts)

    def _entries(self) -> list[Entry]:
        found = [self._scalar(name) for name in ("cpus", "mem", "disk")]
        found.append(self._ports())
        found += (self._choose(self._disk, self._disk, self._more)() for _ in range(self._choose(0, 1, 2, 3, 5)))
        self._random.shuffle(found)
        return found

    def _scalar(self, name: str) -> Entry:
        return {"name": name, "type": "SCALAR", "scalar": {"value": self._amount()}, **self._owner()}

    def _ports(self) -> Entry:
        spans = self._choose([(31000, 31009)], [(31005, 31009), (31000, 31002)], [(31000, 31004), (31005, 31009)])
        listed = [{"begin": begin, "end": end} for begin, end in spans]
        return {"name": "ports", "type": "RANGES", "ranges": {"range": listed}, **self._owner()}

    def _more(self) -> Entry:
        return self._choose(
            self._scalar(self._choose("cpus", "mem", "licenses")),
            {"name": "slots", "type": "SET", "set": {"item": self._choose(["a"], ["b", "a"])}, **self._owner()},
        )

    def _owner(self) -> Entry:
        role = self._choose("ads", "db", "ads/video")
        return self._choose(
            {}, {}, {}, {"role": "*"}, {"role": role}, {"reservations": [{"type": "STATIC", "role": role}]}
        )

    def _disk(self) -> Entry:
        """A separate disk; a real agent has those of the types BLOCK and RAW from a resource provider alone."""
        root = self._choose(*MOUNTED) if self._chance(0.5) else self._choose(*self._roots)
        kind = "mount" if root in MOUNTED else "path"
        source: Entry = {"type": kind.upper(), kind: {"root": root}}
        for key in ("id", "profile", "vendor", "metadata"):
            # Of a MOUNT disk with an id, a volume is a folder, and an agent that cannot make one ends.
            if self._chance(0.05) and (key != "id" or root == WRITABLE or kind == "path"):
                source[key] = {"labels": [{"key": "k"}]} if key == "metadata" else self._choose("x", "y")
        return {**self._scalar("disk"), "disk": {"source": source}}

    # --- What is wrong with one ---------------------------------------------------------------------

    def _spoil(self, entries: list[Entry]) -> None:
        objects = [one for one in entries if isinstance(one, dict) and one]
        entry = self._choose(*objects)
        disk = self._choose(*[one for one in objects if "disk" in one] or [entry])
        self._choose(
            lambda: self._spoil_amount(entry),
            lambda: entry.update(self._choose({"revocable": {}}, {"shared": {}}, {"provider_id": {"value": "p"}})),
            lambda: self._spoil_owner(entry),
            lambda: self._spoil_disk(disk),
            lambda: entry.pop(self._choose(*entry)),
            lambda: entry.update({"type": self._choose("SCALAR", "RANGES", "SET", "TEXT", "x", 0, 1)}),
            lambda: entry.update({"name": self._choose("", "cpus", "disk", 1, "a b", "gpus")}),
            lambda: entry.update({"allocation_info": {"role": "ads"}}),
            lambda: entries.append(self._choose({}, [], 1, "x", None)) if self._chance(0.3) else None,
            lambda: entries.append(dict(entry)),
        )()

    def _spoil_amount(self, entry: Entry) -> None:
        if entry.get("type") == "SCALAR":
            entry["scalar"] = {"value": self._choose(*ODD_AMOUNTS)}
        elif entry.get("type") == "RANGES":
            spans = self._choose([(5, 3)], [(1, 5), (3, 7)], [(3, 7), (1, 5)], [(1, 2), (1, 2)], [(0, 0)], [])
            entry["ranges"] = {"range": [{"begin": begin, "end": end} for begin, end in spans]}
        else:
            entry["set"] = {"item": self._choose(["a", "a"], [], [1], "a")}

    def _spoil_owner(self, entry: Entry) -> None:
        for key in ("role", "reservations", "reservation"):
            entry.pop(key, None)
        odd = self._choose(*ODD_ROLES)
        entry.update(
            self._choose(
                {"role": odd},
                {"reservations": [{"type": "STATIC", "role": odd}]},
                {"reservations": [{"type": "DYNAMIC", "role": "ads"}]},
                {"reservations": [{"role": "ads"}]},
                {"reservations": [{"type": "STATIC"}]},
                {"reservations": [{"type": "STATIC", "role": "ads"}, {"type": "STATIC", "role": "ads/video"}]},
                {"reservations": [{"type": "STATIC", "role": "ads"}, {"type": "DYNAMIC", "role": "ads/video"}]},
                {"reservations": [{"type": "STATIC", "role": "ads", "principal": "p", "labels": {"labels": []}}]},
                {"role": "ads", "reservation": {"principal": "p"}},
                {"role": "ads", "reservations": [{"type": "STATIC", "role": "ads"}]},
                {"reservations": []},
            )
        )

    def _spoil_disk(self, entry: Entry) -> None:
        volume = {"mode": "RW", "container_path": "p"}
        entry["disk"] = self._choose(
            {},
            {"source": {}},
            {"source": {"type": "UNKNOWN"}},
            {"source": {"type": "MOUNT"}},
            {"source": {"type": "MOUNT", "mount": {}}},
            {"source": {"type": "MOUNT", "mount": {"root": ""}}},
            {"source": {"type": "PATH"}},
            {"source": {"type": "PATH", "path": {}}},
            {"source": {"type": "MOUNT", "path": {"root": "/dev/shm"}}},
            {"source": {"type": "PATH", "mount": {"root": "/dev/shm"}}},
            {"persistence": {"id": "v"}, "volume": volume},
            {"volume": volume},
            {
                "persistence": {"id": "v"},
                "volume": volume,
                "source": {"type": "PATH", "path": {"root": self._roots[0]}},
            },
        )
