"""Random operations of one ACCEPT on disk and volumes, and tasks that use those."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.scenarios.scenario import scalar, scalars

Resource = dict[str, Any]
Operation = dict[str, Any]
OWNER = [{"type": "DYNAMIC", "role": "ads"}]


class VolumeDice:
    """A source of operations that a seed fixes.

    Volumes grow and shrink unless the release knows nothing of that; some are of nothing if that does not end it.
    """

    def __init__(self, seed: int, *, resizes: bool = True, of_nothing: bool = False) -> None:
        self._random = random.Random(seed)
        self._amounts = (0.5, 5, 10, 20, 50, *((0,) if of_nothing else ()))
        self._kinds: Sequence[Callable[[], Operation | None]] = (
            *(self._reserve, self._create, self._launch) * 2,
            *(self._unreserve, self._destroy),
            *((self._shrink, self._shrink, self._grow) if resizes else ()),
        )
        self._entries: list[Resource] = []
        self._made: list[Operation] = []

    def operations(self, offered: Sequence[Resource]) -> list[Operation]:
        """One to four operations on what is offered; `$AGENT` stands for the agent's id."""
        self._entries = [{key: part for key, part in entry.items() if key != "allocation_info"} for entry in offered]
        self._made = []
        for _ in range(self._choose(1, 1, 2, 2, 3, 4)):
            made = self._choose(*self._kinds)()
            if made is not None:
                with_id = made["type"] != "LAUNCH" and self._random.random() < 0.7
                self._made.append(made | ({"id": {"value": f"o{len(self._made)}"}} if with_id else {}))
        return self._made

    def _choose(self, *among: Any) -> Any:
        return self._random.choice(among)

    def _amount(self) -> float:
        return float(self._choose(*self._amounts))

    @property
    def _volumes(self) -> list[Resource]:
        return [entry for entry in self._entries if "persistence" in entry.get("disk", {})]

    def _free(self) -> Resource:
        """Some reserved disk that is there, or perhaps not."""
        free = [entry for entry in self._entries if entry["name"] == "disk" and entry.get("reservations")]
        plain = [entry for entry in free if "disk" not in entry]
        return self._choose(*plain) if plain and self._random.random() < 0.8 else self._disk()

    def _disk(self) -> Resource:
        return scalar("disk", self._amount(), reservations=OWNER)

    def _volume(self) -> Resource | None:
        """A volume, mostly as it is."""
        if not self._volumes:
            return None
        volume = self._choose(*self._volumes)
        wrong = self._random.random() < 0.1
        return {**volume, "scalar": {"value": volume["scalar"]["value"] + 1}} if wrong else dict(volume)

    def _reserve(self) -> Operation:
        return {"type": "RESERVE", "reserve": {"resources": [self._disk()]}}

    def _unreserve(self) -> Operation:
        entry = self._free()
        part = {**entry, "scalar": {"value": self._choose(entry["scalar"]["value"], self._amount())}}
        return {"type": "UNRESERVE", "unreserve": {"resources": [part]}}

    def _create(self) -> Operation | None:
        name = self._choose("v1", "v2", "v3")
        info = {"persistence": {"id": name}, "volume": {"mode": "RW", "container_path": "data"}}
        volume = self._disk() | {"disk": info}
        if self._random.random() < 0.5:
            if any(other["disk"]["persistence"]["id"] == name for other in self._volumes):
                return None  # a shared volume that is there: this ends a real master
            volume["shared"] = {}
        self._entries.append(volume)
        return {"type": "CREATE", "create": {"volumes": [volume]}}

    def _destroy(self) -> Operation | None:
        volume = self._volume()
        return None if volume is None else {"type": "DESTROY", "destroy": {"volumes": [volume]}}

    def _shrink(self) -> Operation | None:
        volume = self._volume()
        if volume is None:
            return None
        size = volume["scalar"]["value"]
        by = {"value": self._choose(size / 2, 1, size, self._amount())}
        return {"type": "SHRINK_VOLUME", "shrink_volume": {"volume": volume, "subtract": by}}

    def _grow(self) -> Operation | None:
        volume, free = self._volume(), self._free()
        if volume is None:
            return None
        addition = {**free, "scalar": {"value": self._choose(1, self._amount(), free["scalar"]["value"])}}
        return {"type": "GROW_VOLUME", "grow_volume": {"volume": volume, "addition": addition}}

    def _launch(self) -> Operation | None:
        if not self._volumes:
            return None
        tasks: list[Resource] = [
            {
                "name": "t",
                "task_id": {"value": f"t{len(self._made)}-{number}"},
                "agent_id": {"value": "$AGENT"},
                "resources": [*scalars(cpus=0.1, mem=32), self._choose(*self._volumes)],
                "command": {"value": "true"},
            }
            for number in range(self._choose(1, 2, 2))
        ]
        return {"type": "LAUNCH", "launch": {"task_infos": tasks}}
