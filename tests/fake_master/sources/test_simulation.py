"""Simulations of sharing: guarantees first, weights, subtotals of parents, the units of the article, snapshots."""

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fake_master
from fake_master.sources.cluster_file import read_cluster
from fake_master.sources.simulation import simulate
from mesosctl.mesos.cluster.dominant_shares import Sharing
from mesosctl.offers.dominant_shares import offer_simulation
from mesosctl.show.output_formats import write
from tests.helpers.lab import Lab
from tests.helpers.lab.command_line import CommandLine

FRAMEWORK = """
[[frameworks]]
name = "{0}"
role = "{1}"
task = "cpus:1;mem:1GiB"
per_offer = 1
"""


def played(cluster: str, *frameworks: tuple[str, str]) -> Sharing:
    agent = 'mesos_version = "1.11"\n[[agents]]\nresources = "cpus:18;mem:36GiB"\n'
    return simulate(read_cluster(agent + cluster + "".join(FRAMEWORK.format(*one) for one in frameworks), "x.toml"), 99)


def table(sharing: Sharing, form: str = "table") -> str:
    out = io.StringIO()
    write(offer_simulation(sharing), form, out, draws=False, colours=False)
    return out.getvalue()


def test_guarantees_come_first():
    sharing = played('[quotas.rA]\nguarantee = "cpus:6"\nlimit = "none"\n', ("b", "rB"), ("a", "rA"))
    assert [(step.framework, step.stage) for step in sharing.steps[:6]] == [("a", "guarantee")] * 6
    assert {step.stage for step in sharing.steps[6:]} == {"fair share"}
    # What is left goes to the one with the lower dominant share, until both have the same.
    assert [step.framework for step in sharing.steps[6:12]] == ["b"] * 6
    assert sharing.tasks == {"a": 9, "b": 9}
    assert "guarantees: rA: 6 cpus" in table(sharing)


def test_shares_are_as_weights_say():
    sharing = played("[weights]\nheavy = 2\n", ("h", "heavy"), ("l", "light"))
    assert sharing.tasks == {"h": 12, "l": 6}
    shown = {holding.framework: holding for holding in sharing.holdings_at_end}
    assert shown["h"].share == pytest.approx(2 / 3)
    assert shown["h"].weighted_share == pytest.approx(shown["l"].weighted_share) == pytest.approx(1 / 3)
    # The one with the lowest weighted share is next, whatever its share.
    for before, after in zip(sharing.steps, sharing.steps[1:], strict=False):
        weighted = {holding.framework: holding.weighted_share for holding in before.holdings}
        assert weighted[after.framework] == min(weighted.values())
    assert "WEIGHTED" in table(sharing)


def test_a_parent_has_the_sum_of_the_roles_below_it():
    sharing = played("", ("be", "eng/backend"), ("fe", "eng/frontend"), ("ops", "ops"))
    (parent,) = sharing.roles_at_end
    assert (parent.role, dict(parent.amounts)["cpus"]) == ("eng", 9000)
    # A parent shares with its siblings first: half is for eng, and half of that for each below it.
    assert sharing.tasks["ops"] == 9
    assert sorted((sharing.tasks["be"], sharing.tasks["fe"])) == [4, 5]
    assert "ROLE eng SHARES" in table(sharing)
    assert "ROLE" not in table(played("", ("a", "a"), ("b", "b")))


def test_sizes_are_in_the_units_of_the_article_where_that_is_exact():
    lines = table(played("", ("a", "a"))).splitlines()
    assert "1/18, 1/36" in lines[1]
    assert "units: mem in GiB" in lines
    odd_sizes = FRAMEWORK.replace("mem:1GiB", "mem:100")
    agent = '[[agents]]\nresources = "cpus:2;mem:36GiB"\n'
    lines = table(simulate(read_cluster(agent + odd_sizes.format("a", "a"), "x.toml"), 99)).splitlines()
    assert "1/2, 100/36864" in lines[1]


SIZES = st.sampled_from([100, 512, 1024, 3 * 1024, 1024**2, 3 * 1024**2])
UNITS = {"GiB": 1024, "TiB": 1024**2}


@given(SIZES, SIZES, SIZES, st.integers(2, 6), st.sampled_from(["table", "wide"]), st.booleans())
def test_fractions_are_in_the_units_that_stand_below_them_in_every_table(agent, one, other, disk, form, draws):
    """The totals of csv are those of the table times its units; a size that is short in none stays in MB."""
    sharing = simulate(
        read_cluster(
            f'[[agents]]\nresources = "cpus:4;mem:{agent * 8};disk:{disk * 1000}"\n'
            + "".join(
                f'[[frameworks]]\nname = "{name}"\nrole = "{name}"\ntask = "cpus:1;mem:{size};disk:1000"\n'
                for name, size in (("a", one), ("b", other))
            ),
            "x.toml",
        ),
        9,
    )
    if not sharing.steps:
        return
    out = io.StringIO()
    write(offer_simulation(sharing), form, out, draws=draws, colours=False, width=400)
    units = dict(re.findall(r"(mem|disk) in (\w+)", out.getvalue()))
    first, row = list(csv.reader(io.StringIO(table(sharing, "csv"))))[:2]
    for name in ("mem", "disk"):
        taken, total = row[first.index(f"{name} total")].split("/")
        size = UNITS.get(units.get(name, ""), 1)
        assert f" {float(taken) / size:.15g}/{float(total) / size:.15g}" in out.getvalue()
        if size > 1:
            assert f"{taken}/{total}" not in out.getvalue()


def test_csv_keeps_its_amounts():
    out = io.StringIO()
    write(offer_simulation(played("", ("a", "a"))), "csv", out, draws=False, colours=False)
    assert "1024/36864" in out.getvalue()


def test_json_has_stages_roles_and_weights():
    sharing = played('[quotas.rA]\nguarantee = "cpus:2"\nlimit = "none"\n[weights]\nrA = 3\n', ("a", "rA"))
    out = io.StringIO()
    write(offer_simulation(sharing), "json", out, draws=False, colours=False)
    step = json.loads(out.getvalue())["steps"][0]
    assert step["stage"] == "guarantee"
    assert step["roles"][0] == {
        "role": "rA",
        "amounts": {"cpus": 1.0, "mem": 1024.0},
        "dominant": "cpus",
        "share": pytest.approx(1 / 18),
        "weight": 3.0,
        "weighted_share": pytest.approx(1 / 54),
        "guarantee": {"cpus": 2.0},
    }


def test_a_snapshot_is_played_on_from_what_runs():
    lab = Lab()
    running = '[[frameworks.running]]\nagent = "agent-1"\ntasks = 2\nresources = "cpus:4;mem:2GiB"\n'
    cluster = '[[agents]]\nresources = "cpus:18;mem:36GiB"\n' + FRAMEWORK.format("a", "a").replace(
        "per_offer = 1", 'answer = "hold"'
    )
    idle = FRAMEWORK.format("idle", "b").replace("per_offer = 1", 'answer = "decline"')
    lab.start(read_cluster(cluster + running + idle, "x"), takes_over=False)
    snapshot = CommandLine(lab).run("snapshot").out
    sharing = fake_master.simulate(io.BytesIO(snapshot.encode()), "s.json", 99)
    # Two ran, of two cpus each; seven more fit.
    assert sharing.tasks == {"a": 9, "idle": 0}
    assert sharing.assumed[1] == "frameworks that run none launch none: idle"
    assert "assumed: each framework launches" in table(sharing)


def test_a_snapshot_in_which_nothing_runs_says_what_to_do(tmp_path):
    line = CommandLine(Lab())
    path = tmp_path / "s.json"
    line.run("snapshot", "-f", str(path))
    ran = line.run("offers", "simulate", str(path))
    assert ran.status == 3
    assert "export --cluster --from" in ran.err
