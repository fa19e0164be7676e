"""An agent that stays registered and is disconnected."""

from tests.conformance.masters.cluster import Cluster
from tests.conformance.masters.simulated import agents_of


def lose_an_agent(master: Cluster, resources: str) -> None:
    """Have one more agent, which the master waits for."""
    if master.lose_agent is not None:
        master.lose_agent(resources)
    else:
        with agents_of(master, [resources], checkpoint=True):
            pass
    assert master.subscribers.wait(lambda: not all(agent["active"] for agent in master.read("/slaves")["slaves"]))
