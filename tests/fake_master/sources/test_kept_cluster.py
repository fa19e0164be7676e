"""A `fake:` cluster goes on from one command to the next: tasks, offers and time."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.kept_cluster import KEY, KIND, KeptCluster
from fake_master.transports.address import FakeAddress, open_on_call
from mesosctl.mesos.errors import BadInput, UsageError

AGENTS = '[[agents]]\nresources = "cpus:8;mem:16384"\ncount = 3\n'
GREEDY = AGENTS + (
    '[[frameworks]]\nname = "reports"\nrole = "batch"\ntask = "cpus:1;mem:1024"\n'
    '[[frameworks]]\nname = "shop"\nrole = "web"\ntask = "cpus:2;mem:1024"\ntasks = 2\n'
)
HOLDING = AGENTS + (
    '[[frameworks]]\nname = "idle"\nrole = "a"\nanswer = "hold"\n'
    '[[frameworks]]\nname = "other"\nrole = "b"\nanswer = "decline"\n'
)
JOBS = AGENTS + (
    '[[frameworks]]\nname = "jobs"\nrole = "batch"\ntask = "cpus:1;mem:1024"\n'
    'every = "10s"\nlasts = "exponential(mean=30s)"\n'
)
THROTTLED = (
    'mesos_version = "1.11"\n' + AGENTS + '[flags]\nrate_limit_http = "true"\n'
    '[[rate_limits.limits]]\nprincipal = "slow"\nqps = 1.0\n'
    '[[frameworks]]\nname = "slow"\nprincipal = "slow"\nrole = "a"\ntask = "cpus:1;mem:512"\ntasks = 3\n'
    "per_offer = 1\n"
    '[[frameworks]]\nname = "quick"\nrole = "b"\ntask = "cpus:1;mem:512"\ntasks = 8\n'
)
LATE = AGENTS + '[[frameworks]]\nname = "late"\nrole = "x"\ntask = "cpus:1;mem:64"\ntasks = 2\nafter = 600\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "cluster.toml"


def ask(
    address: object, path: str = "/state", method: str = "GET", body: object = None, notes: list[str] | None = None
):
    """The JSON that one command gets."""
    told: list[str] = [] if notes is None else notes
    with closing(open_on_call(f"fake:{address}", notice=told.append)) as master:
        answer = master.answer(method, path, {}, b"" if body is None else json.dumps(body).encode())
    assert answer.status == 200, answer.body
    return json.loads(answer.body) if answer.body else None


def tasks(state: Any) -> dict[str, list[tuple[str, str, float]]]:
    return {
        framework["name"]: sorted(
            (task["id"], task["slave_id"], task["resources"]["cpus"]) for task in framework["tasks"]
        )
        for framework in state["frameworks"]
    }


def set_quota(address: object, role: str, cpus: float) -> None:
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": cpus}}]
    ask(address, "/quota", "POST", {"role": role, "guarantee": guarantee, "force": True})


def test_a_quota_takes_no_running_tasks_away(file: Path) -> None:
    file.write_text(GREEDY)
    first = ask(file)
    assert {name: len(held) for name, held in tasks(first).items()} == {"reports": 20, "shop": 2}
    set_quota(file, "web", 12)
    after = ask(file)
    assert tasks(after) == tasks(first)
    assert [one["id"] for one in after["frameworks"]] == [one["id"] for one in first["frameworks"]]


def test_the_cluster_is_settled_before_it_is_read(file: Path) -> None:
    file.write_text(HOLDING)
    first = ask(file)
    held = {one["name"]: sorted(offer["id"] for offer in one["offers"]) for one in first["frameworks"]}
    assert len(held["idle"]) == 3, "one allocation gives each framework only a part"
    assert held["other"] == []
    assert {one["name"]: sorted(offer["id"] for offer in one["offers"]) for one in ask(file)["frameworks"]} == held


def test_a_cluster_with_a_throttled_framework_is_settled_while_its_answers_wait(file: Path) -> None:
    file.write_text(THROTTLED)
    for _ in range(2):
        state, metrics = ask(file), ask(file, "/metrics/snapshot")
        assert {name: len(held) for name, held in tasks(state).items()} == {"slow": 0, "quick": 8}
        offers = {one["name"]: len(one["offers"]) for one in state["frameworks"]}
        assert offers == {"slow": 3, "quick": 0}, "each waits for an answer, and the clock stands still"
        received, processed = (metrics[f"frameworks/slow/messages_{what}"] for what in ("received", "processed"))
        assert (received - processed, metrics["master/uptime_secs"]) == (3, 0)
    assert len(tasks(ask(f"{file}?advance=1s"))["slow"]) == 1, "a message a second"
    assert len(tasks(ask(f"{file}?advance=10s"))["slow"]) == 3


def test_refusals_are_in_force_until_they_end(file: Path) -> None:
    file.write_text(HOLDING)

    def refusals(address: object) -> float:
        return float(ask(address, "/metrics/snapshot")["allocator/mesos/offer_filters/roles/b/active"])

    first = refusals(f"{file}?fresh")
    assert first > 0
    assert [refusals(file) for _ in range(2)] == [first, first]


def test_what_is_free_again_is_shared_out_at_once(file: Path) -> None:
    file.write_text(GREEDY)
    first = ask(file)
    gone = next(one["id"] for one in first["frameworks"] if one["name"] == "shop")
    with closing(open_on_call(f"fake:{file}")) as master:
        assert master.answer("POST", "/teardown", {}, f"frameworkId={gone}".encode()).status == 200
    assert {name: len(held) for name, held in tasks(ask(file)).items()} == {"reports": 24}


def test_time_passes_only_when_it_is_told_to(file: Path) -> None:
    file.write_text(JOBS)
    first = tasks(ask(file))
    for _ in range(3):
        assert tasks(ask(file)) == first
    later = tasks(ask(f"{file}?advance=60s"))
    assert later != first
    assert tasks(ask(file)) == later
    started = max(int(name.removeprefix("task-")) for name, _, _ in later["jobs"])
    assert 4 <= started <= 7, "one every ten seconds"


def test_the_draws_go_on_where_they_were(file: Path) -> None:
    file.write_text(JOBS)
    ask(file)
    steps = [tasks(ask(f"{file}?advance=30s")) for _ in range(4)][-1]
    ask(f"{file}?fresh")
    at_once = tasks(ask(f"{file}?advance=120s"))
    assert [name for name, _, _ in steps["jobs"]] == [name for name, _, _ in at_once["jobs"]]


def test_a_framework_that_comes_later_does(file: Path) -> None:
    file.write_text(LATE)
    assert ask(file)["frameworks"] == []
    assert ask(f"{file}?advance=9m")["frameworks"] == []
    assert {name: len(held) for name, held in tasks(ask(f"{file}?advance=2m")).items()} == {"late": 2}
    assert {name: len(held) for name, held in tasks(ask(file)).items()} == {"late": 2}


def test_an_edited_file_says_so_and_starts_over(file: Path) -> None:
    file.write_text(GREEDY)
    set_quota(file, "web", 4)
    notes: list[str] = []
    assert ask(file, "/quota", notes=notes)["infos"]
    assert notes == []
    file.write_text(GREEDY.replace("count = 3", "count = 2"))
    assert ask(file, "/quota", notes=notes) == {}
    assert [note for note in notes if "edited" in note and "starts over" in note] == notes
    assert len(notes) == 1
    assert len(ask(file, "/slaves")["slaves"]) == 2


def test_an_edited_file_that_is_broken_keeps_everything(file: Path) -> None:
    file.write_text(GREEDY)
    set_quota(file, "web", 4)
    file.write_text("[[agents]")
    with pytest.raises(BadInput):
        open_on_call(f"fake:{file}")
    file.write_text(GREEDY)
    assert ask(file, "/quota")["infos"]


def test_an_edited_file_of_tasks_starts_over(file: Path) -> None:
    file.write_text(AGENTS + '[[frameworks]]\nname = "etl"\nrole = "x"\nfrom = "tasks.csv"\n')
    (file.parent / "tasks.csv").write_text("asked,task\n0,cpus:1\n")
    assert len(tasks(ask(file))["etl"]) == 1
    (file.parent / "tasks.csv").write_text("asked,task\n0,cpus:1\n0,cpus:2\n")
    notes: list[str] = []
    assert len(tasks(ask(file, notes=notes))["etl"]) == 2
    assert notes


def test_quota_is_listed_without_starting_the_cluster(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(GREEDY)
    set_quota(file, "web", 4)

    def refuse(_self: FakeAddress) -> None:
        raise AssertionError("the file was read")

    monkeypatch.setattr(FakeAddress, "spec", refuse)
    assert [one["role"] for one in ask(file, "/quota")["infos"]] == ["web"]


def test_what_is_kept_is_private(file: Path) -> None:
    file.write_text(GREEDY)
    ask(file)
    (kept,) = (file.parent / "state").rglob("*.sqlite")
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_relative_path_is_the_same_cluster(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(GREEDY)
    set_quota(file, "web", 4)
    monkeypatch.chdir(file.parent)
    assert ask(file.name, "/quota")["infos"]


def test_an_interruption_ends_at_once_and_keeps_no_half_of_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(JOBS)
    before = tasks(ask(file))
    settle, settled = KeptCluster.settle, [0]

    def interrupted(self: KeptCluster) -> None:
        settled[0] += 1
        if settled[0] == 2:  # the first is that before the time passes
            raise KeyboardInterrupt
        settle(self)

    with monkeypatch.context() as patched:
        patched.setattr(KeptCluster, "settle", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ask(f"{file}?advance=1h", "/quota")
    assert settled == [2], "nothing is done again while it ends"
    assert tasks(ask(file)) == before


@pytest.mark.parametrize(
    "change",
    [{"resources": []}, {"parts": []}, {"made": ["x", 1]}, {"frameworks": [{}]}, {"schedulers": []}, {"now": []}],
)
def test_a_kept_record_that_cannot_be_read_is_an_error_and_no_bug(file: Path, change: dict[str, Any]) -> None:
    file.write_text(GREEDY)
    ask(file)
    (kept,) = (file.parent / "state").rglob("*.sqlite")
    with closing(SqliteRegistry(kept)) as registry, registry.transaction():
        registry.write(KIND, KEY, registry.record(KIND, KEY) | change)
    with closing(open_on_call(f"fake:{file}")) as master, pytest.raises(BadInput) as caught:
        master.answer("GET", "/state", {}, b"")
    assert "?fresh" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "address",
    ["fake:?advance=60s", "fake:x.toml?advance=soon", "fake:x.toml?advance=", "fake:x.toml?advance=-5s"]
    + [f"fake:x.toml?advance={long}d" for long in ("36501", "9" * 400)],
)
def test_a_wrong_advance_is_refused(address: str) -> None:
    with pytest.raises((BadInput, UsageError)):
        open_on_call(address)


def test_time_stands_still_while_the_machine_works(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(JOBS)
    with closing(open_on_call(f"fake:{file}")) as master:
        first = json.loads(master.answer("GET", "/state", {}, b"").body)
        monkeypatch.setattr("time.monotonic", lambda: 1e9)
        monkeypatch.setattr("time.time", lambda: 1e9)
        assert json.loads(master.answer("GET", "/state", {}, b"").body) == first
        master.pass_time(60)
        assert json.loads(master.answer("GET", "/state", {}, b"").body)["frameworks"] != first["frameworks"]


def test_a_framework_that_was_torn_down_never_returns(file: Path) -> None:
    file.write_text(GREEDY)
    gone = next(one["id"] for one in ask(file)["frameworks"] if one["name"] == "reports")
    with closing(open_on_call(f"fake:{file}")) as master:
        assert master.answer("POST", "/teardown", {}, f"frameworkId={gone}".encode()).status == 200
    for advance in ("", "?advance=1m", "", "?advance=1m", ""):
        assert [one["name"] for one in ask(f"{file}{advance}")["frameworks"]] == ["shop"]


def test_a_framework_that_was_torn_down_is_remembered_with_its_tasks_and_times(file: Path) -> None:
    file.write_text(GREEDY)
    shown = next(one for one in ask(file)["frameworks"] if one["name"] == "shop")
    with closing(open_on_call(f"fake:{file}")) as master:
        assert master.answer("POST", "/teardown", {}, f"frameworkId={shown['id']}".encode()).status == 200
        completed = json.loads(master.answer("GET", "/state", {}, b"").body)["completed_frameworks"]
        counts = json.loads(master.answer("GET", "/metrics/snapshot", {}, b"").body)
    assert [one["id"] for one in completed] == [shown["id"]]
    assert len(completed[0]["completed_tasks"]) == 2
    for advance in ("", "?advance=1m", ""):
        assert ask(f"{file}{advance}")["completed_frameworks"] == completed
    after = ask(file, "/metrics/snapshot")
    assert after["master/tasks_killed"] == counts["master/tasks_killed"]
    with closing(open_on_call(f"fake:{file}")) as master:
        assert master.answer("POST", "/teardown", {}, f"frameworkId={shown['id']}".encode()).status == 400


def test_only_as_many_are_remembered_as_the_flag_says(file: Path) -> None:
    file.write_text('[flags]\nmax_completed_frameworks = "1"\n' + GREEDY)
    for name in ("reports", "shop"):
        gone = next(one["id"] for one in ask(file)["frameworks"] if one["name"] == name)
        with closing(open_on_call(f"fake:{file}")) as master:
            assert master.answer("POST", "/teardown", {}, f"frameworkId={gone}".encode()).status == 200
        assert [one["name"] for one in ask(file)["completed_frameworks"]] == [name]


def quota_call(role: str) -> bytes:
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 2}}]
    return json.dumps({"role": role, "guarantee": guarantee, "force": True}).encode()


def roles_with_quota(answer: Any) -> set[str]:
    return {one["role"] for one in json.loads(answer.body)["infos"]}


def test_commands_at_once_see_and_lose_no_change(file: Path) -> None:
    """Both have started before either changes anything, and the one that began first ends last."""
    file.write_text(GREEDY)
    before = tasks(ask(file))
    with closing(open_on_call(f"fake:{file}")) as one:
        one.answer("GET", "/state", {}, b"")
        with closing(open_on_call(f"fake:{file}")) as other:
            other.answer("GET", "/state", {}, b"")
            for master, role in ((one, "batch"), (other, "web"), (one, "ads"), (other, "db")):
                assert master.answer("POST", "/quota", {}, quota_call(role)).status == 200
            everything = {"batch", "web", "ads", "db"}
            assert roles_with_quota(one.answer("GET", "/quota", {}, b"")) == everything
            assert other.answer("DELETE", "/quota/db", {}, b"").status == 200
        assert roles_with_quota(one.answer("GET", "/quota", {}, b"")) == everything - {"db"}
    assert roles_with_quota_of(file) == everything - {"db"}
    assert tasks(ask(file)) == before


def roles_with_quota_of(file: Path) -> set[str]:
    return {one["role"] for one in ask(file, "/quota")["infos"]}


def test_a_command_waits_while_another_one_writes(file: Path) -> None:
    """The one that writes holds the lock of the file; whoever may not wait is told so, and changes nothing."""
    file.write_text(GREEDY)
    ask(file)
    holder = SqliteRegistry(FakeAddress.parse(f"fake:{file}").state_file())
    with closing(holder), closing(open_on_call(f"fake:{file}", 0.0)) as master:
        with holder.transaction(), pytest.raises(BadInput, match="is locked") as refused:
            master.answer("POST", "/quota", {}, quota_call("web"))
        assert "another process is using it" in (refused.value.hint or "")
        assert master.answer("POST", "/quota", {}, quota_call("ads")).status == 200
    assert roles_with_quota_of(file) == {"ads"}
