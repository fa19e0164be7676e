"""The audit file: what a command leaves in it, wherever it is killed, and what is read of it."""

import fcntl
import io
import json
import os
import shutil
import stat
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesosctl.audit import work
from mesosctl.audit.report import audit_list
from mesosctl.audit.work import read_audit
from mesosctl.changes import audit
from mesosctl.changes.audit import AuditTrail
from mesosctl.changes.audited_commands import AUDIT_KEYS, AuditFilter, Author
from mesosctl.files import reading
from mesosctl.mesos.errors import BadInput
from mesosctl.show.output_formats import OutputForm, write

ALICE = Author("alice", "ops", "prod", "http://host:5050", "quota set dev cpus:1")
BOB = Author("bob as root", None, None, "fake:", "weights set dev=2")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "audit" / "audit.jsonl"


def written(path, author=ALICE, *, status=0, at=1.0):
    trail = AuditTrail(path, author)
    trail.sends("POST /quota", at)
    trail.ends(status, {"kind": "quota.changes"}, None, at + 1)


def test_a_whole_command(path):
    written(path)
    ((one,), unreadable) = read_audit(path)
    assert (one.author, one.requests, one.begun, one.ended, one.status) == (ALICE, ["POST /quota"], 1.0, 2.0, 0)
    assert (one.answer, one.failure, unreadable) == ({"kind": "quota.changes"}, None, 0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_command_that_sent_nothing_leaves_nothing(path):
    AuditTrail(path, ALICE).ends(3, None, "refused", 1.0)
    assert read_audit(path).commands == []
    assert not path.exists()


def test_a_command_that_was_killed_has_its_requests_and_no_status(path):
    trail = AuditTrail(path, ALICE)
    for number in range(3):
        trail.sends(f"DELETE /quota/{number}", number)
    (one,) = read_audit(path).commands
    assert (one.status, one.ended, len(one.requests)) == (None, None, 3)


@pytest.mark.parametrize("keeps", [1, 40, -1])
def test_a_line_that_a_kill_left_incomplete_costs_that_line_alone(path, keeps):
    written(path)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:keeps].rstrip(b"\n"))
    written(path, BOB)
    found = read_audit(path)
    assert [one.author for one in found.commands] == [ALICE, BOB]
    assert found.unreadable <= 1


def test_what_is_not_a_line_of_it_is_counted(path):
    written(path)
    with path.open("a", encoding="utf-8") as file:
        for line in ('"text"', "[1]", "{}", '{"id": 1, "command": 2}', "[" * 100_000, '{"id": "x", "status": 0}'):
            file.write(line + "\n")
    found = read_audit(path)
    assert (len(found.commands), found.unreadable) == (1, 5)  # the last one ends a command that was removed


# --- Damage ----------------------------------------------------------------------------------------


def whole_file(path, count):
    """The lines of commands with two changes and an end each, which all end, by command."""
    for number in range(count):
        trail = AuditTrail(path, ALICE._replace(command=f"quota set {number}"))
        trail.sends("POST /quota", number)
        trail.sends("DELETE /quota", number)
        trail.ends(0, {"kind": "quota.changes", "list": [1, {}]}, None, number + 1)
    lines = path.read_bytes().splitlines()
    return [lines[at : at + 3] for at in range(0, len(lines), 3)]


ODD = st.sampled_from([
    "Infinity", "-Infinity", "NaN", "1e999", "1e18", "-1", "-1e-9", "9" * 5000, "1" + "0" * 400, "true", "null", "[]",
    "{}", '"x"', '"\\ud800"', "[" * 100_000, "[" * 400 + "]" * 400, '{"a": 1e999}', '{"a": NaN}', "0.5", "256", "",
])  # fmt: skip
FIELDS = ["at", "status", "answer", "failure", "request", "command", "principal", "user", "id", "master"]


def with_odd_value(line, field, text):
    """The line with this text as the value of a field, which it may not have had."""
    value = {**json.loads(line), field: "HERE"}
    return json.dumps(value).replace('"HERE"', text).encode(errors="surrogatepass")


@st.composite
def damage(draw):
    """A function of a line: a byte that is another one, an odd value, half of the line, or anything."""
    kind = draw(st.sampled_from(["byte", "value", "cut", "anything"]))
    if kind == "byte":
        at, byte = draw(st.integers(0, 400)), bytes([draw(st.integers(0, 255).filter(lambda byte: byte != 10))])
        return lambda line: line[: at % len(line)] + byte + line[at % len(line) + 1 :]
    if kind == "value":
        field, text = draw(st.sampled_from(FIELDS)), draw(ODD)
        return lambda line: with_odd_value(line, field, text)
    if kind == "cut":
        part = draw(st.floats(0, 1))
        return lambda line: line[: int(len(line) * part)]
    content = draw(st.binary(max_size=50)).replace(b"\n", b" ")
    return lambda _: content


@given(st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 2)), damage(), max_size=4), st.booleans())
def test_damage_costs_the_command_whose_line_it_hits_and_no_other(tmp_path_factory, damages, ends):
    """Whatever a line holds: it is read, or counted. It is shown in every form, and sorted and chosen by everything."""
    path, hit = tmp_path_factory.mktemp("audit") / "audit.jsonl", {command for command, _ in damages}
    commands = whole_file(path, 4)
    intact = [one.id for one in read_audit(path).commands if int(one.author.command.split()[-1]) not in hit]
    for (command, line), harm in damages.items():
        commands[command][line] = harm(commands[command][line])
    path.write_bytes(b"\n".join(line for lines in commands for line in lines) + b"\n" * ends)
    for sort in (None, *AUDIT_KEYS):
        found, unreadable = read_audit(path, AuditFilter(since=-1), sort)
        good = [one for one in found if one.id in intact]
        assert sorted(one.id for one in good) == sorted(intact)
        assert all((one.status, len(one.requests)) == (0, 2) for one in good)
        assert unreadable <= len(damages)
    report = audit_list(found)
    for form in get_args(OutputForm):
        out = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace")
        write(report, form, out, draws=False, colours=False)


@pytest.mark.parametrize("odd", ['{"status": Infinity}', '{"at": 1e18}', '{"at": NaN}', '{"answer": {"a": 1e999}}'])
def test_an_end_with_an_odd_value_is_counted_and_leaves_the_command(path, odd):
    written(path)
    *others, end = path.read_bytes().splitlines()
    field, text = odd[1:-1].split(": ", 1)
    path.write_bytes(b"\n".join([*others, with_odd_value(end, json.loads(field), text)]) + b"\n")
    ((one,), unreadable) = read_audit(path)
    assert (one.author, one.status, unreadable) == (ALICE, None, 1)


def test_a_byte_that_is_not_utf_8_costs_its_line_alone(path):
    written(path)
    written(path, BOB)
    first, *others = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first.replace(b"alice", b"al\xffce"), *others]) + b"\n")
    found, unreadable = read_audit(path)
    assert ([one.author for one in found], unreadable) == ([BOB], 1)


def test_a_line_without_an_end_is_one_damaged_line_and_takes_no_memory(path, monkeypatch):
    monkeypatch.setattr(work, "LARGEST_TEXT", 1000)
    written(path, BOB)
    with path.open("ab") as file:
        file.write(b"x" * 10_500 + b"\n")
    written(path)
    found, unreadable = read_audit(path)
    assert ([one.author for one in found], unreadable) == ([BOB, ALICE], 1)


# --- Files that are renamed meanwhile -------------------------------------------------------------


def steps_of_a_rotation(folder, path, monkeypatch):
    """The changes that one rotation makes, as functions of nothing, in their order: recorded from the real one."""
    steps = []
    copy = folder / "copy"
    shutil.copytree(path.parent, copy)
    with monkeypatch.context() as patch:
        replace, unlink = Path.replace, Path.unlink

        def replacing(source, target):
            result = replace(source, target)
            steps.append(lambda: replace(path.parent / source.name, path.parent / target.name))
            return result

        def unlinking(target, missing_ok=False):
            unlink(target, missing_ok=missing_ok)
            steps.append(lambda: unlink(path.parent / target.name, missing_ok=True))

        patch.setattr(Path, "replace", replacing)
        patch.setattr(Path, "unlink", unlinking)
        audit._rotate(copy / path.name)
    shutil.rmtree(copy)
    return steps


@given(
    st.integers(0, audit.KEPT + 1),
    st.integers(0, 2),
    st.lists(st.integers(0, 8), min_size=audit.KEPT + 1, max_size=audit.KEPT + 1),
)
@example(full=0, rotations=1, pace=[0, 2, *[0] * (audit.KEPT - 1)])  # renamed after it was opened, and met again
def test_however_files_are_renamed_while_they_are_opened_no_command_is_missed(tmp_path_factory, full, rotations, pace):
    """Before each file is opened, some more of the renaming happens, and maybe of the next one.

    Those in files that a rotation removes may be missed, as they are gone.
    """
    folder = tmp_path_factory.mktemp("audit")
    path = folder / "state" / "audit.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit, "LARGEST", 1)
        for number in range(full + 1):
            written(path, ALICE._replace(command=f"{number}"))
            with path.open("ab") as file:
                file.write(b"damaged\n")
        before = [audited.author.command for audited in read_audit(path).commands]

        def renaming():
            for again in range(rotations):
                yield from steps_of_a_rotation(folder, path, patch)
                yield lambda again=again: written(path, BOB._replace(command=f"later {again}"))

        left = iter(renaming())
        paces = iter(pace)
        opening = reading.open_file

        def opening_later(place):
            for _ in range(next(paces, 0)):
                step = next(left, None)
                if step is not None:
                    step()
            return opening(place)

        patch.setattr(work, "open_file", opening_later)
        found, unreadable = read_audit(path)
    commands = [audited.author.command for audited in found]
    assert unreadable == len(set(commands) & set(before))  # one in each of their files, counted once
    assert len(commands) == len(set(commands))
    lost = max(0, len(before) + rotations - audit.KEPT - 1)
    assert [command for command in commands if command in before][-(len(before) - lost) :] == before[lost:]


@pytest.mark.parametrize("is_written", [True, False])
def test_half_a_line_is_damage_unless_somebody_is_writing_it(path, is_written):
    written(path)
    with path.open("ab") as file:
        file.write(b'{"id": "half')
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR)
    try:
        if is_written:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        found, unreadable = read_audit(path)
    finally:
        os.close(descriptor)
    assert (len(found), unreadable) == (1, 0 if is_written else 1)


def test_a_line_that_is_whole_once_its_writer_lets_go_is_read(path, monkeypatch):
    """The reader has seen half of it, and the writer ends before the reader looks at the lock."""
    written(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    asking = fcntl.flock

    def ending(file, operation):
        path.write_bytes(whole)
        return asking(file, operation)

    monkeypatch.setattr(fcntl, "flock", ending)
    ((one,), unreadable) = read_audit(path)
    assert (one.status, unreadable) == (0, 0)


# --- Full files ------------------------------------------------------------------------------------


def test_a_full_file_is_renamed_and_the_oldest_removed(path, monkeypatch):
    monkeypatch.setattr(audit, "LARGEST", 1)
    for number in range(audit.KEPT + 4):
        written(path, ALICE._replace(command=str(number)))
    found = [one.author.command for one in read_audit(path).commands]
    assert found == [str(number) for number in range(3, audit.KEPT + 4)]
    assert all(stat.S_IMODE(one.stat().st_mode) == 0o600 for one in path.parent.iterdir())


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (AuditFilter(), 3),
        (AuditFilter(since=5.0), 1),
        (AuditFilter(by="ops"), 2),
        (AuditFilter(by="bob"), 1),
        (AuditFilter(on="prod"), 2),
        (AuditFilter(on="fake:"), 1),
        (AuditFilter(words=["quota", "dev"]), 2),
        (AuditFilter(failed=True), 1),
    ],
)
def test_filters(path, wanted, found):
    written(path)
    written(path, BOB, at=9.0)
    written(path, status=9)
    assert len(read_audit(path, wanted).commands) == found


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "audit").write_text("a file", encoding="utf-8")
    with pytest.raises(BadInput, match="cannot be written"):
        AuditTrail(tmp_path / "audit" / "audit.jsonl", ALICE).sends("POST /quota", 1.0)


def test_a_link_of_somebody_is_not_followed(path, tmp_path):
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput):
        AuditTrail(path, ALICE).sends("POST /quota", 1.0)
    assert not (tmp_path / "elsewhere").exists()


def test_each_line_is_json(path):
    written(path, ALICE._replace(command="quota set 'a\nb' cpus:1"))
    assert [json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines()]
