"""`mesosctl agents`, `frameworks` and `roles` as they are typed, against a fake master in virtual time."""

import csv
import io
import json

import pytest
import yaml

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.resources import Resources
from tests.helpers.lab import CommandLine, Lab

TASK = Resources(parse_entries("cpus:1;mem:1024"))
ADS = SimulatedFrameworkSpec("spark", ("ads",), task=TASK, tasks=2)
WEB = SimulatedFrameworkSpec("shop", ("web/front",), answer="hold", principal="shopkeeper")


def agent(resources: str, hostname: str, **attributes: str) -> AgentSpec:
    return AgentSpec(resources, hostname=hostname, attributes=attributes)


@pytest.fixture
def live():
    lab = Lab(
        agent("cpus:4;mem:4096;disk:1000", "big", rack="r1"),
        agent("cpus:2;mem:2048;cpus(ads):1", "small", rack="r2"),
        version="1.11",
        frameworks=(ADS, WEB),
    )
    commands = CommandLine(lab)
    lab.wait(3.0)
    return commands


def rows(ran):
    assert ran.status == 0, ran.err
    return list(csv.DictReader(io.StringIO(ran.out)))


def test_every_agent_has_a_line_with_what_is_in_use(live):
    shown = {row["agent"]: row for row in rows(live.run("agents", "-o", "csv"))}
    assert list(shown) == ["big", "small"]
    assert shown["small"]["total"] == "cpus:3;mem:2048"
    assert shown["small"]["reserved_for"] == "ads"
    assert shown["big"]["attributes"] == "rack=r1"
    free = [one["free"]["amounts"] for one in live.run("agents", "-o", "json").json["agents"]]
    for row, amounts in zip(shown.values(), free, strict=True):
        assert dict(part.split(":") for part in row["free"].split(";") if part) == {
            name: f"{amount:g}" for name, amount in amounts.items()
        }
    assert {row["status"] for row in shown.values()} == {"active"}
    ids = [one["id"] for one in live.lab.agents]
    assert [row["agent id"] for row in shown.values()] == ids
    assert live.run("agents", "-o", "name").out.split() == ids


def test_used_offered_and_free_make_the_total(live):
    document = live.run("agents", "-o", "json").json
    assert (document["schema_version"], document["kind"]) == (1, "agents.list")
    for one in document["agents"]:
        parts = [one[part]["amounts"] for part in ("used", "offered", "free")]
        for name, total in one["total"]["amounts"].items():
            assert sum(part.get(name, 0.0) for part in parts) == total
    assert sum(one["used"]["amounts"].get("cpus", 0.0) for one in document["agents"]) == live.lab.used() == 2.0


@pytest.mark.parametrize(
    "words",
    [("agents",), ("frameworks",), ("roles",), ("weights",), ("quota", "list"), ("reservations",), ("offers", "list")],
)
def test_yaml_is_the_document_of_json(live, words):
    live.run("weights", "set", "ads=2")
    live.run("quota", "set", "ads", "cpus:1")
    document = live.run(*words, "-o", "json").json
    assert yaml.safe_load(live.run(*words, "-o", "yaml").out) == document
    items = next(value for value in document.values() if isinstance(value, list))
    assert live.run(*words, "-o", "jsonl").lines == items


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--attribute", "rack=r2"), ["small"]),
        (("--role", "ads"), ["big", "small"]),
        (("--role", "web"), ["big", "small"]),
        (("--role", "nobody"), []),
        (("small",), ["small"]),
        (("S0", "S1"), ["big", "small"]),
        (("--sort", "mem"), ["big", "small"]),
        (("--sort", "-agent"), ["small", "big"]),
        (("--sort", "-name"), ["small", "big"]),
    ],
)
def test_agents_are_chosen_and_sorted(live, words, found):
    if words == ("--sort", "mem"):  # most in use first
        used = {one["hostname"]: one["used_resources"]["mem"] for one in live.lab.agents}
        found = sorted(used, key=lambda name: -used[name])
    assert [row["agent"] for row in rows(live.run("agents", *words, "-o", "csv"))] == found


def test_an_agent_out_of_service_says_so(live):
    live.lab.about("DEACTIVATE_AGENT", live.lab.agents[0]["id"])
    live.lab.about("DRAIN_AGENT", live.lab.agents[1]["id"])
    first, second = (row["status"] for row in rows(live.run("agents", "-o", "csv")))
    assert first == "deactivated"
    assert second in ("draining", "drained")
    assert "deactivated" in live.run("agents", terminal=True, NO_COLOR="1", COLUMNS="60").out


def test_frameworks_say_what_they_hold(live):
    shop, spark = rows(live.run("frameworks", "-o", "csv"))
    assert (spark["framework"], spark["roles"], spark["used"]) == ("spark", "ads", "cpus:2;mem:2048")
    assert (shop["principal"], shop["used"]) == ("shopkeeper", "")
    assert int(shop["offers"]) == len(live.lab.framework("shop")["offers"]) > 0
    assert [row["framework"] for row in rows(live.run("frameworks", "--role", "web", "-o", "csv"))] == ["shop"]
    assert [row["framework"] for row in rows(live.run("frameworks", "spark", "-o", "csv"))] == ["spark"]


def test_roles_say_how_they_stand(live):
    live.run("quota", "update", "ads", "cpus:3", "--create", "--limit", "none", "--force")
    live.run("quota", "update", "web", "cpus:0.5", "--create", "--force")
    live.run("quota", "update", "idle", "cpus:1", "--create", "--force")
    shown = {row["role"]: row for row in rows(live.run("roles", "-o", "csv"))}
    assert shown["idle"]["status"] == "no frameworks"
    assert shown["web/front"]["status"] == "no quota"
    document = {one["role"]: one for one in live.run("roles", "-o", "json").json["roles"]}
    for role, one in document.items():
        held = {name: one["usage"]["consumed"].get(name, 0) + one["usage"]["offered"].get(name, 0)
                for name in one["guarantee"]}  # fmt: skip
        missing = {name: amount - held[name] for name, amount in one["guarantee"].items() if amount > held[name]}
        assert one["missing"] == missing, role
        assert (one["standing"] in ("below guarantee", "no frameworks")) == bool(missing), role


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        ("agents bgi", 5, "did you mean big?"),
        ("frameworks sprak", 5, "did you mean spark?"),
        ("roles asd", 5, "did you mean ads?"),
        ("agents --sort cpsu", 2, "did you mean cpus?"),
        ("agents --attribute rack>1", 2, "--attribute"),
        ("agents --count 3", 2, "--count needs --watch"),
        ("roles --watch -o json", 2, "use -o jsonl"),
        ("roles --watch --every 0", 2, "--every"),
    ],
)
def test_a_mistake_is_named_with_what_is_likely(live, words, status, told):
    ran = live.run(*words.split())
    assert (ran.status, told in ran.err) == (status, True), ran.err


@pytest.mark.parametrize(
    "words", ["agents --role asd", "frameworks --role asd", "roles --role asd", "offers list --role asd"]
)
def test_an_empty_list_names_the_option_that_chose(live, words):
    ran = live.run(*words.split())
    assert (ran.status, ran.out) == (0, "")
    assert "with --role asd" in ran.err


def test_names_that_several_frameworks_have_bring_their_ids(live):
    twins = (ADS, SimulatedFrameworkSpec("spark", ("web",), answer="decline"))
    lab = Lab("cpus:8;mem:8192", version="1.11", frameworks=twins)
    lab.wait(2.0)
    shown = CommandLine(lab).run("frameworks", terminal=True, NO_COLOR="1", COLUMNS="80").out
    assert "FRAMEWORK ID" in shown
    assert {"0000", "0001"} <= set(shown.split())
    assert "FRAMEWORK ID" not in live.run("frameworks", terminal=True, NO_COLOR="1", COLUMNS="80").out


@pytest.mark.parametrize(("version", "status"), [("1.4", "met (at limit)"), ("1.8", "met (at limit)"), ("1.9", "met")])
def test_a_guarantee_that_caps_its_role_is_told_as_a_limit(version, status):
    lab = Lab("cpus:4;mem:4096;disk:1000", version=version, frameworks=(ADS,))
    lab.wait(3.0)
    commands = CommandLine(lab)
    commands.run("quota", "set", "ads", "cpus:2", "--force")
    (row,) = (row for row in rows(commands.run("roles", "-o", "csv")) if row["role"] == "ads")
    assert row["status"] == status


def test_a_guarantee_is_kept_where_only_roles_below_have_frameworks(live):
    live.run("quota", "set", "web", "cpus:5", "--force")
    (web,) = (one for one in live.run("roles", "-o", "json").json["roles"] if one["role"] == "web")
    assert web["standing"] == "no frameworks"
    shown = live.run("quota", "list", terminal=True, NO_COLOR="1").out
    assert "no framework asks for the guarantee of web" in " ".join(shown.split())


def test_a_terminal_shows_bars_and_who_is_below_its_guarantee():
    lab = Lab("cpus:4;mem:4096", version="1.11", frameworks=(SimulatedFrameworkSpec("shop", ("web",), answer="hold"),))
    lab.wait(3.0)
    live = CommandLine(lab)
    live.run("quota", "set", "web", "cpus:5", "--force")
    shown = live.run("quota", "list", terminal=True, NO_COLOR="1", COLUMNS="60").out
    first = shown.splitlines()[0]
    assert first.startswith("the guarantee is unmet: web (lacks 1 cpu)")
    assert "/5/" in shown
    assert "▒" in shown
    assert "\x1b[" not in shown
    assert "\x1b[1;31mbelow guarantee" in live.run("roles", terminal=True, COLUMNS="80").out
    assert "▒" not in live.run("quota", "list").out


# --- Watching ----------------------------------------------------------------------------------------


def test_a_watched_list_is_written_again_when_it_has_changed(live):
    ran = live.run("frameworks", "spark", "--watch", "--every", "1", "--count", "4")
    assert ran.status == 0
    assert ran.out.count("FRAMEWORK") == 1


def test_a_program_watches_documents(live):
    ran = live.run("agents", "--watch", "--count", "1", "-o", "jsonl")
    (line,) = ran.out.splitlines()
    assert json.loads(line) == live.run("agents", "-o", "json").json


def test_a_terminal_draws_a_watched_list_in_place(live):
    ran = live.run("agents", "--watch", "--count", "3", terminal=True, NO_COLOR="1", COLUMNS="80")
    assert ran.status == 0
    assert "\x1b[1A" in ran.out
    assert ran.out.rfind("\x1b[?25h") > ran.out.rfind("\x1b[?25l")


def test_static_and_dynamic_reservations_are_told_apart():
    shop = SimulatedFrameworkSpec("shop", ("ads",), answer="hold")
    lab = Lab("cpus(web):4;cpus:2;mem:4096", version="1.11", frameworks=(shop,))
    typed = CommandLine(lab)
    agent = lab.agents[0]["hostname"]
    assert typed.run("reserve", agent, "cpus:2", "--role", "web", "--reserver", "ops", "--yes").status == 0
    lab.wait(2.0)
    said = typed.run("offers", "explain", "ads").out
    assert "mesosctl unreserve AGENT RESOURCES --role web releases the 2 cpus" in said
    assert "the other 4, " in said
