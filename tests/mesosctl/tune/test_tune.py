"""`mesosctl tune`: goals, what may be changed, and replays that show whether the goals are met."""

import json
import os
import re
import signal
import stat
import time
import tomllib
from contextlib import nullcontext, suppress
from dataclasses import replace
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.__main__ import main
from mesosctl.history.records import to_micros
from mesosctl.history.sqlite import open_writer
from mesosctl.history.windows import parse_time
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.door.replay import ReplayedSetting
from mesosctl.mesos.errors import BadInput, Bug, Conflict
from mesosctl.reading.side_by_side import Forked, side_by_side
from mesosctl.replay.work import replayed_variants
from mesosctl.tune import work as operations
from mesosctl.tune.evidence import EvidenceFile, fingerprint
from mesosctl.tune.goals import load
from mesosctl.tune.report import same_window
from mesosctl.tune.work import TuningOptions, play_candidate, settings_at, space_of, tune
from mesosctl.whatif.played_demand import ReplayOptions, play_unchanged
from mesosctl.whatif.variants import Search, parse_template
from tests.helpers.profiles import examples
from tests.helpers.surroundings import InMemory, Ran
from tests.mesosctl.replay.test_replay import SINCE, demand, wanted

LOG = """task,role,agent,resources,asked,from,to
b1,batch,node-1,cpus:4;mem:4GiB,2026-03-01T08:00:00Z,2026-03-01T08:00:00Z,2026-03-01T08:30:00Z
b2,batch,node-1,cpus:4;mem:4GiB,2026-03-01T08:00:00Z,2026-03-01T08:00:00Z,2026-03-01T08:30:00Z
b3,batch,node-1,cpus:4;mem:4GiB,2026-03-01T08:01:00Z,2026-03-01T08:30:00Z,2026-03-01T09:00:00Z
s1,site,node-1,cpus:2;mem:2GiB,2026-03-01T08:05:00Z,2026-03-01T08:30:00Z,2026-03-01T08:50:00Z
b4,batch,node-1,cpus:4;mem:4GiB,2026-03-01T10:00:00Z,2026-03-01T10:00:00Z,2026-03-01T10:30:00Z
"""
NODES = "agent,resources\nnode-1,cpus:8;mem:16GiB\n"
GOALS = """[goals.site]
wait_p95 = "10m"
[goals.batch]
wait_max = "1h"

[change.site]
guarantee = { from = "cpus:0", to = "cpus:8", steps = 4 }
"""
OPTIONS = ReplayOptions()


class Inline:
    """The same as `Forked`, in this process."""

    def __init__(self, answer):
        self._answer = answer
        self._started = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def start(self, place, question):
        self._started[place] = question

    def next_ended(self):
        place = min(self._started)
        return place, self._answer(self._started.pop(place))


class Here:
    """Plays candidates in this process, and counts them."""

    def __init__(self, of, at_once=1, latest_first=False):
        self.demand = of
        self.at_once = at_once
        self.played = []
        self._running = {}
        self._latest_first = latest_first

    def start(self, place, words):
        self.played.append(tuple(words))
        self._running[place] = words

    def next_ended(self):
        place = (max if self._latest_first else min)(self._running)
        return place, play_candidate(self.demand, self._running.pop(place), OPTIONS)


@pytest.fixture
def typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(LOG, encoding="utf-8")
    (tmp_path / "nodes.csv").write_text(NODES, encoding="utf-8")
    (tmp_path / "goals.toml").write_text(GOALS, encoding="utf-8")

    monkeypatch.setattr(operations, "Forked", Inline)

    def run(*words):
        environment = InMemory(variables={"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")})
        return Ran(main(words, environment), environment.out, environment.err)

    imported = run(*"history import log.csv --format csv --agents nodes.csv --history h.sqlite".split())
    assert imported.status == 0, imported.err
    return run


def evidence_of(tmp_path):
    (found,) = (tmp_path / "state" / "mesosctl" / "tune").glob("*.jsonl")
    return found


# --- The command --------------------------------------------------------------------------------------


def test_the_smallest_change_is_answered_written_and_holds_when_it_is_replayed(typed, tmp_path):
    ran = typed("tune", "goals.toml", "--replay", "h.sqlite", "--save", "wanted.toml", "--report", "r.html")
    assert ran.status == 0, ran.err
    assert ran.out.splitlines()[0] == "YES: both goals are met by quota:site=cpus:2"
    assert "every one was tried" in ran.out
    saved = tomllib.loads((tmp_path / "wanted.toml").read_text(encoding="utf-8"))
    assert saved["quotas"] == {"site": {"guarantee": "cpus:2", "limit": "none"}}
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "What stands against what" in page
    assert re.search(r'<svg [^>]*role="img">\s*<title>', page)
    assert page.count("<circle") == len(typed("tune", "goals.toml", "--replay", "h.sqlite", "-o", "jsonl").lines)
    names = typed("tune", "goals.toml", "--replay", "h.sqlite", "-o", "name").out.split()
    again = typed("replay", "h.sqlite", *names, "-o", "json").json["roles"]
    waits = {one["role"]: one["after"] for one in again}
    assert waits["site"]["p95_wait_seconds"] <= 600
    assert waits["batch"]["longest_wait_seconds"] <= 3600


def test_how_many_candidates_were_replayed_is_told(typed):
    document = typed("tune", "goals.toml", "--replay", "h.sqlite", "-o", "json").json
    assert len(document["candidates"]) == document["tried"] > 1
    told = typed("tune", "goals.toml", "--replay", "h.sqlite").out
    assert f"candidates replayed: {document['tried']} of {document['possible']} within" in told


def test_what_meets_all_goals_is_drawn_within_the_lines_of_their_bounds(typed, tmp_path):
    document = typed("tune", "goals.toml", "--replay", "h.sqlite", "--report", "r.html", "-o", "json").json
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    (right,) = re.findall(r'<path d="M([0-9.]+),0 V[0-9]+" [^>]*stroke-dasharray', page)
    (up,) = re.findall(r'<path d="M0,([0-9.]+) H[0-9]+" [^>]*stroke-dasharray', page)
    dots = re.findall(r'<circle cx="([0-9.]+)" cy="([0-9.]+)" r="[46]" fill="([^"]*)"', page)
    drawn = [float(x) <= float(right) and float(y) >= float(up) for x, y, _ in dots]
    assert drawn == [fill != "none" for _, _, fill in dots]
    assert sum(drawn) == sum(one["meets_all"] for one in document["candidates"]) > 0


def test_the_document_says_what_each_candidate_came_to(typed):
    document = typed("tune", "goals.toml", "--replay", "h.sqlite", "-o", "json").json
    assert document["found"]
    assert document["changes"] == ["quota:site=cpus:2"]
    assert document["wanted"] == {"quotas": {"site": {"guarantee": {"cpus": 2.0}, "limit": None}}, "weights": None}
    unchanged = next(one for one in document["candidates"] if not one["changes"])
    assert [(one["met"], one["measured"], one["margin"]) for one in unchanged["goals"]] == [
        (False, 1500, -900),
        (True, 1741, 1859),
    ]


def test_a_recording_that_begins_between_two_allocation_runs(typed, tmp_path):
    with open_writer(tmp_path / "h.sqlite") as recording, recording.transaction():
        (cluster,) = recording.clusters()
        recording.add_runs(cluster.cluster_id, [(cluster.first_seen or 0) + 400_000])
    ran = typed("tune", "goals.toml", "--replay", "h.sqlite")
    assert ran.status == 0, ran.err


def test_goals_that_hold_already_are_no_change(typed, tmp_path):
    (tmp_path / "goals.toml").write_text(GOALS.replace('"10m"', '"30m"'), encoding="utf-8")
    ran = typed("tune", "goals.toml", "--replay", "h.sqlite", "--save", "wanted.toml")
    assert ran.status == 0
    assert ran.out.splitlines()[0].endswith("both goals are met already")
    assert not (tmp_path / "wanted.toml").exists()
    assert "nothing to change, so wanted.toml is not written" in ran.err


def test_goals_that_no_candidate_meets_together_are_told(typed, tmp_path):
    (tmp_path / "goals.toml").write_text(GOALS.replace('"1h"', '"40m"'), encoding="utf-8")
    ran = typed("tune", "goals.toml", "--replay", "h.sqlite", "--save", "wanted.toml")
    assert ran.status == 1
    said = "NO: none of 5 candidates, all within the bounds, met both wait_p95 of site within 10m and wait_max of batch"
    assert ran.out.splitlines()[0].startswith(said)
    assert not (tmp_path / "wanted.toml").exists()


def test_the_same_command_goes_on_where_it_was_interrupted(typed, tmp_path, monkeypatch):
    class Interrupted(Inline):
        ended = 0

        def next_ended(self):
            self.ended += 1
            if self.ended == 2:
                raise KeyboardInterrupt
            return super().next_ended()

    words = ("tune", "goals.toml", "--replay", "h.sqlite", "-o", "json")
    with monkeypatch.context() as patch:
        patch.setattr(operations, "Forked", Interrupted)
        ran = typed(*words)
    assert ran.status == 130
    assert "1 finished replay of this run kept in" in ran.err
    window = ("--since", "2026-03-01T08:00:00Z", "--until", "2026-03-01T10:30:00Z")
    assert f"the same command with {' '.join(window)} goes on from there" in ran.err
    kept = evidence_of(tmp_path)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    before = kept.read_text(encoding="utf-8")
    went_on = typed(*words, *window)
    lines = [line for line in kept.read_text(encoding="utf-8").splitlines() if line]
    assert kept.read_text(encoding="utf-8").startswith(before)
    assert len({json.dumps(json.loads(line)["changes"]) for line in lines}) == len(lines)
    kept.unlink()
    assert typed(*words).out == went_on.out


def test_a_window_that_is_printed_is_the_same_to_the_microsecond():
    of = replace(SMALL, since=1_772_352_000.000001, until=1_772_355_599.999999)
    since, until = same_window(of).split()[1::2]
    assert [parse_time(one, "--until", 0) for one in (since, until)] == [to_micros(of.since), to_micros(of.until)]


def test_evidence_of_long_ago_is_removed_once_there_is_more(typed, tmp_path):
    folder = tmp_path / "state" / "mesosctl" / "tune"
    folder.mkdir(parents=True)
    ages = {"old": 91, "new": 89}
    for name, days in ages.items():
        (folder / f"{name}.jsonl").write_text("", encoding="utf-8")
        os.utime(folder / f"{name}.jsonl", (time.time() - days * 86_400,) * 2)
    typed("tune", "goals.toml", "--replay", "h.sqlite")
    assert not (folder / "old.jsonl").exists()
    assert (folder / "new.jsonl").exists()


def test_evidence_that_cannot_be_read_is_told_and_stays(typed, tmp_path):
    words = ("tune", "goals.toml", "--replay", "h.sqlite", "-o", "json")
    first = typed(*words)
    kept = evidence_of(tmp_path)
    text = kept.read_text(encoding="utf-8")
    kept.write_text(f"{text}garbage\n{{}}\n" + text.strip()[:20], encoding="utf-8")
    again = typed(*words)
    assert again.out == first.out
    assert "2 lines of" in again.err
    assert "leaves them there" in again.err
    assert f"rm {kept}" in again.err.replace("\n", " ")
    assert kept.read_text(encoding="utf-8").startswith(f"{text}garbage\n")


def test_evidence_that_cannot_be_written_is_told_and_the_answer_given(typed, tmp_path):
    (tmp_path / "state").write_text("", encoding="utf-8")
    ran = typed("tune", "goals.toml", "--replay", "h.sqlite")
    assert ran.status == 0
    assert "so another run begins again" in ran.err


def test_evidence_that_is_no_text_is_told_and_the_rest_counts(typed, tmp_path):
    words = ("tune", "goals.toml", "--replay", "h.sqlite", "-o", "json")
    first = typed(*words)
    kept = evidence_of(tmp_path)
    whole = kept.read_bytes()
    lines = whole.split(b"\n")
    kept.write_bytes(b"\n".join([b"\xff\xfe", *lines[2:]]))  # instead of the first replay
    again = typed(*words)
    assert again.out == first.out
    assert "1 line of" in again.err
    assert kept.read_bytes().count(b"\n{") == len(lines) // 2  # that replay was made again, and kept
    assert "1 line of" in typed(*words).err


def without_site(line):
    del line["roles"]["site"]


def negative(line):
    line["roles"]["site"]["p95_wait"] = -1.0


def no_number(line):
    line["roles"]["site"]["p95_wait"] = float("nan")


def other_digits(line):
    line["roles"]["site"]["p95_wait"] = 1.0


def without_digest(line):
    del line["digest"]


@pytest.mark.parametrize("damage", [without_site, negative, no_number, other_digits, without_digest])
def test_a_damaged_line_that_is_still_json_does_not_count(typed, tmp_path, damage):
    words = ("tune", "goals.toml", "--replay", "h.sqlite", "-o", "json")
    first = typed(*words)
    kept = evidence_of(tmp_path)
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").split("\n") if line]
    assert not lines[0]["changes"]  # the settings on record, which do not meet the goal of site
    damage(lines[0])
    kept.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    again = typed(*words)
    assert again.out == first.out
    assert "1 line of" in again.err


def test_evidence_about_another_demand_does_not_count(tmp_path):
    variables = {"XDG_STATE_HOME": str(tmp_path)}
    one = EvidenceFile(variables, "one")
    one.add([], play_candidate(SMALL, [], OPTIONS))
    one.path.rename(one.path.with_name("other.jsonl"))
    other = EvidenceFile(variables, "other")
    assert other.get([]) is None
    assert other.told


def test_an_interruption_before_anything_is_kept_names_no_file(typed, tmp_path, monkeypatch):
    class Interrupted(Inline):
        def next_ended(self):
            raise KeyboardInterrupt

    monkeypatch.setattr(operations, "Forked", Interrupted)
    ran = typed("tune", "goals.toml", "--replay", "h.sqlite")
    assert ran.status == 130
    assert "kept" not in ran.err
    assert not (tmp_path / "state").exists()


def test_no_file_is_overwritten_by_what_is_found(typed, tmp_path):
    ran = typed("tune", "goals.toml", "--replay", "h.sqlite", "--save", "goals.toml")
    assert (ran.status, "is the goals file" in ran.err) == (2, True)
    (tmp_path / "mine.toml").write_text("# mine\n", encoding="utf-8")
    ran = typed("tune", "goals.toml", "--replay", "h.sqlite", "--save", "mine.toml")
    assert ran.status == 2
    assert (tmp_path / "mine.toml").read_text(encoding="utf-8") == "# mine\n"
    ran = typed("tune", "goals.toml", "--replay", "h.sqlite", "--save", "h.sqlite")
    assert ran.status == 2
    assert "itself" in ran.err


# --- Goals that are wrong -----------------------------------------------------------------------------


def test_every_fault_is_told_at_once_with_its_line():
    text = """keep = ["batch"]
[goals.site]
wait_p96 = "5m"
wait_max = 5
hours_served = "130%"
never_below_guarantee = false
[goals."a//b"]
[change.batch]
weight = { from = 3, to = 2 }
guarantee = { from = "cpus:8", to = "cpus:2", steps = 0 }
limit = { from = "cpus:1", to = "mem:1" }
[change.site]
"""
    with pytest.raises(BadInput) as refused:
        load(text, "g.toml")
    told = refused.value.message.split("; ")
    assert [one.split(": ")[:2] for one in told] == [
        ["g.toml, line 3", "goals.site.wait_p96"],
        ["g.toml, line 4", "goals.site.wait_max"],
        ["g.toml, line 5", "goals.site.hours_served"],
        ["g.toml, line 6", "goals.site.never_below_guarantee"],
        ["g.toml, line 7", "goals.a//b"],
        ["g.toml, line 8", "change.batch"],
        ["g.toml, line 9", "change.batch.weight"],
        ["g.toml, line 10", "change.batch.guarantee.steps"],
        ["g.toml, line 10", "change.batch.guarantee"],
        ["g.toml, line 11", "change.batch.limit"],
        ["g.toml, line 12", "change.site"],
    ]


def test_each_of_several_unknown_keys_comes_with_those_that_are_known():
    with pytest.raises(BadInput) as refused:
        load("[goals.web]\nwait_p96 = '5m'\n[change.web]\nfrobnicate = 1\n", "g.toml")
    goal, setting = refused.value.message.split("; ")
    assert "did you mean wait_p95? known: wait_p95, wait_max, hours_served, never_below_guarantee" in goal
    assert "(known: guarantee, limit, weight)" in setting


@pytest.mark.parametrize("text", ["", "schema_version = 1\n", "[goals]\n[change]\n"])
def test_an_empty_file_gets_a_hint_that_shows_a_whole_one(text):
    with pytest.raises(BadInput) as refused:
        load(text, "g.toml")
    assert refused.value.hint is not None
    assert all(part in refused.value.hint for part in ("[goals.web]", "wait_p95", "[change.web]", "guarantee = {"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "goals: it is missing"),
        ("[goals.web]\nwait_max='5m'\n", "change: it is missing"),
        ("schema_version = 2\n", "schema_version: it is 2, but this version of mesosctl reads 1"),
        ("goals = 3\n", "goals: it is not a table"),
        ("[goals.web]\nwait_max = 'soon'\n", "goals.web.wait_max: 'soon' is not a span of time"),
        ("[goals]\nweb = 3\n", "goals.web: it is not a table"),
        ("[change.web]\nguarantee = 'cpus:3'\n", "change.web.guarantee: it is neither a table nor an array of"),
        ("[change.web]\nguarantee = { to = 'cpus:3' }\n", "change.web.guarantee.from: it is missing"),
        ("[change.web]\nguarantee = { from = 'cpus', to = 'cpus:3' }\n", "'cpus' is not NAME:VALUE"),
        (
            "[change.web]\nweight = { from = 0, to = 3 }\n",
            "change.web.weight.from: it is not a number from 0.001 to 1,000,000",
        ),
        ("[change.web]\nweight = [{ from = 1, to = 3 }]\n", "change.web.weight: it is not a table"),
        (
            "[change.web]\nlimit = [{ from = 'cpus:1', to = 'cpus:3' }, { from = 'cpus:1', to = 'cpus:2' }]\n",
            "change.web.limit: cpus is in two of its tables",
        ),
        (
            "[change.web]\nguarantee = {from = 'cpus:4', to = 'cpus:8'}\nlimit = {from = 'cpus:1', to = 'cpus:3'}\n",
            "the largest limit of cpus is below the smallest guarantee",
        ),
    ],
)
def test_a_fault_is_told(text, said):
    with pytest.raises(BadInput) as refused:
        load(text, "g.toml")
    assert said in refused.value.message


@given(st.text(max_size=60))
def test_whatever_is_written_is_read_or_refused(text):
    with suppress(BadInput):
        load(text, "g.toml")


SMALL = demand(["cpus:4;mem:8192"], [wanted("a", 1, 0, 60.0), wanted("b", 1, 10, 60.0)])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[goals.aa]\nwait_max='5m'\n", "goals.aa: no task of role 'aa' was wanted in this time"),
        ("[change.bb]\nweight={from=1,to=2}\n", "change.bb: role 'bb' is not in the recording"),
        ("keep=['c']\n", "keep: role 'c' is not in the recording"),
        ("[change.a]\nguarantee={from='cpus:1',to='cpus:9'}\n", "9 cpus is more than the agents have: 4 cpus"),
    ],
)
def test_impossible_goals_are_told_before_the_search(text, said):
    whole = text
    if "goals" not in text:
        whole += "[goals.a]\nwait_max='5m'\n"
    if "change" not in text:
        whole += "[change.a]\nweight={from=1,to=2}\n"
    with pytest.raises(BadInput) as refused:
        space_of(load(whole, "g.toml"), SMALL)
    assert said in refused.value.message
    assert "g.toml, line" in refused.value.message


def quota_on_record(role, cpus, at=SINCE):
    config = {"role": role, "guarantees": {"cpus": {"value": cpus}}, "limits": {}}
    return ReplayedSetting(at, "quota", role, json.dumps(config))


TWO_GUARANTEES = """[goals.a]
wait_max = "5m"
[change.a]
guarantee = { from = "cpus:3", to = "cpus:4" }
[change.b]
guarantee = { from = "cpus:2", to = "cpus:4" }
"""


def test_the_smallest_guarantees_are_those_that_a_role_may_have_or_keep():
    goals = load(TWO_GUARANTEES, "g.toml")
    space_of(goals, SMALL)  # either may stay without
    recorded = (quota_on_record("a", 3), quota_on_record("b", 2))
    with pytest.raises(BadInput, match="the smallest guarantees together are 5 cpus, but the agents have 4 cpus"):
        space_of(goals, replace(SMALL, settings=recorded))


def test_an_unknown_resource_hides_no_other_fault_and_each_has_its_hint():
    text = """[goals.a]
wait_max = "5m"
[change.a]
guarantee = { from = "cpu:0", to = "cpu:2" }
[change.b]
guarantee = { from = "cpus:0;mme:0", to = "cpus:9;mme:1" }
"""
    with pytest.raises(BadInput) as refused:
        space_of(load(text, "g.toml"), SMALL)
    told = refused.value.message.split("; ")
    assert len(told) == 3
    assert all(f"line {line}: " in one for line, one in zip((4, 6, 6), told, strict=True))
    assert [one.rpartition(" (")[2] for one in told] == ["did you mean cpus?)", "did you mean mem?)", "lower it)"]
    assert "9 cpus is more than" in told[2]


@pytest.mark.parametrize("setting", ["guarantee", "limit"])
def test_a_resource_that_no_agent_has_is_told_with_the_likely_one(setting):
    goals = load(f"[goals.a]\nwait_max='5m'\n[change.a]\n{setting}={{from='cpu:0',to='cpu:2'}}\n", "g.toml")
    with pytest.raises(BadInput, match=f"line 4: change.a.{setting}: no agent .* has a resource 'cpu'") as refused:
        space_of(goals, SMALL)
    assert refused.value.hint == "did you mean cpus?"
    if setting == "limit":
        assert space_of(goals, SMALL, allow_new_resource=True).unknowns


def test_a_weight_on_record_may_be_as_large_as_a_double():
    recorded = (ReplayedSetting(SINCE, "weight", "a", json.dumps({"role": "a", "weight": 1e308})),)
    goals = load("[goals.a]\nwait_max='5m'\n[change.a]\nweight={from=1,to=2,steps=1}\n", "g.toml")
    of = replace(SMALL, settings=recorded)
    space = space_of(goals, of)
    assert space.choices == ((None, 0, 1),)
    found = tune(of, space, goals.goals, Here(of), Nowhere(), TuningOptions(OPTIONS))
    assert found.best == space.unchanged
    assert space.size((0,)) > space.size((1,)) > 0


def test_guarantees_of_nested_roles_are_part_of_those_above():
    nested = (quota_on_record("a", 3), quota_on_record("a/x", 3))
    text = "[goals.a]\nwait_max='5m'\n[change.'a/x']\nguarantee={from='cpus:3',to='cpus:4'}\n"
    space_of(load(text, "g.toml"), replace(SMALL, settings=nested))


def test_every_role_above_one_on_record_is_known():
    of = demand(["cpus:4;mem:8192"], [wanted("site/x/y", 1, 0, 60.0)])
    text = "keep=['site']\n[goals.'site/x/y']\nwait_max='5m'\n[change.'site/x']\nweight={from=1,to=2}\n"
    assert space_of(load(text, "g.toml"), of).unknowns


@pytest.mark.parametrize("goal", ["wait_max='5m'", "wait_p95='5m'", "hours_served='100%'"])
def test_tasks_that_never_fit_are_left_out_and_without_others_a_goal_is_impossible(goal):
    never = wanted("a", 2, 5, 6.0)  # it needs 4 cpus
    goals = load(f"[goals.a]\n{goal}\n[change.a]\nweight={{from=1,to=2}}\n", "g.toml")
    some = demand(["cpus:2;mem:8192"], [wanted("a", 0, 0, 60.0), never])
    space_of(goals, some)
    (note,) = operations.notes_of(goals.goals, some)
    assert note.startswith("1 task of a never fit on an agent, ")
    shown = play_candidate(some, [], OPTIONS).roles["a"]
    assert goals.goals[0].is_met(goals.goals[0].measured(shown))
    with pytest.raises(BadInput, match="no task of a fits on an agent, even on an empty one") as refused:
        space_of(goals, demand(["cpus:2;mem:8192"], [never]))
    assert refused.value.hint == "choose another --since or --until"


def test_a_quota_that_came_during_the_recording_can_be_left_out():
    tasks = [wanted("b", 2, 10, 60.0), wanted("a", 0, 20, 60.0)]
    of = replace(demand(["cpus:4;mem:8192"], tasks), settings=(quota_on_record("a", 4, SINCE + 5),))
    text = "[goals.b]\nwait_max='1m'\n[change.a]\nguarantee={from='cpus:0',to='cpus:4',steps=1}\n"
    goals = load(text, "g.toml")
    space = space_of(goals, of)
    assert space.choices == ((None, 0),)
    found = tune(of, space, goals.goals, Here(of), Nowhere(), TuningOptions(OPTIONS))
    assert found.best == (0,)
    assert space.words((0,)) == ("remove-quota:a",)
    assert [found.tried[one].roles["b"].longest_wait for one in (space.unchanged, (0,))] == [3590.0, 0.0]
    assert not found.tried[(0,)].refusal


def test_limits_before_mesos_1_9_are_told():
    goals = load("[goals.a]\nwait_max='5m'\n[change.a]\nlimit={from='cpus:1',to='cpus:2'}\n", "g.toml")
    with pytest.raises(BadInput, match=r"a limit needs Mesos 1\.9 or newer"):
        space_of(goals, replace(SMALL, version="1.4.0"))


STARRED = demand(["cpus:4;mem:8192"], [wanted("*", 1, 0, 60.0), wanted("a", 1, 10, 60.0)])


@pytest.mark.parametrize(("version", "fits"), [("1.9.0", False), ("1.10.0", True)])
def test_before_mesos_1_10_the_default_role_has_no_quota(version, fits):
    goals = load("[goals.a]\nwait_max='5m'\n[change.'*']\nguarantee={from='cpus:0',to='cpus:2'}\n", "g.toml")
    with nullcontext() if fits else pytest.raises(BadInput, match="the default role '\\*' cannot have a quota"):
        space_of(goals, replace(STARRED, version=version))


def test_the_settings_on_record_are_those_of_the_moment():
    quota = json.dumps({"role": "a", "guarantees": {"cpus": {"value": 2}}, "limits": {"cpus": {"value": 3}}})
    recorded = (
        ReplayedSetting(SINCE, "quota", "a", quota),
        ReplayedSetting(SINCE, "weight", "a", json.dumps({"weight": 2.5})),
        ReplayedSetting(SINCE + 9, "quota", "a", None),
    )
    of = replace(SMALL, settings=recorded)
    assert settings_at(of, SINCE).quotas == {"a": Quota(Quantities({"cpus": 2000}), Limits({"cpus": 3000}))}
    assert settings_at(of, SINCE + 10).quotas == {}
    assert settings_at(of, SINCE + 10).weights == {"a": 2.5}


class Nowhere:
    def get(self, words):
        return None

    def add(self, words, evidence):
        pass


class Kept(Nowhere):
    def __init__(self, known):
        self.known = known

    def get(self, words):
        return self.known.get(tuple(words))

    def add(self, words, evidence):
        self.known[tuple(words)] = evidence


def test_without_time_the_settings_on_record_are_tried_and_what_is_known_still_counts():
    goals = load("[goals.b]\nwait_max='0s'\n[change.a]\nlimit={from='cpus:1',to='cpus:4'}\n", "g.toml")
    tasks = [wanted("a", 1, float(place), 200.0) for place in range(6)] + [wanted("b", 0, 9, 30.0)]
    of = demand(["cpus:4;mem:16384"], tasks)
    space = space_of(goals, of)
    no_time = TuningOptions(OPTIONS, may_go_on=lambda: False)
    first = tune(of, space, goals.goals, Here(of), Nowhere(), no_time)
    assert first.stopped
    assert space.unchanged in first.tried
    store = Kept({})
    whole = tune(of, space, goals.goals, Here(of), store, TuningOptions(OPTIONS))
    again = tune(of, space, goals.goals, Here(of), store, no_time)
    assert not again.stopped
    assert list(again.tried.items()) == list(whole.tried.items())
    assert len(again.tried) > len(first.tried)


def test_goals_are_refused_where_the_recording_does_not_say_everything_and_its_replay_differs():
    goals = load("[goals.b]\nwait_max='0s'\n[change.a]\nlimit={from='cpus:1',to='cpus:4'}\n", "g.toml")
    tasks = [wanted("b", 0, 10.0 * place, 30.0) for place in range(20)]
    late = [task._replace(started=task.asked + 9 * (place < 3)) for place, task in enumerate(tasks)]
    of = replace(demand(["cpus:4;mem:16384"], [*late, wanted("a", 0, 9, 30.0)]), holes=("nobody saw it",))
    space = space_of(goals, of)
    with pytest.raises(Conflict, match="nobody saw it, and without changes 3 of 20 tasks"):
        tune(of, space, goals.goals, Here(of), Nowhere(), TuningOptions(OPTIONS))
    whole = replace(of, holes=())
    tune(whole, space, goals.goals, Here(whole), Nowhere(), TuningOptions(OPTIONS))
    anyway = TuningOptions(replace(OPTIONS, uncalibrated=True))
    tune(of, space, goals.goals, Here(of), Nowhere(), anyway)


# --- Laws, by replays ---------------------------------------------------------------------------------


TASKS = st.lists(
    st.builds(
        wanted,
        st.sampled_from(["a", "b"]),
        st.integers(0, 2),
        st.integers(0, 200).map(float),
        st.integers(30, 300).map(float),
    ),
    min_size=6,
    max_size=30,
).filter(lambda tasks: {task.role for task in tasks} == {"a", "b"})


@given(TASKS, st.integers(0, 900), st.integers(0, 900))
@settings(max_examples=examples(12))
def test_what_is_found_is_what_trying_every_step_finds(tasks, first, second):
    of = demand(["cpus:4;mem:8192", "cpus:4;mem:4096"], tasks)
    text = (
        f"[goals.a]\nwait_p95='{first}s'\n[goals.b]\nwait_max='{second}s'\n"
        "[change.a]\nguarantee={from='cpus:0',to='cpus:8',steps=4}\n"
    )
    goals = load(text, "g.toml")
    space = space_of(goals, of)
    found = tune(of, space, goals.goals, Here(of), Nowhere(), TuningOptions(OPTIONS))
    every = [play_candidate(of, space.words((step,)), OPTIONS) for step in space.choices[0]]
    met = [
        space.size((step,))
        for step, shown in zip(space.choices[0], every, strict=True)
        if all(goal.is_met(goal.measured(shown.roles[goal.role])) for goal in goals.goals)
    ]
    assert (found.best is not None) == bool(met)
    if found.best is not None:
        assert space.size(found.best) == min(met)


@given(TASKS, st.integers(0, 900), st.integers(0, 900), st.integers(0, 300), st.integers(0, 300))
@settings(max_examples=examples(12))
def test_goals_that_are_easier_never_make_a_found_answer_unfound(tasks, first, second, more, less):
    of = demand(["cpus:4;mem:8192", "cpus:4;mem:4096"], tasks)
    change = (
        "[change.a]\nguarantee={from='cpus:0',to='cpus:8',steps=4}\n"
        "[change.b]\nlimit={from='cpus:2',to='cpus:8',steps=2}\n"
    )
    found = []
    for a, b in ((first, second), (first + more, second + less)):
        goals = load(f"[goals.a]\nwait_p95='{a}s'\n[goals.b]\nwait_max='{b}s'\n{change}", "g.toml")
        options = TuningOptions(OPTIONS, tries=6)
        found.append(tune(of, space_of(goals, of), goals.goals, Here(of, 2), Nowhere(), options))
    strict, easier = found
    assert strict.best is None or easier.best is not None


@pytest.mark.process
@given(TASKS, st.integers(0, 300))
@settings(max_examples=examples(6), deadline=None)
def test_with_one_unknown_the_answer_is_that_of_find_largest(tasks, more):
    """From all that there is downwards: the smallest change that lets nobody wait longer is the largest guarantee."""
    of = demand(["cpus:4;mem:8192", "cpus:4;mem:4096"], tasks)
    free = play_candidate(of, [], OPTIONS)
    limit = int(max(one.longest_wait or 0.0 for one in free.roles.values())) + 1 + more
    options = ReplayOptions(wait_limit=float(limit), uncalibrated=True)
    variants = replayed_variants(play_unchanged(of, options), [], [], lambda _: None, at_once=1)

    def ask(words):
        return [one.answer for one in variants.each(words)]

    # As `variants.find_largest` does, in larger steps.
    largest = Search(parse_template("quota:a=cpus:?"), 8000, 500, ask).largest(2000)
    goals = load(
        f"[goals.a]\nwait_max='{limit}s'\n[goals.b]\nwait_max='{limit}s'\n"
        f"[change.a]\nguarantee={{from='cpus:0',to='cpus:8',steps=16}}\n",
        "g.toml",
    )
    of = replace(of, settings=(quota_on_record("a", 8),))
    space = space_of(goals, of)
    found = tune(of, space, goals.goals, Here(of), Nowhere(), TuningOptions(options))
    assert found.best is not None
    amount = settings_of(space, found.best).get_amount("cpus")
    if amount != (largest.largest or 0):  # a smaller one does harm, so that --find-largest does not look further
        assert amount > (largest.largest or 0) + 500
        words = f"quota:a=cpus:{((largest.largest or 0) + 500) / 1000:g}"
        smaller = play_candidate(of, [words], options).roles
        assert any(one.longest_wait > limit for one in smaller.values())


def settings_of(space, candidate):
    """The guarantee of role a."""
    return space.changed(candidate).quotas.get("a", space.present.quotas["a"]).guarantees


def test_processes_and_the_order_in_which_they_end_make_no_difference(typed):
    del typed
    goals = load("[goals.b]\nwait_max='1m'\n[change.a]\nlimit={from='cpus:1',to='cpus:4'}\n", "g.toml")
    tasks = [wanted("a", 1, float(place), 200.0) for place in range(6)] + [wanted("b", 0, 9, 30.0)]
    of = demand(["cpus:4;mem:16384"], tasks)

    space = space_of(goals, of)
    found = [
        tune(of, space, goals.goals, Here(of, at_once, latest_first=latest), Nowhere(), TuningOptions(OPTIONS))
        for at_once in (1, 2, 3, 16)
        for latest in (False, True)
    ]
    for one in found:
        assert list(one.tried.items()) == list(found[0].tried.items())


class Lasting(Here):
    """Plays candidates that take made-up times, on a clock of its own."""

    def __init__(self, of, at_once):
        super().__init__(of, at_once)
        self.now = 0
        self.took = []
        self._ends = {}

    def start(self, place, words):
        super().start(place, words)
        self.took.append(1 + crc32(" ".join(words).encode()) % 9)
        self._ends[place] = self.now + self.took[-1]

    def next_ended(self):
        place = min(self._ends, key=self._ends.__getitem__)
        self.now = self._ends.pop(place)
        return place, play_candidate(self.demand, self._running.pop(place), OPTIONS)


@pytest.mark.parametrize("at_once", [2, 3, 8])
def test_nobody_waits_for_work_while_the_search_goes_on(at_once):
    """The bound is that of work which is begun as soon as somebody is free."""
    goals = load(
        "[goals.a]\nwait_max='0s'\n[change.a]\nlimit={from='cpus:1',to='cpus:4'}\nguarantee={from='cpus:0',to='cpus:4'}\n",
        "g.toml",
    )
    of = demand(["cpus:4;mem:16384"], [wanted("a", 1, float(place), 200.0) for place in range(6)])
    space = space_of(goals, of)
    players = Lasting(of, at_once)
    found = tune(of, space, goals.goals, players, Nowhere(), TuningOptions(OPTIONS, tries=40))
    assert found.best is None
    assert len(players.took) == len(found.tried) == 40
    assert players.now <= sum(players.took) / at_once + max(players.took)


def test_the_evidence_is_of_one_demand_and_one_way_to_play_it(tmp_path):
    key = fingerprint(SMALL, OPTIONS)
    assert key == fingerprint(demand(["cpus:4;mem:8192"], list(SMALL.tasks)), OPTIONS)
    others = [
        fingerprint(replace(SMALL, until=SMALL.until + 1), OPTIONS),
        fingerprint(replace(SMALL, tasks=SMALL.tasks[:1]), OPTIONS),
        fingerprint(SMALL, replace(OPTIONS, refuse=7.0)),
        *(
            fingerprint(replace(SMALL, tasks=[SMALL.tasks[0]._replace(**changed), *SMALL.tasks[1:]]), OPTIONS)
            for changed in ({"is_executor": True}, {"ran_from_the_beginning": True}, {"start_is_known": False})
        ),
    ]
    assert len({key, *others}) == 7
    store = EvidenceFile({"XDG_STATE_HOME": str(tmp_path)}, key)
    shown = play_candidate(SMALL, [], OPTIONS)
    store.add([], shown)
    assert EvidenceFile({"XDG_STATE_HOME": str(tmp_path)}, key).get([]) == shown


# --- Processes ----------------------------------------------------------------------------------------


@pytest.mark.process
@pytest.mark.parametrize("at_once", [1, 2, 7])
def test_answers_come_from_processes_in_order(at_once):
    assert list(side_by_side([5, 4, 3, 2, 1], lambda one: one * 2, at_once)) == [10, 8, 6, 4, 2]


@pytest.mark.process
def test_answers_come_from_processes_as_they_end():
    with Forked[int, int](lambda one: one * 2) as forked:
        for place in range(3):
            forked.start(place, place)
        assert dict(forked.next_ended() for _ in range(3)) == {0: 0, 1: 2, 2: 4}
        forked.start(3, 3)  # and is ended with the others


def ended(question, answer):
    with Forked(answer) as forked:
        forked.start(0, question)
        return forked.next_ended()


@pytest.mark.process
def test_the_error_of_a_process_is_raised():
    def refused(_):
        raise BadInput("no")

    with pytest.raises(BadInput, match="no"):
        ended(1, refused)
    with pytest.raises(Bug, match="ZeroDivisionError"):
        list(side_by_side([0], lambda one: 1 // one))
    with pytest.raises(Bug, match="ended without an answer"):
        ended(1, lambda _: os.kill(os.getpid(), signal.SIGKILL))
