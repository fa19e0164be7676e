"""Options of recordings that somebody gives `whatif`: they end with status 2, and with the command that has them."""

import shlex

import pytest

from mesosctl.__main__ import main
from tests.helpers.surroundings import InMemory, Ran
from tests.mesosctl.replay.test_replay import recording


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recording(tmp_path, [("web", 10 * place, 60.0) for place in range(5)])

    def run(line):
        environment = InMemory(variables={"HOME": str(tmp_path), "MESOSCTL_MASTER": ""})
        return Ran(main(tuple(shlex.split(line)), environment), environment.out, environment.err)

    return run


@pytest.mark.parametrize(
    ("line", "option", "instead"),
    [
        ("whatif --replay h.sqlite quota:web=cpus:2", "--replay", "replay h.sqlite quota:web=cpus:2"),
        ("whatif 'quota:web=cpus:2;mem:1GiB' --replay=h.sqlite", "--replay",
         "replay h.sqlite 'quota:web=cpus:2;mem:1GiB'"),
        ("whatif --since 1h --replay h.sqlite weight:web=2", "--since", "replay h.sqlite --since 1h weight:web=2"),
        ("whatif --lose-agent h9 --until=1970-01-12T14:30Z --replay h.sqlite", "--until",
         "replay h.sqlite --lose-agent h9 --until=1970-01-12T14:30Z"),
        ("whatif --cycles 3 --replay h.sqlite --from s.json --assume=hold", "--replay", "replay h.sqlite"),
        ("whatif --replay h.sqlite --lose-framework web --uncalibrated", "--replay", "replay h.sqlite --uncalibrated"),
        ("-o csv --context prod whatif --replay h.sqlite", "--replay", "-o csv --context prod replay h.sqlite"),
        ("--master whatif whatif --mesos-version 1.11 --replay h.sqlite", "--replay",
         "replay h.sqlite --mesos-version 1.11"),
        ("whatif --replay h.sqlite --master http://u:p@h", "--replay", "replay h.sqlite"),
        ("whatif --history h.sqlite --wait 'role=db;task=cpus:1'", "--history",
         "replay h.sqlite --wait 'role=db;task=cpus:1'"),
        ("whatif --wait 'role=db;task=cpus:1' --history=h.sqlite", "--wait",
         "replay h.sqlite --wait 'role=db;task=cpus:1'"),
        ("whatif --cluster-id c --history h.sqlite", "--cluster-id", "replay h.sqlite --cluster-id c"),
        ("whatif --replay", "--replay", "replay RECORDING"),
        ("whatif --wait 'role=db;task=cpus:1'", "--wait", "replay RECORDING --wait 'role=db;task=cpus:1'"),
        ("whatif --since 1h --lose-agent h9", "--since", "replay RECORDING --since 1h --lose-agent h9"),
    ],
)  # fmt: skip
def test_the_hint_is_the_new_command_with_what_was_typed(typed, line, option, instead):
    ran = typed(line)
    assert (ran.status, ran.out) == (2, "")
    first, *_, hint = ran.err.splitlines()
    assert first.startswith(f"mesosctl: whatif has no {option}: ")
    assert hint == f"  hint: use mesosctl {instead}"
    if "RECORDING" not in hint and "--context" not in hint and "h9" not in hint:
        pasted = typed(hint.partition("use mesosctl ")[2])
        assert pasted.status in (0, 1), pasted.err


def test_an_option_that_neither_has_is_told_as_usual(typed):
    ran = typed("whatif --replya h.sqlite")
    assert ran.status == 2
    assert "No such option: --replya" in ran.err


def test_a_value_is_not_an_option(typed):
    ran = typed("whatif --lose-agent --replay quota:web=cpus:1")
    assert "whatif has no" not in ran.err
