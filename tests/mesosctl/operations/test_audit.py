"""The audit file: what a command leaves in it, wherever it is killed, and what is read of it."""

import json
import stat

import pytest

from mesosctl.model.audited_commands import AuditFilter, Author
from mesosctl.model.errors import BadInput
from mesosctl.operations import audit
from mesosctl.operations.audit import AuditTrail, read_audit

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
