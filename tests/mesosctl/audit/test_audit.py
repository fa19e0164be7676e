"""`mesosctl audit list`, and what commands leave in the audit file."""

import os
from pathlib import Path

import httpx
import pytest

from tests.mesosctl.program.mistakes.mistake import typed


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "mesosctl" / "audit"


def commands(run, *words: str):
    return run("audit", "list", *words, "-o", "json").json["commands"]


def test_a_change_is_there_with_who_where_before_after_and_status(run):
    assert run("quota", "set", "dev", "cpus:1", "--principal", "ops", MESOSCTL_SECRET="hidden").status == 0
    assert run("quota", "update", "dev", "cpus:2").status == 0
    first, second = commands(run)
    assert (first["principal"], first["master"], first["status"]) == ("ops", "http://master:5050", 0)
    assert first["command"] == "quota set dev cpus:1 --principal ops"
    assert first["requests"] == ["POST /api/v1 UPDATE_QUOTA"]
    [change] = second["answer"]["changes"]
    assert (change["before"]["guarantee"], change["after"]["guarantee"]) == ({"cpus": 1.0}, {"cpus": 2.0})
    assert second["begun"] <= second["ended"]


def test_what_failed_is_there_with_its_status(run, cluster):
    cluster.instead["POST /api/v1"] = [lambda _: httpx.Response(200)]
    assert run("quota", "set", "dev", "cpus:1").status == 9
    [one] = commands(run, "--failed")
    assert (one["status"], one["answer"]) == (9, None)
    assert "does not show it" in one["failure"]


@pytest.mark.parametrize(
    "words",
    [
        ("quota", "list"),
        ("quota", "set", "dev", "cpus:99999"),
        ("quota", "set", "dev", "cpus:1", "--no-audit"),
        ("weights", "set", "dev=x"),
    ],
)
def test_reading_a_refusal_before_sending_and_no_audit_leave_nothing(run, words, state):
    run(*words)
    assert not state.exists()


def test_a_setting_turns_it_off(run, state):
    assert run("quota", "set", "dev", "cpus:1", MESOSCTL_NO_AUDIT="true").status == 0
    assert not state.exists()


def test_a_dry_run_leaves_nothing(folder, state):
    assert typed("quota set dev cpus:1 --dry-run", folder).status == 0
    assert not list(folder.rglob("audit.jsonl"))


def test_no_secret_is_kept(run, state):
    master = "http://user:hidden-secret@master:5050"
    assert run("--master", master, "quota", "set", "dev", "cpus:1").status in (0, 2, 3)
    for file in state.glob("*.jsonl"):
        assert "hidden-secret" not in file.read_text(encoding="utf-8")


def test_a_file_that_cannot_be_written_warns_and_the_change_is_made(run, state, cluster):
    state.parent.mkdir(parents=True)
    state.write_text("not a folder", encoding="utf-8")
    ran = run("quota", "set", "dev", "cpus:1")
    assert ran.status == 0
    assert "WARNING: this change is missing in the audit: " in ran.err
    assert cluster.changed


def test_the_list_is_a_table_and_filters(run):
    run("quota", "set", "dev", "cpus:1")
    run("quota", "remove", "dev")
    assert len(commands(run)) == 2
    [one] = commands(run, "remove", "--since", "1h", "--on", "http://master:5050")
    assert one["requests"] == ["DELETE /quota/dev"]
    assert commands(run, "--by", "nobody-like-that") == []
    shown = run("audit", "list").out.splitlines()
    assert shown[0].split() == ["TIME", "USER", "PRINCIPAL", "CONTEXT", "MASTER", "STATUS", "COMMAND"]
    assert shown[1].endswith("quota set dev cpus:1")
    assert run("audit", "list", "--since", "x").status == 2


def test_the_first_line_is_there_before_anything_is_sent(run, cluster, state):
    seen = []

    def answer(_):
        seen.append(state.joinpath("audit.jsonl").read_text(encoding="utf-8"))
        return httpx.Response(200)

    cluster.instead["POST /api/v1"] = [answer]
    run("quota", "set", "dev", "cpus:1")
    assert "UPDATE_QUOTA" in seen[0]
    assert os.linesep in seen[0]
