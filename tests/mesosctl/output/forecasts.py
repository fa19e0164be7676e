"""A forecast with everything in it, hostile names included."""

from typing import TypedDict

from mesosctl.model.holding import Holding
from mesosctl.model.notation import parse_resources
from mesosctl.model.quantities import Quantities, Quota
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.output.formats.html_page import Origin
from mesosctl.planning.account import ClusterAccount, LikeAgents
from mesosctl.planning.forecast import ChangeAnswer, EvictedTask, Forecast, RescindedOffer, TriedChange
from mesosctl.planning.gains_and_losses import RunSummary, forecast
from mesosctl.planning.snapshot import ClusterSnapshot

HOSTILE = "</td><script>document.title='owned'</script>&\"'\u202e"
LENT = Resources([Resource("cpus", 2000, revocable=True)])
WHOLE = Quantities({"cpus": 24_000, "mem": 49_152_000, "disk": 100_000_000})


def amounts(cpus: float, mem: float = 0) -> Quantities:
    return Quantities({"cpus": int(cpus * 1000), "mem": int(mem * 1000)})


class OnAgent(TypedDict):
    """Which agent an offer or a task is on."""

    agent_id: str
    agent: str


ORIGIN = Origin("mesosctl whatif", "1.2.3", 1_800_000_000.0, "http://master:5050", context="prod", principal="op")
FIRST = OnAgent(agent_id="S0", agent="agent-1")
SECOND = OnAgent(agent_id="S1", agent="agent-2")


def whole_forecast() -> Forecast:
    """One change that starves somebody, one that is refused."""
    before = ClusterAccount(
        totals=WHOLE,
        capacity=WHOLE,
        free=amounts(2, 64),
        roles={
            "web": Holding(amounts(4, 1024), amounts(2, 512)),
            HOSTILE: Holding(offered=amounts(16, 4096)),
        },
        frameworks={
            "f-1": Holding(amounts(4, 1024), amounts(2, 512)),
            "f-2": Holding(offered=amounts(16, 4096)),
        },
        names={"f-1": "marathon", "f-2": HOSTILE},
        like_agents={LikeAgents(amounts(12, 24_576), amounts(6, 12_288)): 2},
        asking=frozenset({"web", HOSTILE}),
    )
    after = ClusterAccount(
        totals=WHOLE,
        capacity=WHOLE,
        free=amounts(0, 0),
        roles={"web": Holding(amounts(4, 1024), amounts(10, 8192)), HOSTILE: Holding()},
        frameworks={"f-1": Holding(amounts(4, 1024), amounts(10, 8192)), "f-2": Holding()},
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
            ChangeAnswer("quota:web=cpus:16;mem:8GiB", 200, accepted=True),
            ChangeAnswer(f"quota:{HOSTILE}=cpus:1", 400, accepted=False, message=HOSTILE, rule="role.syntax"),
        ),
        rescinded=(
            RescindedOffer(
                "O-1", "f-2", HOSTILE, HOSTILE, "agent-1", parse_resources("cpus:8;mem:2048;ports:[1-9]"), **FIRST
            ),
            RescindedOffer(
                "O-2", "f-2", HOSTILE, HOSTILE, "agent-2", parse_resources("cpus:8"), **SECOND, out_now=False
            ),
        ),
        evicted=(
            EvictedTask("t-1", "f-1", "marathon", "web", "agent-1", LENT, 2.0, happens=True, **FIRST),
            EvictedTask(
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
