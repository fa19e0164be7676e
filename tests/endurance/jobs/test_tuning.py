"""The job in small, on a made-up log."""

from pathlib import Path
from random import Random

import pytest

from tests.benchmarks.replay import RECORDING, run
from tests.endurance.jobs.tuning import Case, check

_MOST = {"a": {"cpus": 8}, "b": {"cpus": 8}}


@pytest.mark.parametrize(
    ("goals", "on_record", "said"),
    [
        ({"a": 1000, "b": 1000}, {}, "nothing needs to change"),
        ({"a": 140, "b": 400}, {}, "YES: both goals are met by"),
        ({"a": 100, "b": 300}, {}, "NO: none of"),
        ({"a": 140, "b": 400}, {"b": {"cpus": 4}}, "YES: both goals are met by quota:a="),
    ],
)
def test_what_a_grid_finds_is_found(
    tmp_path: Path, goals: dict[str, float], on_record: dict[str, dict[str, int]], said: str
) -> None:
    random = Random(47)
    rows = ["role,resources,asked,from,to\n"]
    for number in range(60):
        at = 60 * number + random.randrange(60)
        rows.append(
            f"{random.choice('ab')},cpus:{random.choice((1, 2, 4))},{at},{at},{at + random.randrange(30, 400)}\n"
        )
    (tmp_path / "log.csv").write_text("".join(rows), encoding="utf-8")
    (tmp_path / "nodes.csv").write_text("agent,resources\nn1,cpus:8;mem:1024\nn2,cpus:4;mem:1024\n", encoding="utf-8")
    agents, recording = str(tmp_path / "nodes.csv"), str(tmp_path / RECORDING)
    log = str(tmp_path / "log.csv")
    run(tmp_path, "history", "import", log, "--format", "csv", "--agents", agents, "--history", recording)
    most = {"a": _MOST["a"]} if on_record else _MOST
    case = Case("small", 2, goals, most, on_record=on_record, keep=list(on_record), steps=4)
    checked = check(tmp_path, tmp_path / RECORDING, case)
    assert checked.problems == []
    assert said in next(one for one in checked.seen if one.startswith("tune: "))
