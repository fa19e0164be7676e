"""Requests that releases answer differently, beside those of the facts: of the real and the fake master of each."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.masters.carriers import REAL, Pool, judged
from tests.conformance.masters.cluster import Answer, Cluster
from tests.conformance.masters.comparing import steady
from tests.conformance.masters.judges import JUDGES
from tests.conformance.scenarios.setups import STANDARD
from tests.helpers.needs import needs


def cpus(value: float, **more: Any) -> dict[str, Any]:
    return {"name": "cpus", "type": "SCALAR", "scalar": {"value": value}, **more}


def quota(*guarantee: dict[str, Any], **more: Any) -> str:
    return json.dumps({"role": "web", "guarantee": list(guarantee), **more})


GUARANTEES = {
    "a name twice, beyond the capacity": quota(cpus(10), cpus(20)),
    "a name twice, forced": quota(cpus(10), cpus(20), force=True),
    "for an allocation role, forced": quota(cpus(1, allocation_info={"role": "r"}), force=True),
    "of a provider": quota(cpus(1, provider_id={"value": "p"})),
    "a limit beside it": quota(cpus(1), limit=[cpus(2)]),
    "in quotes": quota(cpus("1")),  # type: ignore[arg-type]
}
PATHS = [
    "/quota/", "/master/quota//", "/roles/", "/state/", "/health/", "/metrics/snapshot/", "/version/", "/nosuch",
    "/master", "/state.json", "/master/roles.json", "/tasks.json", "/frameworks.json", "/maintenance/schedule/",
]  # fmt: skip
WEIGHTS = ["1e300", "0.1234567890123456789", "100", "1e-9"]


@pytest.fixture(params=judged(*JUDGES), ids=lambda masters: str(masters[0]), scope="module")
@needs(*REAL.needs)
def masters(request: pytest.FixtureRequest, pool: Pool) -> Iterator[list[Cluster]]:
    started = [pool.start(carrier, STANDARD) for carrier in request.param]
    yield started
    for master in started:
        master.stop()


def outline(answer: Answer) -> tuple[int, str | None, bool]:
    return answer.status, answer.headers.get("Content-Type"), bool(answer.content)


def both(masters: list[Cluster], method: str, path: str, content: str | None = None) -> Answer:
    real, fake = (master.request(method, path, content=content) for master in masters)
    assert outline(fake) == outline(real), (real, fake)
    return real


def both_show(masters: list[Cluster], *paths: str) -> None:
    for path in paths:
        real, fake = (steady(master.read(path)) for master in masters)
        assert fake == real, path


def both_count(masters: list[Cluster], prefix: str) -> None:
    """Metrics of the same names and values, as soon as the allocator has been told."""

    def figures(master: Cluster) -> dict[str, float]:
        return {name: value for name, value in master.read("/metrics/snapshot").items() if name.startswith(prefix)}

    real, fake = masters
    assert real.subscribers.wait(lambda: figures(real) == figures(fake)), (figures(real), figures(fake))


@pytest.mark.parametrize("said", GUARANTEES)
def test_a_guarantee(masters: list[Cluster], said: str) -> None:
    body = GUARANTEES[said]
    role = json.loads(body)["role"]
    both(masters, "POST", "/quota", body)
    both_show(masters, "/quota", "/roles")
    both_count(masters, "allocator/mesos/quota/")
    both(masters, "DELETE", f"/quota/{role}")
    both_count(masters, "allocator/mesos/quota/")


@pytest.mark.parametrize("path", PATHS)
def test_a_path(masters: list[Cluster], path: str) -> None:
    both(masters, "GET", path)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_the_digits_of_a_number(masters: list[Cluster], weight: str) -> None:
    both(masters, "PUT", "/weights", f'[{{"role": "a/b", "weight": {weight}}}]')
    both_show(masters, "/weights", "/roles")


@pytest.mark.parametrize("path", ["/flags", "/state", "/state-summary", "/slaves", "/frameworks", "/roles"])
def test_what_a_release_shows(masters: list[Cluster], path: str) -> None:
    shown = [_names(master.read(path)) for master in masters]
    assert shown[1] == shown[0]


def _names(value: Any, path: str = "") -> set[str]:
    if isinstance(value, dict):
        return {path, *(name for key, part in value.items() for name in _names(part, f"{path}.{key}"))}
    if isinstance(value, list):
        return {path, *(name for part in value for name in _names(part, f"{path}[]"))}
    return {path}


def test_metrics_of_the_master_itself(masters: list[Cluster]) -> None:
    shown = [{name for name in master.read("/metrics/snapshot") if name.startswith("master/")} for master in masters]
    assert shown[1] == shown[0]
