"""The program as a process: what it loads, and how it ends."""

import http.server
import json
import os
import signal
import subprocess
import sys
import threading

import pytest

import mesosctl
from tests import ROOT

pytestmark = [pytest.mark.process, pytest.mark.socket]

LOADED = (
    "import sys; from mesosctl.__main__ import main; status = main(); "
    "print(*(name for name, module in sys.modules.items() if module), file=sys.stderr); sys.exit(status)"
)


class QuotaServer(http.server.ThreadingHTTPServer):
    """`silent` makes it hold its answer to /quota back; `reached` is set when it was asked."""

    silent = False
    reached: threading.Event


@pytest.fixture
def quota_server():
    """A master on a socket that knows /version, /quota and /slaves."""
    answers = {"/version": {"version": "1.11.0"}, "/quota": {}, "/slaves": {"slaves": []}}
    held = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/quota" and server.silent:
                server.reached.set()
                held.wait(60)
            body = json.dumps(answers[self.path]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = QuotaServer(("127.0.0.1", 0), Handler)
    server.reached = threading.Event()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    held.set()
    server.shutdown()
    server.server_close()
    thread.join()


def environment(**variables):
    return {**os.environ, "PYTHONPATH": str(ROOT), "MESOSCTL_MASTER": "", **variables}


def program(*words, code=LOADED, **variables):
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, env=environment(**variables), check=False
    )


def modules(ran):
    """What LOADED printed, below whatever the command said."""
    return ran.stderr.splitlines()[-1].split()


def loaded(ran):
    return {name.partition(".")[0] for name in modules(ran)} | set(modules(ran))


TYPER = {"typer", "shellingham", "annotated_doc"}
HTTPX = {"httpx", "idna"}
NETWORK = {*HTTPX, "httpcore", "h11", "certifi", "anyio"}
"""What httpx brings, without click and rich, which its own command line would load; how long that may take is a budget
of `tests/benchmarks/startup.py`."""
PYDANTIC = {"pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"}
A_NOUN = TYPER | PYDANTIC
"""typer imports pydantic once a command has parameters of its own."""


def theirs(ran):
    """Packages that others wrote; what an environment loads by itself in every process is none."""
    ours = {"__main__", "mesosctl", "fake_master", "_distutils_hack"}
    names = {name for name in loaded(ran) if "." not in name and not name.startswith("_sysconfigdata_")}
    return names - set(sys.stdlib_module_names) - ours


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["-h"]])
def test_the_commonest_words_load_typer_at_most(words):
    ran = program(*words)
    assert ran.returncode == 0
    assert theirs(ran) <= TYPER


@pytest.mark.parametrize("form", ["table", "name", "csv", "wide"])
def test_a_listing_over_http_loads_httpx_and_no_more(quota_server, form):
    ran = program("quota", "list", "-o", form, MESOSCTL_MASTER=f"http://127.0.0.1:{quota_server.server_port}")
    assert ran.returncode == 0
    assert theirs(ran) == A_NOUN | NETWORK


def test_a_fake_master_that_only_shows_quota_is_not_started(tmp_path):
    def listing():
        ran = program("quota", "list", MESOSCTL_MASTER="fake:", XDG_STATE_HOME=str(tmp_path))
        assert ran.returncode == 0
        return ran

    assert "fake_master.allocator" in loaded(listing())  # the first time it is, and is given its id
    ran = listing()
    assert theirs(ran) == A_NOUN | HTTPX | {"msgspec"}  # msgspec checks what the registry has kept
    assert not loaded(ran) & {"fake_master.master", "fake_master.allocator"}


EDITING = {"tomlkit", "keyring", "mesosctl.context.editing"}
CONFIGURING = {"tomllib", "mesosctl.cli.configuration.file", *EDITING}
SHOWING = {"mesosctl.cli.tracing"}


def test_what_nobody_asked_for_costs_nothing(quota_server, tmp_path):
    master = f"http://127.0.0.1:{quota_server.server_port}"
    ran = program("quota", "list", MESOSCTL_MASTER=master, XDG_CONFIG_HOME=str(tmp_path))
    assert ran.returncode == 0
    assert not loaded(ran) & (CONFIGURING | SHOWING)


def test_a_context_costs_reading_it(quota_server, tmp_path):
    (tmp_path / "mesosctl").mkdir()
    text = f'current = "c"\n[contexts.c]\nmaster = "http://127.0.0.1:{quota_server.server_port}"\n'
    (tmp_path / "mesosctl" / "config.toml").write_text(text)
    ran = program("quota", "list", MESOSCTL_MASTER="", XDG_CONFIG_HOME=str(tmp_path))
    assert ran.returncode == 0
    assert loaded(ran) & CONFIGURING == {"tomllib", "mesosctl.cli.configuration.file"}
    assert not loaded(ran) & {*SHOWING, "rich"}
    ran = program("context", "show", XDG_CONFIG_HOME=str(tmp_path))
    assert not loaded(ran) & {"httpx", "tomlkit", "rich"}


def test_setting_loads_the_models_of_what_it_sends_and_draws_nothing(fake_master_factory):
    master = fake_master_factory(["cpus:4;mem:4096"], version="1.11")
    ran = program("quota", "set", "dev", "cpus:1", "--force", MESOSCTL_MASTER=master.url)
    assert ran.returncode == 0
    assert theirs(ran) == A_NOUN | NETWORK


def test_a_mistake_is_found_before_a_master_is_asked():
    ran = program("quota", "set", "a/b", "cpus:1", MESOSCTL_MASTER="http://127.0.0.1:1")
    assert ran.returncode == 3


def test_version_and_module():
    command = [sys.executable, "-m", "mesosctl", "--version"]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
    assert ran.stdout == f"mesosctl {mesosctl.__version__}\n"


SIGNALS = {
    signal.SIGINT: (130, b"interrupted"),
    signal.SIGTERM: (143, b"terminated"),
    signal.SIGHUP: (129, b"the terminal hung up"),
}


@pytest.mark.parametrize("signum", SIGNALS)
def test_signals_end_it_with_one_sentence(quota_server, signum):
    status, how = SIGNALS[signum]
    quota_server.silent = True
    master = f"http://127.0.0.1:{quota_server.server_port}"
    with subprocess.Popen(
        [sys.executable, "-m", "mesosctl", "quota", "list"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(MESOSCTL_MASTER=master),
    ) as running:
        assert quota_server.reached.wait(60)
        running.send_signal(signum)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (status, b"", b"mesosctl: " + how + b": no change was sent\n")


def test_a_signal_that_is_ignored_stays_so(quota_server):
    """As nohup has it, and a shell of what it starts in the background."""
    words = f"trap '' HUP INT; exec {sys.executable} -m mesosctl quota list --timeout 60 -o name"
    quota_server.silent = True
    master = f"http://127.0.0.1:{quota_server.server_port}"
    with subprocess.Popen(
        ["sh", "-c", words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(MESOSCTL_MASTER=master)
    ) as running:
        assert quota_server.reached.wait(60)
        running.send_signal(signal.SIGHUP)
        running.send_signal(signal.SIGINT)
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
    assert running.returncode == 143


def test_these_tests_hold_where_a_shell_ignores_ctrl_c():
    chosen = f"{__file__}::{test_signals_end_it_with_one_sentence.__name__}[{signal.SIGINT}]"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", chosen]
    ran = subprocess.run(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout


def test_a_closed_pipe_is_quiet(quota_server):
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run(
        [sys.executable, "-m", "mesosctl", "quota", "list", "-o", "json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=environment(MESOSCTL_MASTER=f"http://127.0.0.1:{quota_server.server_port}"),
        check=False,
    )
    os.close(writer)
    assert (ran.returncode, ran.stderr) == (141, b"")
