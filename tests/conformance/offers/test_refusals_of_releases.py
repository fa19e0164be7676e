"""How long a refusal lasts, and whether it outlives its agent, on the real master of each release."""

from functools import partial

import pytest

from tests.conformance.callers.joining import joining, quick
from tests.conformance.masters.agent_messages import reregistration
from tests.conformance.masters.carriers import REAL, Carrier, Pool, each_of, real_of
from tests.conformance.masters.simulated import agents_saying
from tests.helpers.needs import needs

RELEASES = ("1.4.3", "1.8.1", "1.11.0")
AGENT = "cpus:4;mem:2048;disk:100"
ONE = quick(f"{AGENT};ports:[31000-31009]")
DEFAULT = 5.0
"""Seconds that a refusal lasts whose time makes no sense."""
AIR = 1.5
THREE_CENTURIES = 1e10
"""Seconds; more than 64 bits have nanoseconds for."""


@pytest.mark.parametrize("carrier", each_of(*RELEASES), ids=str)
@needs(*REAL.needs)
def test_a_refusal_of_three_centuries_lasts_long_where_there_is_a_longest_time(pool: Pool, carrier: Carrier) -> None:
    master = pool.lend(carrier, ONE)
    with joining(master) as join:
        framework = join("r").subscribe()
        framework.decline(framework.offers(), refuse=THREE_CENTURIES)
        if carrier.profile.longest_refusal < THREE_CENTURIES:
            framework.none_of("OFFERS", DEFAULT + AIR)
        else:
            framework.next("OFFERS", DEFAULT + AIR)


@pytest.mark.parametrize("carrier", [real_of(release) for release in RELEASES], ids=str)
@needs(*REAL.needs)
def test_a_filter_on_an_agent_that_returns_lives_or_not(pool: Pool, carrier: Carrier) -> None:
    """On masters without agents of their own: one is simulated, says goodbye, and is there again."""
    master = pool.start(carrier, quick(flags={"agent_ping_timeout": "15mins"}))
    with (
        joining(master) as join,
        agents_saying(master, lambda agents: [partial(agents.register, AGENT, checkpoint=True)]) as speaking,
    ):
        framework = join("r").subscribe()
        framework.decline(framework.offers(), refuse=1000.0)
        framework.none_of("OFFERS")
        (agent,) = master.call("GET_AGENTS").json()["get_agents"]["agents"]
        info = agent["agent_info"]
        speaking.run(partial(speaking.agents.unregister, 0, info["id"]["value"]))
        assert master.subscribers.wait(lambda: not master.read("/slaves")["slaves"])
        message = reregistration(info, [], [], [])
        speaking.run(partial(speaking.agents.say, "ReregisterSlaveMessage", message, 0))
        assert master.subscribers.wait(lambda: bool(master.read("/slaves")["slaves"]))
        if carrier.profile.filters_outlive_agents:
            framework.none_of("OFFERS")
        else:
            framework.offers()
    master.stop()
