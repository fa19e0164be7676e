"""`mesosctl export`, `diff` and `apply` as they are typed."""

import io
import json
import os
import signal
import subprocess
import sys
import tomllib

import pytest

from mesosctl.__main__ import main
from mesosctl.api.snapshots import snapshot
from mesosctl.cli.session import Session
from mesosctl.client.address import parse_address
from mesosctl.client.master import Master
from mesosctl.operations.apply import run as run_operations
from mesosctl.operations.apply.journal import Journal, JournalKey, _plain, identity
from mesosctl.operations.apply.run import perform
from mesosctl.operations.snapshot import write_file
from mesosctl.planning.snapshot import ClusterSnapshot
from tests.surroundings import InMemory, Terminal

FAKE = "fake:?version=1.11"
WISHES = """
[quotas.web]
guarantee = "cpus:12;mem:4GiB"
limit = "cpus:14"
[quotas.db]
guarantee = "cpus:4"
[weights]
web = 2.0
[[reservations]]
agent = "agent-1"
role = "dept"
resources = "cpus:3;mem:512;ports:[31000-31009]"
[[reservations]]
agent = "agent-1"
role = "dept/team"
under = ["dept"]
resources = "cpus:2"
"""
# Kills itself where the test says, as an operator's kill -9 or a lost machine does.
KILLED = """
import os, signal, sys
from mesosctl.__main__ import main
from mesosctl.operations.apply import run as running
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


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "wishes.toml"
    made.write_text(WISHES)
    return made


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def run_words(*words, answer=None, stdin="", master=FAKE):
        stream = io.StringIO if answer is None else Terminal
        environment = InMemory(
            stdin=stream(answer or stdin),
            stdout=stream(),
            stderr=stream(),
            variables={"MESOSCTL_MASTER": master, "XDG_STATE_HOME": str(tmp_path)},
        )
        status = main([str(word) for word in words], environment)
        return status, environment.out, environment.err

    return run_words


def steps(out):
    return [(step["step"].split()[0], step["of"], step["done"]) for step in json.loads(out)["steps"]]


def test_from_nothing_to_what_is_wanted_and_back(run, file, tmp_path):
    before = tmp_path / "before.toml"
    assert run("export", "-f", before)[0] == 0
    assert run("diff", "-f", file)[0] == 1
    status, out, _ = run("apply", "-f", file, "--dry-run", "-o", "json")
    (plan,) = json.loads(out)["would"]
    assert (status, {done for *_, done in steps(json.dumps(plan))}) == (0, {False})
    assert [answer["accepted"] for answer in json.loads(out)["answers"]] == [True] * len(plan["steps"])
    assert run("quota", "list", "-o", "name")[1] == ""
    status, out, err = run("apply", "-f", file, "-o", "json")
    assert status == 0, err
    assert [(what, whom) for what, whom, _ in steps(out)] == [
        ("set", "db"),
        ("set", "web"),
        ("set", "web"),
        ("reserve", "dept on agent-1"),
        ("reserve", "dept > dept/team on agent-1"),
    ]
    assert run("diff", "-f", file)[:2] == (0, "")
    assert run("apply", "-f", file)[:2] == (0, "")
    after = tmp_path / "after.toml"
    assert run("export", "-f", after)[0] == 0
    assert run("diff", "-f", after, "--prune")[0] == 0
    assert run("diff", "-f", before)[0] == 0  # it names nothing
    assert run("diff", "-f", before, "--prune")[0] == 1
    status, _, err = run("apply", "-f", before, "--prune", "--yes")
    assert status == 0, err
    assert run("quota", "list", "-o", "name")[1] == ""
    assert "weights" in run("export")[1]
    assert run("diff", "-f", after)[0] == 1
    assert run("apply", "-f", after)[0] == 0
    assert run("diff", "-f", after, "--prune")[0] == 0


def test_an_export_as_json_says_what_the_toml_says(run, file, tmp_path):
    assert run("apply", "-f", file)[0] == 0
    said = tomllib.loads(run("export")[1])
    assert run("export", "-f", "-")[1] == run("export")[1]
    for form in ("json", "jsonl"):
        status, out, _ = run("export", "-o", form)
        document = json.loads(out)
        assert (status, document.pop("kind"), document["weights"]) == (0, "wanted.state", said["weights"])
        assert {key: value for key, value in document["quotas"]["web"].items() if value} == said["quotas"]["web"]
        shown = [{key: value for key, value in entry.items() if value} for entry in document["reservations"]]
        assert (document["schema_version"], shown) == (1, said["reservations"])
    after = tmp_path / "after.toml"
    for words in (("-o", "csv"), ("-o", "name"), ("-o", "json", "-f", after)):
        assert run("export", *words)[:2] == (2, "")
    assert not after.exists()


def test_the_same_file_works_for_the_older_master(run, file):
    older = "fake:?version=1.4"
    file.write_text(WISHES.replace('limit = "cpus:14"\n', ""))
    assert run("apply", "-f", file, master=older)[0] == 0
    file.write_text(file.read_text().replace("cpus:12", "cpus:11"))
    assert run("apply", "-f", file, "--yes", master=older)[0] == 0
    assert run("diff", "-f", file, master=older)[0] == 0


@pytest.mark.parametrize("verb", ["diff", "apply"])
def test_nothing_to_do_is_said_where_it_spoils_nothing(run, file, verb):
    assert run("apply", "-f", file)[0] == 0
    assert run(verb, "-f", file) == (0, "", "mesosctl: note: nothing differs from the file\n")
    assert run(verb, "-f", file, "--quiet") == (0, "", "")
    assert run(verb, "-f", file, "-o", "name") == (0, "", "")
    assert run(verb, "-f", file, answer="")[1:] == ("nothing differs from the file\n", "")


def test_wishes_come_from_standard_input_too(run):
    assert run("diff", "-f", "-", stdin=WISHES)[0] == 1


def test_a_person_is_shown_the_plan_and_asked(run, file):
    status, _, err = run("apply", "-f", file, answer="n\n")
    assert status == 2
    assert "Apply 5 steps? [y/N]" in err
    assert "set quota" in err
    assert run("quota", "list", "-o", "name")[1] == ""
    assert run("apply", "-f", file, answer="y\n")[0] == 0
    assert run("diff", "-f", file)[0] == 0


@pytest.mark.parametrize(
    "target",
    [
        "[quotas]",
        '[quotas.web]\nguarantee = "cpus:11;mem:4GiB"\nlimit = "cpus:14"\n[quotas.db]\nguarantee = "cpus:4"',
        '[quotas.web]\nguarantee = "cpus:12;mem:4GiB"\nlimit = "cpus:13"\n[quotas.db]\nguarantee = "cpus:4"',
        "[weights]",
        "reservations = []",
    ],
)
def test_nothing_is_taken_from_anybody_unasked(run, file, target):
    assert run("apply", "-f", file)[0] == 0
    before = run("export")[1]
    file.write_text(target)
    status, out, err = run("apply", "-f", file, "--prune")
    assert (status, out) == (2, "")
    assert "--yes" in err
    assert run("export")[1] == before
    status, _, err = run("apply", "-f", file, "--prune", answer="n\n")
    assert status == 2
    assert "something away? [y/N]" in err
    assert run("export")[1] == before
    assert run("apply", "-f", file, "--prune", "--yes")[0] == 0
    assert run("diff", "-f", file, "--prune")[0] == 0


def test_what_only_adds_may_go_from_a_script(run, file):
    assert run("apply", "-f", file)[0] == 0
    file.write_text(WISHES.replace("cpus:12", "cpus:12.5").replace("cpus:14", "cpus:16").replace("2.0", "3.0"))
    assert run("apply", "-f", file, "--prune")[0] == 0


def test_a_cluster_that_changed_since_the_plan_was_shown_is_left_alone(run, file, monkeypatch):
    def somebody_else(_self, _question):
        assert run("quota", "set", "web", "cpus:1")[0] == 0

    monkeypatch.setattr(Session, "confirm", somebody_else)
    status, _, err = run("apply", "-f", file, answer="y\n")
    assert status == 6
    assert "changed since the plan was made" in err
    assert run("quota", "list", "-o", "name")[1] == "web\n"


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
    assert run("apply", "-f", file, "--restart")[0] == 0
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


def test_at_the_end_it_is_compared_with_the_file(run, file, monkeypatch):
    """A role that needed no step is somebody else's all the same."""
    assert run("quota", "set", "db", "cpus:4")[0] == 0

    def with_somebody_else(*words):
        perform(*words)
        run("quota", "remove", "db")

    monkeypatch.setattr(run_operations, "perform", with_somebody_else)
    status, out, err = run("apply", "-f", file)
    assert (status, out) == (6, "")
    assert "differs from the file: quota of db" in err
    monkeypatch.undo()
    assert run("apply", "-f", file)[0] == 0


@pytest.mark.process
def test_another_file_is_another_plan(run, file, tmp_path):
    killed(tmp_path, file, 2, "after")
    file.write_text(WISHES.replace("cpus:4", "cpus:5"))
    status, _, err = run("apply", "-f", file)
    assert status == 0
    assert "plan is made again" in err
    assert run("diff", "-f", file)[0] == 0


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
    with Master(parse_address(FAKE)) as master:
        about = JournalKey.of(identity(master, FAKE), WISHES, "elsewhere.toml")
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    with Journal(tmp_path / "mesosctl" / "apply", about):
        for named in (file, link, "-"):
            status, _, err = run("apply", "-f", named, stdin=WISHES)
            assert (status, "by another program" in err) == (6, True), err
        file.write_text(WISHES.replace("cpus:4", "cpus:5"))
        assert run("apply", "-f", file)[0] == 0  # other wishes


class Said(Master):
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
    assert said == "interrupted: 2 of 5 steps done; run the same command to continue"
    status, _, err = run("apply", "-f", file)
    assert status == 0, err
    assert "interrupted: the master shows 2 of its 5 steps: set quota (2)" in err
    assert run("diff", "-f", file)[0] == 0


def test_interrupted_in_a_step_it_says_that_this_is_open(run, file, monkeypatch):
    call = Master.call

    def interrupted_call(master, body):
        call(master, body)
        raise KeyboardInterrupt

    monkeypatch.setattr(Master, "call", interrupted_call)
    status, _, err = run("apply", "-f", file)
    assert status == 130
    assert "interrupted: step 1 of 5, " in err
    assert ", was under way, and whether it was made is not known; run the same command to find out and continue" in err


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("nonsense", 3, "is not TOML"),
        ("[[reservations]]\nagent = 'nobody'\nrole = 'a'\nresources = 'cpus:1'", 5, "no agent is named 'nobody'"),
        ("[[reservations]]\nagent = 'agent-1'\nrole = 'a'\nresources = 'cpus:99'", 6, "it does not have them"),
        ("quotas.web.guarantee = 'cpus:99'", 6, "not enough capacity"),
    ],
)
def test_mistakes_are_told_before_anything_is_done(run, file, text, status, said):
    file.write_text(text)
    got, out, err = run("apply", "-f", file)
    assert (got, out) == (status, "")
    assert said in err


def test_a_file_that_makes_no_sense_is_told_alike_by_all_three(run, file):
    twice = "[[reservations]]\nagent = 'agent-1'\nrole = 'a'\nresources = 'cpus:{}'\n"
    file.write_text(twice.format(1) + twice.format(2))
    told = [run(*words, "-f", file) for words in (("diff",), ("apply",), ("apply", "--dry-run"))]
    assert {(status, out) for status, out, _ in told} == {(3, "")}
    assert all("'a' stands twice on" in err for *_, err in told)


def test_a_role_that_is_no_text_is_named_and_left_out(run, tmp_path):
    """Masters take such names; TOML cannot."""
    picture = ClusterSnapshot("1.11.0", 0.0, weights={b"r\xff".decode(errors="surrogateescape"): 2.0, "web": 3.0})
    write_file(tmp_path / "c.json", picture)
    master = f"fake:{tmp_path / 'c.json'}"
    status, out, err = run("export", master=master)
    assert (status, tomllib.loads(out)["weights"]) == (0, {"web": 3.0})
    assert "not UTF-8" in err
    assert run("snapshot", "-f", tmp_path / "d.json", master=master)[0] == 0
    assert snapshot.load((tmp_path / "d.json").read_bytes()).weights == picture.weights


def test_nothing_can_be_wanted_of_one_stack_without_prune(run, file):
    assert run("apply", "-f", file)[0] == 0
    file.write_text("[[reservations]]\nagent = 'agent-1'\nrole = 'dept/team'\nunder = ['dept']\nresources = 'cpus:0'")
    assert run("apply", "-f", file, "--yes")[0] == 0
    assert 'resources = "cpus:5;' in run("export")[1]  # it fell back to the role below
    assert "dept/team" not in run("export")[1]
