"""`mesosctl snapshot` as it is typed."""

import io
import json
import os
import subprocess
import sys

import pytest

from mesosctl.__main__ import main
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.messages.snapshots import snapshot
from mesosctl.snapshot.work import write_file
from tests.helpers.screen import is_cursor_shown, visible
from tests.helpers.surroundings import InMemory, Terminal


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def run_words(*words, master="fake:?version=1.11", terminal=False):
        environment = InMemory(
            stderr=Terminal() if terminal else io.StringIO(),
            variables={"MESOSCTL_MASTER": master},
        )
        status = main(words, environment)
        return status, environment.out, environment.err

    return run_words


def test_a_snapshot_is_a_cluster_to_try_things_on(run, tmp_path):
    file = tmp_path / "cluster.json"
    assert run("quota", "set", "web", "cpus:2")[0] == 0
    status, out, err = run("snapshot", "-f", str(file), "-o", "json")
    assert (status, err) == (0, "")
    assert json.loads(out)["kind"] == "snapshot.taken"
    assert (json.loads(out)["agents"], json.loads(out)["quotas"]) == (3, 1)
    copy = f"fake:{file}"
    assert run("quota", "list", "-o", "name", master=copy)[1] == "web\n"
    assert run("quota", "set", "ads", "cpus:1", master=copy)[0] == 0
    assert run("quota", "list", "-o", "name", master=copy)[1] == "ads\nweb\n"
    status, out, _ = run("snapshot", "--compare", str(file), "-o", "name", master=copy)
    assert (status, out) == (1, "quota/ads\n")
    assert run("snapshot", "--compare", str(file)) == (0, "", "mesosctl: note: no difference\n")


def test_a_terminal_shows_host_names_instead_of_ids(run, tmp_path):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    document = json.loads(run("snapshot")[1])
    old.write_text(json.dumps(document))
    agent = document["agents"][1]
    agent["active"] = False
    new.write_text(json.dumps(document))
    words = ("snapshot", "--compare", str(old), "--from", str(new))

    def drawn(*more):
        environment = InMemory(stdout=Terminal(), stderr=Terminal(), variables={"COLUMNS": "120"})
        main((*words, *more), environment)
        return "\n".join(visible(environment.out))

    assert f"agent  {agent['hostname']}  active  yes     no" in drawn()
    assert agent["id"] not in drawn()
    assert agent["id"] in drawn("-o", "wide")
    assert f"agent,{agent['id']},active,yes,no\n" in run(*words, "-o", "csv")[1]


def test_standard_output_holds_the_snapshot_itself(run, tmp_path):
    status, out, _ = run("snapshot")
    assert (status, json.loads(out)["kind"]) == (0, "snapshot")
    assert json.loads(run("snapshot", "-f", "-")[1])["agents"] == json.loads(out)["agents"]
    (tmp_path / "a.json").write_text(out)
    status, hidden, _ = run("snapshot", "--anonymise", "--from", str(tmp_path / "a.json"), master="")
    assert status == 0
    assert [agent["hostname"] for agent in json.loads(hidden)["agents"]] == ["host-1", "host-2", "host-3"]


def test_a_snapshot_cannot_be_played_and_is_told_apart_from_a_broken_file(run, tmp_path):
    assert run("snapshot", "-f", str(tmp_path / "a.json"))[0] == 0
    status, out, err = run("offers", "simulate", str(tmp_path / "a.json"))
    assert (status, out) == (3, "")
    assert "is a snapshot" in err
    assert "export --cluster --from FILE" in err
    assert "cannot be read" in run("offers", "simulate", str(tmp_path / "none.json"))[2]


def test_progress_is_for_terminals_and_leaves_no_trace(run):
    assert run("snapshot")[2] == ""
    err = run("snapshot", terminal=True)[2]
    assert "asking for the state" in err
    assert visible(err) == []
    assert is_cursor_shown(err)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--compare", "a.json", "-f", "b.json"), 2, "writes no snapshot"),
        (("--compare", "nowhere.json"), 3, "nowhere.json cannot be read"),
        (("-f", "/nowhere/a.json"), 3, "/nowhere/a.json cannot be written"),
        (("--from", "nowhere.json"), 3, "nowhere.json cannot be read"),
    ],
)
def test_mistakes_are_told(run, words, status, said):
    got, out, err = run("snapshot", *words)
    assert (got, out) == (status, "")
    assert said in err


@pytest.mark.process
def test_the_document_is_utf_8_whatever_the_terminal_speaks(tmp_path):
    weights = {"größe": 2.0, b"r\xff".decode(errors="surrogateescape"): 3.0}
    write_file(tmp_path / "a.json", ClusterSnapshot("1.11.0", 0.0, weights=weights))
    words = [sys.executable, "-m", "mesosctl", "snapshot", "--from", str(tmp_path / "a.json")]
    ran = subprocess.run(
        words, env=os.environ | {"PYTHONIOENCODING": "ascii"}, capture_output=True, check=True, timeout=120
    )
    assert snapshot.load(ran.stdout).weights == weights


def test_a_snapshot_is_exported_like_its_master(run, tmp_path):
    """Agents that registered in another order than that of their names."""
    cluster = tmp_path / "two.toml"
    agents = "".join(f'[[agents]]\nhostname = "{name}"\nresources = "cpus(web):1.14;mem:10"\n' for name in ("z", "a"))
    reservations = "".join(
        f'[[reservations]]\nagent = "{name}"\nrole = "ads"\nresources = "mem:10"\n' for name in ("z", "a")
    )
    cluster.write_text(f'mesos_version = "1.11"\n{agents}{reservations}')
    taken = tmp_path / "taken.json"
    master = ("--master", f"fake:{cluster}")
    assert run(*master, "snapshot", "-q", "-f", str(taken))[0] == 0
    assert run("export", "--from", str(taken)) == run(*master, "export")
