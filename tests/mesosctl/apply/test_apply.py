"""`mesosctl export`, `diff` and `apply` as they are typed."""

import json
import tomllib
from typing import Any

import pytest

from mesosctl.apply import work as run_operations
from mesosctl.apply.work import perform
from mesosctl.cli.session import Session
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.messages.snapshots import snapshot
from mesosctl.snapshot.work import write_file
from tests.mesosctl.apply.conftest import WISHES, steps


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
    assert run("diff", "-f", before, "--allow-empty")[0] == 0  # it names nothing
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
        assert document["quotas"]["web"] == {"guarantee": {"cpus": 12.0, "mem": 4096.0}, "limit": {"cpus": 14.0}}
        assert document["quotas"]["db"] == {"guarantee": {"cpus": 4.0}, "limit": None}
        shown = [{key: value for key, value in entry.items() if value} for entry in document["reservations"]]
        assert shown[0]["resources"]["amounts"] == {"cpus": 3.0, "mem": 512.0, "ports": 10.0}
        as_text = [{**entry, "resources": entry["resources"]["text"]} for entry in shown]
        assert (document["schema_version"], as_text) == (2, said["reservations"])
    after = tmp_path / "after.toml"
    for words in (("-o", "csv"), ("-o", "name"), ("-o", "json", "-f", after)):
        assert run("export", *words)[:2] == (2, "")
    assert not after.exists()


def test_the_same_file_works_for_the_older_master(run, file):
    older = "fake:?version=documents"
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
    def somebody_else(_self, _question, **_case):
        assert run("quota", "set", "web", "cpus:1")[0] == 0

    monkeypatch.setattr(Session, "confirm", somebody_else)
    status, _, err = run("apply", "-f", file, answer="y\n")
    assert status == 6
    assert "changed since the plan was made" in err
    assert run("quota", "list", "-o", "name")[1] == "web\n"


def test_a_step_whose_place_has_changed_since_the_plan_is_not_made(run, file, monkeypatch):
    def with_somebody_else(*words):
        perform(*words)
        run("quota", "set", "web", "cpus:1")

    monkeypatch.setattr(run_operations, "perform", with_somebody_else)
    status, out, err = run("apply", "-f", file)
    assert (status, out) == (6, "")
    assert "step 2 of 5, set quota of web" in err
    assert "the cluster has changed there" in err
    assert "this one was not started" in err
    assert '"cpus": 1.0' in run("quota", "show", "web", "-o", "json")[1]


def test_a_stop_before_a_step_is_sent_does_not_say_that_it_was_under_way(run, file, monkeypatch):
    made: list[Any] = []

    def stops(*words):
        if made:
            raise KeyboardInterrupt
        perform(*words)
        made.append(words)

    monkeypatch.setattr(run_operations, "perform", stops)
    status, out, err = run("apply", "-f", file)
    assert (status, out) == (130, "")
    assert "1 of 5 steps done" in err
    assert "under way" not in err


def test_each_step_has_the_whole_timeout(run, file, monkeypatch):
    lasts = []

    def slow(master, *words):
        lasts.append(master.deadline.remaining())
        master.deadline.end()
        master.deadline.extend_to(600.0)
        perform(master, *words)

    monkeypatch.setattr(run_operations, "perform", slow)
    status, _, err = run("apply", "-f", file, "--timeout", "1h")
    assert status == 0, err
    assert [round(seconds / 60) for seconds in lasts] == [60] * 5


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


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("nonsense", 3, "is not TOML"),
        ("[[reservations]]\nagent = 'nobody'\nrole = 'a'\nresources = 'cpus:1'", 5, "no agent is named 'nobody'"),
        ("[[reservations]]\nagent = 'agent-1'\nrole = 'a'\nresources = 'cpus:99'", 6, "the agent lacks them"),
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
    assert all("'a' has two entries on" in err for *_, err in told)


def test_weights_and_attributes_have_all_their_digits(run, tmp_path):
    attributes = {"serial": 20231215.0, "ratio": 0.5}
    agent = ClusterAgent("S0", "h", "slave(1)@127.0.0.1:5051", parse_resources("cpus:1"), attributes)
    snapshots = []
    for weight in (1234567.0, 1234568.25):
        snapshots.append(tmp_path / f"{weight}.json")
        write_file(snapshots[-1], ClusterSnapshot("1.11.0", 0.0, agents=(agent,), weights={"web": weight}))
    file, master = tmp_path / "wanted.toml", f"fake:{snapshots[1]}"
    file.write_text("[weights]\nweb = 1234567.0\n")
    changed = [("weight", "web", "1234567", "1234568.25")]
    told = json.loads(run("snapshot", "--compare", snapshots[0], "--from", snapshots[1], "-o", "json")[1])["changes"]
    assert [(one["of_kind"], one["name"], one["before"], one["after"]) for one in told] == changed
    told = json.loads(run("diff", "-f", file, "-o", "json", master=master)[1])["differences"]
    assert [(one["of_kind"], one["name"], one["wanted"], one["actual"]) for one in told] == changed
    assert "web,1234568.25" in run("weights", "-o", "csv", master=master)[1]
    assert "ratio=0.5,serial=20231215" in run("agents", "-o", "csv", master=master)[1]


def test_a_role_that_is_no_text_is_named_and_left_out(run, tmp_path):
    """Masters take such names; TOML cannot."""
    old = ClusterSnapshot("1.11.0", 0.0, weights={b"r\xff".decode(errors="surrogateescape"): 2.0, "web": 3.0})
    write_file(tmp_path / "c.json", old)
    master = f"fake:{tmp_path / 'c.json'}"
    status, out, err = run("export", master=master)
    assert (status, tomllib.loads(out)["weights"]) == (0, {"web": 3.0})
    assert "not UTF-8" in err
    assert run("snapshot", "-f", tmp_path / "d.json", master=master)[0] == 0
    assert snapshot.load((tmp_path / "d.json").read_bytes()).weights == old.weights


def test_nothing_can_be_wanted_of_one_stack_without_prune(run, file):
    assert run("apply", "-f", file)[0] == 0
    file.write_text("[[reservations]]\nagent = 'agent-1'\nrole = 'dept/team'\nunder = ['dept']\nresources = 'cpus:0'")
    assert run("apply", "-f", file, "--yes")[0] == 0
    assert 'resources = "cpus:5;' in run("export")[1]  # it fell back to the role below
    assert "dept/team" not in run("export")[1]


def test_a_reservation_of_which_everything_is_refined_is_restored_from_what_was_exported(run, tmp_path):
    cluster, other = tmp_path / "cluster.toml", tmp_path / "other.toml"
    for path in (cluster, other):
        path.write_text('mesos_version = "1.11"\n[[agents]]\nresources = "cpus:8;cpus(b):2"\n')
    for level, words in (
        ("a", "cpus:4 --role a --reserver me --label why=x"),
        ("a/b", "cpus:4 --role a/b --under a --reserver you"),
        ("a/b/c", "cpus:4 --role a/b/c --under a --under a/b"),
        ("b/c", "cpus:2 --role b/c --under b"),
    ):
        assert run("reserve", "agent-1", *words.split(), master=f"fake:{cluster}")[0] == 0, level
    status, out, _ = run("export", master=f"fake:{cluster}")
    assert status == 0
    told = [(entry["role"], entry["resources"], entry.get("principal")) for entry in tomllib.loads(out)["reservations"]]
    assert told == [("a", "cpus:0", "me"), ("a/b", "cpus:0", "you"), ("a/b/c", "cpus:4", None), ("b/c", "cpus:2", None)]
    file = tmp_path / "exported.toml"
    file.write_text(out)
    assert run("diff", "-f", file, "--prune", master=f"fake:{cluster}")[0] == 0
    assert run("apply", "-f", file, master=f"fake:{other}")[0] == 0
    assert run("export", master=f"fake:{other}")[1] == out
    lab = tmp_path / "lab.toml"
    assert run("export", "--cluster", "-f", lab, master=f"fake:{cluster}")[0] == 0
    assert run("export", master=f"fake:{lab}")[1] == out


def test_what_the_file_does_not_name_is_said_and_how_to_remove_it(run, file):
    assert run("apply", "-f", file)[0] == 0
    file.write_text('[quotas.db]\nguarantee = "cpus:4"\n[weights]\n')
    left = "mesosctl: note: not in the file: 1 quota, 1 weight; --prune compares what the file does not name too\n"
    assert run("diff", "-f", file) == (0, "", f"mesosctl: note: nothing differs from the file\n{left}")
    status, out, err = run("diff", "-f", file, "--prune")
    assert (status, err) == (1, "")
    assert f"1 quota, 1 weight; mesosctl apply -f {file} --prune" in out
    assert run("apply", "-f", file, "--prune", "--yes")[0] == 0
    assert run("diff", "-f", file, "--prune")[0] == 0


@pytest.mark.parametrize(("text", "prunes"), [("", False), ("", True), ("[quotas]\n[weights]\n", False)])
def test_a_file_that_names_nothing_is_told(run, file, text, prunes):
    file.write_text(text)
    for verb in ("diff", "apply"):
        status, out, err = run(verb, "-f", file, *["--prune"] * prunes)
        assert (status, out) == (1, "")
        assert f"note: {file} names no quota, weight or reservation; --allow-empty accepts that\n" in err
        assert "nothing differs" not in err
        status, _, err = run(verb, "-f", file, "--allow-empty", *["--prune"] * prunes)
        assert status == 0
        assert "names no quota" not in err


@pytest.mark.parametrize("verb", ["plan", "apply --dry-run"])
def test_a_file_that_names_nothing_is_told_by_a_forecast_too(run, file, verb):
    file.write_text("")
    assert run(*verb.split(), "-f", file)[0] == 1
    assert run(*verb.split(), "-f", file, "--allow-empty")[0] == 0


def test_an_empty_section_names_everything_with_prune(run, file):
    file.write_text("[quotas]")
    assert run("diff", "-f", file, "--prune") == (0, "", "mesosctl: note: nothing differs from the file\n")


@pytest.mark.parametrize("verb", ["export", "snapshot"])
def test_on_a_terminal_a_file_with_other_content_is_replaced_only_after_a_question(run, tmp_path, verb):
    there = tmp_path / "there"
    there.write_text("precious")
    status, out, err = run(verb, "-f", there, answer="n\n")
    assert (status, out, there.read_text()) == (2, "", "precious")
    assert "there has other content" in err
    assert "[y/N]" in err
    assert "answer y" not in err
    assert run(verb, "-f", there, answer="y\n")[0] == 0
    assert there.read_text() != "precious"


def test_a_script_replaces_a_snapshot_unasked(run, tmp_path):
    there = tmp_path / "there"
    there.write_text("of yesterday")
    assert run("snapshot", "-f", there)[0] == 0
    assert there.read_text() != "of yesterday"


def test_differences_have_their_amounts_as_numbers(run, file):
    file.write_text(
        '[quotas.web]\nguarantee = "cpus:2;mem:1GiB"\n[weights]\nweb = 2.5\n[[reservations]]\nagent = "agent-1"\n'
        'role = "web"\nresources = "cpus:1;ports:[31000-31004]"\n'
    )
    found = json.loads(run("diff", "-f", file, "-o", "json")[1])["differences"]
    told = {
        one["of_kind"]: [
            None if side is None else {name: value for name, value in side.items() if value is not None}
            for side in (one["actual_values"], one["wanted_values"])
        ]
        for one in found
    }
    assert told == {
        "quota": [None, {"guarantee": {"cpus": 2.0, "mem": 1024.0}, "limit": {}}],
        "weight": [{"weight": 1.0}, {"weight": 2.5}],
        "reservation": [None, {"reserved": {"cpus": 1.0, "ports": 5.0}}],
    }
