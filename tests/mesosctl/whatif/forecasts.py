"""A forecast with everything in it, hostile names included."""

from typing import TypedDict

from fake_master.forecasting.gains_and_losses import RunSummary, forecast
from mesosctl.mesos.amounts.holding import UsedAndOffered
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.account import ClusterAccount, LikeAgents
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.door.forecast import AnsweredChange, Eviction, Forecast, Rescission, TriedChange
from mesosctl.show.html_page import ReportOrigin

HOSTILE = "</td><script>document.title='owned'</script>&\"'\u202e"
LENT = Resources([Resource("cpus", 2000, revocable=True)])
WHOLE = Quantities({"cpus": 24_000, "mem": 49_152_000, "disk": 100_000_000})


def amounts(cpus: float, mem: float = 0) -> Quantities:
    return Quantities({"cpus": int(cpus * 1000), "mem": int(mem * 1000)})


class OnAgent(TypedDict):
    """Which agent an offer or a task is on."""

    agent_id: str
    agent: str


ORIGIN = ReportOrigin("mesosctl whatif", "1.2.3", 1_800_000_000.0, "http://master:5050", context="prod", principal="op")
FIRST = OnAgent(agent_id="S0", agent="agent-1")
SECOND = OnAgent(agent_id="S1", agent="agent-2")


def whole_forecast() -> Forecast:
    """One change that starves somebody, one that is refused."""
    before = ClusterAccount(
        totals=WHOLE,
        capacity=WHOLE,
        free=amounts(2, 64),
        roles={
            "web": UsedAndOffered(amounts(4, 1024), amounts(2, 512)),
            HOSTILE: UsedAndOffered(offered=amounts(16, 4096)),
        },
        frameworks={
            "f-1": UsedAndOffered(amounts(4, 1024), amounts(2, 512)),
            "f-2": UsedAndOffered(offered=amounts(16, 4096)),
        },
        names={"f-1": "marathon", "f-2": HOSTILE},
        like_agents={LikeAgents(amounts(12, 24_576), amounts(6, 12_288)): 2},
        asking=frozenset({"web", HOSTILE}),
    )
    after = ClusterAccount(
        totals=WHOLE,
        capacity=WHOLE,
        free=amounts(0, 0),
        roles={"web": UsedAndOffered(amounts(4, 1024), amounts(10, 8192)), HOSTILE: UsedAndOffered()},
        frameworks={"f-1": UsedAndOffered(amounts(4, 1024), amounts(10, 8192)), "f-2": UsedAndOffered()},
        names=before.names,
        quotas={"web": Quota(amounts(16, 8192)), HOSTILE: Quota(amounts(13))},
        counted={"web": amounts(14, 9216), HOSTILE: amounts(0)},
        like_agents=before.like_agents,
        asking=before.asking,
    )
    course = RunSummary(
        ClusterSnapshot("1.11.0", 1_700_000_000.0, unknown=(f"the flag of {HOSTILE}: nothing",)),
        cycles=10,
        seconds=10.0,
        assume="hold",
        changes=(
            TriedChange("quota:web=cpus:16;mem:8GiB"),
            TriedChange(f"quota:{HOSTILE}=cpus:1"),
            TriedChange(f"framework lost: {HOSTILE}"),
            TriedChange("agents lost: 1 of 3: agent-3", amounts(8, 16_384)),
        ),
        answers=(
            AnsweredChange("quota:web=cpus:16;mem:8GiB", 200, accepted=True),
            AnsweredChange(f"quota:{HOSTILE}=cpus:1", 400, accepted=False, message=HOSTILE, rule="role.syntax"),
        ),
        rescinded=(
            Rescission(
                "O-1", "f-2", HOSTILE, HOSTILE, "agent-1", parse_resources("cpus:8;mem:2048;ports:[1-9]"), **FIRST
            ),
            Rescission("O-2", "f-2", HOSTILE, HOSTILE, "agent-2", parse_resources("cpus:8"), **SECOND, out_now=False),
        ),
        evicted=(
            Eviction("t-1", "f-1", "marathon", "web", "agent-1", LENT, 2.0, happens=True, **FIRST),
            Eviction(
                HOSTILE,
                "f-2",
                HOSTILE,
                HOSTILE,
                "agent-2",
                LENT,
                0.0,
                happens=False,
                caused=False,
                runs_now=False,
                **SECOND,
            ),
        ),
    )
    return forecast(before, after, course)
