"""The table of questions, row by row: what a script must agree to, what only a person is asked, and what nobody is."""

import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from mesosctl.__main__ import main
from mesosctl.cli.questions import (
    AFTER_LIMIT,
    ANY_OTHER_PLAN,
    EVERY_AGENT,
    EVERYTHING,
    LEFT_OUT,
    OTHER_CONTENT,
    OTHER_PLAN,
    QUESTIONS,
    SEVERAL,
    TAKES_AWAY,
    Asks,
    how_asked,
)
from mesosctl.program.main import app
from mesosctl.python_api import Master
from tests import ROOT
from tests.helpers.surroundings import InMemory, Ran, Terminal

CLUSTER = """
mesos_version = "1.11"
[[agents]]
resources = "cpus:4;mem:4096;disk:1000"
attributes = { rack = "r1" }
count = 2
[[frameworks]]
name = "shop"
role = "web"
answer = "decline"
[[frameworks.running]]
agent = "agent-1"
tasks = 3
resources = "cpus:3;mem:96"
"""
SCHEDULED = "maintenance plan agent-1 --at 2026-12-01T01:00Z"
RESERVED = "reserve agent-2 cpus:1 disk:100 --role db"
QUOTAS = "quota set web cpus:1 mem:64\nquota set ads cpus:1"


class Case(NamedTuple):
    """A command that comes to a row of the table, and what was typed before in the same folder."""

    words: str
    before: str = ""
    stdin: str = ""
    files: Mapping[str, str] = {}


WANTED = {"wanted.toml": '[quotas.web]\nguarantee = "cpus:2"\n'}
LESS = {"wanted.toml": '[quotas.web]\nguarantee = "cpus:0.5"\n'}
SCHEDULE = json.dumps(
    {
        "windows": [
            {"machine_ids": [{"hostname": "agent-2"}], "unavailability": {"start": {"nanoseconds": 10**18}}},
        ]
    }
)
GOALS = {"goals.toml": '[[goals]]\nrole = "web"\nmedian_wait = "1m"\n', "found.toml": "# mine\n"}

CASES: dict[tuple[str, str], Case] = {
    ("agents drain", ""): Case("agents drain agent-1"),
    ("agents gone", ""): Case("agents gone agent-1"),
    ("agents deactivate", ""): Case("agents deactivate --attribute rack=r1"),
    ("agents reactivate", ""): Case("agents reactivate agent-1", "agents deactivate agent-1"),
    ("frameworks teardown", ""): Case("frameworks teardown shop"),
    ("maintenance down", ""): Case("maintenance down agent-1", SCHEDULED),
    ("maintenance up", ""): Case("maintenance up agent-1", f"{SCHEDULED}\nmaintenance down agent-1 --yes"),
    ("maintenance plan", ""): Case(SCHEDULED),
    ("maintenance cancel", ""): Case("maintenance cancel agent-1", SCHEDULED),
    ("maintenance schedule", "machines leave the schedule that the file does not name"): Case(
        "maintenance schedule -f -", SCHEDULED, SCHEDULE
    ),
    ("volumes create", ""): Case("volumes create agent-2 v1 disk:10 --role db", RESERVED),
    ("volumes destroy", ""): Case(
        "volumes destroy agent-2 v1", f"{RESERVED}\nvolumes create agent-2 v1 disk:10 --role db"
    ),
    ("cleanup", TAKES_AWAY): Case("cleanup --role db", RESERVED),
    ("apply", TAKES_AWAY): Case("apply -f wanted.toml", "quota set web cpus:1", files=LESS),
    ("apply", ANY_OTHER_PLAN): Case("apply -f wanted.toml", "quota set web cpus:1", files=WANTED),
    ("reserve", EVERY_AGENT): Case("reserve cpus:10% --role db --attribute rack=r1"),
    ("unreserve", EVERYTHING): Case("unreserve --role db --all", RESERVED),
    ("quota set", LEFT_OUT): Case("quota set web cpus:2 --if-different", QUOTAS),
    ("quota set", AFTER_LIMIT): Case("quota set web --limit cpus:5 mem:64"),
    ("quota update", LEFT_OUT): Case("quota update web cpus:2", QUOTAS),
    ("quota update", AFTER_LIMIT): Case("quota update web --limit cpus:5 mem:64", "quota set web mem:32"),
    ("quota remove", SEVERAL): Case("quota remove web ads", QUOTAS),
    ("weights set", ""): Case("weights set web=0.5"),
    ("offers take", ""): Case("offers take --role db --reserve cpus:1 --agent agent-2 --timeout 60s"),
    ("context set", "a secret would be lost"): Case(
        "context set lab token-file=none", "context set lab --master fake:\ncontext set lab token"
    ),
    ("context remove", SEVERAL): Case(
        "context remove lab prod", "context set lab --master fake:\ncontext set prod --master fake:"
    ),
    ("export", OTHER_CONTENT): Case("export -f mine.toml", files={"mine.toml": "# mine\n"}),
    ("snapshot", OTHER_CONTENT): Case("snapshot -f mine.json", files={"mine.json": "{}\n"}),
    ("plan", OTHER_CONTENT): Case("plan -f wanted.toml --save mine.json", files={**WANTED, "mine.json": "{}\n"}),
    ("plan", OTHER_PLAN): Case(
        "plan -f wanted.toml --save plan.json", "plan -f wanted.toml --save plan.json\nweights set web=2", files=WANTED
    ),
    ("ratelimit default", ""): Case("ratelimit default --qps 5 --capacity 5 -f limits.json"),
    ("ratelimit set", "the principal would lose its limit, and would never be throttled"): Case(
        "ratelimit set p -f limits.json", "ratelimit set p --qps 5 --capacity 5 -f limits.json"
    ),
    ("ratelimit unset", ""): Case(
        "ratelimit unset p -f limits.json", "ratelimit set p --qps 5 --capacity 5 -f limits.json"
    ),
    ("tune", "the file of --save exists"): Case("tune goals.toml --replay none.sqlite --save found.toml", files=GOALS),
}
ROWS = [(verb, row.when) for verb, rows in QUESTIONS.items() for row in rows]
CANNOT_GO_ON = {("tune", "the file of --save exists")}
"""Rows whose command ends with an error after the question, for a reason of its own."""


class Desk:
    """A folder in which somebody types, with a fake master that keeps its state."""

    def __init__(self, folder: Path, case: Case) -> None:
        self.folder = folder
        (folder / "cluster.toml").write_text(CLUSTER, encoding="utf-8")
        for name, text in case.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        for line in case.before.splitlines():
            ran = self.type(line, stdin="a-secret-token" if line.endswith(" token") else "")
            assert ran.status == 0, (line, ran.err)

    def type(self, words: str, stdin: str = "", *, terminal: bool = False) -> Ran:
        """Type words; on a terminal `stdin` is the answer to a question."""
        stream = Terminal if terminal else io.StringIO
        environment = InMemory(
            variables={"HOME": str(self.folder), "MESOSCTL_MASTER": "fake:cluster.toml"},
            stdin=stream(stdin),
            stderr=Terminal() if terminal else io.StringIO(),
            ask_secret=lambda _: "typed-token-1",
        )
        return Ran(main(shlex.split(words), environment), environment.out, environment.err)

    def state(self) -> dict[str, str]:
        """Everything that a command of the table could change."""
        shown = ("export", "agents -o csv", "frameworks -o csv", "maintenance -o csv", "volumes list -o csv")
        files = {
            path.name: path.read_text(encoding="utf-8")
            for path in [*self.folder.glob("*.*"), *self.folder.glob(".config/**/*.toml")]
            if path.is_file()
        }
        return {words: self.type(words).out for words in shown} | files


@pytest.fixture
def desk(tmp_path, monkeypatch, request) -> Desk:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Desk(tmp_path, CASES[request.param])


def _leaves(group: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from _leaves(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


def test_every_row_has_a_case_and_every_command_that_changes_a_cluster_a_row():
    assert set(CASES) == set(ROWS)
    found = dict(_leaves(typer.main.get_command(app)))
    assert {name for name, command in found.items() if command.changes} <= set(QUESTIONS)
    assert set(QUESTIONS) <= set(found)


@pytest.mark.parametrize("desk", ROWS, indirect=True, ids=map(" ".join, ROWS))
def test_a_script_is_asked_as_the_table_says(desk, request):
    verb, when = request.node.callspec.params["desk"]
    case, asks = CASES[verb, when], how_asked(verb, when)
    before = desk.state()
    ran = desk.type(case.words, case.stdin)
    if asks != "always":
        assert ran.status == 0, ran.err
        assert "[y/N]" not in ran.err
        return
    assert ran.status == 2, ran.out + ran.err
    assert "cannot ask you without a terminal" in ran.err
    assert desk.state() == before
    ran = desk.type(f"{case.words} --yes", case.stdin)
    assert (verb, when) in CANNOT_GO_ON or ran.status == 0, ran.err
    assert (verb, when) in CANNOT_GO_ON or desk.state() != before


@pytest.mark.parametrize("desk", ROWS, indirect=True, ids=map(" ".join, ROWS))
def test_a_person_is_asked_as_the_table_says(desk, request):
    verb, when = request.node.callspec.params["desk"]
    case, asks = CASES[verb, when], how_asked(verb, when)
    if case.stdin and "-f -" in case.words:
        pytest.skip("its standard input is the file, so nobody can answer")
    before = desk.state()
    ran = desk.type(case.words, "n\n", terminal=True)
    asked = ran.err.count("[y/N]")
    if asks == "none":
        assert (ran.status, asked) == (0, 0), ran.err
        return
    assert (ran.status, asked) == (2, 1), ran.err
    assert "nothing was done" in ran.err
    assert desk.state() == before
    ran = desk.type(case.words, "y\n", terminal=True)
    assert ran.err.count("[y/N]") == 1
    assert (verb, when) in CANNOT_GO_ON or (ran.status == 0 and desk.state() != before), ran.err


@pytest.mark.process
@pytest.mark.parametrize("desk", ROWS, indirect=True, ids=map(" ".join, ROWS))
def test_with_closed_standard_input_nobody_is_asked(desk, request):
    verb, when = request.node.callspec.params["desk"]
    case, asks = CASES[verb, when], how_asked(verb, when)
    if case.stdin:
        pytest.skip("it reads standard input")
    ran = subprocess.run(
        ["sh", "-c", 'exec "$0" -m mesosctl "$@" <&-', sys.executable, *shlex.split(case.words)],
        env={**os.environ, "HOME": str(desk.folder), "MESOSCTL_MASTER": "fake:cluster.toml"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode == 2) == (asks == "always"), ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    "words",
    [
        "agents drain agent-1",
        "agents drain agent-1 agent-2",
        "agents drain --attribute rack=r1 --at-most 1",
        "agents drain agent-1 --mark-gone",
        "agents gone agent-1",
        "frameworks teardown shop",
        "maintenance down agent-1",
    ],
)
def test_what_kills_tasks_needs_yes_on_several_clusters_too_and_no_dry_run_does(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "other.toml").write_text(CLUSTER, encoding="utf-8")
    desk = Desk(tmp_path, Case(""))
    contexts = {"one": "fake:cluster.toml", "two": "fake:other.toml"}
    environment = {"HOME": str(tmp_path)}

    def type_on_both(words: str) -> Ran:
        seen = InMemory(variables=environment)
        return Ran(main([*shlex.split(words), "--context", "one,two"], seen), seen.out, seen.err)

    for name, master in contexts.items():
        assert main(["context", "set", name, "--master", master], InMemory(variables=environment)) == 0
    assert type_on_both(SCHEDULED).status == 0
    before = desk.state()
    ran = type_on_both(words)
    assert (ran.status, "in a script, use --yes" in ran.err) == (2, True), ran.err
    assert desk.state() == before
    ran = desk.type(f"{words} --dry-run")
    assert ran.status in (0, 1), ran.err  # 1 if a role falls below its guarantee
    assert desk.state() == before
    ran = type_on_both(f"{words} --yes")
    assert ran.status == 0, ran.err
    assert desk.state() != before


def test_the_python_library_asks_nothing_and_does_nothing_that_a_script_must_agree_to():
    of_methods = {
        "set_quota": "quota set",
        "update_quota": "quota update",
        "remove_quota": "quota remove",
        "set_weights": "weights set",
        "reserve": "reserve",
        "unreserve": "unreserve",
        "snapshot": "snapshot",
    }
    reads = {"account", "check_quota", "forecast", "quota", "quotas", "reservations", "spare", "weights"}
    assert {name for name in vars(Master) if not name.startswith("_")} == {*of_methods, *reads}
    for verb in of_methods.values():
        assert all(row.when for row in QUESTIONS[verb] if row.asks == "always"), verb


def test_the_page_of_conventions_has_every_row():
    page = (ROOT / "docs/reference/conventions.md").read_text(encoding="utf-8")
    script: dict[Asks, str] = {"always": "must use `--yes`", "on a terminal": "goes on"}
    rows = [
        f"| `{verb}` | {row.when or 'always'} | {script[row.asks]} |"
        for verb, rows in QUESTIONS.items()
        for row in rows
        if row.asks != "none"
    ]
    assert [line for line in page.splitlines() if line in rows] == rows
