"""A fake and a real master given the same random requests that launch: same statuses, same refusals."""

from collections import Counter

import pytest

from tests.conformance.callers.joining import quick
from tests.conformance.callers.launching import launched_on
from tests.conformance.histories.playing import SEED, SLOW_STEPS
from tests.conformance.histories.random_tasks import TaskDice
from tests.conformance.masters.carriers import Carrier, Pool, judged
from tests.conformance.masters.cluster import Cluster, MasterDied
from tests.conformance.masters.codec import JSON_ALONE, PROTOBUF

FRESH_EVERY = 200
"""Requests after which the real master is a new one: its agent remembers every framework."""
SETUP = quick("cpus:12;mem:6144;disk:1000;ports:[31000-31009]", flags={"allocation_interval": "20ms"})


def stop(masters: list[Cluster]) -> None:
    for master in masters:
        master.stop()


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@pytest.mark.parametrize("carriers", judged("1.4.3", "1.8.1", "1.11.0"), ids=lambda pair: str(pair[0]))
def test_launches_are_judged_alike(carriers: tuple[Carrier, Carrier], pool: Pool) -> None:
    release = carriers[0].profile.release
    dice = TaskDice(SEED, release)
    statuses: Counter[int] = Counter()
    masters: list[Cluster] = []
    for number in range(SLOW_STEPS):
        if number % FRESH_EVERY == 0 or not masters:
            stop(masters)
            masters = [pool.start(carrier, SETUP) for carrier in carriers]
        codec = PROTOBUF if number % 3 == 0 else JSON_ALONE
        operations = dice.operations(in_protobuf=codec is PROTOBUF)
        real, fake = masters
        for master in masters:
            master.speak(codec)
        try:
            judged = launched_on(real, operations)
        except MasterDied:
            # Its agents are in the same process, and a network that is not there ends an agent of 1.4 and 1.5.
            assert release in ("1.4.3", "1.5.3"), (number, operations)
            stop(masters)
            masters = []
            continue
        assert launched_on(fake, operations) == judged, (number, codec.name, operations)
        statuses[judged[0]] += 1
    stop(masters)
    # Otherwise little would have been tried.
    assert min(statuses[status] for status in (202, 400)) > SLOW_STEPS / 40, statuses
