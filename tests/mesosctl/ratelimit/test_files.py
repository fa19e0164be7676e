"""`ratelimit` on files: validate, set, unset, default, plan, simulate."""

import json
import os
import stat
from xml.etree import ElementTree as ET

import pytest

from mesosctl.mesos.rules.rate_limit_simulation import CountedMessages, recorded_traffic
from tests.helpers.lab import Lab, Scheduler
from tests.helpers.lab.command_line import CommandLine
from tests.mesosctl.program.mistakes.mistake import typed

GOOD = """{
  "limits": [
    {"principal": "foo", "qps": 55.5, "capacity": 100000},
    {"principal": "bar", "qps": 300},
    {"principal": "baz"}
  ],
  "aggregate_default_qps": 333,
  "aggregate_default_capacity": 1000000
}
"""
EXPANDED = json.dumps(json.loads(GOOD), indent=4) + "\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "limits.json"
    path.write_text(GOOD)
    return path


# --- validate ----------------------------------------------------------------------------------------------


def test_validate_shows_every_fault_at_once(run):
    text = json.dumps(
        {
            "limits": [{"principal": "a", "qps": -1}, {"qps": "fast"}, {"principal": "a", "qsp": 3}],
            "aggregate_default_qps": 0,
            "extra": 1,
        }
    )
    ran = run("ratelimit", "validate", "-", "-o", "json", stdin=text)
    assert (ran.status, ran.out) == (3, "")
    message = json.loads(ran.err)["error"]["message"]
    for fault in (
        "limits[1].principal: it is missing",
        "limits[1].qps: it should be a number",
        "limits[2].qsp: there is no key 'qsp' here",
        "extra: there is no key 'extra' here",
        "limits[0].qps: Invalid qps: -1",
        "limits[2].principal: Duplicate principal a",
        "aggregate_default_qps: Invalid aggregate_default_qps: 0",
    ):
        assert message.count(fault) == 1


def test_validate_shows_every_broken_rule_at_once(run):
    limits = [{"principal": "a", "qps": -1}, {"principal": "a", "qps": 0}]
    ran = run("ratelimit", "validate", "-", "-o", "json", stdin=json.dumps({"limits": limits}))
    rules = [remark["field"] for remark in json.loads(ran.out)["remarks"] if remark["level"] == "error"]
    assert rules == ["limits[0].qps", "limits[1].principal", "limits[1].qps"]


def test_a_valid_file_passes_with_its_warnings(run, cluster, file):
    ran = run("ratelimit", "validate", str(file), "-o", "json")
    assert ran.status == 0
    assert ran.json["valid"] is True
    assert [(remark["level"], remark["field"]) for remark in ran.json["remarks"]] == [("warning", "limits[1].capacity")]
    assert cluster.asked == []


def test_strict_makes_a_warning_count(run, file):
    assert run("ratelimit", "validate", str(file), "--strict").status == 1
    assert run("ratelimit", "validate", "-", "--strict", stdin=GOOD.replace("300", '300, "capacity": 5')).status == 0


def test_errors_are_all_named(run):
    text = '{"limits": [{"principal": "p", "qps": 0}, {"principal": "p"}], "aggregate_default_qps": 0}'
    ran = run("ratelimit", "validate", "-", "-o", "jsonl", stdin=text)
    assert ran.status == 3
    remarks = [json.loads(line) for line in ran.out.splitlines()]
    assert [r["rule"] for r in remarks if r["level"] == "error"] == [
        "ratelimit.positive-rate",
        "ratelimit.duplicate-principal",
        "ratelimit.positive-rate",
    ]


def test_broken_json_is_shown_where_it_breaks(run):
    ran = run("ratelimit", "validate", "-", "-o", "json", stdin='{"limits": [\n  "principal": "foo"\n]}')
    assert (ran.status, ran.out) == (3, "")
    error = json.loads(ran.err)["error"]
    assert error["field"] == "line 2, column 3"
    assert "expected '{', " in error["message"]
    assert 'found \'"principal": "foo"\'' in error["message"]


def test_a_field_of_the_wrong_type_is_named(run):
    ran = run("ratelimit", "validate", "-", "-o", "json", stdin='{"limits": [{"principal": "p", "qps": "fast"}]}')
    assert ran.status == 3
    assert json.loads(ran.err)["error"]["field"] == "limits[0].qps"


def test_a_misspelt_field_is_refused_with_the_likely_one(run):
    ran = run("ratelimit", "validate", "-", "-o", "json", stdin='{"limits": [{"principal": "p", "Qps": 1}]}')
    assert (ran.status, ran.out) == (3, "")
    error = json.loads(ran.err)["error"]
    assert (error["field"], error["hint"]) == ("limits[0].Qps", "did you mean qps?")


# --- set, unset, default -----------------------------------------------------------------------------------


def test_set_changes_one_entry_and_shows_the_difference(run, file):
    ran = run("ratelimit", "set", "baz", "--qps", "5", "--capacity", "10", "-f", str(file))
    assert ran.status == 0
    assert '-    {"principal": "baz"}\n+    {"principal": "baz", "qps": 5, "capacity": 10}\n' in ran.out
    assert "reads its rate limits when it starts" in ran.err
    assert file.read_text() == GOOD.replace('"baz"}', '"baz", "qps": 5, "capacity": 10}')


def test_a_new_principal_leads_to_the_check_against_the_master(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text(
        '[[agents]]\nresources = "cpus:4;mem:4096"\n'
        '[[frameworks]]\nname = "batch"\nroles = ["web"]\nprincipal = "ops"\ntask = "cpus:1;mem:64"\n'
    )
    look = "mesosctl ratelimit validate limits.json --live"
    ran = typed("ratelimit set batch --qps 5 --capacity 9 -f limits.json", tmp_path, "fake:c.toml")
    assert (ran.status, look in ran.err) == (0, True)
    told = typed(f"{look.removeprefix('mesosctl ')} -o json", tmp_path, "fake:c.toml").out
    assert "framework 'batch' has principal 'ops'" in told
    assert look not in typed("ratelimit set batch --qps 6 -f limits.json", tmp_path, "fake:c.toml").err
    assert look not in typed("ratelimit set web --qps 6 -f limits.json --dry-run", tmp_path, "fake:c.toml").err
    assert look not in typed("ratelimit set web --qps 6 -f limits.json", tmp_path, "").err


def test_set_without_a_rate_takes_the_limit_away_and_keeps_the_entry(run, file):
    refused = run("ratelimit", "set", "foo", "-f", str(file))
    assert refused.status == 2
    assert "would lose the limit of 'foo'" in refused.err
    assert run("ratelimit", "set", "foo", "-f", str(file), "--yes").status == 0
    assert json.loads(file.read_text())["limits"][0] == {"principal": "foo"}


@pytest.mark.parametrize(
    ("words", "who"),
    [
        ("set bar --qps 20", "principal 'bar'"),
        ("set new --qps 20", "principal 'new'"),
        ("set foo --qps 20", None),
        ("set new --qps 20 --capacity 10", None),
        ("default --qps 20", None),
        ("unset foo", None),
    ],
)
def test_a_queue_that_may_fill_the_memory_of_a_master_is_told(run, file, words, who):
    verb, *more = words.split()
    said = run("ratelimit", verb, *more, "-f", str(file)).err
    if who is None:
        assert "memory" not in said
    else:
        assert f"note: messages of {who} may fill the master's memory, " in said
        assert "--capacity" in said


def test_what_is_not_given_stays(run, file):
    had = json.loads(file.read_text())
    assert run("ratelimit", "set", "foo", "--qps", "20", "-f", str(file)).status == 0
    assert run("ratelimit", "default", "--qps", "20", "-f", str(file)).status == 0
    has = json.loads(file.read_text())
    assert has["limits"][0] == {**had["limits"][0], "qps": 20}
    assert has == {**had, "limits": has["limits"], "aggregate_default_qps": 20}


COPIED = """
  "limits": [
      "principal": "foo",
      "qps": 55.5
      "capacity": 100000
      "principal": "baz",
  "aggregate_default_qps": 333,
"""


def test_a_sample_that_lost_its_braces_is_refused_where_the_first_is_missing(run, tmp_path):
    path = tmp_path / "copied.json"
    path.write_text(COPIED)
    ran = run("ratelimit", "validate", str(path))
    assert ran.status == 3
    assert "line 2, column 3: expected '{', which opens the object" in ran.err


def test_a_new_principal_stands_last_and_a_new_file_is_made(run, file, tmp_path):
    run("ratelimit", "set", "qux", "--qps", "0.5", "-f", str(file))
    assert json.loads(file.read_text())["limits"][-1] == {"principal": "qux", "qps": 0.5}
    new = tmp_path / "new.json"
    assert run("ratelimit", "default", "--qps", "1", "-f", str(new)).status == 0
    assert json.loads(new.read_text()) == {"aggregate_default_qps": 1}


def test_unset_takes_the_entry_out(run, file):
    assert run("ratelimit", "unset", "bar", "-f", str(file)).status == 0
    assert [entry["principal"] for entry in json.loads(file.read_text())["limits"]] == ["foo", "baz"]
    assert run("ratelimit", "unset", "bar", "-f", str(file)).status == 5


def test_the_default_is_set_and_removed(run, file):
    run("ratelimit", "default", "--qps", "9", "--capacity", "8", "-f", str(file))
    assert json.loads(file.read_text())["aggregate_default_capacity"] == 8
    run("ratelimit", "default", "--none", "-f", str(file))
    assert json.loads(file.read_text()).keys() == {"limits"}


@pytest.mark.parametrize("words", [(), ("--none", "--qps", "1"), ("--none", "--capacity", "1"), ("--capacity", "1")])
def test_a_default_is_either_a_rate_or_none(run, file, words):
    assert run("ratelimit", "default", *words, "-f", str(file)).status == 2
    assert file.read_text() == GOOD


@pytest.mark.parametrize("qps", ["0", "-1", "nan", "inf", "fast"])
def test_a_rate_that_no_master_takes(run, file, qps):
    assert run("ratelimit", "set", "foo", f"--qps={qps}", "-f", str(file)).status == 2
    assert file.read_text() == GOOD


def test_the_layout_stays(run, tmp_path):
    path = tmp_path / "limits.json"
    path.write_text(EXPANDED.replace("foo", "fööd"), encoding="utf-8")
    run("ratelimit", "set", "fööd", "--qps", "1", "-f", str(path))
    document = json.loads(EXPANDED)
    document["limits"][0] = {"principal": "fööd", "qps": 1, "capacity": document["limits"][0]["capacity"]}
    assert path.read_text(encoding="utf-8") == json.dumps(document, indent=4, ensure_ascii=False) + "\n"


def test_nothing_to_change_leaves_the_file_as_it_is(run, tmp_path):
    path = tmp_path / "limits.json"
    path.write_text('{ "aggregate_default_qps"   : 1.0 }')
    ran = run("ratelimit", "default", "--qps", "1", "-f", str(path), "-o", "json")
    assert (ran.status, ran.json["changed"], ran.json["written"]) == (0, False, False)
    assert path.read_text() == '{ "aggregate_default_qps"   : 1.0 }'


def test_a_dry_run_writes_nothing(run, file):
    ran = run("ratelimit", "unset", "bar", "-f", str(file), "--dry-run", "-o", "json")
    assert (ran.json["changed"], ran.json["written"]) == (True, False)
    assert file.read_text() == GOOD


def test_permissions_and_links_stay(run, file, tmp_path):
    file.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(file)
    assert run("ratelimit", "unset", "bar", "-f", str(link)).status == 0
    assert link.is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert "bar" not in file.read_text()


def test_a_file_that_cannot_be_replaced_is_left_whole(run, file, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ran = run("ratelimit", "unset", "bar", "-f", str(file))
    assert ran.status == 3
    assert "cannot be written: No space left on device" in ran.err
    assert file.read_text() == GOOD
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("text", ['{"limits": [', '{"limits": [{"principal": "a"}, {"principal": "a"}]}'])
def test_a_file_that_no_master_takes_is_not_edited(run, file, text):
    file.write_text(text)
    assert run("ratelimit", "set", "foo", "-f", str(file)).status == 3
    assert file.read_text() == text


# --- plan --------------------------------------------------------------------------------------------------


def test_plan_sums_up(run):
    text = GOOD.replace('"qps": 300', '"qps": 300, "capacity": 1')
    ran = run("ratelimit", "plan", "-", "--memory", "4GiB", "-o", "json", stdin=text)
    assert ran.status == 0
    assert ran.json["messages"] == 1_100_001
    assert ran.json["worst_case"] == 1_100_001 * (1024 + 2560)
    assert ran.json["head_room"] == 2**32 - 1_100_001 * (1024 + 2560)
    assert run("ratelimit", "plan", "-", "--memory", "4GiB", "--message-size", "4KiB", stdin=text).status == 1


def test_plan_says_no_for_a_queue_without_an_end(run):
    ran = run("ratelimit", "plan", "-", "--memory", "1TiB", stdin=GOOD)
    assert ran.status == 1
    assert ran.out.endswith("queues without a limit   bar\nit does not fit\n")


def test_plan_wants_a_size(run):
    assert run("ratelimit", "plan", "-", "--memory", "much", stdin=GOOD).status == 2


# --- simulate ----------------------------------------------------------------------------------------------

TIGHT = '{"limits": [{"principal": "p", "qps": 1, "capacity": 2}, {"principal": "q"}]}'


def test_simulate_tells_who_waits_and_who_overflows(run):
    ran = run("ratelimit", "simulate", "-", "--traffic", "p=4", "--traffic", "q=4", "-o", "json", stdin=TIGHT)
    assert ran.status == 0
    p, q = ran.json["principals"]
    assert (p["sent"], p["processed"], p["refused"], p["first_refused"], p["longest_delay"]) == (4, 3, 1, 0.0, 2.0)
    assert (q["processed"], q["refused"], q["longest_delay"]) == (4, 0, 0.0)


def test_simulate_draws_the_queues_under_the_table(run):
    ran = run("ratelimit", "simulate", "-", "--traffic", "p=3", stdin=TIGHT)
    assert "waiting messages, from 0 to 2.00s:\np  " + "█" * 30 + "▄" * 30 + "  at most 2\n" in ran.out


def test_simulate_draws_a_picture(run, tmp_path):
    path = tmp_path / "queues.svg"
    limits = '{"aggregate_default_qps": 1, "aggregate_default_capacity": 1}'
    ran = run("ratelimit", "simulate", "-", "--traffic", "<&>=4@3", "--svg", str(path), stdin=limits)
    assert ran.status == 0
    texts = ["".join(text.itertext()) for text in ET.parse(path).iter("{http://www.w3.org/2000/svg}text")]
    assert "<&> 1 messages/s; longest queue 1, longest delay 1.00s, 2 refused" in texts
    assert "overflows at 3.00s" in texts
    assert "capacity 1" in texts
    assert {"0s", "1s", "2s", "3s", "4s", "time", "messages"} <= set(texts)


def test_simulate_wants_traffic(run):
    assert run("ratelimit", "simulate", "-", "--traffic", "p=fast", stdin=TIGHT).status == 2
    assert run("ratelimit", "simulate", "-", stdin=TIGHT).status == 2


# --- recorded traffic --------------------------------------------------------------------------------------

OLD = {"limits": [{"principal": "p", "qps": 4}]}
NEW = {"limits": [{"principal": "p", "qps": 0.5, "capacity": 100}]}
SECONDS, EACH = 10, 3


def recording() -> str:
    """What `ratelimit watch -o jsonl` says while a framework sends three messages a second."""
    lab = Lab()
    framework, line, readings = Scheduler(lab, principal="p"), CommandLine(lab), []
    for second in range(SECONDS + 1):
        ran = line.run("ratelimit", "watch", "--count", "1", "-o", "jsonl")
        readings.append(json.loads(ran.out) | {"at": float(second)})
        framework.send(*(f"t{second}-{number}" for number in range(EACH)))
        lab.wait(1)
    return "".join(f"{json.dumps(reading)}\n" for reading in readings)


def test_recorded_traffic_is_played_as_a_master_with_these_limits_would(run, tmp_path):
    for name, content in (("old", json.dumps(OLD)), ("new", json.dumps(NEW)), ("watch", recording())):
        (tmp_path / name).write_text(content)
    paths = [str(tmp_path / name) for name in ("new", "old", "watch")]
    ran = run("ratelimit", "simulate", paths[0], "--before", paths[1], "--recorded", paths[2], "-o", "json")
    assert ran.status == 0, ran.err
    shown = json.loads(ran.out)
    ((after,), (before,)) = (shown["principals"], shown["before"])
    assert (after["sent"], before["sent"]) == (SECONDS * EACH,) * 2
    assert (before["refused"], before["longest_queue"]) == (0, 0)
    # The same messages to a fake master with the new limits.
    lab = Lab(rate_limits=NEW)
    framework = Scheduler(lab, principal="p")
    for second in range(SECONDS):
        for number in range(EACH):
            framework.send(f"t{second}-{number}")
            lab.wait(1 / EACH)
    received, processed = lab.counters()["p"]
    assert received == after["sent"]
    assert abs((received - processed) - after["longest_queue"]) <= 1
    table = run("ratelimit", "simulate", paths[0], "--before", paths[1], "--recorded", paths[2]).out
    assert "REFUSED BEFORE" in table


def test_a_counter_that_begins_anew_counts_from_zero():
    readings = [CountedMessages(0, "p", 90), CountedMessages(10, "p", 100), CountedMessages(20, "p", 5)]
    arrivals = recorded_traffic(readings)
    assert len(arrivals) == 15
    assert arrivals[0] == (0.0, "p")
    assert arrivals[-1][0] < 20


def test_a_recording_that_is_none_is_named_with_its_line(run, tmp_path):
    path = tmp_path / "watch.jsonl"
    path.write_text('{"at": 0, "principal": "p", "received": 1}\n{"at": 1}\n')
    ran = run("ratelimit", "simulate", "-", "--recorded", str(path), stdin=json.dumps(NEW))
    assert ran.status == 3
    assert "line 2, is not a reading" in ran.err
