"""One cluster of hostile names, and a home with both programs, in front of real shells."""

import contextlib
import http.server
import json
import os
import sys
import threading

import pytest

from tests import ROOT
from tests.helpers.interactive_shell import InteractiveShell, stand_in
from tests.helpers.needs import needs
from tests.mesosctl.shells.hostile_names import BY_KIND, MARK

UNFIT = ["we\nb", "we\rb", "we\x1b[31mb", "we\x7fb", "we\u2028b", "we\u202eb"]
"""Names that no line can hold, or that would control the terminal."""


class Master(http.server.ThreadingHTTPServer):
    """A master that shows these names, and those that are unfit."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


@pytest.fixture(scope="module")
@needs("socket", "process")
def master():
    def entries(kind):
        return [*BY_KIND[kind], *UNFIT]

    answers = {
        "/roles": {"roles": [{"name": name} for name in entries("roles")]},
        "/slaves": {"slaves": [{"hostname": name, "id": f"id of {name}"} for name in entries("agents")]},
        "/frameworks": {"frameworks": [{"name": name, "id": f"id of {name}"} for name in entries("frameworks")]},
        "/tasks": {"tasks": [{"id": name, "state": "TASK_RUNNING"} for name in entries("tasks")]},
    }

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps(answers[self.path]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    serving = Master(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    yield serving
    serving.shutdown()
    serving.server_close()
    thread.join()


@pytest.fixture
def home(tmp_path, master):
    """The variables of a home with a mesosctl, in whose folder files have the names that patterns match."""
    (tmp_path / "bin").mkdir()
    for program, module in (("mesosctl", "mesosctl"), ("mesos-fake-master", "fake_master")):
        stand_in(tmp_path / "bin" / program, f'"{sys.executable}" -P -m {module}', tmp_path / "log")
    (tmp_path / "pyproject.toml").touch()
    left_out = ("MESOSCTL_", "XDG_", "ZDOTDIR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {
        **kept,
        "HOME": str(tmp_path),
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "MESOSCTL_MASTER": master.url,
    }


@pytest.fixture
def opened(home, tmp_path):
    """A function that opens a shell; in the end, no name may have made a file."""

    @contextlib.contextmanager
    def open_shell(shell, variables=(), **options):
        with InteractiveShell(shell, home | dict(variables), tmp_path / "log", **options) as opened:
            yield opened

    yield open_shell
    assert [path for path in tmp_path.rglob("*") if MARK in path.name] == []
