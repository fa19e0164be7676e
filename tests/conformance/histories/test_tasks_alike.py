"""A fake and a real master given the same random requests that launch: same statuses, same refusals."""

from collections import Counter

import pytest

from tests.conformance.callers.joining import quick
from tests.conformance.callers.launching import launched_on
from tests.conformance.histories.playing import SEED, SLOW_STEPS
from tests.conformance.histories.random_tasks import TaskDice
from tests.conformance.masters.carriers import IN_PROCESS, REAL, Pool
from tests.conformance.masters.codec import JSON_ALONE, PROTOBUF

FRESH_EVERY = 200
"""Requests after which the real master is a new one: its agent remembers every framework."""
SETUP = quick("cpus:12;mem:6144;disk:1000;ports:[31000-31009]", flags={"allocation_interval": "20ms"})


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
def test_launches_are_judged_alike(pool: Pool) -> None:
    dice = TaskDice(SEED)
    statuses: Counter[int] = Counter()
    for number in range(SLOW_STEPS):
        if number % FRESH_EVERY == 0:
            real, fake = pool.start(REAL, SETUP), pool.start(IN_PROCESS, SETUP)
        codec = PROTOBUF if number % 3 == 0 else JSON_ALONE
        operations = dice.operations(in_protobuf=codec is PROTOBUF)
        for master in (real, fake):
            master.speak(codec)
        judged = launched_on(real, operations)
        assert launched_on(fake, operations) == judged, (number, codec.name, operations)
        statuses[judged[0]] += 1
        if (number + 1) % FRESH_EVERY == 0:
            real.stop()
            fake.stop()
    # Otherwise little would have been tried.
    assert min(statuses[status] for status in (202, 400)) > SLOW_STEPS / 40, statuses
