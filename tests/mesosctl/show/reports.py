"""A report of each kind, as the commands write them."""

from pathlib import Path

from mesosctl.__main__ import main
from mesosctl.whatif.page import page
from tests.helpers.surroundings import InMemory
from tests.mesosctl.replay.test_replay import recording
from tests.mesosctl.whatif.forecasts import ORIGIN, whole_forecast

CLUSTER = """mesos_version = "1.11"
[[agents]]
resources = "cpus:8;mem:4096"
count = 2
[[frameworks]]
name = "spark"
roles = ["ads"]
answer = "hold"
"""
GOALS = """[goals.web]
wait_p95 = "1m"
hours_served = "90%"
[change.web]
limit = { from = "cpus:1", to = "cpus:2", steps = 1 }
"""
COMMANDS = {
    "whatif": ("--master", "fake:c.toml", "--principal", "op", "whatif", "quota:web=cpus:8;mem:4096"),
    "replay": ("replay", "h.sqlite", "--wait-limit", "5m", "limit:web=cpus:1"),
    "tuning": ("tune", "goals.toml", "--replay", "h.sqlite"),
    "usage": ("usage", "--history", "h.sqlite", "--step", "10m"),
    "cost": ("usage", "--history", "h.sqlite", "--prices", "prices.toml", "--step", "1mo"),
    "wait": ("replay", "h.sqlite", "--wait", "role=web;task=cpus:1"),
}
"""The command of each kind, without --report."""


def written_reports(folder: Path, role: str = "ads") -> dict[str, Path]:
    """Write a report of each kind, and a forecast with everything in it, to the working directory, which is `folder`.

    The recording has tasks of web, and one of `role`.
    """
    recording(folder, [("web", 10 * place, 60.0) for place in range(20)] + [(role, 5, 100.0)])
    (folder / "c.toml").write_text(CLUSTER, encoding="utf-8")
    (folder / "goals.toml").write_text(GOALS, encoding="utf-8")
    (folder / "prices.toml").write_text('currency = "EUR"\n[[prices]]\ncpu_hour = 1\n', encoding="utf-8")
    made = {kind: folder / f"{kind}.html" for kind in ("forecast", *COMMANDS)}
    made["forecast"].write_text(page(whole_forecast(), [], ORIGIN), encoding="utf-8")
    for kind, words in COMMANDS.items():
        variables = {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "MESOSCTL_SECRET": "s"}
        environment = InMemory(variables=variables)
        assert main([*words, "--report", f"{kind}.html"], environment) in (0, 1), environment.err
    return made
