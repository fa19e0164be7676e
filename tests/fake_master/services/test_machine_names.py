"""A machine is shown as it was first named, however it is written later, and by whichever process."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from fake_master.registry.sqlite import SqliteRegistry
from tests.helpers.lab import Lab
from tests.helpers.profiles import examples

SPELLINGS = {"a": ("a", "A"), "rack-1": ("rack-1", "Rack-1", "RACK-1"), "agent-1": ("AGENT-1", "agent-1")}
IP = "127.0.0.1"
"""Of the agents of a lab; the machine of one has its host name and address."""


def machine(hostname: str) -> dict[str, str]:
    return {"hostname": hostname, "ip": IP} if hostname.lower() == "agent-1" else {"hostname": hostname}


def status(lab: Lab) -> set[str]:
    """Each machine that is draining or down, as it is shown."""
    shown = lab.read("/maintenance/status")
    listed = [one["id"] for one in shown.get("draining_machines", [])] + shown.get("down_machines", [])
    return {one["hostname"] for one in listed}


chosen = st.lists(st.sampled_from(sorted(SPELLINGS)), unique=True).flatmap(
    lambda names: st.tuples(*[st.sampled_from(SPELLINGS[name]) for name in names])
)


class Process:
    """One master upon the registry, and the names that it has heard first."""

    def __init__(self, path: Path) -> None:
        self.lab = Lab(registry=lambda: SqliteRegistry(path))
        self.first = {"agent-1": "agent-1"}
        """The machine of an agent is named as the agent says."""

    def schedule(self, names: tuple[str, ...]) -> None:
        windows = [{"machine_ids": [machine(name)], "unavailability": {"start": {"nanoseconds": 1}}} for name in names]
        assert self.lab.post("/maintenance/schedule", {"windows": windows}) == 200
        shown = self.lab.read("/maintenance/schedule").get("windows", [])
        # The schedule itself is shown as it was sent.
        assert [window["machine_ids"] for window in shown] == [[machine(name)] for name in names]

    def change(self, path: str, name: str) -> None:
        assert self.lab.post(path, [machine(name)]) == 200, name


@settings(max_examples=examples(60))
@example(steps=[(0, ("a",)), (0, ()), (1, ("A",)), (0, ("a",)), (0, ()), (0, ("A",))])
@example(steps=[(0, ("Rack-1", "a")), (0, ("rack-1", "A")), (1, ("RACK-1",)), (1, ()), (0, ("rack-1",))])
@given(steps=st.lists(st.tuples(st.integers(0, 1), chosen), min_size=1, max_size=6))
def test_each_machine_keeps_the_name_that_was_heard_first(steps: list[tuple[int, tuple[str, ...]]]) -> None:
    with TemporaryDirectory() as folder:
        processes = [Process(Path(folder) / "r.sqlite") for _ in range(2)]
        scheduled: dict[str, str] = {}
        for who, names in steps:
            process = processes[who]
            for key, name in scheduled.items():  # what the registry holds is heard when it is read
                process.first.setdefault(key, name)
            process.schedule(names)
            scheduled = {
                name.lower(): scheduled.get(name.lower()) or process.first.setdefault(name.lower(), name)
                for name in names
            }
            assert status(process.lab) == set(scheduled.values())
        process, names = processes[steps[-1][0]], steps[-1][1]
        for name in names:  # whichever way it is written
            process.change("/machine/down", name.swapcase())
            assert status(process.lab) == set(scheduled.values())
        for name in names:
            process.change("/machine/up", name)
        assert status(process.lab) == set()
        for one in processes:
            one.lab.master.registry.close()


def test_two_machines_with_one_name_are_told_apart_by_their_address() -> None:
    lab = Lab()
    listed: list[Any] = [{"hostname": "A", "ip": ip} for ip in ("10.0.0.1", "10.0.0.2")] + [{"hostname": "a"}]
    window = {"machine_ids": listed, "unavailability": {"start": {"nanoseconds": 1}}}
    assert lab.post("/maintenance/schedule", {"windows": [window]}) == 200
    assert lab.post("/machine/down", [{"hostname": "a", "ip": "10.0.0.2"}]) == 200
    shown = lab.read("/maintenance/status")
    assert shown["down_machines"] == [listed[1]]
    assert [one["id"] for one in shown["draining_machines"]] == [listed[0], listed[2]]
