"""Where the fake master listens, and what it says about it."""

import sys

import pytest

from tests.conformance.masters.processes import Process

pytestmark = pytest.mark.process

CREDENTIALS = '{"credentials":[{"principal":"p","secret":"s"}]}'
ALL = ["--authenticate-http-readonly", "--authenticate-http-readwrite", "--authenticate-http-frameworks"]


@pytest.mark.parametrize(
    ("words", "is_warned"),
    [
        ([], False),
        (["--ip", "127.0.0.2"], False),
        (["--ip", "localhost"], False),
        (["--ip", "0.0.0.0"], True),
        (["--ip", "0.0.0.0", *ALL[:2], "--credentials", "FILE"], True),
        (["--ip", "0.0.0.0", *ALL, "--credentials", "FILE"], False),
    ],
    ids=str,
)
def test_it_listens_on_loopback_unless_told_and_is_loud_elsewhere(words, is_warned, tmp_path):
    file = tmp_path / "credentials"
    file.write_text(CREDENTIALS)
    command = [str(file) if word == "FILE" else word for word in words]
    process = Process([sys.executable, "-m", "fake_master", "--port", "0", *command], tmp_path / "log")
    try:
        address = process.first_line()
    finally:
        process.stop()
    told = (tmp_path / "log").read_text()
    assert address.startswith("http://" + (words[1] if words else "127.0.0.1"))
    assert ("WARNING: it listens on 0.0.0.0" in told) is is_warned
    if is_warned:
        assert "--authenticate-http-frameworks" in told
    else:
        assert told == ""
