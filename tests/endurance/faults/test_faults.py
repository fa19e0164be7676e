"""Status and sentence are true of the master afterwards, with any fault of a proxy between.

Many more cases: `python -m tests.endurance.jobs.faults`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mesosctl import __file__ as package
from tests.conformance.masters.cluster import Cluster
from tests.endurance.faults.commands import CHANGING, READING, Command
from tests.endurance.faults.kinds import EVERY_FAULT, NONE, Fault, Way, Word
from tests.endurance.faults.law import PHRASES, Case, Ran, describe, only, play
from tests.endurance.faults.proxy import Proxy
from tests.endurance.jobs.faults import disturb, misbehaving

Misbehaving = tuple[Cluster, Proxy, Path]
"""A master, a proxy before it, and a folder for what the tool keeps."""
QUICK = tuple(fault for fault in EVERY_FAULT if not fault.is_slow)


def named(words: str) -> Command:
    return next(command for command in CHANGING + READING if command.words == words)


SET = named("quota set web cpus:2 mem:512")
SET_BY_V0 = named("quota set web cpus:2 mem:512 --api v0")
RESERVE = named("reserve AGENT cpus:2 --role ads")
REPLACE = named("quota update web cpus:2 --api v0")
APPLY = named("apply --yes")
TAKE = named("offers take --role ads --reserve cpus:2")
APPLY = named("apply --yes")


@pytest.fixture(scope="module")
def setting() -> Iterator[Misbehaving]:
    with misbehaving() as made:
        yield made


def typed(setting: Misbehaving, command: Command, change: str, fault: Fault, more: str = "") -> Ran:
    """The command with this fault upon its first request that begins with `change`; the law must hold."""
    master, proxy, folder = setting
    usual, _ = play(Case(command, [], more), master, proxy, folder)
    index = next(number for number, line in enumerate(usual.requests) if line.startswith(change))
    case = Case(command, only(index, fault), more)
    ran, problems = play(case, master, proxy, folder)
    assert problems == [], describe(case, ran, problems)
    return ran


@given(st.data())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
def test_what_is_said_is_true(setting: Misbehaving, data: st.DataObject) -> None:
    command = data.draw(st.sampled_from(CHANGING * 2 + READING))
    faults = data.draw(st.lists(st.sampled_from((NONE,) * len(QUICK) + QUICK), max_size=9))
    more = data.draw(st.sampled_from(("", "-o json", "--no-wait", "--dry-run"))) if command.changes else ""
    case = Case(command, faults, more)
    ran, problems = play(case, *setting)
    assert problems == [], describe(case, ran, problems)


@pytest.mark.parametrize("way", list(Way))
@pytest.mark.parametrize("word", [Word.RESET, Word.CLOSED, Word.PAGE_504, Word.PLAIN_503, Word.GARBAGE])
def test_a_change_whose_answer_is_lost(setting: Misbehaving, way: Way, word: Word) -> None:
    ran = typed(setting, SET, "POST /api/v1", Fault(way, word))
    assert ran.status == (0 if way in (Way.WHOLE, Way.TWICE) else 8 if word is Word.PAGE_504 else 7)
    assert "quota of 'web' took effect" in ran.err
    assert ("does not show" in ran.err) is (ran.status != 0)


def test_a_silent_proxy_ends_with_the_deadline(setting: Misbehaving) -> None:
    # How long it took is judged as every command's is.
    assert typed(setting, SET, "POST /api/v1", Fault(Way.WHOLE, Word.SILENCE)).status == 0
    assert typed(setting, SET, "POST /api/v1", Fault(Way.LATE, Word.SILENCE)).status == 9
    assert typed(setting, SET, "GET /version", Fault(Way.WHOLE, Word.DRIPPING)).status in (0, 9)


def test_a_change_that_arrives_twice_was_not_refused(setting: Misbehaving) -> None:
    ran = typed(setting, SET_BY_V0, "POST /quota", Fault(Way.TWICE, Word.ANSWER))
    assert ran.status == 0
    assert "as if the request had arrived twice" in ran.err


def test_a_reservation_that_was_made_twice_is_told(setting: Misbehaving) -> None:
    ran = typed(setting, RESERVE, "POST /reserve", Fault(Way.TWICE, Word.ANSWER))
    assert ran.status == 9
    assert "shows it twice" in ran.err
    assert "unreserve the excess" in ran.err


def test_a_reservation_that_may_have_been_made_twice_is_told(setting: Misbehaving) -> None:
    master, proxy, folder = setting
    lost, read, failed = Fault(Way.WHOLE, Word.RESET), NONE, Fault(Way.WHOLE, Word.PAGE_502)
    usual, _ = play(Case(RESERVE, []), master, proxy, folder)
    sent = next(number for number, line in enumerate(usual.requests) if line.startswith("POST /reserve"))
    case = Case(RESERVE, [*only(sent, lost), read, failed, failed, failed])
    ran, problems = play(case, master, proxy, folder)
    assert problems == [], describe(case, ran, problems)
    assert ran.status == 9
    assert "whether it did so twice is unknown" in ran.err


def test_the_answer_of_another_request_is_not_taken_for_its_own(setting: Misbehaving) -> None:
    """Not even where nobody reads back: bytes too many after the answer before it would say 200."""
    fault = Fault(Way.WHOLE, Word.ANSWER_TWICE)
    ran = typed(setting, SET, "GET /slaves", fault, "--no-wait")
    assert "as if" not in ran.err


def test_what_was_not_sent_is_said_not_to_be(setting: Misbehaving) -> None:
    ran = typed(setting, SET, "GET /quota", Fault(Way.NOTHING, Word.GONE))
    assert ran.status == 7
    assert "no change was sent" in ran.err


@pytest.mark.parametrize("fault", [Fault(Way.NOTHING, Word.GONE), Fault(Way.WHOLE, Word.PAGE_200)])
def test_a_step_that_was_not_started_is_told(setting: Misbehaving, fault: Fault) -> None:
    """The last read before the second step fails."""
    master, proxy, folder = setting
    usual, _ = play(Case(APPLY, []), master, proxy, folder)
    sent = next(number for number, line in enumerate(usual.requests) if line.startswith("PUT /weights"))
    case = Case(APPLY, only(sent - 1, fault))
    ran, problems = play(case, master, proxy, folder)
    assert problems == [], describe(case, ran, problems)
    assert ran.status in (7, 8)
    assert "this one was not started" in ran.err


def test_the_law_looks_for_sentences_that_there_are() -> None:
    """A sentence that was reworded would never be found again."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in Path(package).parent.rglob("*.py"))
    assert [phrase for phrase in sorted(PHRASES) if phrase not in source] == []


@pytest.mark.parametrize("fault", [Fault(Way.NOTHING, Word.GONE), Fault(Way.WHOLE, Word.PAGE_502)])
def test_a_replaced_quota_is_not_lost_silently(setting: Misbehaving, fault: Fault) -> None:
    typed(setting, REPLACE, "POST /quota", fault)


def test_an_offer_that_was_taken_while_the_master_got_lost(setting: Misbehaving) -> None:
    ran = typed(setting, TAKE, "GET /slaves?slave_id=", Fault(Way.NOTHING, Word.GONE))
    assert ran.status in (0, 7)


def test_an_apply_that_cannot_be_compared_at_its_end_is_said_to_be_done(setting: Misbehaving) -> None:
    master, proxy, folder = setting
    usual, _ = play(Case(APPLY, []), master, proxy, folder)
    case = Case(APPLY, only(len(usual.requests) - 1, Fault(Way.WHOLE, Word.PAGE_200)))
    ran, problems = play(case, master, proxy, folder)
    assert problems == [], describe(case, ran, problems)
    assert ran.status == 8
    assert "every step is done" in ran.err


def test_the_job_in_small() -> None:
    report = disturb(15, seed=3, carrier="socket-documents")
    assert report.problems == []
    assert report.examples == 15
    assert report.faults > 0


def test_the_law_notices_who_lies(setting: Misbehaving, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that takes every failure for a refusal is found out."""

    def confirm(_master: object, send: object, _is_shown: object, **_: object) -> bool:
        assert callable(send)
        send()
        return True

    monkeypatch.setattr("mesosctl.quota.requests.confirm", confirm)
    with pytest.raises(AssertionError, match=r"it does not say|it says that"):
        typed(setting, SET_BY_V0, "POST /quota", Fault(Way.LATE, Word.PAGE_504))
