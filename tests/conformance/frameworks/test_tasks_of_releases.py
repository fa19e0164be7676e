"""Parts of executors that older releases do not look at, and newer ones refuse."""

from contextlib import nullcontext
from typing import Any

import pytest

from fake_master.services.accept_context import OTHER_BODIES_ARE_UPGRADED
from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.tasks import launch, task
from tests.conformance.frameworks.test_same_executor import DIFFERS, SETUP, judged
from tests.conformance.histories.changed_executors import SMALL, Change
from tests.conformance.masters.carriers import REAL, Carrier, Pool, in_process_of, real_of
from tests.conformance.masters.carriers import judged as pairs
from tests.conformance.masters.cluster import MasterDied
from tests.conformance.masters.judges import JUDGES
from tests.helpers.needs import needs

NO_VOLUME = {**SMALL, "container": {"type": "MESOS", "volumes": [{"mode": "RW", "container_path": "p"}]}}
NO_DOCKER = {**SMALL, "container": {"type": "DOCKER"}}
INVALID = "Executor's `ContainerInfo` is invalid: "


def fetching(output_file: str) -> Any:
    return {**SMALL, "command": {"value": "true", "uris": [{"value": "a", "output_file": output_file}]}}


UNREAD = {"resources": [{"name": "mem", "type": "SCALAR", "role": "*", "reservation": {}}]}
CASES = {
    "another output file": ("1.8.1", fetching("a"), fetching("b"), DIFFERS),
    "a volume of nothing": (
        "1.5.3",
        NO_VOLUME,
        NO_VOLUME,
        f"{INVALID}Invalid volume: Only one of them should be set: 'host_path', 'image' and 'source'",
    ),
    "Docker without its message": (
        "1.6.2",
        NO_DOCKER,
        NO_DOCKER,
        f"{INVALID}DockerInfo 'docker' is not set for DOCKER typed ContainerInfo",
    ),
}
"""The executors of two tasks, and what a master says of the second, from a release on."""


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "carrier",
    [
        pytest.param(of(release), marks=[getattr(pytest.mark, need) for need in of(release).needs], id=str(of(release)))
        for release in JUDGES
        for of in (in_process_of, real_of)
    ],
)
def test_what_older_releases_do_not_look_at(carrier: Carrier, case: str, pool: Pool) -> None:
    since, first, second, refusal = CASES[case]
    framework = Framework(pool.lend(carrier, SETUP), "ads", user="root").subscribe()
    beside = first if refusal == DIFFERS else SMALL
    found = judged(framework, beside, [Change(case, second)])
    framework.leave()
    framework.stream.hang_up()
    # A master that does not look at it says of the executor beside it that it is another one, or nothing.
    assert (found == [refusal]) is has(carrier.version, since)


@pytest.mark.parametrize(("real", "fake"), pairs("1.4.3", "1.5.3", "1.11.0"), ids=str)
@needs(*REAL.needs)
def test_a_reservation_for_nobody_in_the_body_of_another_kind(pool: Pool, real: Carrier, fake: Carrier) -> None:
    """A real master ends of it from 1.5 on, and the fake one refuses it."""
    lives = not has(fake.profile.release, OTHER_BODIES_ARE_UPGRADED)
    master = pool.start(real, SETUP)
    framework = Framework(master, "ads").subscribe()
    (offer,) = framework.offers()
    launches = {"offer_ids": [offer["id"]], "operations": [{**launch(task(offer, "t")), "unreserve": UNREAD}]}
    with nullcontext() if lives else pytest.raises(MasterDied, match="has_reservation"):
        framework.call("ACCEPT", accept=launches)
        assert master.subscribers.wait(
            lambda: bool(master.read("/version")) and framework.stream.events[-1]["type"] == "UPDATE"
        )
    master.stop()
    framework = Framework(pool.lend(fake, SETUP), "ads").subscribe()
    (offer,) = framework.offers()
    framework.accept([offer], {**launch(task(offer, "t")), "unreserve": UNREAD})
    status = framework.next("UPDATE")["update"]["status"]
    assert (status["state"] != "TASK_ERROR") is lives
    framework.leave()
