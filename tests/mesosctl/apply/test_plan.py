"""From what there is to what is wanted: orders of quotas, and reservations on an agent."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mesosctl.apply.plan import QuotaStep, WeightsStep, order_quotas, plan
from mesosctl.hints import hint_of
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Disk, DiskSource, Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.desired.desired_state import Actual, DesiredState, differences, quota_changes
from mesosctl.mesos.desired.reservation_plan import AgentReservations, DesiredOnAgent, ReservationStep
from mesosctl.mesos.errors import Conflict, RuleViolation
from mesosctl.mesos.rules.quota.capacity import total_guarantees
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange
from mesosctl.mesos.rules.reservations import operations
from tests.helpers.profiles import examples

ROOM = Quantities({"cpus": 10, "mem": 10})
AMOUNTS = st.dictionaries(st.sampled_from(["cpus", "mem"]), st.integers(1, 6), min_size=1, max_size=2).map(Quantities)
QUOTAS = st.dictionaries(st.sampled_from("abc"), AMOUNTS.map(Quota), max_size=3)


def desired(quotas):
    return {role: DesiredQuotaChange(*quota) for role, quota in quotas.items()}


def fits(quotas):
    return ROOM.contains(total_guarantees(quotas))


@settings(max_examples=examples(500))
@given(QUOTAS.filter(fits), QUOTAS.filter(fits))
def test_every_step_on_the_way_is_one_that_a_master_takes(before, after):
    changes = list(quota_changes(DesiredState(desired(after)), Actual(before), prune=True))
    current = dict(before)
    for step in order_quotas(before, changes, ROOM, whole_updates=True):
        assert current.get(step.role) == step.before
        current.pop(step.role, None)
        if step.after is not None:
            assert not step.after.is_default
            current[step.role] = step.after
            assert fits(current)
    assert current == after


@given(QUOTAS.filter(fits), QUOTAS)
def test_what_cannot_be_is_refused_before_the_first_step(before, after):
    after = after | {"d": Quota(Quantities({"cpus": 11}))}
    changes = list(quota_changes(DesiredState(desired(after)), Actual(before), prune=True))
    with pytest.raises(Conflict):
        order_quotas(before, changes, ROOM, whole_updates=True)


def test_two_roles_that_change_places_go_by_way_of_less():
    one, other = Quantities({"cpus": 8, "mem": 2}), Quantities({"cpus": 2, "mem": 8})
    before, after = {"a": Quota(one), "b": Quota(other)}, {"a": Quota(other), "b": Quota(one)}
    changes = list(quota_changes(DesiredState(desired(after)), Actual(before), prune=False))
    steps = order_quotas(before, changes, ROOM, whole_updates=True)
    assert [step.role for step in steps] == ["a", "b", "a"]
    assert steps[0].after == Quota(Quantities({"cpus": 2, "mem": 2}))
    with pytest.raises(Conflict, match="no order"):  # where a quota can only be replaced
        order_quotas(before, changes, ROOM, whole_updates=False)


# --- Reservations -----------------------------------------------------------------------------------

ROLES = {("a",): (), ("b",): (), ("a", "a/x"): ("a",), ("a", "a/y"): ("a",), ("a", "a/x", "a/x/z"): ("a", "a/x")}


def stack(roles, principal="p", labels=None):
    return tuple(Reservation("DYNAMIC", role, principal, labels) for role in roles)


def separate(kind, size, root=None):
    return Resource("disk", size * 1000, disk=Disk(source=DiskSource(kind, root)))


DISKS = [separate("MOUNT", 5, "/one"), separate("MOUNT", 5, "/two"), separate("BLOCK", 5), separate("BLOCK", 5)]
AGENT = RegisteredAgent(
    "S0",
    "h0",
    "slave(1)@h0:5051",
    Resources([*parse_resources("cpus:40;ports:[1-40];disk:50"), separate("PATH", 50, "/data"), *DISKS]),
)


@st.composite
def reserved(draw):
    """The shares of an agent, by the roles of a stack: cpus, ports and disks, none of them shared."""
    ports, disks = list(range(1, 41)), list(DISKS)
    found = {}
    for roles in draw(st.sets(st.sampled_from(list(ROLES)))):
        cpus = draw(st.integers(0, 8))
        mine = [ports.pop() for _ in range(draw(st.integers(0, 3)))]
        text = f"cpus:{cpus};ports:[{','.join(f'{port}-{port}' for port in mine)}];disk:{draw(st.integers(0, 9))}"
        taken = [separate("PATH", draw(st.integers(0, 9)), "/data")]
        taken += [disks.pop(draw(st.integers(0, len(disks) - 1))) for _ in range(draw(st.integers(0, 2))) if disks]
        plain = Resources([*parse_resources(text), *taken])
        if plain:
            found[roles] = plain
    return found


def agent_with(found):
    total = AGENT.total
    for roles, plain in found.items():
        owned = Resources(replace(entry, reservations=stack(roles)) for entry in plain)
        total = operations.apply_all(total, [operations.Conversion(plain, owned)])
    return replace(AGENT, total=total)


def targets(found):
    return [DesiredOnAgent("S0", roles[-1], plain, ROLES[roles], "p") for roles, plain in found.items()]


def taken(agent, steps):
    total = agent.total
    for step in steps:
        assert isinstance(step, ReservationStep)
        kinds = {entry.kind for entry in step.resources}
        assert total.filter(lambda entry: entry.kind in kinds) == step.before  # noqa: B023  # used at once
        make = operations.reserve if step.action == "reserved" else operations.unreserve
        total = operations.apply_all(total, make(step.resources))
        assert total.filter(lambda entry: entry.kind in kinds) == step.after  # noqa: B023
    return total


@settings(max_examples=examples(500), deadline=None)
@given(reserved(), reserved())
def test_an_agent_comes_to_what_is_wanted_of_it(before, after):
    lower = {roles: roles[:-1] for roles in after if len(roles) > 1}
    assume(all(below in after for below in lower.values()))
    agent = agent_with(before)
    wanted = DesiredState(reservations=targets(after))
    steps = plan(wanted, Actual(agents={"S0": agent}), prune=True, capacity=None, whole_updates=True)
    assert taken(agent, steps) == agent_with(after).total
    actions = [step.action for step in steps if isinstance(step, ReservationStep)]
    assert actions == sorted(actions, reverse=True)  # all is released before anything is reserved
    assert bool(steps) == bool(differences(wanted, Actual(agents={"S0": agent})))


@settings(max_examples=examples(200), deadline=None)
@given(reserved(), reserved())
def test_without_prune_only_what_is_named_is_touched(before, after):
    assume(all(roles[:-1] in after for roles in after if len(roles) > 1))
    agent = agent_with(before)
    try:
        steps = plan(
            DesiredState(reservations=targets(after)),
            Actual(agents={"S0": agent}),
            prune=False,
            capacity=None,
            whole_updates=True,
        )
    except Conflict:
        return  # what others hold may be in the way
    total = taken(agent, steps)
    for roles, plain in after.items():
        assert plain_of(total, roles) == plain
    for roles, plain in before.items():
        if roles not in after and not any(other[: len(roles)] == roles for other in {*after, *before} - {roles}):
            assert plain_of(total, roles) == plain


def plain_of(total, roles):
    owned = total.filter(lambda entry: tuple(level.role for level in entry.reservations) == roles)
    return Resources(replace(entry, reservations=()) for entry in owned)


def steps_on(agent, *wanted, prune=False):
    return plan(
        DesiredState(reservations=wanted), Actual(agents={"S0": agent}), prune=prune, capacity=None, whole_updates=True
    )


def test_volumes_count_and_are_never_taken_apart():
    owned = Resources([Resource("disk", 5000, stack(("a",)), disk=Disk("v", container_path="c", mode="RW"))])
    agent = replace(AGENT, total=AGENT.total + owned)
    assert steps_on(agent, DesiredOnAgent("S0", "a", parse_resources("disk:5"))) == []
    with pytest.raises(Conflict, match="in volumes") as refused:
        steps_on(agent, prune=True)
    assert f"mesosctl volumes destroy {agent.hostname} v --role a" in str(hint_of(refused.value))


def test_what_tasks_use_is_in_the_way():
    agent = agent_with({("a",): parse_resources("cpus:4")})
    owned = Resources(replace(entry, reservations=stack(("a",))) for entry in parse_resources("cpus:3"))
    with pytest.raises(Conflict, match="tasks use them"):
        steps_on(replace(agent, used=owned), DesiredOnAgent("S0", "a", parse_resources("cpus:2")))


def test_two_wishes_need_something_to_tell_them_apart():
    twice = DesiredOnAgent("S0", "a", parse_resources("cpus:1"))
    with pytest.raises(RuleViolation, match="has two entries on"):
        steps_on(AGENT, twice, twice)
    labelled = replace(twice, labels=Labels([("k", "v")]))
    (one, other) = steps_on(AGENT, twice, labelled)
    assert {str(entry.reservations[-1].labels) for step in (one, other) for entry in step.resources} == {
        "None",
        "{k: v}",
    }


@pytest.mark.parametrize("wishes", [(0, 1), (1, 0)])
def test_a_wish_that_names_a_principal_chooses_before_one_that_takes_any(wishes):
    by_p, by_q = (Resource("cpus", amount * 1000, stack(["web"], by)) for amount, by in ((2, "p"), (3, "q")))
    any_of_all = [
        DesiredOnAgent("a", "web", parse_resources("cpus:3")),
        DesiredOnAgent("a", "web", parse_resources("cpus:2"), principal="p"),
    ]
    agent = replace(AGENT, total=Resources([by_p, by_q]))
    found = AgentReservations(agent, [any_of_all[one] for one in wishes], prune=False)
    assert [group.held == group.desired for group in found.groups] == [True, True]


def test_a_refinement_needs_something_to_stand_upon():
    with pytest.raises(Conflict, match="nothing is reserved for a"):
        steps_on(AGENT, DesiredOnAgent("S0", "a/x", parse_resources("cpus:1"), ("a",)))


def test_everything_in_its_order():
    agent = agent_with({("a",): parse_resources("cpus:4")})
    wanted = DesiredState(
        {"web": DesiredQuotaChange(Quantities({"cpus": 5}), Limits({"cpus": 5}))},
        {"web": 2.0},
        [DesiredOnAgent("S0", "b", parse_resources("cpus:2"))],
    )
    actual = Actual({"old": Quota(Quantities({"cpus": 9}))}, {"x": 3.0}, {"S0": agent})
    steps = plan(wanted, actual, prune=True, capacity=ROOM, whole_updates=True)
    assert [type(step) for step in steps] == [ReservationStep, QuotaStep, QuotaStep, WeightsStep, ReservationStep]
    assert steps[3] == WeightsStep({"web": 1.0, "x": 3.0}, {"web": 2.0, "x": 1.0})
    assert plan(DesiredState(), actual, prune=True, capacity=ROOM, whole_updates=True) == []  # no section, no wish
