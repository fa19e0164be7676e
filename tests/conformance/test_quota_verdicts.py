"""One list of rules for quota: whoever checks a quota gives the verdict of the master."""

from collections.abc import Callable

from hypothesis import event, given, settings
from hypothesis import strategies as st

from fake_master.state.quota import SentQuota
from mesosctl.apply.comparison import make_plan
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.quantities import Quantities, Quota, to_double
from mesosctl.mesos.desired.desired_state import DesiredState
from mesosctl.mesos.errors import MesosctlError
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange, guarantees_of, limits_of
from mesosctl.mesos.rules.quota.rules import Wish, refuse_without_cluster
from mesosctl.quota.check import check_quota, quota_room
from mesosctl.quota.work import plan_update, set_quota, update_quotas
from mesosctl.reading.quotas import QuotaOptions
from tests.conformance.test_agreement import clusters, reader
from tests.helpers.lab import Lab
from tests.helpers.profiles import examples

OWN = {"quota.above-zero", "quota.path", "resource.known", "quota.limits-need-update"}
"""The rules that mesosctl adds to those of masters."""
BEFORE_AN_UPDATE = {"quota.already-set", "quota.scalar-only", "quota.duplicate-name", "quota.unreserved-only"}
"""`quota set` replaces no quota, and the amounts of UPDATE_QUOTA cannot be anything but amounts by name."""
BEFORE_A_REQUEST = {"quota.guarantee-within-limit"}
"""POST /quota sends no limits: only mesosctl sees those that were named."""

roles = st.sampled_from(["web", "batch", "idle", "new", "web/shop", "*", "a b", "why?"])
guarantees = st.sampled_from(
    ["", "cpus:0", "cpus:1", "cpus:4;mem:200", "cpus:30", "mem:700", "cpus:1;cpus:2", "ports:[1-2]", "cpus(web):1",
     "cpus:2000000000000", "gpsu:1"]
)  # fmt: skip
limits = st.sampled_from([None, None, "cpus:0", "cpus:1", "cpus:3;mem:5000", "cpus:50"])


def rule_of(work: Callable[[], object]) -> str | None:
    """The rule that refuses it; None if nothing does."""
    try:
        work()
    except MesosctlError as error:
        return error.rule or str(error)
    return None


def asked_directly(lab: Lab, role: str, guarantee: str, limit: str | None) -> None:
    """Ask the master without mesosctl, by the call that mesosctl would send."""
    quotas = lab.master.quotas
    entries = parse_entries(guarantee)
    sent = {entry.name: to_double(entry.value) for entry in entries if isinstance(entry.value, int)}
    with lab.master.transaction():
        if lab.master.state.profile.knows_update_quota:
            bounds = Wish.of(role, Quota(limits=limits_of(parse_entries(limit or "")))).limits
            quotas.update(None, [(role, SentQuota(sent, bounds))], force=False)
        else:
            quotas.set(None, role, entries, sent, force=False)


@settings(max_examples=examples(45))
@given(clusters(lending=False), roles, guarantees, limits)
def test_every_verdict_is_that_of_the_master(lab, role, guarantee, limit):
    master = reader(lab)
    entries = parse_entries(guarantee)
    bounds = None if limit is None else limits_of(parse_entries(limit))
    if not entries and not bounds:
        return
    checked = check_quota(master, role, entries, bounds)
    broken = {finding.rule for finding in checked.findings if finding.passed is False}
    room = None if rule_of(lambda: quota_room(master, role)) else quota_room(master, role)
    by_set = rule_of(lambda: set_quota(master, role, entries, bounds))
    event(f"{by_set}")
    assert checked.passed == (by_set is None)
    assert by_set is None or by_set in broken
    if room is not None and not broken & {"quota.scalar-only", "quota.duplicate-name", "quota.unreserved-only"}:
        wanted = Quantities({entry.name: entry.value for entry in entries if isinstance(entry.value, int)})
        has_room = not room.overcommitted and (room.capacity - room.promised).contains(wanted)
        assert ("quota.capacity" not in broken) == has_room
    if by_set is not None and (entries or lab.master.state.profile.knows_update_quota):
        by_master = rule_of(lambda: asked_directly(lab, role, guarantee, limit))
        own = OWN | (BEFORE_AN_UPDATE if lab.master.state.profile.knows_update_quota else BEFORE_A_REQUEST)
        assert by_master in broken if by_master else broken <= own, (by_master, broken)


@settings(max_examples=examples(45))
@given(clusters(lending=False), st.sampled_from(["web", "batch", "idle", "new"]), limits)
def test_the_room_of_a_role_is_accepted_and_no_more_is(lab, role, limit):
    master = reader(lab)
    if limit is not None:
        bounded = DesiredQuotaChange(None, limits_of(parse_entries(limit)))
        rule_of(lambda: update_quotas(master, [(role, bounded)], QuotaOptions(create=True, force=True)))
    room = quota_room(master, role)

    def refused(guarantees: Quantities) -> str | None:
        return rule_of(
            lambda: plan_update(master, [(role, DesiredQuotaChange(guarantees, None))], QuotaOptions(create=True))
        )

    if not room.overcommitted:
        # The role may use more than its limit allows; and no room at all is no quota.
        accepted = (
            (None, "quota.consumption") if dict(room.largest.items()) else ("quota.empty", "quota.consumption", None)
        )
        assert refused(room.largest) in accepted
        for name in room.capacity:
            more = room.largest + Quantities({name: 1})
            assert refused(more) in ("quota.capacity", "quota.guarantee-within-limit", "quota.consumption")


@settings(max_examples=examples(45))
@given(clusters(lending=False), roles, guarantees, limits)
def test_update_and_apply_give_the_same_verdict(lab, role, guarantee, limit):
    master = reader(lab)
    entries = parse_entries(guarantee)
    if rule_of(lambda: guarantees_of(entries)):
        return
    desired = DesiredQuotaChange(guarantees_of(entries), None if limit is None else limits_of(parse_entries(limit)))
    stored = lab.master.state.quota_meanings()
    if desired.applied_to(stored.get(role)) == stored.get(role):
        return
    by_update = rule_of(lambda: plan_update(master, [(role, desired)], QuotaOptions(create=True)))
    state = DesiredState(quotas={role: desired}, weights=None, reservations=None)
    # The reader of files has checked what needs no cluster.
    by_apply = rule_of(lambda: refuse_without_cluster(role, desired.applied_to(None)))
    by_apply = by_apply or rule_of(lambda: make_plan(master, state, prune=False))
    event(f"{by_update}")
    assert by_apply == by_update
