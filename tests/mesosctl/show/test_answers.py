"""On a terminal the first line answers, and what a person rarely needs is left to -o wide."""

import io
from dataclasses import replace

import pytest

from mesosctl.agents.report import agent_list
from mesosctl.apply.plan import QuotaStep, Step, WeightsStep
from mesosctl.apply.report import plan_report, wanted_differences
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.desired.desired_state import Difference
from mesosctl.mesos.door.forecast import AgentLoss, AnsweredChange
from mesosctl.mesos.errors import printable
from mesosctl.mesos.rules.quota.capacity import CapacityCheck, CheckedRule
from mesosctl.quota.report import quota_check
from mesosctl.show.output_formats import write
from mesosctl.show.report import Report
from mesosctl.whatif.report import forecast_report
from tests.mesosctl.whatif.forecasts import HOSTILE, whole_forecast

SHOWN = printable(HOSTILE)


def drawn(report: Report, form: str = "table") -> list[str]:
    out = io.StringIO()
    write(report, form, out, draws=True, colours=False, width=200)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_forecast_shows_what_a_person_needs() -> None:
    forecast = whole_forecast()
    short, wide = drawn(forecast_report(forecast)), drawn(forecast_report(forecast), "wide")
    assert short[0] == "NO: it would be refused"
    assert any(line == "refused:" for line in short)
    assert not any(line.startswith("what a master does not show") for line in short)
    assert f"{len(forecast.unknowns)} facts are assumed (-o wide lists them)" in short[-1]
    assert any(line.startswith("what a master does not show") for line in wide)
    assert len(short) < len(wide)


def test_rescinded_offers_say_whose_they_are() -> None:
    forecast = whole_forecast()
    one = [replace(forecast.rescinded[0], out_now=True)]
    said = drawn(forecast_report(replace(forecast, rescinded=tuple(one))))
    assert any(
        line.endswith(f"unanswered offers that would be rescinded: 1 of {SHOWN} (role {SHOWN})") for line in said
    )
    said = drawn(forecast_report(replace(forecast, rescinded=tuple(one * 2))))
    assert any(line.endswith(f"rescinded: 2 of {SHOWN} (role {SHOWN})") for line in said)


def test_a_forecast_names_what_stays_and_what_is_left() -> None:
    said = drawn(forecast_report(replace(whole_forecast(), lost=(AgentLoss("agent-3", "S2"),))))
    assert "BEFORE and AFTER count tasks and offers, including the offers that the next allocations would make" in said
    (left,) = (line for line in said if line.startswith("largest guarantee that could still be added: "))
    assert " (before: 24 cpus, 48GiB mem and " in left
    assert "  agents lost: 1 of 3: agent-3 (lost in total: 8 cpus and 16GiB mem)" in said


def test_what_before_and_after_count_is_said_in_a_pipe_too() -> None:
    sentence = "BEFORE and AFTER count tasks and offers, including"
    piped = whole_forecast()
    assert any(str(line).startswith(sentence) for line in forecast_report(piped).remark)
    same = replace(piped, roles=(), frameworks=())
    assert not any(str(line).startswith(sentence) for line in forecast_report(same).remark)


@pytest.mark.parametrize(
    ("before", "says"),
    [
        ({}, "role web would be 2 cpus below its guarantee (met before)"),
        ({"cpus": 1000}, "role web would be 2 cpus below its guarantee (1 before)"),
        ({"cpus": 1000, "mem": 1024_000}, "role web would be 2 cpus below its guarantee (1 before)"),
        ({"mem": 1024_000}, "role web would be 2 cpus below its guarantee (1GiB mem before)"),
    ],
)
def test_a_verdict_says_what_is_lacking_and_what_was_lacking_before(before: dict[str, int], says: str) -> None:
    web = next(one for one in whole_forecast().starving if one.name == "web")
    starving = (replace(web, before=Quantities(before), caused=True, is_raised=False),)
    forecast = replace(
        whole_forecast(), answers=(AnsweredChange("weight:web=2", 200, accepted=True),), starving=starving
    )
    assert drawn(forecast_report(forecast))[0] == f"NO: it would be accepted, but {says}"
    assert drawn(forecast_report(replace(forecast, answers=())))[0] == f"NO: {says}", "nothing was asked for"


def test_a_verdict_says_that_only_offers_met_a_guarantee_before() -> None:
    web = next(one for one in whole_forecast().starving if one.name == "web")
    starving = (replace(web, before=Quantities(), was_met_by_offers=True, caused=True, is_raised=False),)
    forecast = replace(whole_forecast(), answers=(), starving=starving)
    says = "NO: role web would be 2 cpus below its guarantee (met by offers before)"
    assert drawn(forecast_report(forecast))[0] == says


@pytest.mark.parametrize(("can_be_met", "until"), [(True, " until other roles release enough"), (False, "")])
def test_a_verdict_on_a_new_guarantee_says_when_it_is_met(can_be_met: bool, until: str) -> None:
    web = next(one for one in whole_forecast().starving if one.name == "web")
    starving = (replace(web, caused=True, is_raised=True, can_be_met=can_be_met),)
    forecast = replace(whole_forecast(), answers=(), starving=starving)
    assert drawn(forecast_report(forecast))[0] == f"NO: role web would be 2 cpus below its new guarantee{until}"


def test_the_sentence_for_programs_has_whole_amounts() -> None:
    web = next(one for one in whole_forecast().starving if one.name == "web")
    assert web.message == (
        "role web would be cpus:2 below its guarantee of cpus:16; mem:8192: it would have cpus:14; mem:9216"
    )


def test_agents_draw_what_is_reserved_and_idle_apart() -> None:
    total = parse_resources("cpus(ads):4;cpus:4;mem:8192;disk:1000;gpus:2;ports:[1-2]")
    report = agent_list([RegisteredAgent("S0", "node", "", total, used=parse_resources("cpus(ads):2"))])
    assert any("2/8 ██▞░░░" in line for line in drawn(report))
    assert "█ used   ▒ offered   ▞ reserved, idle   ░ free" in drawn(report)
    out = io.StringIO()
    write(report, "table", out, draws=True, colours=False, width=75)
    heads = out.getvalue().splitlines()[1].split()
    assert "GPUS" not in heads
    assert heads[-2:] == ["RESERVED", "FOR"]


@pytest.mark.parametrize(
    ("passed", "says"),
    [
        (True, "YES: 4 cpus for web would be accepted"),
        (False, "NO: 4 cpus for web would be refused: too much"),
        (None, "PERHAPS: 4 cpus for web breaks no rule that was checked; not checked: 1"),
    ],
)
def test_a_check_answers_with_the_reason(passed: bool | None, says: str) -> None:
    check = CapacityCheck("web", Quantities({"cpus": 4000}), (CheckedRule("quota.capacity", passed, "too much"),))
    assert drawn(quota_check(check))[0] == says


def test_differences_are_counted() -> None:
    found = [Difference("quota", "web", "", "cpus:4", "web"), Difference("weight", "ads", "1", "2", "ads")]
    assert drawn(wanted_differences(found, "a.toml"))[0] == (
        "different from the file: 1 quota, 1 weight; mesosctl apply -f a.toml would change that"
    )
    assert drawn(wanted_differences(found[:1] * 2, "a.toml"))[0].startswith("different from the file: 2 quotas;")
    assert drawn(wanted_differences(found, "a.toml", prune=True))[0] == (
        "different from the file: 1 quota, 1 weight; mesosctl apply -f a.toml --prune would change that"
    )
    assert drawn(wanted_differences([], "a.toml")) == ["nothing differs from the file"]
    assert drawn(wanted_differences([], "a.toml", compares=False)) == ["nothing was compared"]


QUOTA = Quota(Quantities({"cpus": 4000}), Limits())
ADDS: Step = QuotaStep("web", None, QUOTA)
TAKES: Step = WeightsStep({"ads": 2.0}, {"ads": 1.0})


@pytest.mark.parametrize(
    ("steps", "done", "says"),
    [
        ([], 0, "nothing differs from the file"),
        ([ADDS], 0, "1 step to do"),
        ([ADDS, TAKES], 0, "2 steps to do, 1 of which takes something away"),
        ([ADDS, TAKES], 1, "1 of 2 steps is done; 1 to go, which takes something away"),
        ([ADDS], 1, "the step was done and read back"),
        ([ADDS, TAKES], 2, "both steps were done and read back"),
    ],
)
def test_a_plan_says_how_far_it_is(steps: list[Step], done: int, says: str) -> None:
    assert drawn(plan_report(steps, done, applied=False))[0] == says
