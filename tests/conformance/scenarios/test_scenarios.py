"""Every row of the scenario tables: what the newest release and the documents' master give on every carrier of them.

What the tables say of an answer is not what an older release gives.  There, the real master is asked, and the fake one
beside it has to answer the same.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from mesosctl.mesos.rules.version_profile import MESOS_1_11
from tests.conformance.masters.carriers import REAL, Carrier, Pool, judged
from tests.conformance.masters.cluster import Answer, Cluster
from tests.conformance.masters.comparing import canonical, steady
from tests.conformance.scenarios import EVERY_ROW
from tests.conformance.scenarios.scenario import JSON, NOT_COMPARED, Expect, Row, Step


@pytest.fixture
def master(row: Row, carrier: Carrier, pool: Pool, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    if not carrier.profile.is_documents and carrier.profile is not MESOS_1_11:
        pytest.skip("the tables say what the newest release gives")
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


PAIRS = [pair for pair in judged("1.4.3", "1.8.1") if pair[0].profile is not MESOS_1_11]


@pytest.mark.parametrize("row", [row for row in EVERY_ROW if not row.lethal], ids=lambda row: row.name)
@pytest.mark.parametrize(("real", "fake"), PAIRS, ids=str)
def test_a_row_is_answered_alike_by_older_releases(
    row: Row, real: Carrier, fake: Carrier, pool: Pool, request: pytest.FixtureRequest
) -> None:
    version = real.profile.version
    if reason := row.ends.get(version):
        pytest.skip(f"this would end a real master: {reason}")
    if reason := row.unlike.get(version):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    masters = [pool.lend(carrier, row.setup) for carrier in (real, fake)]
    try:
        for number, step in enumerate(row.steps, 1):
            wanted, given = (_given(master, step) for master in masters)
            assert given == wanted, f"{row.name}, step {number}: {step.method} {step.path} {step.content!r}"
    except BaseException:
        for master in masters:
            pool.discard(master)
        raise
    if row.spoils:
        for master in masters:
            pool.discard(master)


def _given(master: Cluster, step: Step) -> object:
    """The form of an answer, and what a table would compare of it."""
    answer = master.request(step.method, step.path, content=master.fill(step.content), headers=step.headers)
    has_body = bool(answer.content) if step.method != "HEAD" else None
    content_type = answer.headers.get("Content-Type")
    part: Any = None
    if step.now is not None and step.now.json is not NOT_COMPARED and content_type == JSON:
        with suppress(StopIteration):  # an older release may not show it
            part = steady(step.now.part(answer.json()))
    return answer.status, content_type, has_body, part


def test_the_names_of_rows_are_unique() -> None:
    names = [row.name for row in EVERY_ROW]
    assert len(set(names)) == len(names)
