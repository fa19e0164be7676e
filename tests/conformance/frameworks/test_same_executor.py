"""A second task that names an executor which is there already: the same for the master, or the task is refused."""

import json
from typing import Any

import pytest

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import Join, quick
from tests.conformance.callers.tasks import joined, launch, task
from tests.conformance.histories.changed_executors import FULL, SMALL, Change, changes, known
from tests.conformance.masters.carriers import Carrier, Pool, in_process_of, real_of, skip_before
from tests.conformance.masters.cluster import Cluster
from tests.conformance.scenarios.scenario import scalars

SETUP = quick("cpus:600;mem:61440;disk:10000")
AT_ONCE = 25
"""Executors in one ACCEPT."""
DIFFERS = "ExecutorInfo is not compatible with existing ExecutorInfo with same ExecutorID."
COUNTED = (
    "type: left out",
    "name: changed",
    "source: left out",
    "data: changed",
    "command.value: changed",
    "command.user: left out",
    "command.shell: left out",
    "command.arguments: in another order",
    "command.environment.variables: shorter",
    "command.environment.variables.0.value: changed",
    "command.uris: longer",
    "command.uris.0.extract: changed",
    "command.uris.0.output_file: left out",
    "container: left out",
    "container.hostname: changed",
    "container.volumes: shorter",
    "container.volumes.0.mode: changed",
    "container.volumes.0.host_path: changed",
    "container.docker.network: changed",
    "container.docker.force_pull_image: changed",
    "container.docker.parameters.0.value: changed",
    "container.docker.port_mappings.0.protocol: left out",
    "discovery.visibility: changed",
    "discovery.labels.labels: shorter",
    "discovery.labels.labels.1.value: changed",
    "discovery.ports.ports.0.number: changed",
    "discovery.ports.ports.0.visibility: changed",
)
PASSED_OVER = (
    "labels: left out",
    "labels.labels.0.key: changed",
    "shutdown_grace_period: left out",
    "command.uris: in another order",
    "command.uris: the first alone, as often",
    "command.uris.0.cache: changed",
    "command.uris.1.extract: its default",
    "command.environment.variables: in another order",
    "command.environment.variables.0.type: left out",
    "command.environment.variables.2.secret.value.data: changed",
    "container.volumes: in another order",
    "container.volumes.1.image.cached: changed",
    "container.volumes.2.source.docker_volume.name: changed",
    "container.mesos.image.type: changed",
    "container.network_infos: left out",
    "container.linux_info.shm_size: changed",
    "container.rlimit_info: left out",
    "container.tty_info: left out",
    "container.docker.volume_driver: changed",
    "container.docker.parameters: in another order",
    "discovery.ports.ports.0.labels: left out",
    "discovery.ports.ports.1.visibility: its default",
    "discovery.labels.labels: in another order",
)


def judged(framework: Framework, base: Any, some: list[Change]) -> list[str | None]:
    """The status of a task with each changed executor, launched beside a task with the original one."""
    (offer,) = framework.offers()
    tasks = []
    for number, change in enumerate(some):
        for name, executor in (("first", base), ("second", change.executor)):
            text = json.dumps({**executor, "executor_id": {"value": f"e{number}"}}).replace(
                "$FRAMEWORK", str(framework.id)
            )
            under = {"command": None, "executor": json.loads(text), "resources": scalars(cpus=0.01, mem=1)}
            tasks.append(task(offer, f"{name}-{number}", **under))
    framework.accept([offer], launch(*tasks))
    framework.ask("RECONCILE", reconcile={"tasks": [{"task_id": {"value": "marker"}}]})
    said: dict[str, str] = {}
    while "marker" not in said:
        status = framework.next("UPDATE")["update"]["status"]
        if status["source"] == "SOURCE_MASTER":
            said[status["task_id"]["value"]] = status.get("message", "").partition("\n")[0].replace("ID).", "ID.")
    assert not any(name.startswith("first") for name in said), said
    return [said.get(f"second-{number}") for number in range(len(some))]


@pytest.mark.parametrize(
    ("names", "expected"), [(COUNTED, DIFFERS), (PASSED_OVER, None)], ids=["counted", "passed over"]
)
def test_fields_of_an_executor(join: Join, carrier: Carrier, names: tuple[str, ...], expected: str | None) -> None:
    skip_before("1.11.0", carrier, "an executor has no volumes of CSI")
    framework = joined(join)
    of_full = {change.name: change for change in changes(FULL)}
    found = judged(framework, FULL, [of_full[name] for name in names])
    assert dict(zip(names, found, strict=True)) == dict.fromkeys(names, expected)


def test_a_task_need_not_name_the_framework_of_its_executor(join: Join) -> None:
    named = {**SMALL, "framework_id": {"value": "$FRAMEWORK"}}
    for first, second in ((SMALL, named), (named, SMALL)):
        framework = joined(join)
        assert judged(framework, first, [Change("with or without", second)]) == [None]
        framework.leave()  # what is left of its offer is for the next one


@pytest.mark.real_master
@pytest.mark.process
@pytest.mark.socket
@pytest.mark.parametrize("release", ["1.4.3", "1.8.1", "1.11.0"])
def test_every_field_is_judged_alike(release: str, pool: Pool) -> None:
    def all_of(master: Cluster) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for what, base in (("full", known(FULL, release)), ("small", SMALL)):
            every = list(changes(base, release))
            for start in range(0, len(every), AT_ONCE):
                some = every[start : start + AT_ONCE]
                framework = Framework(master, "ads", user="root").subscribe()
                found |= zip((f"{what} {change.name}" for change in some), judged(framework, base, some), strict=True)
                framework.leave()
                framework.stream.hang_up()
        return found

    wanted, found = all_of(pool.lend(real_of(release), SETUP)), all_of(pool.lend(in_process_of(release), SETUP))
    assert {name: said for name, said in found.items() if said != wanted[name]} == {}
    assert {said is None for said in wanted.values()} == {True, False}
