"""A snapshot as a file, and files that are none."""

import json
import os
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import (
    ClusterSnapshot,
    Debt,
    FrameworkUsage,
    Lending,
    Refusal,
    SnapshotFramework,
    SnapshotTask,
)
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.snapshots import snapshot as snapshot_api
from tests.helpers.profiles import examples
from tests.mesosctl.mesos.messages.layouts import long
from tests.mesosctl.mesos.messages.snapshots.strategies import snapshots

SMALL = ClusterSnapshot(
    "1.11.0",
    1.5,
    agents=(ClusterAgent("S0", "h", "slave(1)@h:1", parse_resources("cpus:2;mem:1024;cpus(a):1")),),
    frameworks=(SnapshotFramework("F0", "shop", ("a",)),),
    usages=(FrameworkUsage("F0", "S0", "a", parse_resources("cpus:1"), 1),),
)


@settings(max_examples=examples(150), deadline=None)
@given(snapshots())
def test_a_snapshot_comes_back_as_it_was(snapshot):
    assert snapshot_api.load(long(snapshot_api.dump(snapshot))) == snapshot


@settings(max_examples=examples(100), deadline=None)
@given(snapshots(), st.data())
def test_lines_mean_what_the_same_json_means_in_any_other_layout(snapshot, data):
    text = snapshot_api.dump(snapshot)
    lines = text.split("\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    start = data.draw(st.integers(0, len(lines[at])))
    changed = data.draw(st.sampled_from(['"', "}", "]", "{", ",", "0", "-", "\\", "null", " ", '"id": "S0", ', "[]"]))
    lines[at] = lines[at][:start] + changed + lines[at][start + data.draw(st.integers(0, 6)) :]
    for written in (text, "\n".join(lines)):
        # A blank behind each line keeps it from being read as one that was written by `dump`.
        assert _read(written) == _read(written.replace("\n", " \n"))


def _read(text):
    try:
        return snapshot_api.load(long(text))
    except BadInput as error:
        # Line and column differ with the layout.
        return error.rule, None if error.rule == "file.json" else error.field


def test_the_file_is_plain_json_with_one_line_an_entry():
    text = snapshot_api.dump(SMALL)
    assert json.loads(text)["usages"] == [
        {
            "framework_id": "F0",
            "agent_id": "S0",
            "role": "a",
            "tasks": 1,
            "resources": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.0}}],
        }
    ]
    assert sum('"id": "S0"' in line for line in text.splitlines()) == 1


LENDING = replace(
    SMALL,
    lending=Lending(
        tasks=(SnapshotTask("t1", "F0", "S0", "a", parse_resources("cpus:1"), phase="waiting"),),
        debts=(Debt("F0", "S0", "a", parse_resources("cpus:1")),),
        refusals=(Refusal("F0", "S0", "a", parse_resources("cpus:2"), 30.0),),
        stop_seconds=2.0,
    ),
)


def test_a_master_that_lends_has_keys_of_its_own_and_no_other_has():
    more = json.loads(snapshot_api.dump(LENDING)).keys() - json.loads(snapshot_api.dump(SMALL)).keys()
    assert more == {"lending", "tasks", "debts", "refusals"}
    assert snapshot_api.load(snapshot_api.dump(LENDING)) == LENDING


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v["tasks"][0].update(standing="gone"), "tasks[0].standing"),
        (lambda v: v["tasks"][0].update(agent_id="S9"), "no agent 'S9'"),
        (lambda v: v["tasks"].append(v["tasks"][0]), "'t1' appears twice"),
        (lambda v: v["debts"][0].update(role="a//b"), "debts[0].role"),
        (lambda v: v["debts"][0].pop("framework_id"), "debts[0].framework_id"),
        (lambda v: v["refusals"][0].update(seconds=-1), "refusals[0].seconds"),
        (lambda v: v["refusals"][0]["resources"].append(3), "refusals[0].resources[1]"),
        (lambda v: v["lending"].update(stop_seconds=-1), "lending.stop_seconds"),
    ],
)
def test_what_is_wrong_about_lending_is_told_by_its_place(change, said):
    with pytest.raises(BadInput, match=r".") as caught:
        snapshot_api.load(changed(change, LENDING), "file.json")
    assert said in str(caught.value)


def changed(change, snapshot=SMALL):
    value = json.loads(snapshot_api.dump(snapshot))
    change(value)
    return json.dumps(value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda v: v.pop("kind"), "is not a snapshot"),
        (lambda v: v.update(schema_version=2), "schema_version is 2"),
        (lambda v: v.update(schema_version=True), "schema_version is true"),
        (lambda v: v.pop("master"), "master"),
        (lambda v: v["master"].pop("version"), "master.version"),
        (lambda v: v.update(agents={}), "agents[0]"),
        (lambda v: v["agents"][0].pop("hostname"), "agents[0].hostname"),
        (lambda v: v["agents"].append(v["agents"][0]), "'S0' appears twice"),
        (lambda v: v["agents"][0]["attributes"].update(x=[1]), "agents[0].attributes.x"),
        (lambda v: v["agents"][0]["resources"][0]["scalar"].update(value=-1), "agents[0].resources[0]"),
        (lambda v: v["agents"][0]["resources"].append(3), "agents[0].resources[3]"),
        (lambda v: v["frameworks"][0].update(roles=["a//b"]), "frameworks[0].roles[0]"),
        (lambda v: v["frameworks"][0].update(suppressed=["b"]), "frameworks[0].suppressed"),
        (lambda v: v["usages"][0].update(agent_id="S9"), "no agent 'S9'"),
        (lambda v: v["usages"][0].update(framework_id="F9"), "no framework 'F9'"),
        (lambda v: v["usages"][0].update(tasks=-1), "usages[0].tasks"),
        (lambda v: v.update(weights={"a": 0}), "weights.a"),
        (lambda v: v.update(quotas={"a": {"guarantees": {"cpus": 2}, "limits": {"cpus": 1}}}), "quotas.a"),
        (lambda v: v.update(quotas={"a": {"guarantees": {"cpus": -2}}}), "quotas.a"),
    ],
)
def test_what_is_wrong_is_told_by_its_place(change, said):
    with pytest.raises(BadInput, match=r".") as caught:
        snapshot_api.load(changed(change), "file.json")
    assert said in str(caught.value)
    assert str(caught.value).startswith("file.json")


def test_the_order_of_members_means_nothing():
    value = json.loads(snapshot_api.dump(SMALL))
    assert snapshot_api.load(json.dumps(dict(reversed(value.items())))) == SMALL


@pytest.mark.parametrize(
    ("before", "twice", "field"),
    [
        ('"weights":', '"weights": {}, "weights":', "weights"),
        ('"agents":', '"agents": [], "agents":', "agents"),
        ('"hostname":', '"hostname": "a", "hostname":', "agents[0].hostname"),
        ('"value":', '"value": 1, "value":', "agents[0].resources[0].scalar.value"),
    ],
)
def test_a_key_that_stands_twice_is_refused(before, twice, field):
    with pytest.raises(BadInput, match="appears twice in one object") as refused:
        snapshot_api.load(snapshot_api.dump(SMALL).replace(before, twice, 1), "file.json")
    assert refused.value.field == field


def test_a_key_of_a_later_version_is_ignored():
    value = json.loads(snapshot_api.dump(SMALL))
    value["agents"][0]["later"] = value["later"] = [{"more": 1}]
    assert snapshot_api.load(json.dumps(value)) == SMALL


def test_what_is_no_snapshot_at_all_is_told_before_what_is_wrong_in_it():
    value = json.loads(snapshot_api.dump(SMALL)) | {"agents": [3], "kind": "state"}
    with pytest.raises(BadInput, match="is not a snapshot"):
        snapshot_api.load(json.dumps(value))
    with pytest.raises(BadInput, match="is not JSON: line 1, column"):
        snapshot_api.load(json.dumps(value) + "x")


def test_entries_may_be_written_as_a_master_takes_them():
    value = json.loads(snapshot_api.dump(SMALL))
    value |= {"frameworks": value["frameworks"][0], "agents": [None, [value["agents"]]], "offers": None}
    assert snapshot_api.load(json.dumps(value)) == SMALL


def test_a_pipe_is_read_like_a_file():
    def piped(content):
        reading, writing = os.pipe()
        with os.fdopen(writing, "wb") as there:
            there.write(content)
        with os.fdopen(reading, "rb") as file:
            return snapshot_api.read(file)

    assert piped(snapshot_api.dump(SMALL).encode()) == SMALL
    with pytest.raises(BadInput, match="is not JSON: line 1, column 2"):
        piped(b"{")


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_no_damage_ends_in_anything_but_a_sentence(data):
    text = snapshot_api.dump(SMALL)
    at = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:at] + data.draw(st.sampled_from(["", "x", '"', "null", "-1", "[", "{}", "\x00"])) + text[at + 1 :]
    try:
        snapshot_api.load(damaged)
    except BadInput as error:
        assert error.message  # noqa: PT017  # many damages do no harm
