"""The `suppressed_roles` of SUBSCRIBE on a real and a fake master of each release."""

import pytest

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import quick
from tests.conformance.masters.carriers import REAL, Carrier, Pool, judged
from tests.conformance.masters.cluster import Cluster
from tests.helpers.needs import needs

SETUP = quick("cpus:4;mem:2048;disk:100;ports:[31000-31009]")


def told(master: Cluster, suppressed: list[str]) -> set[str]:
    """The kinds of events that a framework of the role `ads` gets."""
    framework = Framework(master, "ads")
    stream = framework.open(suppressed_roles=suppressed)
    master.subscribers.wait(lambda: bool(stream.events) or stream.closed)
    if stream.events[0]["type"] == "SUBSCRIBED":
        framework.id = stream.events[0]["subscribed"]["framework_id"]["value"]
        framework.settle()
        framework.leave()
    stream.hang_up()
    return {event["type"] for event in stream.events} - {"HEARTBEAT"}


@pytest.mark.parametrize(("real", "fake"), judged("1.4.3", "1.8.1", "1.11.0"), ids=str)
@needs(*REAL.needs)
def test_suppressed_roles_of_a_new_framework(pool: Pool, real: Carrier, fake: Carrier) -> None:
    honoured = real.profile.honours_suppressed_roles
    for carrier in (real, fake):
        master = pool.lend(carrier, SETUP)
        assert told(master, []) == {"SUBSCRIBED", "OFFERS"}, carrier
        assert told(master, ["ads"]) == ({"SUBSCRIBED"} if honoured else {"SUBSCRIBED", "OFFERS"}), carrier
        assert told(master, ["web"]) == ({"ERROR"} if honoured else {"SUBSCRIBED", "OFFERS"}), carrier
