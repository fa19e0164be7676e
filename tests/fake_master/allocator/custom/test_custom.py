"""Allocators of others: the example of the documentation, those that cannot be used, and those that break the rules."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_master.allocator import custom
from fake_master.allocator.conformance import Violation, check_class
from fake_master.allocator.custom_base import SharingAllocator, SharingRun
from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.stages.two_stages import share_fairly
from fake_master.allocator.interface import AgentInfo, Callbacks, FrameworkInfo
from fake_master.allocator.options import Options
from fake_master.allocator.revocation import Holding, Revocation
from fake_master.extensions.lending.allocator import LendingAllocator
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import BadInput
from tests import ROOT
from tests.documentation.pages import fences
from tests.helpers.lab import Lab, Scheduler

PAGE = ROOT / "docs" / "how-to" / "custom-allocator.md"


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of which modules are imported; the example of the documentation is there."""
    for fence in fences(PAGE):
        if fence.title is not None and fence.title.endswith(".py"):
            (tmp_path / fence.title).write_text(fence.text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and Path(sys.modules[name].__file__ or "").parent == tmp_path:
            del sys.modules[name]


def here(allocator: type) -> str:
    """The name by which a class of this file is loaded."""
    return f"{__name__}:{allocator.__qualname__}"


def lab(name: str, *agents: str, **flags: str) -> Lab:
    return Lab(*agents or ("cpus:4;mem:4096",), flags={"allocator": name, **flags})


def faults(lab: Lab) -> float:
    return float(lab.read("/metrics/snapshot")["allocator/custom/faults"])


# --- The example of the documentation ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["round_robin:RoundRobin", "fair_shares:NobodyStarves"])
def test_the_example_conforms(modules: Path, name: str) -> None:
    check_class(custom.load(name))


def test_the_example_takes_turns(modules: Path) -> None:
    master = lab("round_robin:RoundRobin", "cpus:4;mem:4096", "cpus:2;mem:64", "cpus:1;mem:64", "cpus:8;mem:64")
    first = Scheduler(master, name="a")
    everything = first.offers()
    second = Scheduler(master, name="b")
    first.ask("DECLINE", offer_ids=[offer["id"] for offer in everything], filters={"refuse_seconds": 0})
    master.wait(1.5)
    # The first framework was the last that was offered anything, so the second begins.
    assert (second.offered(), first.offered()) == (4 + 1, 2 + 8)
    assert faults(master) == 0


def test_a_package_names_its_allocator(modules: Path) -> None:
    folder = modules / "robin-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: robin\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[mesosctl.allocators]\nround-robin = round_robin:RoundRobin\n")
    master = lab("round-robin", "cpus:4;mem:4096")
    assert Scheduler(master).offered() == 4
    assert master.read("/flags")["flags"]["allocator"] == "round-robin"
    with pytest.raises(BadInput, match=r"strict-priority, round-robin or package\.module:Class"):
        lab("square-robin")


class LikeMesos(HierarchicalAllocator):
    """The allocator of Mesos, with nothing changed."""


class SharesLikeMesos(LikeMesos):
    """One with its own constructor."""

    def __init__(self, options: Options, master: Callbacks, now: float) -> None:
        super().__init__(options, master, now, share=share_fairly)


@pytest.mark.parametrize("derived", [LikeMesos, SharesLikeMesos])
def test_a_subclass_of_the_hierarchical_allocator_is_one(derived: type[LikeMesos]) -> None:
    check_class(derived)
    master = lab(here(derived), "cpus:4;mem:4096")
    assert Scheduler(master).offered() == 4
    assert faults(master) == 0


@pytest.mark.parametrize("derived", [LikeMesos, SharesLikeMesos])
def test_it_begins_at_the_time_of_its_master(derived: type[LikeMesos]) -> None:
    """One that began at zero would first make the runs of all the years since 1970."""
    began = 1.8e9
    options, callbacks = Options(allocation_interval=5.0), Callbacks(lambda _framework, _by_role: None)
    allocator = custom.make(here(derived), custom.load(here(derived)), options, callbacks, began)
    assert allocator.next_deadline() == began + 5.0


# --- Revocation -------------------------------------------------------------------------------------


def crowded(*, guarantee: float = 0.0) -> tuple[Lab, Scheduler, Scheduler]:
    """One agent on which `rich` runs two tasks, and `poor`, which has nothing."""
    master = lab("fair_shares:NobodyStarves", "cpus:2", revocation_grace_period="3secs")
    if guarantee:
        config = {"role": "rich", "guarantees": {"cpus": {"value": guarantee}}}
        master.call("UPDATE_QUOTA", quota_configs=[config])
    rich = Scheduler(master, name="rich")
    rich.run("t1", "t2")
    return master, rich, Scheduler(master, name="poor")


def test_any_module_may_revoke(modules: Path) -> None:
    master, rich, poor = crowded()
    assert poor.offered() == 1
    assert len([state for _, state in rich.told() if state == "TASK_KILLED"]) == 1
    assert faults(master) == 0


def test_a_guarantee_protects_a_task_from_any_module(modules: Path) -> None:
    master, rich, poor = crowded(guarantee=2.0)
    for _ in range(5):
        assert poor.offered() == 0
    assert rich.told() == []
    assert faults(master) == 0


def test_a_part_of_what_a_role_holds_may_be_guaranteed(modules: Path) -> None:
    master, rich, poor = crowded(guarantee=1.0)
    master.wait(5)
    assert len([state for _, state in rich.told() if state == "TASK_KILLED"]) == 1
    assert poor.offered() == 1


class RevokesTwice(SharingAllocator):
    def share(self, run: SharingRun) -> None:
        for agent in run.agents:
            for client in run.clients:
                run.offer(agent, client)

    def after_batch(self) -> None:
        for agent, holdings in self.holdings().items():
            self.revoke([Revocation(holding, agent) for holding in holdings if self.takes(holding)] * 2)

    def takes(self, holding: Holding) -> bool:
        return holding.is_task


class RevokesOffersTwice(RevokesTwice):
    def takes(self, holding: Holding) -> bool:
        return True


class RevokesElsewhere(RevokesTwice):
    def after_batch(self) -> None:
        for holdings in self.holdings().values():
            self.revoke([Revocation(holding, "elsewhere") for holding in holdings])


def test_what_is_revoked_twice_ends_once() -> None:
    master = lab(here(RevokesTwice), "cpus:2")
    framework = Scheduler(master)
    framework.run("t1", "t2")
    master.wait(3)
    ended = [(task, state) for task, state in framework.told() if state == "TASK_KILLED"]
    assert sorted(ended) == [("t1", "TASK_KILLED"), ("t2", "TASK_KILLED")]
    assert faults(master) == 0


def test_the_suite_finds_a_revocation_of_the_same_thing_twice() -> None:
    with pytest.raises(Violation, match="twice"):
        check_class(RevokesOffersTwice)


def test_the_suite_finds_a_revocation_on_another_agent() -> None:
    with pytest.raises(Violation, match="a different agent from the holding's"):
        check_class(RevokesElsewhere)


# --- Classes that cannot be used --------------------------------------------------------------------


class NoParameters(HierarchicalAllocator):
    def __init__(self) -> None:
        super().__init__(Options(), Callbacks(lambda _framework, _by_role: None), 0.0)


class Unfinished(HierarchicalAllocator):
    def revive(self) -> None:  # type: ignore[override]  # the fault
        """Take no parameters."""


class NoTime(SharingAllocator):
    def __init__(self, options: Options, master: Callbacks, now: float) -> None:
        super().__init__(options, master)  # type: ignore[call-arg]  # the fault

    def share(self, run: SharingRun) -> None:
        """Offer nothing."""


class Lends(LendingAllocator):
    """A subclass of an allocator that needs more than a master gives to one of others."""


class Empty:
    pass


class NoShare(SharingAllocator):
    pass


class Outer:
    class Inner(LikeMesos):
        """One inside of another class."""


def test_a_class_inside_of_another_is_found() -> None:
    assert custom.load(here(Outer.Inner)) is Outer.Inner


def test_what_a_class_lacks_has_a_hint() -> None:
    for lacking in (Empty, Unfinished):
        with pytest.raises(BadInput) as error:
            custom.check_class("x:Lacking", lacking)
        assert error.value.hint is not None
        assert "fake_master.allocator.interface.Allocator" in error.value.hint


def test_a_class_with_every_method_is_one_whatever_it_is_derived_from() -> None:
    custom.check_class("x:Like", type("Like", (), {name: getattr(LikeMesos, name) for name in custom.METHODS}))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nothing", "use hierarchical, strict-priority or package.module:Class"),
        ("no.such.module:Class", "there is no module no"),
        ("json:NoSuchClass", "module json has no NoSuchClass"),
        ("json:loads", "json:loads is a function, not a class"),
        ("json:", "is not package.module:Class"),
        (":Class", "is not package.module:Class"),
        ("js on:Class", "is not package.module:Class"),
        ("broken_syntax:Class", r"broken_syntax cannot be imported: SyntaxError: .*\(broken_syntax.py, line 1\)"),
        ("broken_import:Class", "broken_import cannot be imported: ModuleNotFoundError: No module named 'absent'"),
        ("broken_code:Class", r"cannot be imported: ZeroDivisionError: division by zero \(broken_code.py, line 2\)"),
        ("leaves:Class", "leaves cannot be imported: SystemExit"),
        (here(Empty), "Empty does not implement activate_agent, activate_framework, add_agent and 27 more"),
        (here(NoShare), "NoShare does not implement share"),
        (here(Unfinished), r"Unfinished.revive does not take \(framework, roles\)"),
        (here(NoParameters), "it cannot be created: TypeError"),
        (here(NoTime), "it cannot be created: TypeError: .*missing 1 required positional argument: 'now'"),
        (here(Lends), "it cannot be created: TypeError: .*missing 1 required keyword-only argument: 'on_rescind'"),
    ],
)
def test_a_class_that_cannot_be_used_is_refused(modules: Path, name: str, says: str) -> None:
    (modules / "broken_syntax.py").write_text("class class\n")
    (modules / "broken_import.py").write_text("import absent\n")
    (modules / "broken_code.py").write_text("one = 1\none / 0\n")
    (modules / "leaves.py").write_text("raise SystemExit(1)\n")
    with pytest.raises(BadInput, match=says) as error:
        lab(name)
    assert error.value.field == "allocator"
    assert f"--allocator={name}" in error.value.message


@pytest.mark.parametrize("flag", ["priorities", "preemption"])
def test_flags_of_another_allocator_are_refused(modules: Path, flag: str) -> None:
    with pytest.raises(BadInput, match=f"--{flag} needs --allocator=strict-priority"):
        lab("round_robin:RoundRobin", **{flag: "true"})


def test_it_does_not_lend(modules: Path) -> None:
    with pytest.raises(BadInput, match="--oversubscribe_reservations needs --allocator=hierarchical"):
        lab("round_robin:RoundRobin", oversubscribe_reservations="true")


# --- Classes that break the rules -------------------------------------------------------------------


class Turns(SharingAllocator):
    """Keeps the rules; the faults below are added to it."""

    def __init__(self, options: Options, master: Callbacks, now: float) -> None:
        self.told = master.offers
        super().__init__(options, master, now)

    def share(self, run: SharingRun) -> None:
        for agent in run.agents:
            for client in run.clients:
                run.offer(agent, client)


class IgnoresQuota(Turns):
    def update_quota(self, role: str, quota: Quota) -> None:
        """Keep nothing for anybody."""


@pytest.mark.parametrize(("allocator", "offered"), [(here(IgnoresQuota), 4), (here(Turns), 0)])
def test_an_allocator_may_ignore_quota(allocator: str, offered: int) -> None:
    master = lab(allocator)
    master.call("UPDATE_QUOTA", quota_configs=[{"role": "q", "guarantees": {"cpus": {"value": 4}}}])
    assert Scheduler(master, name="a").offered() == offered
    assert faults(master) == 0


class Raises(Turns):
    def add_framework(self, info: FrameworkInfo, *more: Any, **named: Any) -> None:
        super().add_framework(info, *more, **named)
        raise RuntimeError("no\nmore")


class RaisesInRuns(Turns):
    runs = 0

    def share(self, run: SharingRun) -> None:
        super().share(run)
        self.runs += 1
        if self.runs < 4:
            raise RuntimeError("not yet")


class OffersTwice(Turns):
    def share(self, run: SharingRun) -> None:
        for agent in run.agents:
            for client in run.clients:
                self.told(client.framework, {client.role: {agent: run.free(agent).allocated_to(client.role)}})


class OffersMore(Turns):
    def add_framework(self, info: FrameworkInfo, *more: Any, **named: Any) -> None:
        super().add_framework(info, *more, **named)
        for agent in self.state.agents:
            self.told(info.id, {"f": {agent: parse_resources("cpus:400").allocated_to("f")}})


class OffersToOthers(Turns):
    def add_framework(self, info: FrameworkInfo, *more: Any, **named: Any) -> None:
        super().add_framework(info, *more, **named)
        whole = parse_resources("cpus:1")
        for agent in self.state.agents:
            self.told("nobody", {"f": {agent: whole.allocated_to("f")}})
            self.told(info.id, {"else": {agent: whole.allocated_to("else")}})
            self.told(info.id, {"f": {"no agent": whole.allocated_to("f")}})
            self.told(info.id, {"f": {agent: whole}})
            self.told(info.id, {"f": {agent: Resources()}})
            self.told(info.id, {"f": "everything"})  # type: ignore[dict-item]  # the fault
            self.told(info.id, None)  # type: ignore[arg-type]  # likewise


class GivesAwayReservations(Turns):
    def add_framework(self, info: FrameworkInfo, *more: Any, **named: Any) -> None:
        super().add_framework(info, *more, **named)
        for agent, known in self.state.agents.items():
            reserved = known.free_resources.resources.reserved()
            self.told(info.id, {"f": {agent: reserved.allocated_to("f")}})


class NeverContent(Turns):
    def next_deadline(self) -> float | None:
        return 0.0


class NoMoment(Turns):
    def next_deadline(self) -> float | None:
        return "soon"  # type: ignore[return-value]  # the fault


class NoFigures(Turns):
    def metrics(self) -> dict[str, float]:
        return {"a": float("nan"), "b": "c", "d": 1.0}  # type: ignore[dict-item]  # the fault


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (Raises, "add_framework raised RuntimeError: no more (test_custom.py, line"),
        (RaisesInRuns, "advance_to raised RuntimeError: not yet"),
        (OffersMore, "which is not free"),
        (OffersToOthers, "role else, but the framework is not subscribed"),
        (GivesAwayReservations, "reserved for other roles"),
        (NeverContent, "next_deadline asked to advance to the same time"),
        (NoMoment, "next_deadline returned 'soon', which is not a time"),
        (NoFigures, None),
    ],
)
def test_the_master_survives_and_reports(fault: type, says: str | None, caplog: pytest.LogCaptureFixture) -> None:
    master = lab(here(fault), "cpus:4;mem:4096", "cpus(owner):2;cpus:2;mem:2048")
    framework = Scheduler(master)
    assert framework.offered() + framework.offered() == 6, "what is right is offered all the same"
    assert framework.call("REVIVE").status == 202
    assert master.agents
    if says is None:
        assert master.read("/metrics/snapshot")["d"] == 1.0
        return
    assert faults(master) > 0
    assert [record for record in caplog.messages if says in record and here(fault) in record]
    assert len(set(caplog.messages)) == len(caplog.messages), "each fault is reported once"


def test_what_is_handed_out_twice_is_offered_once(caplog: pytest.LogCaptureFixture) -> None:
    master = lab(here(OffersTwice), "cpus:4;mem:4096")
    first, second = Scheduler(master, name="a"), Scheduler(master, name="b")
    assert first.offered() + second.offered() == 4
    assert any("which is not free" in message for message in caplog.messages)


def test_the_suite_names_what_was_raised() -> None:
    with pytest.raises(Violation, match="RuntimeError: not yet"):
        check_class(RaisesInRuns)
    with pytest.raises(Violation, match="does not take"):
        check_class(Unfinished)


def test_a_framework_alone_has_what_others_left() -> None:
    """What `share` offers is cut to what Mesos allows."""
    allocator = Turns(Options(), Callbacks(offers=lambda _framework, _by_role: None), 0.0)
    allocator.add_agent(AgentInfo("A"), parse_resources("cpus:2;mem:512;cpus(b):1"))
    allocator.add_framework(FrameworkInfo("F", frozenset({"a"})))
    allocator.advance_to(0.0)
    assert allocator.free("A") == parse_resources("cpus(b):1")
