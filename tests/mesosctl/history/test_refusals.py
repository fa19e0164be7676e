"""Refusals of `history` and `usage`: nothing is written, and the recording stays what it was."""

import os
import shlex

import pytest

from mesosctl.__main__ import main
from mesosctl.program.reference.command_tree import commands
from tests.helpers.surroundings import InMemory, Ran

LOG = "task,role,resources,from,to\nt,web,cpus:1,1000,2000\n"
RECORDING = "--history h.sqlite"
IMPORT = ("history", "import", "log.csv", "--format", "csv", "--history")


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(LOG, encoding="utf-8")
    (tmp_path / "prices.toml").write_text('currency = "EUR"\n[[prices]]\ncpu_hour = 1\n', encoding="utf-8")

    def run(*words):
        environment = InMemory(variables={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")})
        return Ran(main(words, environment), environment.out, environment.err)

    return run


@pytest.mark.parametrize("link", [None, os.symlink, os.link], ids=["itself", "symlink", "hard link"])
@pytest.mark.parametrize(
    ("words", "field"),
    [(("history", "export"), "--file"), (("usage",), "--report")],
    ids=["export", "usage"],
)
def test_a_recording_is_not_overwritten_by_what_is_made_of_it(typed, tmp_path, words, field, link):
    assert typed(*IMPORT, "b.sqlite").status == 0
    before = (tmp_path / "b.sqlite").read_bytes()
    target = "b.sqlite"
    if link is not None:
        target = "other"
        link(tmp_path / "b.sqlite", tmp_path / target)
    ran = typed(*words, "--history", "b.sqlite", field, target)
    assert ran.status == 2
    assert "itself" in ran.err
    assert ran.out == ""
    assert (tmp_path / "b.sqlite").read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [(*IMPORT, "new.sqlite"), ("history", "record", "--history", "new.sqlite", "--duration", "1m")],
    ids=["import", "record"],
)
def test_nothing_is_recorded_with_dry_run(typed, tmp_path, words):
    ran = typed("--master", "fake:", *words, "--dry-run")
    assert ran.status == 2
    assert "--dry-run" in ran.err
    assert "leave it out" in ran.err
    assert not list(tmp_path.glob("new.sqlite*"))


@pytest.mark.parametrize("log", ["", "task,role,to\n", "task,role,resources,from,to\nt,web,cpus:1,9,1\n"])
def test_nothing_is_left_behind_by_an_import_that_failed(typed, tmp_path, log):
    (tmp_path / "log.csv").write_text(log, encoding="utf-8")
    assert typed(*IMPORT, "new.sqlite").status == 3
    assert not list(tmp_path.glob("new.sqlite*"))


def test_an_import_that_failed_leaves_what_was_there(typed, tmp_path):
    assert typed(*IMPORT, "b.sqlite").status == 0
    before = typed("history", "export", "--history", "b.sqlite").out
    (tmp_path / "log.csv").write_text("", encoding="utf-8")
    assert typed(*IMPORT, "b.sqlite").status == 3
    assert typed("history", "export", "--history", "b.sqlite").out == before


def test_columns_that_nothing_uses_are_named(typed, tmp_path):
    (tmp_path / "log.csv").write_text("task,role,resources,from,to,pricipal\nt,web,cpus:1,1,2,p\n", encoding="utf-8")
    ran = typed(*IMPORT, "b.sqlite")
    assert ran.status == 0
    assert "log.csv, line 1: nothing uses the column 'pricipal'; " in ran.err
    assert " are task, role, framework, pri" in ran.err
    assert "nothing uses" not in typed(*IMPORT[:-1], "--role-by", "pricipal", "--history", "c.sqlite").err


def test_shares_without_agents_are_explained(typed):
    assert typed(*IMPORT, "b.sqlite").status == 0
    assert "no agents in this time" in typed("usage", "--history", "b.sqlite").out


@pytest.mark.parametrize("words", [("history", "export", "--history", "b.sqlite"), ("--master", "fake:", "metrics")])
def test_a_format_that_is_not_written_is_refused(typed, words):
    assert typed(*IMPORT, "b.sqlite").status == 0
    ran = typed(*words, "-o", "json")
    assert (ran.status, ran.out, "leave out -o" in ran.err) == (2, "", True)


@pytest.mark.parametrize("option", ["--step", "--half-life"])
@pytest.mark.parametrize("span", ["0.0000001s", "999ms"])
def test_a_step_below_a_second_is_refused(typed, option, span):
    assert typed(*IMPORT, "b.sqlite").status == 0
    ran = typed("usage", "--history", "b.sqlite", option, span)
    assert ran.status == 2
    assert "shorter than a second" in ran.err


def test_the_last_day_of_the_calendar_has_steps(typed, tmp_path):
    (tmp_path / "log.csv").write_text(LOG.replace("1000,2000", "253402200000,253402214400"), encoding="utf-8")
    assert typed(*IMPORT, "b.sqlite").status == 0
    for step in ("1d", "7d", "1h", "999999d"):
        ran = typed("usage", "--history", "b.sqlite", "--step", step, "--timezone", "Pacific/Kiritimati")
        assert ran.status == 0, ran.err


EXAMPLES = [
    next(words for words, _ in node.examples if RECORDING in words)
    for node in commands().walk()
    if any(RECORDING in words for words, _ in node.examples)
]
"""An example of each command that opens a recording."""


@pytest.mark.parametrize("name", [".", "..", "/", ""])
@pytest.mark.parametrize("line", EXAMPLES)
def test_a_directory_is_no_recording(typed, line, name):
    words = [name if word == RECORDING.split()[1] else word for word in shlex.split(line)]
    ran = typed("--master", "http://127.0.0.1:1", *words)
    assert ran.status == 3
    assert "is a directory, not a recording" in ran.err
