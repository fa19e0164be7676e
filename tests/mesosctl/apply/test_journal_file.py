"""A journal by itself: what it keeps of each step, who may hold it, and what it says when the disk does not."""

import errno
import json
import os

import pytest

from mesosctl.apply import journal as journals
from mesosctl.apply.journal import Journal, JournalEntry, JournalKey, digest, folder, step_from_json, step_to_json
from mesosctl.apply.plan import QuotaStep, Step, WeightsStep
from mesosctl.changes.identity import identity
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.files.writing import replace_file
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Reservation
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.desired.reservation_plan import ReservationStep
from mesosctl.mesos.errors import BadInput, Conflict, NotFound
from tests.helpers.reserving import push

FOUR = Quota(Quantities({"cpus": 4000}), Limits({"mem": 8000}))
HELD = push(parse_resources("cpus:1;mem:512"), Reservation("DYNAMIC", "web", "p"))
STEPS: list[Step] = [
    QuotaStep("web", None, FOUR),
    QuotaStep("ads", FOUR, None),
    WeightsStep({"web": 1.0}, {"web": 2.5}),
    *(
        ReservationStep("a1", "host", action, HELD, HELD, Resources())
        for action in ("reserved", "unreserved", "destroyed")
    ),
]
KEY = JournalKey.of("master@h:5050", "wishes", "wishes.toml")
OTHER = JournalKey.of("master@h:5050", "older wishes", "wishes.toml")


def entry(done: int = 0) -> JournalEntry:
    return JournalEntry("d", STEPS, done)


def names(where) -> list[str]:
    return sorted(path.suffix for path in where.iterdir())


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_a_step_is_the_same_after_it_was_kept(step):
    assert step_from_json(json.loads(json.dumps(step_to_json(step)))) == step


def test_a_step_of_another_kind_is_refused_by_its_name():
    with pytest.raises(ValueError, match="'grown'"):
        step_from_json(step_to_json(STEPS[3]) | {"kind": "grown"})


@pytest.mark.parametrize("done", [0, 3, len(STEPS)])
def test_what_is_written_is_read_by_the_next_command(tmp_path, done):
    with Journal(tmp_path / "j", KEY) as journal:
        assert journal.read() is None
        journal.write(entry(done))
        assert names(tmp_path / "j") == [".json", ".lock", ".reserve"]
    assert names(tmp_path / "j") == [".json"]
    with Journal(tmp_path / "j", KEY) as journal:
        assert journal.read() == entry(done)
        journal.end()
        assert journal.read() is None
        journal.end()
    assert names(tmp_path / "j") == []


def test_the_file_says_what_it_is_and_of_whom(tmp_path):
    with Journal(tmp_path, KEY) as journal:
        journal.write(entry(2))
    (path,) = tmp_path.glob("*.json")
    value = json.loads(path.read_text(encoding="utf-8"))
    assert (value["schema_version"], value["kind"], value["digest"], value["done"]) == (2, "apply.journal", "d", 2)
    assert (value["master"], value["file"]) == ("master@h:5050", "wishes.toml")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_dry_run_keeps_nothing(tmp_path):
    with Journal(tmp_path, KEY) as journal:
        journal.write(entry(1))
    with Journal(tmp_path, KEY, keeps=False) as journal:
        journal.write(entry(3))
        journal.end()
        assert journal.read() == entry(1)


@pytest.mark.parametrize(("verb", "words"), [("apply", "wishes.toml is being applied"), ("cleanup", "under way")])
def test_one_command_holds_it_at_a_time(tmp_path, verb, words):
    with Journal(tmp_path, KEY), Journal(tmp_path, OTHER):
        with pytest.raises(Conflict, match=words) as refused, Journal(tmp_path, KEY, verb=verb):
            pass
        assert refused.value.hint == "wait until it ends"
    with Journal(tmp_path, KEY, verb=verb):
        pass
    assert names(tmp_path) == []


def test_a_folder_that_is_a_file_is_refused_with_its_name(tmp_path):
    (tmp_path / "j").write_text("", encoding="utf-8")
    with pytest.raises(BadInput, match="cannot be written") as refused, Journal(tmp_path / "j", KEY):
        pass
    assert str(tmp_path / "j") in str(refused.value)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"schema_version": 1}, "another version"),
        ({"done": len(STEPS) + 1}, f"{len(STEPS) + 1} of {len(STEPS)}"),
        ({"done": -1}, f"-1 of {len(STEPS)}"),
        ({"done": "1"}, "1 of"),
        ({"steps": 7}, "not a journal"),
        ({"digest": None, "steps": [None]}, "not a journal"),
    ],
)
def test_why_it_cannot_be_read(tmp_path, change, why):
    with Journal(tmp_path, KEY) as journal:
        journal.write(entry())
    (path,) = tmp_path.glob("*.json")
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with Journal(tmp_path, KEY, verb="cleanup", hint="what to do") as journal:
        with pytest.raises(BadInput, match=why) as refused:
            journal.read()
        assert "interrupted cleanup" in str(refused.value)
        assert str(path) in str(refused.value)
        assert refused.value.hint == "what to do"


@pytest.mark.parametrize("missing", ["schema_version", "digest", "done", "steps"])
def test_a_part_that_is_missing_is_named(tmp_path, missing):
    with Journal(tmp_path, KEY) as journal:
        journal.write(entry())
    (path,) = tmp_path.glob("*.json")
    value = json.loads(path.read_text(encoding="utf-8"))
    del value[missing]
    path.write_text(json.dumps(value), encoding="utf-8")
    with Journal(tmp_path, KEY) as journal:
        with pytest.raises(BadInput, match=missing) as refused:
            journal.read()
        assert "interrupted apply" in str(refused.value)
        assert "mesosctl diff" in (refused.value.hint or "")
        assert "--restart" in (refused.value.hint or "")


def left(where, *keys: JournalKey) -> None:
    for key in keys:
        with Journal(where, key) as journal:
            journal.write(entry())


def test_journals_of_other_versions_of_the_file_go_when_its_steps_begin(tmp_path):
    left(tmp_path, OTHER, JournalKey.of("another@h:5050", "older wishes", "wishes.toml"))
    left(tmp_path, JournalKey.of("master@h:5050", "other wishes", "elsewhere.toml"))
    (tmp_path / "0.json").write_text("{", encoding="utf-8")
    with Journal(tmp_path, KEY) as journal:
        assert journal.replaced() == [entry()]
        assert journal.replaced() == [entry()]
        assert len(list(tmp_path.glob("*.json"))) == 4
        journal.write(entry())
        assert len(list(tmp_path.glob("*.json"))) == 4
        assert journal.replaced() == []


def test_journals_of_other_versions_go_too_if_there_is_nothing_to_do(tmp_path):
    left(tmp_path, OTHER)
    with Journal(tmp_path, KEY) as journal:
        assert journal.replaced() == [entry()]
        journal.end()
    assert names(tmp_path) == []


@pytest.mark.parametrize(("master", "found"), [("", 0), ("m", 1)])
def test_what_came_from_standard_input_to_an_unknown_master_replaces_nothing(tmp_path, master, found):
    left(tmp_path, JournalKey.of(master, "older wishes", "-"))
    with Journal(tmp_path, JournalKey.of(master, "wishes", "-")) as journal:
        assert len(journal.replaced()) == found


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_disk_that_is_full_before_the_first_step_is_told_of(tmp_path, monkeypatch):
    monkeypatch.setattr(journals, "_allocate", full)
    with Journal(tmp_path, KEY) as journal:
        with pytest.raises(BadInput, match=f"0 of {len(STEPS)} steps done") as refused:
            journal.write(entry())
        assert "the journal" in str(refused.value)
        assert os.strerror(errno.ENOSPC) in str(refused.value)
        assert refused.value.hint == "make room there"
        assert names(tmp_path) == [".lock"]


def test_a_full_disk_takes_the_space_that_was_kept_and_then_no_more(tmp_path, monkeypatch):
    written = replace_file

    def fails_while(there):
        def write(path, text, **options):
            if there(path):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            written(path, text, **options)

        return write

    with Journal(tmp_path, KEY) as journal:
        journal.write(entry())
        (path,), (reserve,) = tmp_path.glob("*.json"), tmp_path.glob("*.reserve")
        assert reserve.stat().st_size == 2 * path.stat().st_size
        assert reserve.stat().st_mode & 0o777 == 0o600
        monkeypatch.setattr(journals, "replace_file", fails_while(lambda _: reserve.exists()))
        journal.write(entry(1))
        assert not reserve.exists()
        assert journal.read() == entry(1)
        monkeypatch.setattr(journals, "replace_file", fails_while(lambda _: True))
        with pytest.raises(BadInput, match=f"2 of {len(STEPS)} steps done") as refused:
            journal.write(entry(2))
        assert "the same command then continues" in (refused.value.hint or "")
        assert str(refused.value).count("the journal") == 1


def test_a_journal_that_cannot_be_removed_is_told_of(tmp_path, monkeypatch):
    monkeypatch.setattr(journals, "sync_folder", full)
    with Journal(tmp_path, KEY) as journal:
        journal.write(entry())
        with pytest.raises(BadInput, match="cannot be removed") as refused:
            journal.end()
    assert "same command again" in (refused.value.hint or "")


def test_the_digest_of_a_plan_is_of_its_text_and_of_what_is_pruned():
    assert len({digest("a", prune=False), digest("a", prune=True), digest("b", prune=False)}) == 3
    assert digest("a\udc80", prune=False)


def test_journals_are_in_the_state_folder(tmp_path):
    assert folder({"XDG_STATE_HOME": str(tmp_path)}) == tmp_path / "mesosctl" / "apply"


class Answering(LeadingMaster):
    """A master that answers what the test says, or that this principal may not see it."""

    def __init__(self, info, flags=None):
        super().__init__(parse_address("fake:"))
        self._info, self._flags_shown = info, flags

    def ask(self, call):
        assert call == "GET_MASTER"
        return self._info

    def get(self, path):
        assert path == "/flags"
        if self._flags_shown is None:
            raise NotFound("not for you")
        return {"flags": self._flags_shown}


def info(**values):
    return {"get_master": {"master_info": values}}


@pytest.mark.parametrize(
    ("shown", "flags", "address", "expected"),
    [
        (info(id="i", pid="p"), {}, "fake:x", "fake:i"),
        (info(pid="master@h:5050"), None, "http://x:5050", "master@h:5050"),
        (info(pid="master@h:5050"), {"zk": "file:///z"}, "http://x:5050", "master@h:5050"),
        (info(pid="master@h:5050"), {"zk": "zk://u:pw@B:2181, a:2181/mesos/"}, "http://x", "zk://a:2181,b:2181/mesos"),
        (info(pid="master@h:5050"), {"zk": "zk://a:2181/BOX/"}, "http://x", "zk://a:2181/BOX"),
        (info(pid="master@127.0.0.1:5050"), {}, "http://x:5050", "master@127.0.0.1:5050 of http://x:5050"),
        (info(pid="master@[::1]:5050"), {}, "http://x:5050", "master@[::1]:5050 of http://x:5050"),
        (info(pid="master@127.0.0.1:5050"), {}, "http://LOCALHOST:5050", "master@127.0.0.1:5050"),
        (info(pid="master@localhost.example:5050"), {}, "http://x:5050", "master@localhost.example:5050"),
        ({}, {}, "http://u:pw@X:5050/, http://A:5050", "http://a:5050,x:5050"),
        ({"get_master": None}, {}, "http://X:5050/", "http://x:5050"),
        ({"get_master": None}, {}, "http://BOX/", "http://box"),
    ],
)
def test_what_a_master_is_known_by(shown, flags, address, expected):
    assert identity(Answering(shown, flags), address) == expected


DAMAGED = {
    "no JSON": "{",
    "no object": "7",
    "without a master": "{}",
    "of another version": '{"schema_version": 1}',
    "without steps": '{"schema_version": 2}',
    "with too many steps done": '{"schema_version": 2, "steps": [], "done": 1}',
    "with a step that is none": '{"schema_version": 2, "steps": [null], "done": 0}',
    "with an infinite amount": '{"schema_version": 2, "digest": "", "done": 0, "steps": [{"kind": "reserved", '
    '"agent_id": "a", "hostname": "h", "resources": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1e999}}], '
    '"before": [], "after": []}]}',
    "with infinity spelled out": '{"schema_version": 2, "digest": "", "done": 0, "steps": [{"kind": "reserved", '
    '"agent_id": "a", "hostname": "h", "resources": [{"name": "cpus", "type": "SCALAR", "scalar": '
    '{"value": "Infinity"}}], "before": [], "after": []}]}',
    "with a resource without a name": '{"schema_version": 2, "digest": "", "done": 0, "steps": [{"kind": "reserved", '
    '"agent_id": "a", "hostname": "h", "resources": [{}], "before": [], "after": []}]}',
    "with amounts that are none": '{"schema_version": 2, "digest": "", "done": 0, "steps": [{"kind": "quota", '
    '"role": "a", "before": null, "after": {"guarantees": 7, "limits": {}}}]}',
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=list(DAMAGED))
def test_a_damaged_journal_of_another_version_hides_none_after_it(tmp_path, content):
    left(tmp_path, OTHER)
    about = {"master": "master@h:5050", "file": "wishes.toml"}
    if content.startswith('{"'):
        content = json.dumps(about)[:-1] + ", " + content[1:]
    (tmp_path / "0.json").write_text(content, encoding="utf-8")
    with Journal(tmp_path, KEY) as journal:
        assert journal.replaced() == [entry()]


def test_a_folder_in_the_place_of_a_journal_hides_none_after_it(tmp_path):
    left(tmp_path, OTHER)
    (tmp_path / "0.json").mkdir()
    with Journal(tmp_path, KEY) as journal:
        assert journal.replaced() == [entry()]


def test_a_journal_that_another_program_has_removed_is_removed(tmp_path):
    left(tmp_path, OTHER)
    (other,) = tmp_path.glob("*.json")
    with Journal(tmp_path, KEY) as journal:
        assert journal.replaced()
        other.unlink()
        journal.end()
    assert names(tmp_path) == []


def test_what_is_no_file_is_told_of_as_such(tmp_path):
    left(tmp_path, KEY)
    (path,) = tmp_path.glob("*.json")
    path.unlink()
    path.mkdir()
    with Journal(tmp_path, KEY) as journal, pytest.raises(BadInput, match="it is a"):
        journal.read()
    with Journal(tmp_path, KEY) as journal, pytest.raises(BadInput) as refused:
        journal.read()
    assert "Errno" not in str(refused.value)


def test_a_journal_keeps_its_name_from_one_release_to_the_next(tmp_path):
    left(tmp_path, KEY)
    assert [path.name for path in tmp_path.iterdir()] == ["d0fc172873365d65.json"]


def test_what_is_no_text_is_told_of_by_its_line(tmp_path):
    left(tmp_path, KEY)
    (path,) = tmp_path.glob("*.json")
    path.write_bytes(b"{\n\xff")
    with Journal(tmp_path, KEY) as journal, pytest.raises(BadInput, match="line 2"):
        journal.read()


def test_a_step_whose_quota_is_no_number_hides_none_after_it(tmp_path):
    left(tmp_path, OTHER)
    (path,) = tmp_path.glob("*.json")
    value = json.loads(path.read_text(encoding="utf-8"))
    value["steps"] = [step_to_json(STEPS[3])]
    value["steps"][0]["resources"][0]["reservations"] = [{"type": "DYNAMIC", "role": "*"}]
    (tmp_path / "0.json").write_text(json.dumps(value), encoding="utf-8")
    with Journal(tmp_path, KEY) as journal:
        assert journal.replaced() == [entry()]


def test_a_lock_that_somebody_has_removed_is_given_up(tmp_path):
    with Journal(tmp_path, KEY):
        (lock,) = tmp_path.glob("*.lock")
        lock.unlink()
    with Journal(tmp_path, KEY):
        pass


def test_steps_begin_even_if_a_replaced_journal_stays(tmp_path):
    left(tmp_path, OTHER)
    (other,) = tmp_path.glob("*.json")
    with Journal(tmp_path, KEY) as journal:
        assert journal.replaced()
        other.unlink()
        other.mkdir()
        journal.write(entry(1))
        assert journal.read() == entry(1)


def test_space_is_kept_once_for_all_steps_and_a_file_in_it_is_private(tmp_path, monkeypatch):
    kept: list[int] = []
    written, allocate = replace_file, journals._allocate

    def fails_first(path, text, **options):
        if len(kept) == 1 and list(tmp_path.glob("*.reserve")):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        written(path, text, **options)

    def allocates(descriptor, size):
        kept.append(size)
        allocate(descriptor, size)

    monkeypatch.setattr(journals, "_allocate", allocates)
    monkeypatch.setattr(journals, "replace_file", fails_first)
    with Journal(tmp_path, KEY) as journal:
        journal.write(entry())
        (path,) = tmp_path.glob("*.json")
        assert path.stat().st_mode & 0o777 == 0o600
        journal.write(entry(1))
        journal.write(entry(2))
        assert journal.read() == entry(2)
    assert len(kept) == 1


def test_the_space_of_a_journal_is_taken_through_no_link(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"")
    where = tmp_path / "j"
    with Journal(where, KEY) as journal:
        (lock,) = where.glob("*.lock")
        lock.with_suffix(".reserve").symlink_to(elsewhere)
        journal.write(entry())
    assert elsewhere.stat().st_size == 0


def test_space_is_taken_where_the_system_has_no_call_for_it(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate")
    with Journal(tmp_path, KEY) as journal:
        journal.write(entry())
        (path,), (reserve,) = tmp_path.glob("*.json"), tmp_path.glob("*.reserve")
        assert reserve.stat().st_size == 2 * path.stat().st_size
