"""50 SIGKILLs during `apply --plan`, and 50 during `cleanup`: the same command, run again, loses nothing.

Each run is a process of its own, killed at its next moment: before or after a step, and before or after its journal is
written.
"""

import json
import os
import signal

import pytest

from mesosctl.__main__ import main
from mesosctl.apply import journal as journals
from mesosctl.apply import work as running
from tests.helpers.surroundings import InMemory

pytestmark = [pytest.mark.process, pytest.mark.slow]
KILLS = 50
ROLES = 12
WANTED = "\n".join(
    f'[[reservations]]\nagent = "agent-1"\nrole = "r{number}"\nresources = "mem:64"' for number in range(ROLES)
)


def killed(words, surroundings, moment):
    """Run words in a process that is killed at that moment; whether it lived so long."""
    child = os.fork()
    if not child:
        status = -1
        try:
            _die_at(moment)
            status = main(words, InMemory(variables=surroundings))
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    if os.WIFEXITED(ended):
        assert os.WEXITSTATUS(ended) == 0, "it did not go on"
        return False
    return os.WTERMSIG(ended) == signal.SIGKILL


def _die_at(moment):
    left = iter(range(moment))

    def dying(call):
        def called(*words, **more):
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            answer = call(*words, **more)
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer

        return called

    for module, name in ((running, "perform"), (journals, "replace_file")):
        setattr(module, name, dying(getattr(module, name)))


@pytest.fixture
def surroundings(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return {"MESOSCTL_MASTER": "fake:?version=1.11", "XDG_STATE_HOME": str(tmp_path)}


def run(words, surroundings):
    environment = InMemory(variables=surroundings)
    assert main(words, environment) == 0, environment.err
    return environment.out


def killed_and_resumed(words, surroundings, begin):
    """Kill a command until it has been killed so often; each time that it comes to its end, begin again."""
    kills, chain = 0, 0
    begin()
    while kills < KILLS:
        # A run that goes on has less to do, so moments from 0 to 4 go through all of them.
        if killed(words, surroundings, chain % 5):
            kills, chain = kills + 1, chain + 1
        else:
            begin()
    run(words, surroundings)
    return kills


def roles(surroundings):
    return {one["role"] for one in json.loads(run(["reservations", "-o", "json"], surroundings))["reservations"]}


def test_50_kills_of_apply_plan(surroundings, tmp_path):
    wanted, plan = tmp_path / "wanted.toml", tmp_path / "plan.json"
    wanted.write_text(WANTED)

    def begin():
        for role in roles(surroundings) - {"ads"}:
            run(["unreserve", "--role", role, "--all", "--yes"], surroundings)
        run(["plan", "-f", str(wanted), "--save", str(plan), "--yes"], surroundings)

    words = ["apply", "--plan", str(plan), "--yes"]
    assert killed_and_resumed(words, surroundings, begin) == KILLS
    assert roles(surroundings) == {"ads", *(f"r{number}" for number in range(ROLES))}
    run(["diff", "-f", str(wanted)], surroundings)


def test_50_kills_of_cleanup(surroundings, tmp_path):
    wanted = tmp_path / "wanted.toml"
    wanted.write_text(WANTED.replace('role = "r', 'role = "dept/r'))

    def begin():
        run(["apply", "-f", str(wanted), "--yes"], surroundings)

    words = ["cleanup", "--role", "dept", "--yes"]
    assert killed_and_resumed(words, surroundings, begin) == KILLS
    assert roles(surroundings) == {"ads"}
    assert json.loads(run([*words, "-o", "json"], surroundings))["steps"] == []
