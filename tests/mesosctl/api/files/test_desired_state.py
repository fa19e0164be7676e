"""A file of wishes in TOML, and steps in a journal."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.api.files.desired_state import dump, load
from mesosctl.model.errors import BadInput
from mesosctl.model.notation import parse_resources
from mesosctl.model.quantities import Limits, Quantities, Quota
from mesosctl.model.quota.desired import DesiredQuota
from mesosctl.model.resource import Disk, DiskSource, Labels, Reservation, Resource
from mesosctl.model.resources import Resources
from mesosctl.model.values import Ranges
from mesosctl.operations.apply.journal import step_from_json, step_to_json
from mesosctl.planning.desired_state import DesiredState
from mesosctl.planning.plan import QuotaStep, WeightsStep
from mesosctl.planning.reservation_plan import DesiredReservation, ReservationStep
from tests.helpers.profiles import examples
from tests.mesosctl.api.snapshots.strategies import COMPONENT, MILLI, ROLE, TEXT, quotas

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
    return DesiredReservation(draw(TEXT), roles[-1], draw(PLAIN), roles[:-1], draw(st.none() | TEXT), draw(LABELS))


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
    assert wanted.quotas["web"] == DesiredQuota(
        Quantities({"cpus": 12000, "mem": 6144000}), Limits({"cpus": 24000, "gpus": 0})
    )
    assert wanted.weights == {"dept/team": 2.0}
    assert wanted.reservations == [
        DesiredReservation(
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
        ("weights.web = 0", "above zero"),
        ("weights.web = true", "above zero"),
        ("weights.web = nan", "above zero"),
        ("weights.web = inf", "above zero and at most"),
        ("weights.web = 1e309", "above zero and at most"),
        ("reservations = {}", "array of tables"),
        ("[[reservations]]\nrole = 'a'\nresources = 'cpus:1'", "reservations[0].agent"),
        ("[[reservations]]\nagent = 'h'\nrole = '*'\nresources = 'cpus:1'", "cannot be reserved"),
        ("[[reservations]]\nagent = 'h'\nrole = 'a'\nresources = 'cpus(b):1'", "names an owner"),
        ("[[reservations]]\nagent = 'h'\nrole = 'a'\nresources = 'cpus'", "NAME:VALUE"),
        ("[[reservations]]\nagent = 'h'\nrole = 'a'\nresources = 'cpus:1'\nunder = ['b']", "not below"),
        ("[[reservations]]\nagent = 'h'\nrole = 'a'\nresources = 'cpus:1'\nunder = 'b'", "list of roles"),
        ("[[reservations]]\nagent = 'h'\nrole = 'a'\nresources = 'cpus:1'\nlabels = 3", "labels"),
        ("[[reservations]]\nagent = 'h'\nrole = 'a'\nresources = 'cpus:1'\nprincipal = 3", "principal"),
    ],
)
def test_what_is_wrong_is_told_by_its_place(text, said):
    with pytest.raises(BadInput) as caught:
        load(text, "file")
    assert said in str(caught.value)
    assert str(caught.value).startswith("file")


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
