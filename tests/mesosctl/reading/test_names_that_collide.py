"""Commands on clusters in which names, host names, ids and short forms are spelled like each other."""

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.sources.agent_tables import AgentSpec
from mesosctl.cli.completion.names import names_in
from mesosctl.mesos.names import kind_of
from tests.helpers.lab import CommandLine, Lab, Scheduler
from tests.helpers.meanings import meant
from tests.helpers.profiles import examples


class Cluster(CommandLine):
    """A master with an agent on each of these hosts, of which several may be one.

    In a host `{0}` is the id of the first agent and `{prefix}` what all ids begin with: anybody can guess them.
    """

    def __init__(self, hosts: list[str]) -> None:
        super().__init__(
            Lab(*(AgentSpec("cpus:4;mem:2048;disk:1000", f"plain-{number}") for number in range(len(hosts))))
        )
        agents = self.lab.master.state.agents
        self.ids = list(agents)
        self.prefix = self.ids[0].rpartition("-")[0]
        self.hosts = {
            one: host.format(*self.ids, prefix=self.prefix) for one, host in zip(self.ids, hosts, strict=True)
        }
        for one, host in self.hosts.items():
            agents[one].hostname = host

    def draw(self, data: st.DataObject) -> str:
        """A word that means something here, or several things."""
        names = [*self.hosts.values(), *self.ids, "S0", "S1", "S2", "S3", self.prefix]
        kinds = [f"{kind}:{one}" for kind in ("id", "host") for one in names]
        return data.draw(st.sampled_from(list(dict.fromkeys([*names, *kinds]))))


HOSTS = st.lists(
    st.sampled_from(["h0", "h1", "h2", "S0", "S1", "S3", "{0}", "{1}", "id:{1}", "id:S1", "host:h1", "{prefix}"]),
    min_size=4,
    max_size=4,
)


@given(hosts=HOSTS, data=st.data())
@settings(max_examples=examples(60))
def test_a_change_reaches_the_agent_that_is_meant_or_none(hosts, data):
    live = Cluster(hosts)
    word = live.draw(data)
    found = meant(live.hosts, word)
    ran = live.run("reserve", word, "cpus:1", "--role", "web")
    changed = {agent["id"] for agent in live.lab.agents if agent["reserved_resources"]}
    if len(found) == 1:
        assert (ran.status, changed) == (0, found), ran.err
    else:
        assert (ran.status, changed, live.changes) == (2 if found else 5, set(), []), ran.err
        told = [(one, live.hosts[one], one.rpartition("-")[2]) for one in found]
        assert all(any(name in ran.err for name in names) for names in told), ran.err


WHAT_TAKES_AN_AGENT = (
    "agents list AGENT",
    "agents drain AGENT --yes",
    "agents gone AGENT --yes",
    "agents gone AGENT --dry-run",
    "reserve AGENT cpus:1 --role web",
    "unreserve AGENT cpus:1 --role web",
    "unreserve AGENT --role web --all --yes",
    "volumes create AGENT v1 disk:1 --role web",
    "volumes destroy AGENT v1 --yes",
    "volumes list --agent AGENT",
    "reservations --agent AGENT",
    "tasks --agent AGENT",
    "offers list --agent AGENT",
    "offers take --agent AGENT --role web --reserve cpus:1",
    "maintenance plan AGENT --at 2026-12-01T01:00Z",
    "maintenance down AGENT --yes",
    "maintenance list AGENT",
    "whatif reserve:AGENT=cpus(web):1",
    "whatif destroy:AGENT=v1",
    "whatif --lose-agent AGENT",
    "offers list --agent AGENT --attribute rack=r1",
    "wait agent/AGENT=active",
    "wait reserved/AGENT/web=none",
)


@pytest.mark.parametrize("words", WHAT_TAKES_AN_AGENT)
def test_a_host_that_is_called_like_the_id_of_another_is_nobodys_short_form(words):
    for host in ("S1", "{1}"):
        live = Cluster(["h0", "h1", host, "h3"])
        word = live.hosts[live.ids[2]]
        ran = live.run(*words.replace("AGENT", word).split())
        assert (ran.status, live.changes) == (2, []), (word, ran.err)
        assert f"'{word}' matches several" in ran.err
        assert f"write host:{word} or id:{word}" in ran.err
        for kind in ("id", "host"):
            ran = live.run(*words.replace("AGENT", f"{kind}:{word}").split())
            assert "matches several" not in ran.err, ran.err


@given(hosts=HOSTS, shown=st.data())
@settings(max_examples=examples(60))
def test_what_a_list_writes_is_read_back_as_the_same_agent(hosts, shown):
    live = Cluster(hosts)
    first = f"id:{live.ids[0]}"
    assert live.run("reserve", first, "cpus:1", "disk:10", "--role", "web").status == 0
    assert live.run("volumes", "create", first, "v1", "disk:5", "--role", "web").status == 0
    Scheduler(live.lab, name="f")
    live.lab.wait(2.0)
    listed = shown.draw(st.sampled_from(["agents", "reservations", "volumes list", "offers list"]))
    rows = list(csv.DictReader(io.StringIO(live.run(*listed.split(), "-o", "csv").out)))
    assert rows
    for row in rows:
        agent_id = kind_of(row["agent id"])[1] if kind_of(row["agent id"])[0] == "id" else row["agent id"]
        for column in ("agent", "agent id"):
            if column == "agent" and list(live.hosts.values()).count(live.hosts[agent_id]) > 1:
                continue  # a host of several agents means none of them
            ran = live.run("agents", "list", row[column], "-o", "json")
            assert [one["id"] for one in ran.json["agents"]] == [agent_id], (row, ran.err)
    for name in live.run("agents", "-o", "name").out.splitlines():
        assert len(live.run("agents", "list", name, "-o", "json").json["agents"]) == 1


@given(hosts=HOSTS)
@settings(max_examples=examples(30))
def test_an_exported_file_means_the_agents_that_it_was_made_of(hosts):
    live = Cluster(hosts)
    for number, agent_id in enumerate(live.ids, 1):
        assert live.run("reserve", f"id:{agent_id}", f"cpus:{number}", "--role", "web").status == 0
    exported = live.run("export")
    assert exported.status == 0
    ran = live.run("diff", "-f", "-", "--prune", stdin=exported.out)
    assert ran.status == 0, (exported.out, ran.out + ran.err)


def test_a_file_that_names_an_agent_by_a_word_of_two_is_refused_at_its_place():
    live = Cluster(["h0", "h1", "S0"])
    wanted = '[[reservations]]\nagent = "{}"\nrole = "web"\nresources = "cpus:1"\n'
    for verb in ("diff", "apply"):
        ran = live.run(verb, "-f", "-", "--yes", stdin=wanted.format("S0"))
        assert (ran.status, live.changes) == (2, []), ran.err
        assert "'S0' matches several agents" in ran.err
        assert "at: field reservations[0].agent" in ran.err
    assert live.run("apply", "-f", "-", "--yes", stdin=wanted.format("id:S0")).status == 0
    assert [agent["hostname"] for agent in live.lab.agents if agent["reserved_resources"]] == ["h0"]


# --- Frameworks ---------------------------------------------------------------------------------------------------


NAMES = st.lists(
    st.sampled_from(["kafka", "spark", "{0}", "{1}", "{2}", "id:{0}", "id:kafka", "name:kafka"]),
    min_size=3,
    max_size=3,
)


class Named(CommandLine):
    """A master with frameworks of these names, each in a role of its own; `{0}` is the id of the first framework."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(Lab())
        id_of_first = Scheduler(self.lab, name="first").id
        start, _, last = id_of_first.rpartition("-")
        ids = [f"{start}-{int(last) + 1 + number:04}" for number in range(len(names))]
        self.names = {one: name.format(*ids) for one, name in zip(ids, names, strict=True)}
        self.ids = ids
        for number, name in enumerate(self.names.values()):
            assert Scheduler(self.lab, name=name, roles=[f"r{number}"]).id == ids[number]

    def present(self) -> set[str]:
        """Ids of those that are subscribed, without the first."""
        return {one["id"] for one in self.lab.frameworks() if one["name"] != "first"}

    def of_kinds(self, word: str) -> tuple[set[str], set[str]]:
        """The frameworks of which a word is the id, and those of which it is the name."""
        kind, text = kind_of(word)
        of_id = {one for one in self.ids if one == text and kind in (None, "id")}
        return of_id, {one for one, name in self.names.items() if name == text and kind in (None, "name")}

    def draw(self, data: st.DataObject) -> str:
        """A word that means something here, or several things."""
        plain = [*self.names.values(), *self.ids]
        kinds = [f"{kind}:{one}" for kind in ("id", "name") for one in plain]
        return data.draw(st.sampled_from(list(dict.fromkeys([*plain, *kinds]))))


@given(names=NAMES, data=st.data())
@settings(max_examples=examples(90))
def test_a_teardown_removes_the_framework_that_is_meant_or_none(names, data):
    live = Named(names)
    word = live.draw(data)
    of_id, of_name = live.of_kinds(word)
    found = of_id | of_name
    ran = live.run("frameworks", "teardown", word, "--yes")
    if len(found) == 1:
        assert (ran.status, live.present()) == (0, set(live.ids) - found), ran.err
    else:
        assert (ran.status, live.present(), live.changes) == (2 if found else 5, set(live.ids), []), ran.err
        assert all(one in ran.err or live.names[one] in ran.err for one in found)


@given(names=NAMES, data=st.data())
@settings(max_examples=examples(60))
def test_lists_and_cleanup_take_every_framework_of_a_name_and_refuse_a_name_that_is_an_id(names, data):
    live = Named(names)
    for number in range(len(names)):
        assert live.run("reserve", "agent-1", "cpus:1", "--role", f"r{number}").status == 0
    live.lab.wait(2.0)
    word = live.draw(data)
    of_id, of_name = live.of_kinds(word)
    found = of_id | of_name
    status = 2 if of_id and of_name and of_id != of_name else 0 if found else 5
    ran = live.run("frameworks", "list", word, "-o", "json")
    assert ran.status == status, ran.err
    if status == 0:
        assert {one["id"] for one in ran.json["frameworks"]} == found
    assert live.run("tasks", "--framework", word).status == status
    ran = live.run("offers", "list", "--framework", word, "-o", "json")
    assert ran.status == status
    assert status or {one["framework_id"] for one in ran.json["offers"]} <= found
    ran = live.run("cleanup", "--framework", word, "--dry-run", "-o", "json")
    assert ran.status == status, ran.err
    if status == 0:
        cleaned = {step["of"].partition(" ")[0] for would in ran.json["would"] for step in would["steps"]}
        assert cleaned == {f"r{live.ids.index(one)}" for one in found}


@given(names=NAMES)
@settings(max_examples=examples(60))
def test_what_the_list_of_frameworks_writes_is_read_back_as_the_same_ones(names):
    live = Named(names)
    rows = list(csv.DictReader(io.StringIO(live.run("frameworks", "-o", "csv").out)))
    assert len(rows) == len(names) + 1
    for row in rows:
        (one,) = live.run("frameworks", "list", row["framework id"], "-o", "json").json["frameworks"]
        alike = live.run("frameworks", "list", row["framework"], "-o", "json").json["frameworks"]
        assert {other["name"] for other in alike} == {one["name"]}
        assert one["id"] in {other["id"] for other in alike}


@pytest.mark.parametrize("words", ["frameworks teardown WHO --yes", "whatif --lose-framework WHO"])
def test_a_framework_that_names_itself_as_anothers_id_takes_nobodys_place(words):
    live = Named(["kafka", "{0}", "spark"])
    kafka, other, _ = live.ids
    ran = live.run(*words.replace("WHO", kafka).split())
    assert (ran.status, live.changes) == (2, [])
    assert f"name:{kafka} ({other}), id:{kafka} (kafka)" in ran.err
    for kind in ("id", "name"):
        assert "matches several" not in live.run(*words.replace("WHO", f"{kind}:{kafka}").split()).err


def test_a_role_that_another_framework_is_called_is_explained_only_by_its_kind():
    live = Named(["r1", "spark", "spark"])
    ran = live.run("offers", "explain", "r1")
    assert (ran.status, "write role:r1 or name:r1" in ran.err) == (2, True), ran.err
    role = live.run("offers", "explain", "role:r1", "-o", "json").json["explanations"]
    name = live.run("offers", "explain", "name:r1", "-o", "json").json["explanations"]
    assert [[(one["framework_id"], one["role"]) for one in found] for found in (role, name)] == [
        [(live.ids[1], "r1")],
        [(live.ids[0], "r0")],
    ]
    assert live.run("offers", "explain", "r0").status == 0  # a role that no framework is called
    alike = CommandLine(Lab())
    Scheduler(alike.lab, name="web")
    assert alike.run("offers", "explain", "web").status == 0  # the framework web, alone in the role web


def test_a_framework_that_is_gone_takes_nobodys_place_either():
    live = Named(["kafka", "{0}", "spark"])
    kafka, other, _ = live.ids
    assert live.run("reserve", "agent-1", "cpus:1", "--role", "r0").status == 0
    assert live.run("frameworks", "teardown", f"name:{kafka}", "--yes").status == 0
    before = list(live.changes)
    for words in ("cleanup --framework WHO --yes", "tasks --framework WHO"):
        ran = live.run(*words.replace("WHO", kafka).split())
        assert (ran.status, live.changes) == (2, before), ran.err
        assert f"name:{kafka} ({other})" in ran.err
    assert f"id:{kafka}" in live.run("frameworks", "-o", "name").out.split()
    assert live.run("cleanup", "--framework", f"id:{kafka}", "--yes").status == 0
    assert "r0" not in live.run("reservations", "-o", "csv").out


def test_a_forecast_writes_names_as_they_are_typed():
    live = Named(["kafka", "{0}", "spark"])
    kafka, other, _ = live.ids
    live.lab.wait(2.0)
    ran = live.run("whatif", "--lose-framework", f"id:{kafka}", "--add-agent", "cpus:9;mem:999", "-o", "csv")
    rows = {row["id"]: row["name"] for row in csv.DictReader(io.StringIO(ran.out)) if row["kind"] == "framework"}
    assert rows.get(other) == f"name:{kafka}", ran.out
    explained = live.run("offers", "explain", "role:r1", "-o", "csv").out
    assert f"name:{kafka}" not in explained  # its column FRAMEWORK is a sentence's
    assert live.run("offers", "explain", f"id:{kafka}", "-o", "name").out == f"{kafka} r0\n"


# --- Completion ---------------------------------------------------------------------------------------------------


def test_a_shell_is_offered_the_words_that_mean_one_thing():
    live = Cluster(["h0", "h1", "S0", "{0}"])
    first, *_ = live.ids
    offered = dict(names_in("/slaves", live.lab.read("/slaves")))["agent"]
    assert offered == ["h0", "h1", "host:S0", f"host:{first}", f"id:{first}", *live.ids[1:]]
    for word in offered:
        assert live.run("agents", "list", word).status == 0
    named = Named(["kafka", "{0}", "id:x"])
    kafka, other, third = named.ids
    offered = dict(names_in("/frameworks", named.lab.read("/frameworks")))["framework"]
    assert set(offered) >= {"kafka", f"name:{kafka}", "name:id:x", f"id:{kafka}", other, third}
    assert not {kafka, "id:x"} & set(offered)
    shown = {"tasks": [{"id": "t1", "name": "a", "state": "TASK_RUNNING"}, {"id": "t2", "name": "t1", "state": "S"}]}
    assert dict(names_in("/tasks", shown))["task"] == ["id:t1", "t2"]


def test_a_list_of_offers_writes_names_as_they_are_read_whether_anything_else_is_offered_or_not():
    """The agents S0 and S1 are called S1 and h; all of S1 is in use, so nothing of it is offered."""
    live = Cluster(["S1", "h"])
    scheduler = Scheduler(live.lab, name="f")
    taken, left = sorted(scheduler.offers(), key=lambda one: one["agent_id"]["value"] == live.ids[0])
    scheduler.ask("DECLINE", offer_ids=[taken["id"]], filters={"refuse_seconds": 10000})
    shown = list(csv.DictReader(io.StringIO(live.run("offers", "list", "-o", "csv").out)))
    assert [one["agent"] for one in shown] == ["host:S1"]
    assert live.run("offers", "list", "--agent", "host:S1", "-o", "name").out.split() == [left["id"]["value"]]
    assert live.run("offers", "list", "--agent", "S1").status == 2
    assert live.run("offers", "list", "--agent", "h", "-o", "name").out == ""
    for word in ("S9", "name"):
        assert live.run("offers", "list", "--agent", word).status == 5


# --- Tasks and volumes --------------------------------------------------------------------------------------------


@pytest.fixture
def running() -> CommandLine:
    """Tasks of two frameworks: ids and names that are alike, and one that begins as a kind does."""
    live = CommandLine(Lab("cpus:8;mem:8192"))
    for framework, tasks in (("a", (("t1", "web"), ("t2", "t1"))), ("b", (("t1", "web"), ("id:t1", "db")))):
        scheduler = Scheduler(live.lab, name=framework)
        (offer,) = scheduler.offers()
        infos = [
            {
                "name": name,
                "task_id": {"value": task},
                "agent_id": offer["agent_id"],
                "command": {"value": "sleep"},
                "resources": [
                    {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, "allocation_info": {"role": framework}},
                    {"name": "mem", "type": "SCALAR", "scalar": {"value": 32}, "allocation_info": {"role": framework}},
                ],
            }
            for task, name in tasks
        ]
        launch = {"type": "LAUNCH", "launch": {"task_infos": infos}}
        scheduler.ask("ACCEPT", offer_ids=[offer["id"]], operations=[launch], filters={"refuse_seconds": 0})
        scheduler.ask("SUPPRESS")
        live.lab.wait(2.0)
    return live


def test_a_task_is_listed_by_id_or_name_and_a_word_that_is_both_is_refused(running):
    def listed(word: str) -> list[tuple[str, str]]:
        ran = running.run("tasks", "list", word, "-o", "json")
        assert ran.status == 0, ran.err
        return sorted((one["framework"], one["id"]) for one in ran.json["tasks"])

    ran = running.run("tasks", "list", "t1")
    assert (ran.status, "write id:t1 or name:t1" in ran.err) == (2, True), ran.err
    assert listed("id:t1") == [("a", "t1"), ("b", "t1")]
    assert listed("name:t1") == [("a", "t2")]
    assert listed("web") == [("a", "t1"), ("b", "t1")]
    assert listed("id:id:t1") == [("b", "id:t1")]
    names = running.run("tasks", "-o", "name").out.split()
    assert sorted(names) == ["id:id:t1", "id:t1", "id:t1", "t2"]
    rows = list(csv.DictReader(io.StringIO(running.run("tasks", "-o", "csv").out)))
    assert sorted((row["task"], row["name"]) for row in rows) == [
        ("id:id:t1", "db"),
        ("id:t1", "web"),
        ("id:t1", "web"),
        ("t2", "name:t1"),
    ]
    assert all("id:id:t1" not in json.dumps(one) for one in running.run("tasks", "-o", "json").json["tasks"])


def test_a_volume_whose_id_begins_as_a_kind_does_is_named_with_its_own():
    live = Cluster(["h0", "h1"])
    assert live.run("reserve", "h0", "disk:100", "--role", "db").status == 0
    for word in ("v1", "id:id:v1", "id:name:v2"):
        assert live.run("volumes", "create", "h0", word, "disk:10", "--role", "db").status == 0
    assert sorted(live.run("volumes", "list", "-o", "name").out.split()) == ["id:id:v1", "id:name:v2", "v1"]
    assert "if all of it is the id" in live.run("volumes", "destroy", "h0", "name:v2", "--yes").err
    assert "id:name:v2" in live.run("unreserve", "h0", "--role", "db", "--all", "--yes").err  # the hint can be pasted
    for word in ("id:v1", "id:name:v2", "id:id:v1"):
        left = live.run("volumes", "list", word, "-o", "json").json["volumes"]
        assert [one["volume"]["id"] for one in left] == [kind_of(word)[1]], left
        assert live.run("volumes", "destroy", "h0", word, "--yes").status == 0
    assert live.run("volumes", "list", "-o", "name").out == ""


# --- Machines -----------------------------------------------------------------------------------------------------


def test_a_machine_whose_host_is_the_address_of_others_is_scheduled_only_by_its_kind():
    live = Cluster(["127.0.0.1", "h1", "S1"])  # every agent of a fake master has this address
    at = ("--at", "2026-12-01T01:00Z")
    ran = live.run("maintenance", "plan", "127.0.0.1", *at)
    assert (ran.status, live.changes) == (2, []), ran.err
    assert "write host:127.0.0.1 or address:127.0.0.1" in ran.err
    assert live.run("maintenance", "plan", "S1", *at).status == 2  # the host of one, and the short id of another
    for word, hosts in (("host:127.0.0.1", ["127.0.0.1"]), ("address:127.0.0.1", ["127.0.0.1", "S1", "h1"])):
        assert live.run("maintenance", "plan", word, *at).status == 0
        found = live.run("maintenance", word, "-o", "json").json["machines"]
        assert sorted(one["hostname"] for one in found) == hosts
    assert live.run("maintenance", "-o", "name").out.split() == ["host:127.0.0.1", "h1", "host:S1"]
    rows = list(csv.DictReader(io.StringIO(live.run("maintenance", "-o", "csv").out)))
    assert [(row["machine"], row["address"]) for row in rows] == [
        ("host:127.0.0.1", "address:127.0.0.1"),
        ("h1", "address:127.0.0.1"),
        ("host:S1", "address:127.0.0.1"),
    ]
    for row in rows:
        (one,) = live.run("maintenance", "list", row["machine"], "-o", "json").json["machines"]
        assert one["hostname"] in row["machine"]
