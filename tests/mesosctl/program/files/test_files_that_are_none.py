"""Files that no command can read: each is refused with a sentence at once, and never a bug of the program."""

import io
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mesosctl.__main__ import main
from tests.helpers.surroundings import InMemory, Ran

FAKE = "fake:?version=1.11"
PATIENCE = 30
"""Seconds, of a machine that is busy with other things; what hangs does so for ever."""
KINDS = {
    "authority": "--master https://master.invalid quota list --cacert FILE",
    "certificate": "--master https://master.invalid quota list --cert FILE",
    # The file is the configuration, which names the master; all others get the fake one.
    "context": "quota list",
    "secret": "quota list --principal ops --secret-file FILE",
    "token": "quota list --token-file FILE",
    "address": "quota list --master file://FILE",
    "cluster file": "quota list --master fake:FILE",
    "played cluster file": "offers simulate FILE",
    "snapshot": "snapshot --from FILE",
    "older snapshot": "snapshot --compare FILE",
    "wanted file": "diff -f FILE",
    "wanted file to apply": "apply -f FILE --yes",
    "limits": "ratelimit validate FILE",
    "limits to change": "ratelimit set ops --qps 3 --file FILE",
    "limits to take from": "ratelimit unset ops --file FILE",
    "quota": "quota set -f FILE",
    "quotas": "quota update -f FILE",
    "reservation": "reserve agent-1 -f FILE",
    "reservation to undo": "unreserve agent-1 -f FILE",
    "offer": "offers reserve cpus:1 --offer FILE --for a",
}
TEXTS = {
    "arrays": b"[" * 100_000,
    "500 arrays": b'{"limits":' + b"[" * 500 + b"]" * 500 + b"}",
    "500 objects": b'{"kind": "snapshot", "x":' + b'{"a":' * 500 + b"1" + b"}" * 501,
    "objects": b'{"a":' * 100_000,
    "keys": b".".join([b"a"] * 20_000) + b" = 1",
    "tables": b"[" + b".".join([b"a"] * 20_000) + b"]",
    "inline tables": b"a = " + b"{a = " * 20_000,
    "500 inline tables": b"a = " + b"{a = " * 500 + b"1" + b"}" * 500,
    "1e999": b"1e999",
    "1e999 within": b'{"limits": [{"principal": "a", "qps": 1e999}], "role": "a", "guarantee": [1e999]}',
    "NaN": b'{"limits": [{"principal": "a", "qps": NaN}]}',
    "nan": b"[weights]\na = nan\n",
    "inf": b"[weights]\na = inf\n[quotas.a]\nguarantee = 'cpus:inf'\n",
    "digits": b'{"qps": ' + b"9" * 100_000 + b"}",
    "toml digits": b"weights = " + b"9" * 100_000,
    "half a character": b'{"role": "\\ud800", "limits": [{"principal": "\\udc00"}]}',
    "zeros": b"\0" * 1000,
    "zero within": b'{"role": "a\0b"}',
    "no UTF-8": b"\xff\xfe{}",
    "nothing": b"",
    "null": b"null",
    "a number": b"7",
}


def no_file(path: Path) -> None:
    """Nothing is made."""


HOSTS = ("null", "a number", "1e999")
"""Which could be the name of a host, and nobody is to be asked for."""


PLACES: dict[str, Callable[[Path], None]] = {
    "a FIFO": os.mkfifo,
    "a folder": lambda path: path.mkdir(),
    "/dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "/dev/full": lambda path: path.symlink_to("/dev/full"),
    "itself": lambda path: path.symlink_to(path.name),
    "missing": no_file,
}


@pytest.fixture(autouse=True)
def watch() -> Iterator[None]:
    """What hangs is ended, and fails."""

    def give_up(*_: object) -> None:
        pytest.fail("it hangs")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Path], Ran]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def reading(kind: str, path: Path) -> Ran:
        master = {"MESOSCTL_CONFIG": str(path)} if kind == "context" else {"MESOSCTL_MASTER": FAKE}
        variables = {"XDG_STATE_HOME": str(tmp_path), **master}
        environment = InMemory(stdin=io.StringIO(), variables=variables, sleep=lambda _: None)
        status = main(KINDS[kind].replace("FILE", str(path)).split(" "), environment)
        return Ran(status, environment.out, environment.err)

    return reading


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", TEXTS)
def test_what_is_in_it(read, tmp_path, kind, text):
    path = tmp_path / ("file.json" if "snapshot" in kind else "file")
    if kind == "address" and text in HOSTS:
        return
    path.write_bytes(TEXTS[text])
    path.chmod(0o600)
    ran = read(kind, path)
    assert "bug" not in ran.err
    assert "Traceback" not in ran.err
    if ran.status != 0:
        # A file that names nothing is not in agreement with a cluster: the answer is no.
        answers = (1,) if text == "nothing" and kind.startswith("wanted file") else (2, 3, 4, 5, 6)
        assert ran.status in answers, ran.err
        assert ran.err.startswith("mesosctl: ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
def test_what_it_is(read, tmp_path, kind, place):
    path = tmp_path / "file"
    PLACES[place](path)
    ran = read(kind, path)
    if place in ("missing", "itself") and kind in ("limits to change", "limits to take from", "context"):
        assert ran.status in (0, 2, 3, 5)  # there is none yet
        return
    assert (ran.status, ran.out) == (3, ""), ran.err
    assert str(path) in ran.err


OF_SNAPSHOTS = ("snapshot", "older snapshot")
"""Kinds of files that may be larger than a text."""


def of_too_many_values(kind: str) -> bytes:
    """A text of this kind that is JSON or TOML, with more values than a person writes."""
    if kind in ("cluster file", "played cluster file", "wanted file", "wanted file to apply", "context"):
        return b"a = [" + b"1," * 4_000_001 + b"]"
    return b"[" + b"1," * 250_001 + b"1]"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in OF_SNAPSHOTS])
def test_one_that_is_larger_than_a_text(read, tmp_path, kind):
    path = tmp_path / "file"
    path.touch(0o600)
    os.truncate(path, (64 << 20) + 1)
    ran = read(kind, path)
    assert (ran.status, ran.out) == (3, ""), ran.err
    assert "more than 64 MiB" in ran.err or "more than a secret" in ran.err, ran.err


@pytest.mark.parametrize(
    "kind",
    [kind for kind in KINDS if kind not in (*OF_SNAPSHOTS, "authority", "certificate", "secret", "token", "address")],
)
def test_one_with_more_values_than_memory_is_for(read, tmp_path, kind):
    path = tmp_path / "file"
    path.write_bytes(of_too_many_values(kind))
    path.chmod(0o600)
    ran = read(kind, path)
    assert (ran.status, ran.out) == (3, ""), ran.err
    assert re.search("holds more than (250,000|4,000,000) values", ran.err), ran.err[:500]


def test_of_very_many_faults_the_first_are_told(read, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b'{"limits": [' + b"{}, " * 10_000 + b"{}]}")
    ran = read("limits", path)
    assert ran.status == 3
    assert ran.err.count("principal: it is missing") == 100
    assert "; and 9901 more" in ran.err


def test_what_a_shell_connects_is_read(read, tmp_path):
    reader, writer = os.pipe()
    os.write(writer, b"[weights]\nweb = 2.0\n")
    os.close(writer)
    ran = read("wanted file", Path(f"/dev/fd/{reader}"))
    os.close(reader)
    assert (ran.status, "web" in ran.out) == (1, True), ran.err


def test_a_file_of_names_never_matters(read, tmp_path):
    """They are only offered to whoever types."""
    names = tmp_path / ".cache" / "mesosctl" / "names"
    names.mkdir(parents=True)
    os.mkfifo(names / "role")
    path = tmp_path / "file"
    path.write_text("[quotas]\n")
    ran = read("wanted file", path)
    assert ran.status == 1
    assert "--allow-empty" in ran.err
