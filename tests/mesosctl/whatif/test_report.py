"""A forecast as a table and as JSON."""

import io
import json
import re
from dataclasses import replace

from mesosctl.show.output_formats import write
from mesosctl.whatif.documents import ForecastDocument
from mesosctl.whatif.report import forecast_report
from tests.mesosctl.whatif.forecasts import HOSTILE, whole_forecast


def written(form: str) -> str:
    stream = io.StringIO()
    write(forecast_report(whole_forecast()), form, stream, draws=False, colours=False)
    return stream.getvalue()


def test_the_table_says_who_gains_and_who_loses():
    lines = written("table").splitlines()
    marathon = next(line for line in lines if line.startswith("framework  marathon"))
    assert re.split("  +", marathon) == [
        *("framework", "marathon", "-", "6 cpus and 1.5GiB mem", "14 cpus and 9GiB mem"),
        *("8 cpus and 7.5GiB mem", "-", "25% → 58% cpus"),
    ]


def test_everything_else_stands_under_it():
    text = written("table")
    for sentence in (
        "quota:web=cpus:16;mem:8GiB: accepted (200)",
        "REFUSED (400) [role.syntax]",
        "offers rescinded: 2:",
        "(not sent yet: the master would send it before the change)",
        "tasks evicted: 2:",
        "marathon/t-1 web agent-1: 2 revocable cpus, 2 s to end\n",
        "2 revocable cpus, 0 s to end, once what is offered there is used (not running yet: assumed to start before",
        "role web would be 2 cpus below its guarantee of 16 cpus and 8GiB mem: it would have 14 cpus and 9GiB mem",
        "web: 16 cpus and 8GiB mem fits on no single agent; the most that one agent has is 12 cpus and ",
        "NO: it would be refused",
    ):
        assert sentence in text


def test_a_narrow_terminal_shows_what_is_after_rather_than_what_is_before():
    left_out = set()
    for width in range(60, 260):
        stream = io.StringIO()
        write(forecast_report(whole_forecast()), "table", stream, draws=True, colours=False, width=width)
        for table in stream.getvalue().split("\n\n")[1:3]:
            rest = " ".join(table.split()).partition("no room for ")[2].partition(": see -o wide")[0].split(", ")
            left_out |= {name for name in rest if name.startswith(("BEFORE", "AFTER"))}
            assert "BEFORE" in rest or not any(name.startswith("AFTER") for name in rest)
    assert {"BEFORE", "AFTER"} <= left_out


def test_what_follows_from_other_columns_leaves_first():
    """BEFORE follows from AFTER and what is gained and lost; without these, AFTER still says who has what."""
    columns = [one for one in forecast_report(whole_forecast()).columns if not one.wide and one.rank >= 0]
    leaving = sorted(columns, key=lambda one: -one.rank)
    assert [one.title for one in leaving if one.title != "KIND"] == [
        *("GUARANTEE", "SHARE", "BEFORE", "GAINS", "LOSES", "AFTER"),
    ]


def test_a_name_does_not_steer_a_terminal():
    assert "\u202e" not in written("table")
    assert "\\u202e" in written("table")


def test_json_is_the_documented_shape():
    document = json.loads(written("json"))
    assert (document["schema_version"], document["kind"]) == (2, "forecast")
    assert (document["accepted"], document["harmless"]) == (False, False)
    ForecastDocument.model_validate(document)
    (web,) = [role for role in document["roles"] if role["name"] == "web"]
    assert web["after"] == {
        "used": {"cpus": 4.0, "mem": 1024.0},
        "offered": {"cpus": 10.0, "mem": 8192.0},
        "share": 14 / 24,
    }
    assert [offer["out_now"] for offer in document["rescinded"]] == [True, False]
    assert [offer["revocability"] for offer in document["rescinded"]] == ["regular", "regular"]
    assert document["evicted"][0] == {
        "task_id": "t-1",
        "framework_id": "f-1",
        "framework": "marathon",
        "role": "web",
        "agent_id": "S0",
        "hostname": "agent-1",
        "resources": {"amounts": {"cpus_revocable": 2.0}, "text": "cpus{REV}:2"},
        "grace_seconds": 2.0,
        "happens": True,
        "caused": True,
        "runs_now": True,
    }
    assert (document["evicted"][1]["caused"], document["evicted"][1]["runs_now"]) == (False, False)
    assert document["frameworks"][0]["name"] == HOSTILE


def test_the_verdict_says_how_many_would_have_to_go():
    whole = whole_forecast()
    fine = replace(whole, answers=(), starving=())
    assert fine.verdict.endswith("nobody would starve; 1 task would be evicted")
    assert replace(fine, evicted=()).verdict.endswith("nobody would starve")


def test_other_forms():
    assert written("name").splitlines() == [HOSTILE, "web", HOSTILE, "marathon"]
    assert written("csv").splitlines()[0].startswith("kind,name,guarantee,before,after")
    assert json.loads(written("jsonl"))["kind"] == "forecast"


def test_the_verdict_names_who_starves():
    forecast = whole_forecast()
    assert forecast.verdict == "NO: it would be refused"
