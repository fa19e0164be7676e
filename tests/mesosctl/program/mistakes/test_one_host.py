"""Agents that share a host name are told apart wherever they are named."""

import csv
import io
import re
from pathlib import Path

from tests.mesosctl.program.mistakes.mistake import ONE_HOST, typed


def ctl(folder: Path, words: str, status: int = 0) -> str:
    ran = typed(words, folder, ONE_HOST)
    assert ran.status == status, ran.err
    return ran.out


def rows(text: str) -> list[list[str]]:
    return [re.split("  +", line.strip()) for line in text.splitlines()]


def test_tables_have_short_ids_where_hosts_are_shared_and_wide_ones_whole_ids(folder):
    assert rows(ctl(folder, "reserve S1 cpus:1 --role web"))[-1] == ["host-1", "reserved", "1 cpu", "web", "S1"]
    ctl(folder, "reserve host-2 cpus:1 --role web")
    titles, *found = rows(ctl(folder, "reservations --role web"))
    assert titles[-1] == "AGENT ID"
    assert [(row[0], row[-1]) for row in found] == [("host-1", "S1"), ("host-2", "S2")]
    (whole, _) = [row[-2] for row in rows(ctl(folder, "reservations --role web -o wide"))[1:]]
    assert whole.endswith("-S1")
    assert len(whole) > 30
    read = list(csv.DictReader(io.StringIO(ctl(folder, "reservations --role web -o csv"))))
    assert (read[0]["agent"], read[0]["agent id"]) == ("host-1", whole)


def test_a_list_of_agents_has_their_ids_where_hosts_are_shared(folder):
    titles, *found = rows(ctl(folder, "agents"))
    assert titles[-2:] == ["AGENT ID", "FREE"]
    assert [(row[0], row[-2]) for row in found] == [("host-1", "S0"), ("host-1", "S1"), ("host-2", "S2")]
    assert [row[-2][-3:] for row in rows(ctl(folder, "agents -o wide"))[1:]] == ["-S0", "-S1", "-S2"]
    assert [row[0] for row in rows(ctl(folder, "agents S1 host-2"))[1:]] == ["host-1", "host-2"]
    assert "AGENT ID" not in typed("agents", folder).out


def test_no_id_is_shown_where_no_host_is_shared(folder):
    ran = typed("reserve agent-1 cpus:1 --role web", folder)
    assert "AGENT ID" not in ran.out
    ctl(folder, "reserve host-2 cpus:1 --role web")
    assert "AGENT ID" not in ctl(folder, "reservations")


def test_volumes_are_told_apart(folder):
    ctl(folder, "reserve S0 disk:100 --role db")
    ctl(folder, "volumes create S0 v1 disk:10 --role db")
    assert rows(ctl(folder, "volumes list"))[-1] == ["host-1", "db", "v1", "10MiB disk", "no", "S0"]
    assert ctl(folder, "volumes list -o csv").splitlines()[0] == "agent,role,id,size,in use,path,agent id,disk"


def test_what_would_be_lost_is_told_apart(folder):
    lost = "agents lost: 2 of 3: host-1 (S1), host-2 (lost in total: "
    ctl(folder, "reserve S1 cpus:2 --role web")
    said = ctl(folder, "whatif --lose-agent S1 --lose-agent host-2")
    assert lost in said
    assert "; reserved of that: 2 cpus and 1GiB mem for ads, 2 cpus for web)" in said


def test_a_plan_names_the_agent_that_is_meant(folder):
    ctl(folder, "reserve S0 cpus:1 --role web")
    ctl(folder, "export -f wanted.toml")
    ctl(folder, "unreserve S0 cpus:1 --role web --yes")
    assert "web on host-1 (S0)" in ctl(folder, "diff -f wanted.toml", 1)
    assert "web on host-1 (S0)" in ctl(folder, "apply -f wanted.toml --dry-run")
