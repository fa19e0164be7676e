"""The journal of `apply`: what an interrupted run leaves, and what the next one does with it."""

import json
import os
import signal
import subprocess
import sys

import pytest

from mesosctl.apply import work as run_operations
from mesosctl.apply.journal import Journal, JournalKey
from mesosctl.apply.work import perform
from mesosctl.changes.identity import _plain, identity
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from tests.mesosctl.apply.conftest import FAKE, WISHES, steps

# Kills itself where the test says, as an operator's kill -9 or a lost machine does.
KILLED = """
import os, signal, sys
from mesosctl.__main__ import main
from mesosctl.apply import work as running
at, when, perform, done = int(sys.argv[1]), sys.argv[2], running.perform, 0
def dying(*words):
    global done
    done += 1
    if done == at and when == "before": os.kill(os.getpid(), signal.SIGKILL)
    perform(*words)
    if done == at: os.kill(os.getpid(), signal.SIGKILL)
running.perform = dying
main(sys.argv[3:])
"""


def killed(tmp_path, file, at, when):
    program = [sys.executable, "-c", KILLED, str(at), when, "--master", FAKE, "apply", "-f", str(file)]
    ended = subprocess.run(
        program, env=os.environ | {"XDG_STATE_HOME": str(tmp_path)}, capture_output=True, timeout=120, check=False
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr


@pytest.mark.parametrize(
    ("at", "when", "before"), [(1, "before", 0), (2, "after", 2), (4, "before", 3), (5, "after", 5)]
)
@pytest.mark.process
def test_killed_at_any_moment_the_next_apply_goes_on(run, file, tmp_path, at, when, before):
    killed(tmp_path, file, at, when)
    status, out, err = run("apply", "-f", file, "--dry-run")
    assert f"interrupted: the master shows {before} of its 5 steps" in err
    assert out.count("yes") == before
    status, out, err = run("apply", "-f", file, "-o", "json")
    assert status == 0, err
    assert {done for *_, done in steps(out)} == {True}
    assert run("diff", "-f", file)[0] == 0
    assert run("apply", "-f", file)[1:] == (
        "",
        "mesosctl: note: nothing differs from the file\n",
    )  # the journal is gone


@pytest.mark.process
def test_what_changed_since_the_interruption_is_not_run_over(run, file, tmp_path):
    killed(tmp_path, file, 2, "before")
    assert run("quota", "set", "web", "cpus:1")[0] == 0
    status, _, err = run("apply", "-f", file)
    assert status == 6
    assert "--restart" in err
    assert run("quota", "show", "web", "-o", "json")[1].count('"cpus": 1.0')
    assert run("apply", "-f", file, "--restart", "--yes")[0] == 0  # the limit is new, so something is taken away
    assert run("diff", "-f", file)[0] == 0


@pytest.mark.parametrize(
    ("at", "undo"),
    [
        (2, "quota remove db"),
        (5, "quota update web cpus:10 --yes"),
        (5, "unreserve agent-1 cpus:1 --role dept/team --under dept"),
        (5, "unreserve agent-1 ports:[31000-31001] --role dept"),
    ],
)
@pytest.mark.process
def test_a_step_that_was_made_and_is_not_so_any_more_is_not_called_done(run, file, tmp_path, at, undo):
    killed(tmp_path, file, at, "after")
    status, _, err = run(*undo.split())
    assert status == 0, err
    for more in ((), ("--dry-run",)):
        status, out, err = run("apply", "-f", file, *more)
        assert (status, out if not more else "") == (6 if not more else status, "")
        assert status != 0
        assert "changed" in out + err
    assert run("diff", "-f", file)[0] == 1
    status, _, err = run("apply", "-f", file, "--restart")
    assert status == 0, err
    assert run("diff", "-f", file)[0] == 0


@pytest.mark.process
def test_another_file_is_another_plan(run, file, tmp_path):
    killed(tmp_path, file, 2, "after")
    file.write_text(WISHES.replace("cpus:4", "cpus:5"))
    status, _, err = run("apply", "-f", file)
    assert status == 0
    assert "mesosctl makes a new plan" in err
    assert run("diff", "-f", file)[0] == 0


@pytest.mark.process
@pytest.mark.parametrize("edits", [False, True])
def test_a_no_leaves_the_journal_that_a_new_plan_would_replace(run, file, tmp_path, edits):
    killed(tmp_path, file, 2, "after")
    (journal,) = (tmp_path / "mesosctl" / "apply").glob("*.json")
    left = journal.read_text()
    if edits:
        file.write_text(WISHES.replace("cpus:4", "cpus:5"))
    words = ["apply", "-f", file, *([] if edits else ["--restart"])]
    assert run(*words, answer="n\n")[0] == 2
    assert journal.read_text() == left
    assert run(*words)[0] == 0
    assert list(journal.parent.glob("*.json")) == []


def test_a_refusal_says_which_step_and_leaves_a_journal(run, file):
    file.write_text('[quotas.web]\nguarantee = "cpus:1"\n[quotas.db]\nguarantee = "cpus:100"\n')
    status, out, err = run("apply", "-f", file)
    assert (status, out) == (6, "")
    assert "not enough capacity" in err
    assert run("quota", "list", "-o", "name")[1] == ""


@pytest.mark.process
def test_a_damaged_journal_is_told_of_and_can_be_forgotten(run, file, tmp_path):
    killed(tmp_path, file, 2, "after")
    (journal,) = (tmp_path / "mesosctl" / "apply").glob("*.json")
    journal.write_text("{")
    status, _, err = run("apply", "-f", file)
    assert status == 3
    assert "cannot be read" in err
    assert run("apply", "-f", file, "--restart")[0] == 0


def test_two_at_once_are_one_too_many(run, file, tmp_path):
    """However the file is named: by its path, by a link to it, as standard input."""
    with LeadingMaster(parse_address(FAKE)) as master:
        about = JournalKey.of(identity(master, FAKE), WISHES, "elsewhere.toml")
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    with Journal(tmp_path / "mesosctl" / "apply", about):
        for named in (file, link, "-"):
            status, _, err = run("apply", "-f", named, stdin=WISHES)
            assert (status, "by another command" in err) == (6, True), err
        file.write_text(WISHES.replace("cpus:4", "cpus:5"))
        assert run("apply", "-f", file)[0] == 0  # other wishes


class Said(LeadingMaster):
    """A master that says of itself what the test says."""

    def __init__(self, address, pid, flags):
        super().__init__(address)
        self._said = {
            "GET_MASTER": {"get_master": {"master_info": {"id": "x", "pid": pid}}},
            "/flags": {"flags": flags},
        }

    def ask(self, call):
        return self._said[call]

    def get(self, path):
        return self._said[path]


@pytest.mark.parametrize(
    ("flags", "one", "other"),
    [
        ({"zk": "zk://u:pw@b:2181,A:2181/mesos"}, "http://127.0.0.1:5050", "zk://u:pw@a,b/mesos"),
        ({"zk": "zk://a:2181,b:2181/mesos/"}, "http://m1:5050", "http://m2:5050,http://m1:5050"),
        ({}, "http://localhost:5050", "http://127.0.0.1:5050/"),
    ],
)
def test_a_master_is_the_same_however_its_address_is_written(flags, one, other):
    said = Said(parse_address("fake:"), "master@127.0.0.1:5050", flags)
    assert identity(said, one) == identity(said, other)
    assert "pw" not in identity(said, one)


def test_two_masters_that_both_call_themselves_localhost_are_two():
    said = Said(parse_address("fake:"), "master@127.0.1.1:5050", {})
    assert identity(said, "http://one:5050") != identity(said, "http://two:5050")


def test_a_master_that_does_not_tell_what_it_is_goes_by_its_address():
    """The list in any order, and without what is secret in it."""
    assert _plain("http://B:1/,http://a:2") == _plain("http://a:2,http://b:1")
    assert _plain("zk://user:hunter2hunter2@h1/mesos") == "h1/mesos"


@pytest.mark.process
def test_a_journal_is_its_owners_alone_and_holds_no_credentials(run, file, tmp_path):
    killed(tmp_path, file, 2, "after")
    (journal,) = (tmp_path / "mesosctl" / "apply").glob("*.json")
    assert journal.stat().st_mode & 0o777 == 0o600


SENSELESS = {
    "nested": "[" * 100_000,
    "in objects": '{"a":' * 100_000,
    "endless": "1e999",
    "no number": "NaN",
    "digits": "9" * 100_000,
    "half": '"\\ud800"',
    "null": "null",
    "nothing": "",
    "a list": "[]",
    "bytes": b"\xff\xfe",
    "zeros": "\0" * 100,
    "steps": '{"schema_version": 2, "steps": [7], "digest": "", "done": 0}',
    "quota": '{"schema_version": 2, "digest": "", "done": 0, "steps": [{"kind": "quota", "role": "a", '
    '"before": null, "after": {"guarantees": {"cpus": "x"}, "limits": []}}]}',
    "done": '{"schema_version": 2, "steps": [], "digest": "", "done": 1e300}',
    "resources": '{"schema_version": 2, "digest": "", "done": 0, "steps": [{"kind": "reserved", "agent_id": "a", '
    '"hostname": "h", "resources": [{}], "before": [], "after": []}]}',
}


@pytest.mark.process
@pytest.mark.parametrize("content", SENSELESS.values(), ids=SENSELESS)
def test_a_journal_that_nobody_wrote_is_told_of(run, file, tmp_path, content):
    killed(tmp_path, file, 1, "before")
    (journal,) = (tmp_path / "mesosctl" / "apply").glob("*.json")
    journal.write_bytes(content if isinstance(content, bytes) else content.encode())
    status, out, err = run("apply", "-f", file)
    assert (status, out) == (3, "")
    assert f"the journal {journal} of an interrupted apply cannot be read: " in err
    assert "--restart" in err
    assert run("apply", "-f", file, "--restart")[0] == 0


@pytest.mark.process
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_a_journal_that_is_no_file_is_refused_at_once(run, file, tmp_path, make):
    killed(tmp_path, file, 1, "before")
    (journal,) = (tmp_path / "mesosctl" / "apply").glob("*.json")
    journal.unlink()
    make(journal)
    status, out, err = run("apply", "-f", file)
    assert (status, out) == (3, "")
    assert "cannot be read: it is a" in err


@pytest.mark.parametrize("form", ["table", "json"])
def test_interrupted_it_says_how_far_it_came(run, file, monkeypatch, form):
    left = iter(range(2))

    def stopping(*words):
        if next(left, None) is None:
            raise KeyboardInterrupt
        perform(*words)

    with monkeypatch.context() as patch:
        patch.setattr(run_operations, "perform", stopping)
        status, out, err = run("apply", "-f", file, "-o", form)
    assert (status, out) == (130, "")
    said = json.loads(err)["error"]["message"] if form == "json" else err.splitlines()[-1].removeprefix("mesosctl: ")
    assert said.startswith("interrupted: 2 of 5 steps done; ")
    status, _, err = run("apply", "-f", file)
    assert status == 0, err
    assert "interrupted: the master shows 2 of its 5 steps: set quota (2)" in err
    assert run("diff", "-f", file)[0] == 0


def test_interrupted_in_a_step_it_says_that_this_is_open(run, file, monkeypatch):
    call = LeadingMaster.call

    def interrupted_call(master, body):
        call(master, body)
        raise KeyboardInterrupt

    monkeypatch.setattr(LeadingMaster, "call", interrupted_call)
    status, _, err = run("apply", "-f", file)
    assert status == 130
    assert "interrupted: step 1 of 5, " in err
    assert "it is unknown whether it was done" in err


def interrupt(run, file, monkeypatch, at, when="after"):
    """Press Ctrl-C before or after the step with this number was made."""
    numbers = iter(range(1, 100))

    def stopping(*words):
        number = next(numbers)
        if (number, when) == (at, "before"):
            raise KeyboardInterrupt
        perform(*words)
        if number == at:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run_operations, "perform", stopping)
        assert run("apply", "-f", file)[0] == 130


def test_after_an_interruption_only_the_remaining_steps_are_made(run, file, monkeypatch):
    interrupt(run, file, monkeypatch, 2)
    made = []

    def noting(*words):
        made.append(words[1])
        perform(*words)

    with monkeypatch.context() as patch:
        patch.setattr(run_operations, "perform", noting)
        assert run("apply", "-f", file)[0] == 0
    assert len(made) == 3
    assert run("diff", "-f", file)[0] == 0


@pytest.mark.parametrize(("at", "undo"), [(2, "quota remove db"), (3, "quota update web cpus:10 --yes")])
def test_a_completed_step_that_somebody_undid_is_a_conflict(run, file, monkeypatch, at, undo):
    interrupt(run, file, monkeypatch, at)
    assert run(*undo.split())[0] == 0
    status, out, err = run("apply", "-f", file)
    assert (status, out) == (6, "")
    assert "the cluster has changed there" in err


def test_somebody_elses_change_of_the_next_step_is_a_conflict(run, file, monkeypatch):
    interrupt(run, file, monkeypatch, 2, "before")
    assert run("quota", "set", "web", "cpus:1")[0] == 0
    status, out, err = run("apply", "-f", file)
    assert (status, out) == (6, "")
    assert "mesosctl: set quota of web to 12 cpus and 4GiB mem, " in err
    assert "at most 14 cpus: the cluster has changed there" in err


@pytest.mark.parametrize(("at", "told"), [(1, "0 of 5 steps were"), (2, "1 of 5 steps was"), (4, "3 of 5 steps were")])
def test_every_confirmed_step_is_in_the_journal(run, file, monkeypatch, at, told):
    """The one that was interrupted is not."""
    interrupt(run, file, monkeypatch, at)
    file.write_text(WISHES.replace("cpus:4", "cpus:5"))
    status, _, err = run("apply", "-f", file)
    assert status == 0, err
    assert f"interrupted: {told} confirmed, " in err


def test_the_removal_of_a_journal_lasts(run, file, tmp_path, monkeypatch):
    """Its folder is synced after it is gone."""
    folder = tmp_path / "mesosctl" / "apply"
    left = []

    def noting(descriptor, sync=os.fsync):
        if folder.is_dir() and os.path.samestat(os.fstat(descriptor), folder.stat()):
            left.append([path.name for path in folder.glob("*.json")])
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    assert run("apply", "-f", file)[0] == 0
    assert left[-1] == []
    assert len(left[0]) == 1
