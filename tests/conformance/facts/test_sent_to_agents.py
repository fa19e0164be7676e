"""The messages that a real master sends an agent: `Profile.sends_whole_checkpoint`."""

from functools import partial

import pytest

from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, mesos_message
from mesosctl.mesos.rules.version_profile import RELEASES
from tests.conformance.facts.cases import asked
from tests.conformance.masters.carriers import REAL, Carrier, Pool, real_of
from tests.conformance.masters.cluster import Setup
from tests.conformance.masters.simulated import agents_saying
from tests.conformance.scenarios.reserving import cpus, dynamic, reserve
from tests.helpers.needs import needs

SETUP = Setup(flags={"agent_ping_timeout": "15mins"})  # nobody answers pings
WHOLE, OPERATION = "CheckpointResourcesMessage", "ApplyOperationMessage"


@pytest.mark.parametrize("carrier", [*map(real_of, RELEASES)], ids=str)
@needs(*REAL.needs)
def test_an_agent_is_sent_all_that_it_checkpoints_or_the_operation(pool: Pool, carrier: Carrier) -> None:
    """The agent has the capabilities of one of the same release."""
    profile = carrier.profile
    kinds = mesos_message("mesos.v1.AgentInfo.Capability").fields["type"].type
    assert isinstance(kinds, Enumeration)
    numbers = [kinds.values[name] for name in profile.agent_capabilities]
    master = pool.start(carrier, SETUP)
    with agents_saying(
        master, lambda agents: [partial(agents.register, "cpus:4;mem:1024", capabilities=numbers)]
    ) as speaking:
        assert asked(master, reserve(cpus(1, dynamic("r")))).status == 202
        told = speaking.agents.told
        assert master.subscribers.wait(lambda: bool({WHOLE, OPERATION} & set(told()))), told()
        assert (WHOLE in told(), OPERATION in told()) == (
            profile.sends_whole_checkpoint,
            not profile.sends_whole_checkpoint,
        )
    master.stop()
