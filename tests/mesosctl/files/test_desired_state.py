"""A file of wishes in TOML, and steps in a journal."""

import json
import re

import pytest
import tomli_w
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mesosctl.apply.journal import step_from_json, step_to_json
from mesosctl.apply.plan import QuotaStep, WeightsStep
from mesosctl.files.desired_state import content, dump, load
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Disk, DiskSource, Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Ranges
from mesosctl.mesos.desired.desired_state import DesiredState
from mesosctl.mesos.desired.reservation_plan import DesiredOnAgent, ReservationStep
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange
from tests.helpers.profiles import examples
from tests.mesosctl.mesos.messages.snapshots.strategies import COMPONENT, MILLI, ROLE, TEXT, quotas

DISKS = st.builds(DiskSource, st.sampled_from(["PATH", "MOUNT"]), TEXT).map(lambda source: Disk(source=source))
PLAIN = st.lists(
    st.builds(Resource, st.sampled_from(["cpus", "mem", "disk"]), MILLI)
    | st.just(Resource("ports", Ranges.of([(1, 5), (9, 9)])))
    | st.builds(Resource, st.just("disk"), MILLI, disk=DISKS),
    min_size=1,
    max_size=3,
).map(Resources)
KEY = TEXT.filter(lambda text: "=" not in text)
LABELS = st.none() | st.lists(st.tuples(KEY, st.none() | TEXT), max_size=3).map(Labels)


@st.composite
def targets(draw):
    parts = draw(st.lists(COMPONENT, min_size=1, max_size=3))
    roles = tuple("/".join(parts[: depth + 1]) for depth in range(len(parts)))
    return DesiredOnAgent(draw(TEXT), roles[-1], draw(PLAIN), roles[:-1], draw(st.none() | TEXT), draw(LABELS))


WANTED = st.builds(
    DesiredState,
    st.none() | st.dictionaries(COMPONENT, quotas().filter(lambda quota: not quota.is_default), max_size=2),
    st.none() | st.dictionaries(ROLE, st.floats(0.001, 1000), max_size=2),
    st.none() | st.lists(targets(), max_size=2),
)


@settings(max_examples=examples(200), deadline=None)
@given(WANTED)
def test_a_file_comes_back_as_it_was(wanted):
    assert load(dump(wanted), "file") == wanted


@settings(max_examples=examples(120))
@given(
    st.lists(st.tuples(COMPONENT, quotas().filter(lambda quota: not quota.is_default)), min_size=1, max_size=4),
    st.data(),
)
@example([("a", Quota(Quantities({"cpus": 1}))), ("b", Quota(Quantities({"cpus": 2})))] * 2, None)
def test_an_array_of_quotas_means_the_same_as_tables_and_names_each_role_once(listed, data):
    """Which of two would count, nobody could tell: the second of a role is refused where it stands."""
    by_role = {role: DesiredQuotaChange(quota.guarantees, quota.limits) for role, quota in reversed(listed)}
    sections = content(DesiredState(by_role, None, None))["quotas"]
    again = listed if data is None else data.draw(st.permutations(listed))
    text = tomli_w.dumps({"quotas": [{"role": role, **sections[role]} for role, _ in again]})
    names = [role for role, _ in again]
    second = next((place for place, role in enumerate(names) if role in names[:place]), None)
    if second is None:
        assert load(text, "file").quotas == by_role
    else:
        with pytest.raises(BadInput) as caught:
            load(text, "file")
        assert f"quotas[{second}].role: role '{names[second]}' already has a quota" in str(caught.value)


def test_what_people_write():
    wanted = load(
        """
        [quotas.web]
        guarantee = "cpus:12;mem:6GiB"
        limit = "cpus:24; gpus:0"
        [weights]
        "dept/team" = 2
        [[reservations]]
        agent = "node1"
        role = "dept/team"
        under = ["dept"]
        resources = "cpus:2;ports:[31000-31009]"
        labels = { why = "batch" }
        """,
        "file",
    )
    assert wanted.quotas is not None
    assert wanted.quotas["web"] == DesiredQuotaChange(
        Quantities({"cpus": 12000, "mem": 6144000}), Limits({"cpus": 24000, "gpus": 0})
    )
    assert wanted.weights == {"dept/team": 2.0}
    assert wanted.reservations == [
        DesiredOnAgent(
            "node1",
            "dept/team",
            parse_resources("cpus:2;ports:[31000-31009]"),
            ("dept",),
            labels=Labels([("why", "batch")]),
        )
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "file is not TOML"),
        ("schema_version = 2", "schema_version"),
        ("quota = 1", "quota: there is no such key"),
        ("quotas = 1", "quotas: it is neither a table nor an array of tables"),
        ("quotas.web = 1", "quotas.web"),
        ("quotas.web = {}", "neither guarantee nor limit"),
        ("quotas.web.guarantee = 12", "quotas.web.guarantee"),
        ("quotas.web.guarantee = 'cpus:x'", "not a number"),
        ("quotas.web.guarantee = 'cpus:0'", "zero"),
        ("quotas.web.guarantee = 'cpus:2;cpus:1'", "duplicate"),
        ("quotas.web = {guarantee='cpus:2', limit='cpus:1'}", "above its limit"),
        ("quotas.web.guarantees = 'cpus:1'", "there is no such key"),
        ("quotas.'a/b'.guarantee = 'cpus:1'", "nested"),
        ("quotas.'a b'.guarantee = 'cpus:1'", "whitespace"),
        ("weights.web = 0", "weights.web: it is not above zero"),
        ("weights.web = true", "neither a number nor Infinity"),
        ("weights.web = nan", "it is not a number"),
        ("weights.web = inf", "above zero and at most"),
        ("weights.web = 1e309", "above zero and at most"),
        ("reservations = {}", "array of tables"),
        ("[[reservations]]\nrole = 'a'\nresources = 'cpus:1'", "reservations[0].agent"),
        ("[[reservations]]\nagent = 'h'\nrole = '*'\nresources = 'cpus:1'", "cannot be reserved"),
        ("[[reservations]]\nagent = 'h'\nrole = 'a'\nresources = 'cpus(b):1'", "names an owner"),
        ("[[reservations]]\nagent = 'h'\nrole = 'a'\nresources = 'cpus'", "NAME:VALUE"),
        ("[[reservations]]\nagent = 'h'\nrole = 'a'\nresources = 'cpus:1'\nunder = ['b']", "not below"),
        ("[[reservations]]\nagent = 'h'\nrole = 'a'\nresources = 'cpus:1'\nunder = 'b'", "list of strings"),
        ("[[reservations]]\nagent = 'h'\nrole = 'a'\nresources = 'cpus:1'\nlabels = 3", "labels"),
        ("[[reservations]]\nagent = 'h'\nrole = 'a'\nresources = 'cpus:1'\nprincipal = 3", "principal"),
    ],
)
def test_what_is_wrong_is_told_by_its_place(text, said):
    with pytest.raises(BadInput) as caught:
        load(text, "file")
    assert said in str(caught.value)
    assert str(caught.value).startswith("file")


def test_every_fault_is_told_at_once_with_its_line():
    """Those of keys and types first; once there are none, every rule that is broken."""
    text = """[quotas.web]
guarantee = 12
[quotas."a/b"]
guarantee = "cpus:x"
limit = "cpus:y"
[weights]
"a b" = 2
[[reservations]]
agent = "h"
role = "*"
resorces = "cpus"
"""
    for right, told in (
        ({}, [("2", "quotas.web.guarantee"), ("8", "reservations[0].resources"), ("11", "reservations[0].resorces")]),
        (
            {"12": '"cpus:0"', "resorces": "resources"},
            [
                ("2", "quotas.web.guarantee"),
                ("4", "quotas.a/b.guarantee"),
                ("5", "quotas.a/b.limit"),
                ("7", "weights.a b"),
                ("8", "reservations[0]"),
                ("11", "reservations[0].resources"),
            ],
        ),
    ):
        for word, better in right.items():
            text = text.replace(word, better)
        with pytest.raises(BadInput) as caught:
            load(text, "file")
        assert re.findall(r"file, line (\d+): (.*?): ", caught.value.message) == told


@settings(max_examples=examples(100))
@given(st.none() | quotas(), st.none() | quotas(), st.dictionaries(ROLE, st.floats(0.001, 1000), max_size=2), PLAIN)
def test_steps_come_back_as_they_were(before, after, weights, plain):
    owned = Resources(
        Resource(entry.name, entry.value, (Reservation("DYNAMIC", "a", "p", Labels([("k", None)])),)) for entry in plain
    )
    for step in (
        QuotaStep("web", before, after),
        WeightsStep(weights, weights),
        ReservationStep("S0", "h", "reserved", owned, Resources(), owned),
    ):
        assert step_from_json(json.loads(json.dumps(step_to_json(step)))) == step
    assert isinstance(before, Quota | None)
