"""Wherever a command takes a file, - is standard input or output, or is refused in words: never a file of that name."""

import io
import itertools
import json
import re
import subprocess
import sys
import urllib.request

import pytest

from mesosctl.__main__ import main
from mesosctl.apply.saved_plan import checksum
from mesosctl.cli.global_options import known_settings
from mesosctl.mesos.cluster.message_rates import MessageCounts
from mesosctl.mesos.messages import rate_limits as answers
from mesosctl.program.reference.command_tree import commands
from tests.helpers.surroundings import InMemory, Ran

QUOTA = '{"role": "dev", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]}'
CONFIG = '{"role": "dev", "guarantees": {"cpus": {"value": 1}}}'
RESERVED = '[{"name": "cpus", "type": "SCALAR", "role": "a", "reservation": {}, "scalar": {"value": 1}}]'
VOLUMES = """
[{"name": "disk", "type": "SCALAR", "scalar": {"value": 1}, "role": "a", "reservation": {},
  "disk": {"persistence": {"id": "v"}, "volume": {"mode": "RW", "container_path": "data"}}}]
"""
SCHEDULE = """
{"windows": [{"machine_ids": [{"hostname": "agent-1"}],
              "unavailability": {"start": {"nanoseconds": 1900000000000000000}}}]}
"""
OFFER = json.dumps(
    {
        "id": {"value": "O1"},
        "framework_id": {"value": "F1"},
        "agent_id": {"value": "S1"},
        "allocation_info": {"role": "a"},
        "resources": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 4}, "role": "*"}],
    }
)
RESERVED_OFFER = OFFER.replace('"role": "*"', '"role": "a", "reservation": {}')
LIMITS = '{"limits": [{"principal": "a", "qps": 5.0, "capacity": 9}]}'
ACLS = '{"permissive": true}'
RECORDED = '{"at": 0, "principal": "a", "received": 0}\n{"at": 1, "principal": "a", "received": 3}\n'
LOG = "asked,from,to,resources,role\n0,0,10,cpus:1,web\n"
NODES = "agent,resources\nn1,cpus:4\n"
WEIGHTS = '[{"role": "web", "weight": 2.0}]'
GOALS = """
[goals.web]
wait_max = "1h"
[change.web]
weight = { from = 1, to = 2 }
"""
PRICES = 'currency = "EUR"\n[[prices]]\ncpu_hour = 0.031\n'
WISHES = "[weights]\nweb = 2.0\n"
PLAYED = """
[[agents]]
resources = "cpus:4;mem:4GiB"
[[frameworks]]
name = "one"
roles = ["web"]
task = "cpus:1;mem:1GiB"
"""
SNAPSHOT = '{"schema_version": 1, "kind": "snapshot", "taken_at": 1.0, "master": {"version": "1.11.0", "flags": {}}}'
OTHERS_PLAN: dict[str, object] = {
    "schema_version": 2,
    "kind": "wanted.saved-plan",
    "master": "another",
    "file": "wanted.toml",
    "wanted": "",
    "prune": False,
    "allow_new_resource": False,
    "rests_on": [],
    "steps": [],
}
PLAN = json.dumps(OTHERS_PLAN | {"checksum": checksum(OTHERS_PLAN)})
READS = {
    "quota set --file": ("quota set -f -", QUOTA),
    "quota update --file": ("quota update --create -f -", CONFIG),
    "reserve --file": ("reserve agent-1 -f -", RESERVED),
    "unreserve --file": ("unreserve agent-1 -f -", RESERVED),
    "weights set --file": ("weights set -f -", WEIGHTS),
    "apply --file": ("apply -f - -y", WISHES),
    "apply --plan": ("apply -y --plan -", PLAN),
    "plan --file": ("plan -f -", WISHES),
    "plan": ("plan -", WISHES),
    "diff --file": ("diff -f -", WISHES),
    "apply": ("apply - -y", WISHES),
    "diff": ("diff -", WISHES),
    "volumes create --file": ("volumes create agent-1 -f -", VOLUMES),
    "maintenance schedule --file": ("maintenance schedule -f -", SCHEDULE),
    "offers reserve --offer": ("offers reserve cpus:1 --offer -", OFFER),
    "offers unreserve --offer": ("offers unreserve cpus:1 --offer -", RESERVED_OFFER),
    "offers simulate": ("offers simulate -", PLAYED),
    "export --from": ("export --cluster --from -", SNAPSHOT),
    "snapshot --from": ("snapshot --from -", SNAPSHOT),
    "snapshot --compare": ("snapshot --compare -", SNAPSHOT),
    "capacity spare --from": ("capacity spare --from -", PLAYED),
    "whatif --from": ("whatif weight:web=2 --from -", SNAPSHOT),
    "whatif --requests": ("whatif --upgrade 1.11 --requests -", "GET /quota\n"),
    "whatif --recorded": ("whatif ratelimits:LIMITS --recorded -", RECORDED),
    "whatif --before": ("whatif ratelimits:LIMITS --recorded RECORDED --before -", LIMITS),
    "acls check": ("acls check -", ACLS),
    "acls check --file": ("acls check -f -", ACLS),
    "can-i --acls": ("can-i reserve ads --as ops --acls -", ACLS),
    "who-can --acls": ("who-can reserve ads --acls -", ACLS),
    "ratelimit validate": ("ratelimit validate -", LIMITS),
    "ratelimit validate --file": ("ratelimit validate -f -", LIMITS),
    "ratelimit plan --file": ("ratelimit plan -f - --memory 1GiB", LIMITS),
    "ratelimit simulate --file": ("ratelimit simulate -f - --traffic a=1@0", LIMITS),
    "ratelimit plan": ("ratelimit plan - --memory 1GiB", LIMITS),
    "ratelimit simulate": ("ratelimit simulate - --traffic a=1@0", LIMITS),
    "ratelimit simulate --before": ("ratelimit simulate LIMITS --traffic a=1@0 --before -", LIMITS),
    "ratelimit simulate --recorded": ("ratelimit simulate LIMITS --recorded -", RECORDED),
    "tune": ("tune - --replay H", GOALS),
    "usage --prices": ("usage --history H --prices -", PRICES),
    "metrics --prices": ("metrics --history H --prices -", PRICES),
}
WRITES = {
    "snapshot --file": "snapshot -f -",
    "export --file": "export -f -",
    "ratelimit suggest --file": "ratelimit suggest --for 1s --interval 1s -f -",
    "offers simulate --svg": "offers simulate PLAYED --svg -",
    "ratelimit simulate --svg": "ratelimit simulate LIMITS --traffic a=1@0 --svg -",
    "whatif --report": "whatif weight:web=2 --report -",
    "metrics --file": "metrics -f -",
    "history export --file": "history export --history H -f -",
    "usage --report": "usage --history H --report -",
    "replay --report": "replay H --report -",
    "tune --report": "tune GOALS --replay H --report -",
}
EDITS = {
    "ratelimit set": "ratelimit set a - --qps 1",
    "ratelimit unset": "ratelimit unset a -",
    "ratelimit default": "ratelimit default - --qps 1",
    "ratelimit set --file": "ratelimit set a --qps 1 -f -",
    "ratelimit unset --file": "ratelimit unset a -f -",
    "ratelimit default --file": "ratelimit default --qps 1 -f -",
}
OF_EVERY_CHANGE = "--report"
FILES = ("FILE", "RECORDING")


def takers():
    """Every place where the commands take a file, options of all commands apart."""
    for node in commands().walk():
        for option in node.options:
            if option.value in FILES and not option.shared:
                yield f"{' '.join(node.path[1:])} {option.names[-1]}"
        for argument in node.arguments:
            if argument.name.strip("[].") in FILES:
                yield " ".join(node.path[1:])


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run words in a folder, each time on a fake master of its own."""
    monkeypatch.chdir(tmp_path)
    runs = itertools.count()

    def run_words(words, stdin="", **variables):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"state-{next(runs)}"))
        environment = InMemory(
            stdin=io.StringIO(stdin) if isinstance(stdin, str) else stdin,
            variables={"MESOSCTL_MASTER": "fake:?version=1.11", "HOME": str(tmp_path)} | variables,
            sleep=lambda _: None,
        )
        status = main(words.split(), environment)
        assert not (tmp_path / "-").exists()
        return Ran(status, environment.out, environment.err)

    return run_words


def alike(text):
    """A text without what no two masters have in common, and without the names of its source and of its file."""
    text = re.sub(r"--report (FILE|-)", "", text)
    unlike = r"[0-9a-f]{8}-[-0-9a-f]{27}|sha256:[0-9a-f]+|[0-9]+|^(FILE|-|standard input):"
    return re.sub(r" +", " ", re.sub(unlike, "…", text, flags=re.MULTILINE))


OPENS_BY_NAME = [
    taker for taker in takers() if taker not in {*READS, *WRITES, *EDITS} and not taker.endswith(OF_EVERY_CHANGE)
]
"""All others: a new place refuses -, or gets a row above."""


def test_every_place_of_the_tables_is_there():
    assert {*READS, *WRITES, *EDITS} <= set(takers())


IN_PROCESSES = ("tune", "capacity spare")
"""The commands that play in their own processes."""


def named(cases):
    """The cases as parameters with their names."""
    return [
        pytest.param(
            *([case] if isinstance(case, str) else case),
            id=name,
            marks=[pytest.mark.process] if name.startswith(IN_PROCESSES) else [],
        )
        for name, case in cases.items()
    ]


@pytest.mark.parametrize(("words", "text"), named(READS))
def test_what_reads_a_file_reads_standard_input(run, tmp_path, words, text):
    (tmp_path / "FILE").write_text(text)
    (tmp_path / "LIMITS").write_text(LIMITS)
    (tmp_path / "RECORDED").write_text(RECORDED)
    if "--replay H" in words or "--history H" in words:
        (tmp_path / "LOG").write_text(LOG)
        (tmp_path / "NODES").write_text(NODES)
        assert run("history import LOG --format csv --agents NODES --history H").status == 0
    from_file = run(" ".join("FILE" if word == "-" else word for word in words.split()))
    assert from_file.status in (0, 1, 5, 6), from_file.err
    ran = run(words, text)
    assert (ran.status, alike(ran.out)) == (from_file.status, alike(from_file.out)), ran.err
    assert run(words, "{[").status == 3
    ran = run(words, "\n")
    assert (ran.status, ran.out, "standard input is empty" in ran.err) == (3, "", True), ran.err


class Endless(io.StringIO):
    """Standard input without an end: it is never read without a bound."""

    def read(self, size: int | None = -1) -> str:
        """As much as is asked for."""
        assert size is not None
        assert size >= 0, "it is read to its end"
        return "a" * size

    def readline(self, size: int = -1) -> str:  # type: ignore[override]  # as of StringIO
        """The same: it has no lines."""
        return self.read(size)


@pytest.mark.parametrize(("words", "text"), named(READS))
def test_what_comes_without_an_end_is_refused(run, tmp_path, monkeypatch, words, text):
    """The bounds are lower here; how much is read is as much as they allow and one more."""
    del text
    monkeypatch.setattr("mesosctl.files.reading.LARGEST_TEXT", 1 << 20)
    monkeypatch.setattr("mesosctl.cli.environment.LARGEST", 2 << 20)
    for name, content in (("LIMITS", LIMITS), ("RECORDED", RECORDED), ("LOG", LOG), ("NODES", NODES)):
        (tmp_path / name).write_text(content)
    if "--replay H" in words or "--history H" in words:
        assert run("history import LOG --format csv --agents NODES --history H").status == 0
    ran = run(words, stdin=Endless())
    assert (ran.status, ran.out) == (3, ""), ran.err
    assert re.search("standard input cannot be read: it holds more than [12] MiB", ran.err), ran.err


@pytest.mark.parametrize("words", named(WRITES))
def test_what_writes_a_file_writes_standard_output(run, tmp_path, words, monkeypatch):
    received = itertools.count(100, 100)  # without traffic no limits are suggested
    monkeypatch.setattr(answers, "message_counts", lambda _: {"busy": MessageCounts(next(received), 0)})
    for name, text in (("PLAYED", PLAYED), ("LIMITS", LIMITS), ("LOG", LOG), ("GOALS", GOALS), ("NODES", NODES)):
        (tmp_path / name).write_text(text)
    assert run("history import LOG --format csv --agents NODES --history H").status == 0
    written = " ".join("FILE" if word == "-" else word for word in words.split())
    assert run(written).status == 0
    ran = run(words)
    assert (ran.status, alike(ran.out)) == (0, alike((tmp_path / "FILE").read_text())), ran.err


@pytest.mark.parametrize("place", OPENS_BY_NAME)
def test_what_is_opened_by_its_name_cannot_be_a_dash(run, place):
    ran = run(f"{place} -")
    assert (ran.status, ran.out) == (2, "")
    assert "cannot be -: name a file" in ran.err


@pytest.mark.parametrize("words", EDITS.values(), ids=EDITS)
def test_what_edits_a_file_edits_nothing_else(run, words):
    ran = run(words, LIMITS)
    assert (ran.status, ran.out) == (2, "")
    assert "the file is edited in place" in ran.err


@pytest.mark.parametrize("words", ["diff -f -", "plan -f -", "apply -f -"])
def test_an_empty_desired_state_is_accepted_from_standard_input_if_that_is_said(run, words):
    assert run(f"{words} --allow-empty").status == 0


def test_standard_input_is_not_read_twice(run):
    ran = run("snapshot --from - --compare -", SNAPSHOT)
    assert ran.status == 2
    assert "standard input holds one snapshot, not two" in ran.err


def test_a_cluster_is_not_kept_from_standard_input(run):
    ran = run("quota list --master fake:-", SNAPSHOT)
    assert ran.status == 3
    assert "standard input has no state to keep" in ran.err


@pytest.mark.parametrize("key", ["secret", "token"])
def test_a_secret_of_a_context_has_an_end(run, key):
    ran = run(f"context set one master=http://m:5050 {key}", stdin=Endless())
    assert (ran.status, ran.out) == (2, ""), ran.err
    assert "more than 16384 characters" in ran.err


OF_CONNECTIONS = [setting for setting in known_settings() if setting.is_file]


@pytest.mark.parametrize("setting", OF_CONNECTIONS, ids=lambda setting: setting.key)
def test_secrets_and_certificates_are_in_files(run, setting):
    told = "cannot be -: name a file, or /dev/stdin for standard input"
    ran = run(f"quota list {setting.option} -")
    assert (ran.status, f"{setting.option} {told}" in ran.err) == (2, True), ran.err
    ran = run("quota list", **{setting.variable: "-"})
    assert (ran.status, f"{setting.variable} {told}" in ran.err) == (3, True), ran.err
    ran = run(f"context set one {setting.key}=-")
    assert (ran.status, f"{setting.key} {told}" in ran.err) == (3, True), ran.err


READS_ONCE = [
    ("whatif weight:web=2 --from -", SNAPSHOT),
    ("whatif weight:web=2 --from /dev/stdin", SNAPSHOT),
    ("snapshot --from -", SNAPSHOT),
    ("snapshot --from /dev/stdin", SNAPSHOT),
    ("offers simulate -", PLAYED),
    ("offers simulate /dev/stdin", PLAYED),
    ("quota list --master fake:/dev/stdin", SNAPSHOT),
    ("quota list --master fake:/dev/stdin", PLAYED),
]


@pytest.mark.parametrize(("words", "text"), READS_ONCE)
@pytest.mark.process
def test_a_pipe_is_read_once(tmp_path, words, text):
    ran = type_it(tmp_path, "mesosctl", words, text)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.process
@pytest.mark.socket
def test_a_master_is_served_from_standard_input(tmp_path):
    for text, told in (("agents =", "standard input is not TOML"), ("", "standard input is empty")):
        ran = type_it(tmp_path, "fake_master", "--port 0 --cluster -", text)
        assert (ran.returncode, told in ran.stderr) == (3, True), ran.stderr
    command = [sys.executable, "-m", "fake_master", "--port", "0", "--cluster", "-"]
    with subprocess.Popen(
        command, env=surroundings(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as served:
        assert served.stdin is not None
        assert served.stdout is not None
        try:
            served.stdin.write("[[agents]]\nresources = 'cpus:3'\n")
            served.stdin.close()
            with urllib.request.urlopen(served.stdout.readline().strip() + "/slaves", timeout=60) as answer:
                (agent,) = json.load(answer)["slaves"]
        finally:
            served.terminate()
    assert agent["resources"]["cpus"] == 3.0


def surroundings(home):
    return {"HOME": str(home), "PYTHONPATH": ":".join(sys.path), "MESOSCTL_MASTER": "fake:"}


def type_it(home, module, words, text):
    return subprocess.run(
        [sys.executable, "-m", module, *words.split()],
        env=surroundings(home),
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_nor_by_a_simulation(run):
    ran = run("ratelimit simulate - --traffic a=1@0 --before -", LIMITS)
    assert ran.status == 2
    assert "only one of the files" in ran.err
