"""A file that cannot be read is named, with the reason in words and without the system's numbers."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

WAYS = {
    "a cluster": ("--master", "fake:{}", "quota", "list"),
    "a snapshot": ("--master", "fake:{}.json", "quota", "list"),
    "an address": ("--master", "file://{}", "quota", "list"),
    "a scenario": ("offers", "simulate", "{}"),
    "a snapshot to compare": ("snapshot", "--compare", "{}"),
    "wishes": ("diff", "-f", "{}"),
    "rate limits": ("ratelimit", "validate", "{}"),
    "a secret": ("quota", "list", "--principal", "op", "--secret-file", "{}"),
    "a token": ("quota", "list", "--token-file", "{}"),
    "an authority": ("--master", "https://m", "quota", "list", "--cacert", "{}"),
}


@pytest.mark.parametrize("what", ["nothing", "a folder", "bytes"])
@pytest.mark.parametrize("words", WAYS.values(), ids=WAYS)
def test_of_a_command(tmp_path, words, what):
    path = tmp_path / "there"
    for one in (path, tmp_path / "there.json"):
        if what == "a folder":
            one.mkdir()
        elif what == "bytes":
            one.write_bytes(b"\xff\xfe")
    ended = type_it("mesosctl", *(word.format(path) for word in words), home=tmp_path)
    assert (ended.returncode, str(path) in ended.stderr) == (3, True), ended.stderr
    assert "Errno" not in ended.stderr


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("--cluster", "{}"), 3),
        (("--agent", "cpus:1", "--rate-limits", "{}"), 3),
        (("--agent", "cpus:1", "--ssl-cert-file", "{}"), 3),
    ],
)
def test_of_the_fake_master(tmp_path, words, status):
    path = tmp_path / "nope"
    ended = type_it("fake_master", "--port", "0", *(word.format(path) for word in words), home=tmp_path)
    assert (ended.returncode, f"{path} cannot be read: No such file" in ended.stderr) == (status, True), ended.stderr
    assert "Errno" not in ended.stderr


def type_it(module, *words, home):
    return subprocess.run(
        [sys.executable, "-m", module, *words],
        env={"HOME": str(home), "PYTHONPATH": ":".join(sys.path), "MESOSCTL_MASTER": "http://127.0.0.1:1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
