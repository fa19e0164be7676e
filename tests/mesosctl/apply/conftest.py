"""A file of what is wanted, and the command line that is run on a fake master."""

import io
import json

import pytest

from mesosctl.__main__ import main
from tests.helpers.surroundings import InMemory, Terminal

FAKE = "fake:?version=1.11"
WISHES = """
[quotas.web]
guarantee = "cpus:12;mem:4GiB"
limit = "cpus:14"
[quotas.db]
guarantee = "cpus:4"
[weights]
web = 2.0
[[reservations]]
agent = "agent-1"
role = "dept"
resources = "cpus:3;mem:512;ports:[31000-31009]"
[[reservations]]
agent = "agent-1"
role = "dept/team"
under = ["dept"]
resources = "cpus:2"
"""


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "wishes.toml"
    made.write_text(WISHES)
    return made


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def run_words(*words, answer=None, stdin="", master=FAKE):
        stream = io.StringIO if answer is None else Terminal
        environment = InMemory(
            stdin=stream(answer or stdin),
            stdout=stream(),
            stderr=stream(),
            variables={"MESOSCTL_MASTER": master, "XDG_STATE_HOME": str(tmp_path)},
        )
        status = main([str(word) for word in words], environment)
        return status, environment.out, environment.err

    return run_words


def steps(out):
    return [(step["step"].split()[0], step["of"], step["done"]) for step in json.loads(out)["steps"]]
