"""On a terminal the first line answers, and what a person rarely needs is left to -o wide."""

import io
from dataclasses import replace

import pytest

from mesosctl.model.quantities import Limits, Quantities, Quota
from mesosctl.model.quota.status import Finding, QuotaCheck
from mesosctl.output.forecast import forecast_report
from mesosctl.output.formats.report import Report
from mesosctl.output.formats.writing import write
from mesosctl.output.plan import plan_report, wanted_differences
from mesosctl.output.quota import quota_check
from mesosctl.planning.desired_state import Difference
from mesosctl.planning.plan import QuotaStep, Step, WeightsStep
from tests.output.forecasts import whole_forecast


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
    assert f"{len(forecast.unknowns)} facts that a master does not show are assumed" in short[-1]
    assert any(line.startswith("what a master does not show") for line in wide)
    assert len(short) < len(wide)


def test_offers_that_nobody_has_answered_starve_nobody() -> None:
    forecast = whole_forecast()
    one = [replace(forecast.rescinded[0], out_now=True)]
    said = drawn(forecast_report(replace(forecast, rescinded=tuple(one))))
    assert "1 offer that nobody has answered would be rescinded, which starves nobody" in said
    said = drawn(forecast_report(replace(forecast, rescinded=tuple(one * 2))))
    assert "2 offers that nobody has answered would be rescinded, which starves nobody" in said


@pytest.mark.parametrize(
    ("passed", "says"),
    [
        (True, "YES: 4 cpus for web would be accepted"),
        (False, "NO: 4 cpus for web would be refused: too much"),
        (None, "PERHAPS: 4 cpus for web breaks no rule that can be checked; unknown: 1"),
    ],
)
def test_a_check_answers_with_the_reason(passed: bool | None, says: str) -> None:
    check = QuotaCheck("web", Quantities({"cpus": 4000}), (Finding("quota.capacity", passed, "too much"),))
    assert drawn(quota_check(check))[0] == says


def test_differences_are_counted() -> None:
    found = [Difference("quota", "web", "", "cpus:4"), Difference("weight", "ads", "1", "2")]
    assert drawn(wanted_differences(found))[0] == (
        "not as in the file: 1 quota, 1 weight; mesosctl apply would change that"
    )
    assert drawn(wanted_differences(found[:1] * 2))[0].startswith("not as in the file: 2 quotas;")
    assert drawn(wanted_differences([])) == ["nothing differs from the file"]


QUOTA = Quota(Quantities({"cpus": 4000}), Limits())
ADDS: Step = QuotaStep("web", None, QUOTA)
TAKES: Step = WeightsStep({"ads": 2.0}, {"ads": 1.0})


@pytest.mark.parametrize(
    ("steps", "done", "says"),
    [
        ([], 0, "nothing differs from the file"),
        ([ADDS], 0, "1 step to make"),
        ([ADDS, TAKES], 0, "2 steps to make, 1 of which takes something away"),
        ([ADDS, TAKES], 1, "1 of 2 steps are made; 1 to go, 1 of which takes something away"),
        ([ADDS], 1, "the step was made and read back"),
        ([ADDS, TAKES], 2, "all 2 steps were made and read back"),
    ],
)
def test_a_plan_says_how_far_it_is(steps: list[Step], done: int, says: str) -> None:
    assert drawn(plan_report(steps, done, applied=False))[0] == says
