"""A list's table, names and JSON are made of the same values."""

import io
import json
from collections.abc import Callable

import pytest

from mesosctl.context.documents import Context
from mesosctl.context.report import context_list
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities
from mesosctl.mesos.cluster.message_rates import Simulation
from mesosctl.mesos.cluster.role_status import RoleWeight
from mesosctl.mesos.rules.quota.capacity import CapacityCheck, CheckedRule
from mesosctl.mesos.rules.rate_limit_simulation import PrincipalTraffic
from mesosctl.mesos.rules.rate_limits import RateLimits
from mesosctl.quota.report import quota_check
from mesosctl.ratelimit.simulation_report import simulation
from mesosctl.show.by_context import ContextResult, by_context
from mesosctl.show.lists import cell_text, list_report, rows_of
from mesosctl.show.output_formats import write
from mesosctl.show.report import Column, Report
from mesosctl.weights.documents import Weight, WeightList

WEIGHTS = [RoleWeight("web", 0.5), RoleWeight("ads", 2.0), RoleWeight("dev", 3.0)]
COLUMNS = (
    Column[RoleWeight]("ROLE", lambda one: one.role),
    Column[RoleWeight]("WEIGHT", lambda one: one.weight, kind="number"),
)


def listed(element: Callable[[RoleWeight], Weight] | None = None) -> Report:
    return list_report(
        WeightList(weights=[]),
        WEIGHTS,
        COLUMNS,
        name=lambda one: one.role,
        element=element,
        in_order=sorted(WEIGHTS),
    )


def written(report: Report, form: str) -> str:
    out = io.StringIO()
    write(report, form, out, draws=False, colours=False)
    return out.getvalue()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("web", "web"),
        ("", "-"),
        (None, "-"),
        (True, "yes"),
        (False, "no"),
        (0, "0"),
        (12, "12"),
        (2.0, "2"),
        (0.25, "0.25"),
        ([], "-"),
        (["a", "b"], "a,b"),
        (("a",), "a"),
        (Quantities(), "-"),
        (Quantities({"cpus": 1500, "mem": 512_000}), "cpus:1.5;mem:512"),
        (Limits({"cpus": 2000}), "cpus:2"),
        (parse_resources(""), "-"),
        (parse_resources("cpus(ads):2;ports:[1-2]"), "cpus:2;ports:[1-2]"),
    ],
)
def test_the_type_of_a_value_says_how_its_cell_is_written(value: object, text: str) -> None:
    assert cell_text(value) == text


@pytest.mark.parametrize("value", [{"a": 1}, b"web", object()])
def test_a_value_that_no_cell_can_have_is_a_mistake_of_the_program(value: object) -> None:
    with pytest.raises(TypeError, match="no cell has"):
        cell_text(value)


def test_a_table_and_names_have_their_order_and_json_its_own() -> None:
    assert written(listed(), "csv").splitlines() == ["role,weight", "ads,2", "dev,3", "web,0.5"]
    assert written(listed(), "name").split() == ["ads", "dev", "web"]
    document = json.loads(written(listed(), "json"))
    assert document["weights"] == [one._asdict() for one in WEIGHTS]
    assert list(map(json.loads, written(listed(), "jsonl").splitlines())) == document["weights"]


def test_an_element_may_be_made_by_more_than_its_value() -> None:
    report = listed(lambda one: Weight(role=one.role.upper(), weight=one.weight))
    assert [json.loads(line)["role"] for line in written(report, "jsonl").splitlines()] == ["WEB", "ADS", "DEV"]


def test_the_other_lists_of_a_document_stay() -> None:
    outcome = PrincipalTraffic("web", sent=5, refused=1, delays=[1.0] * 4)
    document = json.loads(written(simulation(Simulation(RateLimits(), [outcome] * 2, before=[outcome])), "json"))
    assert [len(document[name]) for name in ("principals", "before")] == [2, 1]


def test_elements_that_are_given_as_such_stay() -> None:
    contexts = [Context(name=name, current=name == "b", master=None, principal=None) for name in "ab"]
    assert list(context_list(contexts).lines()) == contexts


def test_an_empty_list_is_an_empty_list() -> None:
    report = list_report(WeightList(weights=[]), [], COLUMNS, names=(), empty="none")
    assert json.loads(written(report, "json"))["weights"] == []
    assert written(report, "jsonl") == ""


def test_a_report_without_items_is_one_line() -> None:
    report = Report(COLUMNS, rows_of(COLUMNS, WEIGHTS), (), lambda: WeightList(weights=[]))
    (line,) = written(report, "jsonl").splitlines()
    assert json.loads(line)["kind"] == "weights.list"


def test_a_table_beside_another_has_no_document() -> None:
    with pytest.raises(AssertionError):
        Report(COLUMNS, rows_of(COLUMNS, WEIGHTS)).document()


def test_rows_that_a_reader_rarely_needs_stay_so_on_several_contexts() -> None:
    def checked() -> Report:
        findings = CheckedRule("a", passed=True, sentence="holds"), CheckedRule("b", passed=False, sentence="is broken")
        return quota_check(CapacityCheck("web", Quantities({"cpus": 1000}), findings))

    whole = by_context([ContextResult("prod", checked()), ContextResult("test", checked())])
    assert whole.minor is not None
    assert [whole.minor.holds(row) for row in whole.rows] == [True, False] * 2
