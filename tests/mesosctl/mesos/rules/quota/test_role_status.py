"""The share of a role, and its words about what it has reached."""

import pytest

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.cluster.role_status import RoleStatus, Share

TOTALS = Quantities({"cpus": 100_000, "mem": 1_000_000})


def status(guarantees=None, limits=None, **usage) -> RoleStatus:
    return RoleStatus("web", Quota(Quantities(guarantees or {}), Limits(limits or {})), **usage)


@pytest.mark.parametrize(
    ("guarantees", "limits", "share"),
    [
        ({}, {}, None),
        ({"gpus": 1000}, {}, None),
        ({"cpus": 25_000}, {}, Share("cpus", 0.0, 0.25, None)),
        ({"cpus": 25_000, "mem": 500_000}, {"mem": 750_000}, Share("mem", 0.0, 0.5, 0.75)),
        ({"mem": 500_000, "cpus": 75_000}, {"mem": 750_000}, Share("cpus", 0.0, 0.75, None)),
        ({"cpus": 25_000}, {"cpus": 0}, Share("cpus", 0.0, 0.25, 0.0)),
    ],
)
def test_the_share_of_a_role_is_of_the_resource_of_which_it_is_promised_most(guarantees, limits, share):
    assert status(guarantees, limits).share_of(TOTALS) == share


class Using(RoleStatus):
    """A role that counts what the test says, whatever its guarantee."""

    @property
    def counted(self) -> Quantities:
        return Quantities({"cpus": 10_000, "mem": 300_000})


def test_the_use_goes_before_the_guarantee():
    using = Using("web", Quota(Quantities({"cpus": 90_000}), Limits({"mem": 400_000})))
    assert using.share_of(TOTALS) == Share("mem", 0.3, 0.0, 0.4)
    even = Using("web", Quota(Quantities({"mem": 90_000}), Limits()))
    assert even.share_of(Quantities({"cpus": 20_000, "mem": 600_000})) == Share("mem", 0.5, 0.15, None)


class Reaching(RoleStatus):
    """A role that has reached what the test says."""

    @property
    def reached(self) -> Quantities:
        return Quantities({"cpus": 4000, "mem": 5000})


@pytest.mark.parametrize(
    ("cpus", "would", "words"),
    [
        (4000, False, ("web uses", "cpus=4000,mem=5000", "all of", "cpus=4000,mem=5000", "it gets", "cpus or mem")),
        (3999, False, ("web uses", "cpus=4000,mem=5000", "more than", "cpus=3999,mem=5000", "it gets", "cpus or mem")),
        (4000, True, ("web would use", "cpus=4000,mem=5000", "all of", "it would get", "cpus or mem")),
    ],
)
def test_the_sentence_about_a_limit_says_what_of_which_limit_is_reached(cpus, would, words):
    limits = Limits({"cpus": cpus, "mem": 5000, "disk": 1})
    said = Reaching("web", Quota(Quantities(), limits)).limit_sentence(
        lambda amounts: ",".join(f"{name}={amount}" for name, amount in amounts.items()), would=would
    )
    place = 0
    for part in words:
        assert part in said[place:]
        place = said.index(part, place) + len(part)
