"""The selections of every list: names, `--role`, `--attribute`, `--sort` and `--watch`."""

import csv
import io
from collections.abc import Mapping
from typing import NamedTuple

import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.mesos.amounts.notation import natural, parse_entries
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.program.reference.command_tree import commands
from tests.helpers.lab import CommandLine, Lab
from tests.mesosctl.program.mistakes.mistake import typed

SELECTIONS = ("names", "--role", "--attribute", "--sort", "--watch")
NOT_ON_AGENTS = "an entry belongs to the cluster, not to an agent"
ON_THIS_MACHINE = "it reads files of this machine, which belong to no master"
OF_NO_ROLE = "an entry belongs to no role"


class Listed(NamedTuple):
    """A list: the keys of --sort that a test uses with the column that each sorts, and the selections it lacks."""

    sorts: Mapping[str, str] = {}
    lacks: Mapping[str, str] = {}
    """The reason for each."""


LISTS = {
    "agents list": Listed({"agent": "agent"}),
    "frameworks list": Listed({"framework": "framework", "offers": "offers"}, {"--attribute": NOT_ON_AGENTS}),
    "roles list": Listed({"role": "role", "weight": "weight"}, {"--attribute": NOT_ON_AGENTS}),
    "tasks list": Listed({"task": "task", "agent": "agent"}),
    "quota list": Listed({"role": "role", "cpus": "guarantee"}, {"--attribute": NOT_ON_AGENTS}),
    "weights list": Listed({"role": "role", "weight": "weight"}, {"--attribute": NOT_ON_AGENTS}),
    "reservations": Listed(
        {"agent": "agent", "role": "role", "cpus": "resources"},
        {"names": "an entry has no name of its own; --agent and --role select it"},
    ),
    "volumes list": Listed({"id": "id", "role": "role", "disk": "size"}),
    "offers list": Listed({"agent": "agent", "role": "role", "cpus": "resources"}),
    "maintenance list": Listed({"machine": "machine", "from": "from"}, {"--role": OF_NO_ROLE}),
    "ratelimit show": Listed(
        {"principal": "principal", "qps": "qps"}, {"--role": OF_NO_ROLE, "--attribute": NOT_ON_AGENTS}
    ),
    "audit list": Listed(
        lacks={
            "names": "WORD selects commands",
            "--role": "WORD selects those that name a role",
            "--attribute": NOT_ON_AGENTS,
            "--watch": ON_THIS_MACHINE,
        }
    ),
    "context list": Listed(
        lacks={
            "names": "context show NAME shows one",
            "--role": OF_NO_ROLE,
            "--attribute": NOT_ON_AGENTS,
            "--sort": "the few contexts are in the order of their names",
            "--watch": ON_THIS_MACHINE,
        }
    ),
    "history list": Listed(
        lacks={
            "names": "it shows the one recording that --history names",
            "--role": "mesosctl usage shows what a recording knows of a role",
            "--attribute": NOT_ON_AGENTS,
            "--sort": "its few clusters and gaps are in the order of time",
            "--watch": ON_THIS_MACHINE,
        }
    ),
}
"""Every command that lists something."""


def lists_with(selection: str) -> list[str]:
    return [words for words, one in LISTS.items() if selection not in one.lacks]


def options_of() -> dict[str, tuple[set[str], bool]]:
    """The options of each command, and whether it takes any number of names."""
    return {
        " ".join(node.path[1:]): (
            {name for option in node.options for name in option.names},
            any(argument.name.endswith("...") for argument in node.arguments),
        )
        for node in commands().walk()
        if not node.children
    }


def test_every_list_has_every_selection_or_says_why_it_has_none():
    known = options_of()
    found = {words for words, (options, _) in known.items() if words.endswith("list") or "--sort" in options}
    assert found == {words for words in LISTS if words != "ratelimit show"} | {"ratelimit show"}
    for words, one in LISTS.items():
        options, takes_names = known[words]
        has = {selection for selection in SELECTIONS if selection in options} | ({"names"} if takes_names else set())
        assert has | set(one.lacks) == set(SELECTIONS), words
        assert words == "audit list" or not has & set(one.lacks), words  # WORD of audit list is not a name


TASK = Resources(parse_entries("cpus:3;mem:1024"))
FRAMEWORKS = (
    SimulatedFrameworkSpec("spark", ("ads",), task=TASK, tasks=7, principal="sparks"),
    SimulatedFrameworkSpec("shop", ("web/front",), answer="hold", principal="shopkeeper"),
    SimulatedFrameworkSpec("hoard", ("ads",), answer="hold"),
)
LIMITS = {"limits": [{"principal": "sparks", "qps": 5.0}, {"principal": "shopkeeper", "qps": 50.0, "capacity": 10}]}
BEFORE = """
quota set ads cpus:2 --force
quota set web cpus:4 --force
weights set ads=2 web/front=3
reserve node-1 cpus:2 disk:100 --role ads
reserve node-10 cpus:1 disk:200 --role web
volumes create node-1 v1 disk:50 --role ads
volumes create node-10 v2 disk:150 --role web
maintenance plan node-1 --at 2026-12-01T02:00Z --duration 1h
maintenance plan node-2 node-10 --at 2026-12-02T02:00Z --duration 1h
"""


@pytest.fixture(scope="module")
def live():
    agents = [
        AgentSpec("cpus:8;mem:4096;disk:1000", hostname=f"node-{number}", attributes={"rack": rack})
        for number, rack in ((1, "r1"), (2, "r1"), (3, "r2"), (10, "r2"))
    ]
    lab = Lab(*agents, version="1.11", frameworks=FRAMEWORKS, rate_limits=LIMITS)
    commands_of_lab = CommandLine(lab)
    lab.wait(3.0)
    for line in BEFORE.split("\n"):
        if line:
            ran = commands_of_lab.run(*line.split(), "--yes")
            assert ran.status == 0, (line, ran.err)
    lab.wait(3.0)
    return commands_of_lab


def rows(ran):
    assert ran.status == 0, ran.err
    return list(csv.DictReader(io.StringIO(ran.out)))


def listed(live, words, *more):
    return rows(live.run(*words.split(), *more, "-o", "csv"))


ON_A_MASTER = [words for words in LISTS if words not in ("audit list", "context list", "history list")]


@pytest.mark.parametrize("words", ON_A_MASTER)
def test_the_lists_of_these_tests_have_entries_to_select(live, words):
    assert len(listed(live, words)) > 1


@pytest.mark.parametrize("words", [words for words in ON_A_MASTER if words in lists_with("names")])
def test_names_select_entries(live, words):
    names = live.run(*words.split(), "-o", "name").out.split()
    for name in (names[0], names[-1]):
        assert live.run(*words.split(), name, "-o", "name").out.split() == [name]
    wrong = live.run(*words.split(), "nobody-has-this")
    assert wrong.status == 5, wrong.err
    assert "hint: " in wrong.err


@pytest.mark.parametrize("words", lists_with("--role"))
def test_a_role_selects_entries_of_it_and_of_roles_below_it(live, words):
    everything = listed(live, words)
    of_ads, of_web = (listed(live, words, "--role", role) for role in ("ads", "web"))
    assert of_ads, "ads has entries in every list"
    assert all(row in everything for row in of_ads)
    assert of_web != of_ads
    if words in ("roles list", "weights list", "offers list", "frameworks list"):
        assert any("web/front" in value for row in of_web for value in row.values())
    nobody = live.run(*words.split(), "--role", "asd")
    assert (nobody.status, nobody.out) == (0, "")
    assert "with --role asd" in nobody.err


@pytest.mark.parametrize("words", [words for words in ON_A_MASTER if words in lists_with("--attribute")])
def test_the_values_of_an_attribute_part_the_entries(live, words):
    everything = listed(live, words)
    parts = [listed(live, words, "--attribute", f"rack={rack}") for rack in ("r1", "r2")]
    assert all(row in everything for part in parts for row in part)
    assert sum(map(len, parts)) == len(everything)
    assert all(parts)
    nowhere = live.run(*words.split(), "--attribute", "rack=r3")
    assert (nowhere.status, nowhere.out) == (0, "")
    assert "with --attribute rack=r3" in nowhere.err


@pytest.mark.parametrize("words", [words for words in ON_A_MASTER if words in lists_with("--attribute")])
def test_a_selector_and_its_opposite_part_the_entries(live, words):
    for selector, opposite in (("rack=r1", "rack!=r1"), ("rack in (r1,r9)", "rack notin (r1, r9)"), ("rack", "!rack")):
        everything = listed(live, words)
        parts = [listed(live, words, "--attribute", written) for written in (selector, opposite)]
        assert sum(map(len, parts)) == len(everything)
        assert all(row in everything for part in parts for row in part)
        assert listed(live, words, "--attribute", selector, "--attribute", opposite) == []


def sorted_by(cell, key):
    """The key of a cell: numbers and the amounts of a resource are sorted from the largest, texts naturally."""
    if key in ("cpus", "disk"):
        parts = (part.partition(":") for part in cell.split(";"))
        return -sum(float(amount) for name, _, amount in parts if name.strip().partition("(")[0] == key)
    return natural(cell) if not cell.replace(".", "").isdigit() else -float(cell)


SORTED_APART = ("", "(default)", "unlimited")
SORTS = [(words, key, column) for words, one in LISTS.items() for key, column in one.sorts.items()]


@pytest.mark.parametrize(("words", "key", "column"), SORTS)
def test_a_key_sorts_the_entries_and_a_minus_sign_reverses_them(live, words, key, column):
    up, down = (listed(live, words, "--sort", sort) for sort in (key, f"-{key}"))
    everything = listed(live, words)
    assert sorted(map(str, up)) == sorted(map(str, everything)) == sorted(map(str, down))
    first, last = (
        [sorted_by(row[column], key) for row in found if row[column] not in SORTED_APART] for found in (up, down)
    )
    assert first == sorted(first)
    assert last == sorted(last, reverse=True)
    assert len(set(first)) > 1, "the entries differ"


def test_agents_are_sorted_naturally(live):
    names = [row["agent"] for row in listed(live, "offers list", "--sort", "agent")]
    assert names == sorted(names, key=lambda name: int(name.removeprefix("node-")))
    assert names[-1] == "node-10"


@pytest.mark.parametrize("words", [words for words in ON_A_MASTER if words in lists_with("--sort")])
def test_an_unknown_key_is_refused_with_those_that_there_are(live, words):
    ran = live.run(*words.split(), "--sort", "colour")
    assert ran.status == 2
    assert "'colour' is not a column to sort by" in ran.err
    assert f"{next(iter(LISTS[words].sorts))}, " in ran.err


@pytest.mark.parametrize("words", lists_with("--watch"))
def test_a_list_that_is_watched_is_the_list(live, words):
    assert live.run(*words.split(), "--watch", "--count", "2").out == live.run(*words.split()).out


def test_a_tree_has_its_own_order(live):
    ran = live.run("reservations", "--tree", "--sort", "role")
    assert (ran.status, "leave out --tree or --sort" in ran.err) == (2, True)


def test_commands_in_the_audit_are_sorted(folder):
    typed("quota set web cpus:1", folder)
    typed("quota set ads cpus:1", folder)
    commands_of = ["quota set ads cpus:1", "quota set web cpus:1"]
    for sort, found in (("time", commands_of[::-1]), ("command", commands_of), ("-command", commands_of[::-1])):
        ran = typed(f"audit list --sort {sort} -o csv --columns command", folder)
        assert [row["command"] for row in rows(ran)] == found
    assert typed("audit list --sort colour", folder).status == 2
