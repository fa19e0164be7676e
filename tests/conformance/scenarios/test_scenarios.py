"""Every row of the scenario tables, on every carrier."""

from collections.abc import Iterator

import pytest

from tests.conformance.masters.carriers import REAL, Carrier, Pool
from tests.conformance.masters.cluster import Answer, Cluster
from tests.conformance.masters.comparing import canonical
from tests.conformance.scenarios import EVERY_ROW
from tests.conformance.scenarios.scenario import NOT_COMPARED, Expect, Row, Step


@pytest.fixture
def master(row: Row, carrier: Carrier, pool: Pool, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    if row.lethal and carrier is REAL:
        pytest.skip("this would end a real master")
    if row.not_yet is not None and carrier is not REAL:
        request.applymarker(pytest.mark.xfail(reason=row.not_yet, strict=True))
    cluster = pool.lend(carrier, row.setup)
    yield cluster
    if row.spoils:
        pool.discard(cluster)


@pytest.mark.parametrize("row", EVERY_ROW, ids=lambda row: row.name)
def test_a_row_gives_what_the_specification_says(row: Row, carrier: Carrier, master: Cluster) -> None:
    for number, step in enumerate(row.steps, 1):
        answer = master.request(step.method, step.path, content=master.fill(step.content), headers=step.headers)
        where = f"{row.name}, step {number}: {step.method} {step.path} {step.content!r} gave {answer.content!r}"
        _check(answer, step, step.expected(carrier.version), where)
        _check_headers(answer, step.expected(carrier.version), master, where)


def _check(answer: Answer, step: Step, expect: Expect, where: str) -> None:
    assert answer.status == expect.status, where
    assert answer.headers.get("Content-Type") == expect.expected_content_type(), where
    if step.method != "HEAD":
        assert bool(answer.content) == (expect.expected_content_type() is not None), where
    if expect.json is not NOT_COMPARED:
        assert canonical(expect.part(answer.json())) == canonical(expect.json), where
    if expect.keys is not None:
        assert set(answer.json()) == set(expect.keys.split()), where


def _check_headers(answer: Answer, expect: Expect, master: Cluster, where: str) -> None:
    leader = master.address.removeprefix("http://")
    for name, value in expect.headers.items():
        assert answer.headers.get(name) == value.replace("{leader}", leader), where


def test_the_names_of_rows_are_unique() -> None:
    names = [row.name for row in EVERY_ROW]
    assert len(set(names)) == len(names)
