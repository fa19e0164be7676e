"""Habits of terminals and pipes, seen from outside: the program as a process, a pty where a person would sit."""

import http.server
import json
import os
import pty
import re
import select
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mesosctl.show.document import ExchangeNote
from tests import ROOT
from tests.helpers.screen import is_cursor_shown, visible
from tests.helpers.waiting import PATIENCE

pytestmark = [pytest.mark.terminal, pytest.mark.process, pytest.mark.socket]

SECRET, ENCODED = "s3cret-of-ops", "b3BzOnMzY3JldC1vZi1vcHM="


class Master(http.server.ThreadingHTTPServer):
    """A master with many quotas; `hold` makes it silent until it is released."""

    hold = False
    quotas = 2
    reached: threading.Event

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@pytest.fixture
def server():
    released, reached = threading.Event(), threading.Event()
    infos = [{"role": f"role-{n:05}", "guarantee": []} for n in range(20_000)]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            reached.set()
            if master.hold:
                released.wait(PATIENCE)
            answers = {"/quota": {"infos": infos[: master.quotas]}, "/roles": {"roles": [], "secret": SECRET}}
            body = json.dumps(answers[self.path]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    master = Master(("127.0.0.1", 0), Handler)
    master.reached = reached
    thread = threading.Thread(target=master.serve_forever)
    thread.start()
    yield master
    released.set()
    master.shutdown()
    master.server_close()
    thread.join()


@pytest.fixture
def surroundings(tmp_path, server):
    left_out = ("MESOSCTL_", "NO_COLOR", "FORCE_COLOR", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {**kept, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "TERM": "xterm", "MESOSCTL_MASTER": server.url}


def run(words, environment, **variables):
    command = [sys.executable, "-m", "mesosctl", *words]
    return subprocess.run(
        command, capture_output=True, text=True, env={**environment, **variables}, timeout=PATIENCE, check=False
    )


class Seat:
    """A terminal with the program in front of it; `screen` is what it has shown."""

    def __init__(self, words, environment, *, stdout=None):
        self.terminal, inside = pty.openpty()
        self.screen = b""
        self.process = subprocess.Popen(
            ["setsid", "-c", "-w", sys.executable, "-m", "mesosctl", *words],
            stdin=inside,
            stdout=inside if stdout is None else stdout,
            stderr=inside,
            env=environment,
        )
        os.close(inside)

    def wait_for(self, text):
        while text.encode() not in self.screen:
            if not self._read():
                raise AssertionError(self.screen)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def end(self):
        while self._read():
            pass
        status = self.process.wait(PATIENCE)
        os.close(self.terminal)
        return status

    def _read(self):
        ready = select.select([self.terminal], [], [], PATIENCE)[0]
        assert ready, self.screen
        try:
            read = os.read(self.terminal, 65536)
        except OSError:  # the other side has closed it
            return False
        self.screen += read
        return bool(read)


class TestColours:
    @pytest.mark.parametrize(
        ("variables", "coloured"),
        [
            ({}, True),
            ({"NO_COLOR": "1"}, False),
            ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
            ({"TERM": "dumb"}, False),
        ],
    )
    def test_on_a_terminal(self, surroundings, variables, coloured):
        seat = Seat(["quota", "list"], {**surroundings, **variables})
        assert seat.end() == 0
        assert (b"\x1b[" in seat.screen) == coloured
        assert b"role-00001" in seat.screen

    @pytest.mark.parametrize(("variables", "coloured"), [({}, False), ({"FORCE_COLOR": "1"}, True)])
    def test_in_a_pipe(self, surroundings, variables, coloured):
        ran = run(["quota", "list"], surroundings, **variables)
        assert (ran.returncode, "\x1b[" in ran.stdout) == (0, coloured)

    def test_no_column_vanishes_however_narrow_it_is(self, surroundings):
        seat = Seat(["quota", "list", "-o", "wide"], {**surroundings, "COLUMNS": "5", "NO_COLOR": "1"})
        assert seat.end() == 0
        words = seat.screen.decode().split()
        titles = [word for word in words if word.isupper()]
        assert len(set(titles)) == 9
        assert titles.count("ROLE") == words.count("role-00000") == 8

    def test_nothing_is_cut_in_a_narrow_terminal(self, surroundings):
        seat = Seat(["quota", "list", "-o", "wide"], {**surroundings, "COLUMNS": "40", "NO_COLOR": "1"})
        assert seat.end() == 0
        assert max(map(len, seat.screen.decode().splitlines())) <= 40
        wide = run(["quota", "list", "-o", "wide"], surroundings, COLUMNS="40").stdout
        assert "role-00001" in wide
        assert "FRAMEWORKS" in wide


class TestEndings:
    @pytest.mark.parametrize("unbuffered", ["", "1"])
    @pytest.mark.parametrize("form", ["table", "name", "json", "jsonl", "csv"])
    def test_a_reader_of_one_line_is_no_error(self, surroundings, server, form, unbuffered):
        server.quotas = 20_000
        script = 'set -o pipefail; "$0" -m mesosctl quota list -o "$1" | head -1; echo "${PIPESTATUS[0]}" >&2'
        ran = subprocess.run(
            ["bash", "-c", script, sys.executable, form],
            capture_output=True,
            text=True,
            env={**surroundings, "PYTHONUNBUFFERED": unbuffered},
            timeout=PATIENCE,
            check=False,
        )
        assert (ran.stdout.count("\n"), ran.stderr) == (1, "141\n")

    @pytest.mark.parametrize(("key", "status"), [("\x03", 130)])
    def test_ctrl_c_ends_it_with_one_sentence(self, surroundings, server, key, status):
        server.hold = True
        seat = Seat(["quota", "list"], surroundings)
        assert server.reached.wait(PATIENCE)
        seat.type(key)
        assert seat.end() == status
        screen = re.sub(rb"\x1b\[[0-9;]*m|\^C", b"", seat.screen)
        assert screen.strip() == b"mesosctl: interrupted: no change was sent"


class TestAPerson:
    def test_a_secret_is_asked_for_and_not_shown(self, surroundings):
        reader, writer = os.pipe()
        seat = Seat(["quota", "list", "--principal", "ops", "-o", "name"], surroundings, stdout=writer)
        os.close(writer)
        seat.wait_for("Secret of ops: ")
        commandline = Path(f"/proc/{seat.process.pid}/cmdline")
        assert not commandline.exists() or SECRET.encode() not in commandline.read_bytes()
        seat.type(f"{SECRET}\r")
        assert seat.end() == 0
        with os.fdopen(reader) as data:
            assert data.read() == "role-00000\nrole-00001\n"
        assert SECRET.encode() not in seat.screen

    def test_without_one_nobody_is_asked(self, surroundings):
        ran = run(["quota", "list", "--principal", "ops"], surroundings)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert "--secret-file" in ran.stderr


class TestVerbosity:
    @pytest.fixture
    def authenticated(self, surroundings):
        return {**surroundings, "MESOSCTL_PRINCIPAL": "ops", "MESOSCTL_SECRET": SECRET}

    def test_a_line_for_each_exchange(self, authenticated, server):
        ran = run(["quota", "list", "-v"], authenticated)
        (line,) = ran.stderr.splitlines()
        assert line.startswith(f"mesosctl: GET {server.url}/quota 200, ")

    @pytest.mark.parametrize("form", ["wide", "json"])
    @pytest.mark.parametrize("flag", ["-v", "-vv"])
    def test_secrets_are_struck_out_wherever_they_are(self, authenticated, form, flag):
        """The master of this test repeats the secret in an answer."""
        ran = run(["quota", "list", flag, "-o", form], authenticated)
        assert ran.returncode == 0
        assert SECRET not in ran.stdout + ran.stderr
        assert ENCODED not in ran.stderr
        assert ("Basic ***" in ran.stderr) == (flag == "-vv")
        assert ("role-00001" in ran.stderr) == (flag == "-vv")

    def test_with_json_every_line_is_an_object(self, authenticated, server):
        ran = run(["quota", "list", "-vv", "-o", "json"], authenticated)
        told = [json.loads(line) for line in ran.stderr.splitlines()]
        assert all(ExchangeNote.model_validate(one) for one in told)
        assert [(one["kind"], one["url"], one["status"]) for one in told] == [
            ("exchange", f"{server.url}/quota", 200),
            ("exchange", f"{server.url}/roles", 200),
        ]
        assert json.loads(ran.stdout)["kind"] == "quota.list"

    def test_an_error_is_the_last_object_and_holds_the_notes(self, surroundings):
        ran = run(
            ["quota", "list", "-v", "-o", "json", "--master", "http://127.0.0.1:1", "--timeout", "4"], surroundings
        )
        told = [json.loads(line) for line in ran.stderr.splitlines()]
        assert ran.returncode == 7
        assert told[0]["failure"]
        assert told[-1]["error"]["exit_status"] == 7


def test_progress_is_for_terminals_that_can_overwrite(surroundings, tmp_path):
    cluster = tmp_path / "late.toml"
    cluster.write_text('[[agents]]\nresources = "cpus:8"\ndelay = 1.5\n')
    words = ["--master", f"fake:{cluster}", "reserve", "agent-1", "--role", "web", "-o", "name"]
    seat = Seat([*words, "cpus:1"], surroundings)
    assert seat.end() == 0
    assert b"mesosctl: waiting for the agent to show the change on agent-1" in seat.screen
    screen = seat.screen.decode()
    assert len(visible(screen)) == 1  # the answer alone
    assert is_cursor_shown(screen)
    seat = Seat([*words, "cpus:2"], {**surroundings, "TERM": "dumb"})
    assert seat.end() == 0
    assert b"\x1b" not in seat.screen
    assert run([*words, "cpus:3"], surroundings).stderr == ""
    seat = Seat([*words, "--quiet", "cpus:1"], surroundings)
    assert seat.end() == 0
    assert b"\x1b" not in seat.screen


def test_ctrl_c_takes_the_progress_away_and_gives_the_cursor_back(surroundings, tmp_path):
    cluster = tmp_path / "late.toml"
    cluster.write_text(f'[[agents]]\nresources = "cpus:8"\ndelay = {PATIENCE}\n')
    seat = Seat(["--master", f"fake:{cluster}", "reserve", "agent-1", "--role", "web", "cpus:1"], surroundings)
    seat.wait_for("waiting for the agent")
    seat.type("\x03")
    assert seat.end() == 130
    screen = seat.screen.replace(b"^C", b"").decode()
    assert visible(screen)[0].startswith("mesosctl: interrupted")
    assert is_cursor_shown(screen)


def test_names_learned_by_one_command_are_there_for_the_next(surroundings, tmp_path):
    assert run(["volumes", "list", "--master", "fake:"], surroundings).returncode == 0
    kept = tmp_path / ".cache" / "mesosctl" / "names" / "master-fake_" / "agent"
    until, *lines = kept.read_text().splitlines()
    assert lines[:3] == ["agent-1", "agent-2", "agent-3"]
    assert 0 < int(until) - time.time() <= 120
    assert kept.stat().st_mode & 0o077 == 0 or kept.parent.stat().st_mode & 0o077 == 0


def test_a_master_that_does_not_tell_is_left_alone_for_a_while(surroundings, tmp_path):
    line = "mesosctl --master http://127.0.0.1:1 quota remove "
    ran = run([], surroundings | {"_MESOSCTL_COMPLETE": "words_bash", "_MESOSCTL_LINE": line})
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    (kept,) = (tmp_path / ".cache" / "mesosctl" / "names" / "master-http___127.0.0.1_1").iterdir()
    assert 0 < int(kept.read_text()) - time.time() <= 30


MARKED = "sed s/^/marked:/"


class TestPager:
    @pytest.mark.parametrize("words", [["--help"], ["quota", "set", "--help"], ["whatif", "-h"], ["options"]])
    def test_long_help_goes_to_it(self, surroundings, words):
        seat = Seat(words, {**surroundings, "PAGER": MARKED, "LINES": "10"})
        assert seat.end() == 0
        lines = seat.screen.decode().splitlines()
        assert len(lines) > 10
        assert all(line.startswith("marked:") for line in lines)

    @pytest.mark.parametrize(
        "variables",
        [
            {"MESOSCTL_PAGER": ""},
            {"MESOSCTL_PAGER": "cat"},
            {"TERM": "dumb"},
            {"LINES": "1000"},
            {"PAGER": "no-such-pager-here"},
        ],
        ids=["none", "cat", "dumb", "fits", "missing"],
    )
    def test_else_it_is_written(self, surroundings, variables):
        seat = Seat(["whatif", "--help"], {**surroundings, "PAGER": MARKED, "LINES": "10", **variables})
        assert seat.end() == 0
        assert b"Usage: mesosctl whatif" in seat.screen
        assert b"Global options:" in seat.screen
        assert b"marked:" not in seat.screen

    def test_that_of_mesosctl_comes_before_that_of_all_programs(self, surroundings):
        variables = {"PAGER": MARKED, "MESOSCTL_PAGER": "sed s/^/ours:/", "LINES": "10"}
        seat = Seat(["--help"], {**surroundings, **variables})
        assert seat.end() == 0
        assert seat.screen.startswith(b"ours:")

    def test_it_may_be_left_before_the_end(self, surroundings):
        seat = Seat(["whatif", "--help"], {**surroundings, "PAGER": "head -n 1", "LINES": "10"})
        assert seat.end() == 0
        assert seat.screen.splitlines() == [b"Usage: mesosctl whatif [OPTIONS] [CHANGES...]"]

    def test_ctrl_c_ends_one_that_hangs(self, surroundings):
        seat = Seat(["whatif", "--help"], {**surroundings, "PAGER": f"echo ready; sleep {PATIENCE}", "LINES": "10"})
        seat.wait_for("ready")
        seat.type("\x03")
        seat.end()
        assert b"Traceback" not in seat.screen

    def test_less_is_told_to_end_if_all_fits(self, surroundings):
        seat = Seat(["whatif", "--help"], {**surroundings, "PAGER": 'echo "LESS is $LESS"', "LINES": "10"})
        assert seat.end() == 0
        assert b"LESS is FRX" in seat.screen

    def test_a_pipe_gets_the_help_itself(self, surroundings):
        ran = run(["whatif", "--help"], surroundings, PAGER=MARKED, LINES="10")
        assert ran.returncode == 0
        assert "marked:" not in ran.stdout


def test_help_has_its_examples_before_the_details():
    text = run(["whatif", "--help"], dict(os.environ)).stdout
    places = [text.index(part) for part in ("Usage:", "Forecast what", "Examples:", "The cluster itself", "Options:")]
    assert places == sorted(places)
