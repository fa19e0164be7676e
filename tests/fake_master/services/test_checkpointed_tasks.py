"""The records of tasks that agents keep: written in time, read with care, and kept through a full disk."""

from dataclasses import replace
from pathlib import Path

import pytest

from fake_master.registry.interface import MemoryRegistry, RegistryFailure, UnreadableRegistry
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.agent_tables import AgentSpec
from fake_master.state.agents import Absence
from tests.helpers.lab import AGENT, Scheduler, lasting

PATIENCE = 600.0
"""Seconds until an agent that is not back counts as unreachable."""
KILLED = pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])


def test_nothing_is_written_for_nobody(tmp_path: Path) -> None:
    registry = MemoryRegistry()
    with lasting(tmp_path) as here:
        here.registry = lambda: registry  # one that forgets with the process
        here.restart()
        Scheduler(here).run("a")
        assert registry.records("agent_task") == {}


def test_acknowledgements_wait_for_each_other(tmp_path: Path) -> None:
    with lasting(tmp_path, "cpus:100;mem:2048") as here:
        scheduler = Scheduler(here)
        watch = here.registry()
        scheduler.launch(*(f"t{number}" for number in range(50)))
        commits = 0
        assert watch.changed_elsewhere()
        while updates := scheduler.heard("UPDATE"):
            for status in (update["status"] for update in updates):
                scheduler.ask("ACKNOWLEDGE", **{key: status[key] for key in ("agent_id", "task_id", "uuid")})
                commits += watch.changed_elsewhere()
        assert commits == 0
        here.wait(1)
        assert watch.changed_elsewhere()
        watch.close()


def test_whoever_starts_upon_a_record_of_something_else_is_told(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        Scheduler(here).run("a")
        with here.master.registry.transaction():
            here.master.registry.write("agent_task", "x", {"agent_id": here.agents[0]["id"]})
        with pytest.raises(UnreadableRegistry, match="cannot be read"):
            here.restart()


class _Patient(SqliteRegistry):
    """One that tells how long its last transaction was ready to wait, in milliseconds."""

    ready_to_wait = -1

    def _begin(self) -> None:
        (self.ready_to_wait,) = self._connection.execute("PRAGMA busy_timeout").fetchone()
        super()._begin()


def test_a_master_that_ends_waits_for_its_registry_even_if_its_requests_do_not(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        here.registry = lambda: registry  # the same for every master
        registry = _Patient(tmp_path / "r.sqlite")
        here.restart()
        registry.wait_at_most(0)
        Scheduler(here).run("a")
        assert registry.ready_to_wait == 0
        here.master.close()
        assert registry.ready_to_wait > 1000
        registry = _Patient(tmp_path / "r.sqlite")
        here.start(here.spec)


@pytest.mark.parametrize(
    ("kind", "damage"),
    [
        ("agent_framework", {"roles": 1}),
        ("agent_framework", {"roles": [1]}),
        ("agent_framework", {"name": None}),
        ("agent_framework", {"id": {"value": 1}}),
        ("agent_framework", {"id": {"value": "another"}}),
        ("agent_framework", {"capabilities": {"type": "MULTI_ROLE"}}),
        ("agent_framework", {"capabilities": ["MULTI_ROLE"]}),
        ("agent_framework", {"failover_timeout": "long"}),
        ("agent_framework", {"offer_filters": {"f": {"min_allocatable_resources": []}}}),
        ("agent_framework", []),
        ("agent_info", {"hostname": 1}),
        ("agent_info", {"resources": {}}),
        ("agent_info", {"attributes": {"rack": "r1"}}),
        ("agent_info", {"attributes": [{"name": "rack", "type": "TEXT"}]}),
        ("agent_info", {"attributes": [{"name": "rack", "type": ["TEXT"], "text": {"value": "r1"}}]}),
        ("agent_info", "agent-1"),
    ],
)
def test_damaged_records_of_agents_and_frameworks_are_told_at_the_start(
    tmp_path: Path, kind: str, damage: object
) -> None:
    with lasting(tmp_path) as here:
        Scheduler(here).run("a")
        registry = here.master.registry
        ((key, record),) = registry.records(kind).items()
        with registry.transaction():
            registry.write(kind, key, {**record, **damage} if isinstance(damage, dict) else damage)
        with pytest.raises(UnreadableRegistry, match="cannot be read"):
            here.restart()


@pytest.mark.parametrize("first_back", [0, 1], ids=["the former one first", "the latter one first"])
def test_of_two_launches_under_one_id_the_later_counts(tmp_path: Path, first_back: int) -> None:
    former = AgentSpec(AGENT, "former", absence=Absence(100.0))
    latter = AgentSpec(AGENT, "latter")
    with lasting(tmp_path) as here:
        here.restart(replace(here.spec, agents=(former,)))
        scheduler = Scheduler(here, "PARTITION_AWARE", checkpoint=True)
        scheduler.run("a")
        here.wait(500)
        assert here.tasks() == {"a": "TASK_UNREACHABLE"}
        here.restart(replace(here.spec, agents=(former, latter)))
        scheduler.subscribe()
        scheduler.run("a")
        both = (replace(former, absence=None), latter)
        here.restart(replace(here.spec, agents=both if first_back == 0 else both[::-1]))
        (agent,) = (agent for agent in here.agents if agent["used_resources"]["cpus"])
        assert (agent["hostname"], here.tasks()) == ("latter", {"a": "TASK_RUNNING"})
        assert len(here.master.registry.records("agent_task")) == 1


class _Disk(MemoryRegistry):
    """One that lasts, and may be full."""

    outlives_process = True
    is_full = False

    def _commit(self) -> None:
        if self.is_full and self.was_written:
            raise RegistryFailure("the disk is full")
        super()._commit()


def test_what_a_full_disk_did_not_take_is_written_later_and_is_nobody_elses_fault(tmp_path: Path) -> None:
    registry = _Disk()
    with lasting(tmp_path) as here:
        here.registry = lambda: registry  # the same for every master
        here.restart()
        scheduler = Scheduler(here)
        registry.is_full = True
        with pytest.raises(AssertionError, match="was not saved: the disk is full"):
            scheduler.launch("a")  # it runs, and is written when that is possible again
        scheduler.ask("SUPPRESS")
        here.wait(10)
        assert registry.records("agent_task") == {}
        registry.is_full = False
        here.wait(1)
        here.restart(killed=True)
        assert here.tasks() == {"a": "TASK_RUNNING"}
