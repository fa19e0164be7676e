"""Streams that are closed, full, or cannot hold what is written: never a bug, and the status stays."""

import json
import os
import subprocess
import sys

import httpx
import pytest

from tests import ROOT
from tests.helpers.needs import needs


@pytest.fixture
@needs("process")
def shell(tmp_path):
    """Run the program with redirections, against a fake master of its own."""

    def run(words, after="", **variables):
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "MESOSCTL_MASTER": "fake:",
            "XDG_STATE_HOME": str(tmp_path),
            "HOME": str(tmp_path),
        } | variables
        return subprocess.run(
            ["sh", "-c", f"{sys.executable} -m mesosctl {words} {after}"],
            capture_output=True,
            env=env,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.mark.parametrize(
    "words", ["--help", "--version", "quota --help", "quota list -o csv", "quota check dev cpus:1"]
)
@pytest.mark.parametrize("after", [">/dev/full", ">&-"])
def test_an_output_that_takes_nothing(shell, words, after):
    ran = shell(words, after)
    assert ran.returncode == 3, ran.stderr
    assert ran.stderr.startswith(b"mesosctl: standard output cannot be written to: ")
    assert ran.stderr.count(b"\n") == 1


@pytest.mark.parametrize("words", ["--help", "quota --help", "quota list -o json"])
def test_a_reader_that_went_away(shell, words):
    ran = shell(words, "| true; exit ${PIPESTATUS:-0}")
    assert ran.stderr == b""


@pytest.mark.process
def test_a_reader_of_help_that_went_away_is_no_answer():
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "mesosctl", "quota", "--help"]
    ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False, cwd=ROOT)
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (141, b"")


@pytest.mark.parametrize("after", [">/dev/full", ">&-"])
def test_a_change_that_cannot_be_told_is_told_all_the_same(shell, after):
    ran = shell("quota set dev cpus:1", after)
    assert ran.returncode == 9
    assert b"quota of 'dev' was set; this cannot be reported" in ran.stderr
    assert shell("quota show dev -o name").stdout == b"dev\n"


@pytest.mark.parametrize("after", ["2>/dev/full", "2>&-"])
@pytest.mark.parametrize(("words", "status"), [("quota remove nope", 5), ("bogus", 2), ("quota", 2)])
def test_the_status_survives_a_broken_standard_error(shell, words, status, after):
    assert shell(words, after).returncode == status


def test_closed_input(shell):
    assert shell("quota list", "<&-").returncode == 0
    assert shell("quota set -f -", "<&-").returncode == 3


def test_names_that_the_encoding_cannot_hold(shell):
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"}
    ran = shell("quota show rölé", **ascii_only)
    assert ran.returncode == 5
    assert rb"r\xf6l\xe9" in ran.stderr


@pytest.mark.process
def test_words_that_are_no_utf8():
    command: list[str | bytes] = [sys.executable, "-m", "mesosctl", "quota", "show", b"r\xff"]
    ran = subprocess.run(command, capture_output=True, check=False, cwd=ROOT)
    assert ran.returncode == 2
    assert b"is not UTF-8" in ran.stderr


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_a_role_that_is_no_utf8_is_escaped(run, cluster, form):
    body = b'{"infos": [{"role": "r\xff", "guarantee": []}]}'
    cluster.instead["GET /quota"] = [
        lambda _: httpx.Response(200, content=body, headers={"Content-Type": "application/json"})
    ]
    ran = run("quota", "list", "-o", form)
    assert ran.status == 0, ran.err
    assert "r\\udcff" in ran.out
    json.loads(ran.out)


def test_a_secret_may_be_any_bytes(run, cluster):
    assert run("quota", "list", MESOSCTL_PRINCIPAL="op\udcff", MESOSCTL_SECRET="s\udcfe").status == 0
    assert cluster.requests[0].headers["authorization"] == "Basic b3D/OnP+"


@pytest.mark.parametrize("host", ["a..b", "xn--", "xn--a", ".a", "a" * 300, "b" * 64 + ".org", "é" * 64])
def test_hosts_that_are_none(run, host):
    ran = run("quota", "list", "--master", f"http://{host}:5050")
    assert ran.status == 2, ran.err
    assert "address of a master" in ran.err


@pytest.mark.parametrize("words", [["-qojson"], ["-qo", "json"], ["-ojsonl"], ["--output", "json"], ["--output=json"]])
def test_json_is_asked_for_in_many_ways_even_where_there_is_no_such_command(run, words):
    ran = run("quota", "lst", *words)
    assert (ran.status, json.loads(ran.err)["error"]["exit_status"]) == (2, 2)


def test_notes_go_into_the_one_object(run, cluster):
    cluster.instead["GET /slaves"] = [lambda _: httpx.Response(403)]
    cluster.instead["POST /api/v1"] = [lambda _: httpx.Response(403)]
    document = json.loads(run("quota", "set", "dev", "cpus:1", "-o", "json").err)
    assert document["error"]["exit_status"] == 4
    (note,) = document["notes"]
    assert note.startswith("note: /slaves cannot be read (403): only the master ")


def test_a_bug_is_json_too(run, cluster):
    def bug(_):
        raise ZeroDivisionError

    cluster.instead["GET /quota"] = [bug]
    assert json.loads(run("quota", "list", "-ojson").err)["error"]["kind"] == "Bug"
