"""`--context a,b` and `--all-contexts` on three masters: two fake ones on sockets, and another or the real one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mesosctl.__main__ import main
from tests.conformance.callers.joining import quick
from tests.conformance.commands.conftest import Run
from tests.conformance.masters.carriers import REAL, SOCKET, SOCKET_DOCUMENTS, Carrier, Pool
from tests.conformance.masters.cluster import Cluster
from tests.helpers.surroundings import InMemory, Ran

NAMES = ("lab", "old", "prod")
ALL = ",".join(NAMES)


@pytest.fixture(params=(SOCKET, REAL), ids=str)
def masters(request: pytest.FixtureRequest, pool: Pool) -> Iterator[dict[str, Cluster]]:
    """The masters by context; the agent of each has another size."""
    third: Carrier = request.param
    started = {
        name: pool.start(carrier, quick(f"cpus:{cpus};mem:4096"))
        for name, carrier, cpus in zip(NAMES, (SOCKET, SOCKET_DOCUMENTS, third), (4, 6, 8), strict=True)
    }
    yield started
    for master in started.values():
        master.stop()


@pytest.fixture
def everywhere(masters: dict[str, Cluster], tmp_path: Path) -> Run:
    """Run words with these contexts, which end with this status."""
    addresses = {name: master.address for name, master in masters.items()}
    addresses["same"] = addresses["prod"].replace("127.0.0.1", "localhost")
    configuration = tmp_path / "config.toml"
    configuration.write_text(
        "".join(f'[contexts.{name}]\nmaster = "{address}"\n' for name, address in addresses.items()),
        encoding="utf-8",
    )
    variables = {"MESOSCTL_CONFIG": str(configuration), "XDG_STATE_HOME": str(tmp_path)}

    def words(*typed: str, gives: int = 0) -> Ran:
        environment = InMemory(variables=variables)
        ran = Ran(main(typed, environment), environment.out, environment.err)
        assert ran.status == gives, ran.err
        return ran

    return words


def answers(ran: Ran) -> dict[str, dict[str, object]]:
    """The answer of each context."""
    return {one["context"]: one["answer"] for one in ran.json["contexts"]}


def test_lists_changes_and_failures_on_three_masters(masters: dict[str, Cluster], everywhere: Run) -> None:
    listed = answers(everywhere("agents", "--all-contexts", "-o", "json"))
    sizes = {name: one["agents"][0]["total"]["amounts"]["cpus"] for name, one in listed.items()}  # type: ignore[index]
    assert sizes == {"lab": 4.0, "old": 6.0, "prod": 8.0, "same": 8.0}

    everywhere("quota", "set", "web", "cpus:2", "--context", "old,prod", "--yes")
    table = everywhere("quota", "list", "--context", ALL, "-o", "csv", "--columns", "context,role,guarantee").out
    assert table.splitlines()[1:] == ["old,web,cpus:2", "prod,web,cpus:2"]

    # A master is one, whatever the spelling of its address: the change is refused before anything is sent.
    agent = masters["prod"].agents()[0]["id"]
    for agreed in (), ("--yes",):
        words = ("reserve", agent, "cpus:1", "--role", "ads", "--context", "prod,same", *agreed)
        assert "contexts prod and same name the same master" in everywhere(*words, gives=2).err
        assert everywhere("reservations", "--context", "prod", "-o", "json").json["reservations"] == []

    # The worst status counts: one master has no room for so much, and those that have some are changed.
    refused = everywhere("quota", "set", "big", "cpus:5", "--context", ALL, "--yes", "-o", "json", gives=6)
    statuses = {one["context"]: one["exit_status"] for one in refused.json["contexts"]}
    assert statuses == {"lab": 6, "old": 6, "prod": 0}

    audited = everywhere("audit", "list", "quota", "-o", "json").json["commands"]
    assert [(one["context"], one["status"]) for one in audited] == [("old", 0), ("prod", 0), ("prod", 0)]

    masters["lab"].stop()
    away = everywhere("quota", "list", "--context", ALL, "--timeout", "2", "-o", "json", gives=7)
    assert [one["exit_status"] for one in away.json["contexts"]] == [7, 0, 0]
    assert [role["role"] for role in answers(away)["prod"]["quotas"]] == ["big", "web"]  # type: ignore[attr-defined]
