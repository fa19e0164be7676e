"""A framework of several roles: what it says of some of them changes these, each, and no other."""

from typing import Any

from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from tests.helpers.lab import Lab, Scheduler
from tests.helpers.profiles import examples

ROLES = ("a", "b", "b/x", "c")
STRANGE = "strange"
calls = st.tuples(
    st.sampled_from(["SUPPRESS", "REVIVE"]), st.sets(st.sampled_from([*ROLES, *ROLES, STRANGE]), max_size=3)
)


def offered_roles(framework: Scheduler) -> set[str]:
    """The roles of new offers, all of which are declined for no time at all."""
    offers = framework.offers()
    if offers:
        framework.ask("DECLINE", offer_ids=[one["id"] for one in offers], filters={"refuse_seconds": 0})
    return {offer["allocation_info"]["role"] for offer in offers}


@settings(max_examples=examples(40))
@example(said=[("SUPPRESS", {"a", "b"})])
@example(said=[("SUPPRESS", set()), ("REVIVE", {"a", "c"})])
@example(said=[("SUPPRESS", {"a", STRANGE}), ("SUPPRESS", {"b"}), ("REVIVE", {"b", STRANGE})])
@given(said=st.lists(calls, min_size=1, max_size=4))
def test_all_roles_that_a_call_names_are_suppressed_or_revived(said: list[tuple[str, set[str]]]) -> None:
    """A call that names none is about all; one with a role that the framework does not have does nothing."""
    lab = Lab(*["cpus:4;mem:64"] * 8)
    framework = Scheduler(lab, roles=list(ROLES))
    assert offered_roles(framework) == set(ROLES)
    suppressed: set[str] = set()
    for kind, named in said:
        framework.ask(kind, roles=sorted(named))
        about = (named or set(ROLES)) if STRANGE not in named else set()
        suppressed = suppressed | about if kind == "SUPPRESS" else suppressed - about
    event(f"{len(suppressed)} suppressed")
    offered_roles(framework)  # a REVIVE has made offers at once
    seen: set[str] = set()
    for _ in ROLES:
        seen |= offered_roles(framework)
    assert seen == set(ROLES) - suppressed


@settings(max_examples=examples(40))
@example(left={"a", "c"})
@given(left=st.sets(st.sampled_from(ROLES), min_size=1, max_size=len(ROLES) - 1))
def test_the_offers_of_every_role_that_a_framework_leaves_are_rescinded(left: set[str]) -> None:
    lab = Lab(*["cpus:4;mem:64"] * 8)
    framework = Scheduler(lab, roles=list(ROLES))
    offers: list[Any] = framework.offers()
    by_role = {role: [one["id"] for one in offers if one["allocation_info"]["role"] == role] for role in ROLES}
    event(f"{len(left)} of {sum(map(bool, by_role.values()))}")
    assert all(by_role.values())
    stays = sorted(set(ROLES) - left)
    info = {**framework.info, "id": {"value": framework.id}, "roles": stays}
    assert framework.call("UPDATE_FRAMEWORK", framework_info=info).status == 200
    gone = [one["offer_id"]["value"] for one in framework.heard("RESCIND")]
    assert sorted(gone) == sorted(one["value"] for role in left for one in by_role[role])
