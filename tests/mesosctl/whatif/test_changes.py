"""The words of changes that `mesosctl whatif` takes."""

import pytest

from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.quantities import Limits
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.errors import RuleViolation, UsageError
from mesosctl.whatif import changes
from mesosctl.whatif.changes import parse_change


@pytest.mark.parametrize(
    ("word", "change"),
    [
        (
            "quota:web=cpus:12;mem:6GiB",
            changes.Guarantee("web", (Resource("cpus", 12_000), Resource("mem", 6_144_000))),
        ),
        ("limit:web=cpus:16;disk:0", changes.Bounds("web", Limits({"cpus": 16_000, "disk": 0}))),
        ("limit:web=none", changes.Bounds("web", Limits())),
        ("remove-quota:ads/video", changes.NoQuota("ads/video")),
        ("weight:web=2.5", changes.ChangedWeight("web", 2.5)),
        ("destroy:S0=v1", changes.DestroyVolume("S0", "v1")),
        (
            "reserve:agent-1=cpus(web):2; ports(ads>ads/video):[1-9]",
            changes.ReserveOnAgent(
                "agent-1",
                (
                    changes.Owned(Resource("cpus", 2_000), ("web",)),
                    changes.Owned(parse_entries("ports:[1-9]")[0], ("ads", "ads/video")),
                ),
            ),
        ),
        (
            "unreserve:S0=cpus(web):2",
            changes.UnreserveOnAgent("S0", (changes.Owned(Resource("cpus", 2_000), ("web",)),)),
        ),
        (
            "create:S0=v1:disk(db):1GiB",
            changes.CreateVolume("S0", "v1", changes.Owned(Resource("disk", 1_024_000), ("db",))),
        ),
        *(
            (
                f"create:S0={word}:disk(db:x):1GiB",
                changes.CreateVolume("S0", volume, changes.Owned(Resource("disk", 1_024_000), ("db:x",))),
            )
            for word, volume in (("id:v1", "v1"), ("id", "id"), ("id:host:v1", "host:v1"), ("a:b", "a:b"))
        ),
    ],
)
def test_words_that_are_changes(word, change):
    assert parse_change(word) == change


@pytest.mark.parametrize(
    "word",
    [
        "",
        "web",
        "quota:",
        "quota:web",
        "quota:=cpus:1",
        "quota:web=",
        "qouta:web=cpus:1",
        "weight:web=much",
        "weight:web=nan",
        "weight:web=inf",
        "limit:web=ports:[1-2]",
        "limit:web=cpus(ads):2",
        "reserve:S0=cpus:2",
        "reserve:S0=;",
        "create:S0=v1",
        "create:S0=:disk(db):1",
        "create:S0=v1:disk(db):1;disk(db):2",
        "create:S0=host:v1:disk(db):1",
        "destroy:S0",
    ],
)
def test_words_that_are_none(word):
    with pytest.raises(UsageError):
        parse_change(word)


@pytest.mark.parametrize("word", ["quota:web=cpus", "quota:/web=cpus:1", "reserve:S0=cpus(.):1", "quota:web=cpus:x"])
def test_a_broken_rule_is_told_with_the_word_it_is_in(word):
    with pytest.raises(RuleViolation) as found:
        parse_change(word)
    assert f"'{word}'" in found.value.message
