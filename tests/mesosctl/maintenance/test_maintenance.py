"""`mesosctl maintenance` as it is typed, against a fake master in virtual time."""

import json
import time
from pathlib import Path

import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.resources import Resources
from tests.helpers.lab import CommandLine, Lab

SHOP = SimulatedFrameworkSpec("shop", ("web",), task=Resources(parse_entries("cpus:1;mem:512")), tasks=3)
AT, UTC = "2030-12-01T02:00+01:00", "2030-12-01T01:00:00.000Z"
NANOSECONDS = 1922317200 * 10**9


class Desk(CommandLine):
    """A user with an audit file of their own."""

    state: Path

    def run(self, *words, **how):
        return super().run(*words, **{"XDG_STATE_HOME": str(self.state), **how})


@pytest.fixture
def live(tmp_path):
    agents = [
        AgentSpec("cpus:2;mem:2048", hostname=name, attributes={"rack": rack})
        for name, rack in (("one", "r1"), ("two", "r1"), ("three", "r2"))
    ]
    lab = Lab(*agents, version="1.11", frameworks=(SHOP,))
    lab.wait(3.0)
    desk = Desk(lab)
    desk.state = tmp_path
    return desk


def listed(live):
    return {one["hostname"]: one for one in live.run("maintenance", "-o", "json").json["machines"]}


def test_a_rack_is_planned_taken_down_and_brought_up(live):
    ran = live.run("maintenance", "plan", "--attribute", "rack=r1", "--at", AT, "--duration", "2h", "-o", "json")
    assert ran.status == 0, ran.err
    assert [(one["hostname"], one["done"], one["confirmed"]) for one in ran.json["changes"]] == [
        ("one", "scheduled", True),
        ("two", "scheduled", True),
    ]
    shown = listed(live)["one"]
    assert shown["unavailability"] == {"since": UTC, "until": "2030-12-01T03:00:00.000Z", "seconds": 7200.0}
    assert (shown["mode"], shown["agents"], shown["ip"]) == ("draining", ["one"], "127.0.0.1")
    ran = live.run("maintenance", "down", "one", "two")
    assert ran.status == 2
    assert "this shuts down one, two, which ends 3 tasks" in ran.err
    assert live.run("maintenance", "down", "one", "two", "--yes").status == 0
    assert {name: one["mode"] for name, one in listed(live).items()} == {"one": "down", "two": "down"}
    assert [one["hostname"] for one in live.lab.agents] == ["three"]
    assert live.run("maintenance", "--attribute", "rack=r1", "-o", "name").out.split() == ["one", "two"]
    ran = live.run("maintenance", "up", "--attribute", "rack=r1", "-o", "name")
    assert (ran.status, ran.out.split()) == (0, ["one", "two"])
    assert listed(live) == {}
    assert live.changes == ["POST /maintenance/schedule", "POST /machine/down", "POST /machine/up"]


def test_the_attributes_of_a_machine_that_is_down_are_those_that_were_recorded_last(live):
    """Each of its agents counts; those of another master do not, and a machine that is up has only registered ones."""
    assert live.run("maintenance", "plan", "one", "three", "--at", AT).status == 0
    assert live.run("maintenance", "down", "one", "three", "--yes").status == 0
    assert live.run("maintenance", "--attribute", "rack=r1", "-o", "name").out.split() == ["one"]
    assert live.run("maintenance", "--attribute", "rack=r3", "-o", "name").out.split() == []
    elsewhere = live.run("maintenance", "up", "--attribute", "rack=r2", "--master", "http://elsewhere:5050")
    assert elsewhere.status == 5
    assert live.run("maintenance", "up", "--attribute", "rack=r2", "-o", "name").out.split() == ["three"]
    assert list(listed(live)) == ["one"]


def test_without_a_record_the_hint_is_the_command_that_names_the_machines(live):
    assert live.run("maintenance", "plan", "--attribute", "rack=r1", "--at", AT, "--no-audit").status == 0
    assert live.run("maintenance", "down", "--attribute", "rack=r1", "--yes", "--no-audit").status == 0
    ran = live.run("maintenance", "up", "--attribute", "rack=r1", "-o", "json")
    hint = json.loads(ran.err)["error"]["hint"]
    assert (ran.status, "mesosctl maintenance up one two" in hint) == (5, True)
    assert live.run("maintenance", "up", "one", "two").status == 0


def test_tasks_that_a_shutdown_loses_are_named_with_the_drain_that_spares_them(live):
    assert live.run("maintenance", "plan", "one", "two", "--at", AT).status == 0
    tasks = [one["id"] for one in live.run("tasks", "-o", "json").json["tasks"]]
    ran = live.run("maintenance", "down", "--attribute", "rack=r1", "-o", "json")
    assert ran.status == 2
    assert "mesosctl agents drain --attribute rack=r1 --wait" in json.loads(ran.err.splitlines()[-1])["error"]["hint"]
    ran = live.run("maintenance", "down", "--attribute", "rack=r1", "--yes")
    said = ran.out + ran.err
    assert (ran.status, "3 tasks are lost (3 of shop)" in said) == (0, True)
    assert all(f"  {task} of shop on " in said for task in tasks)
    assert len(tasks) == 3


def test_the_calls_of_v1_do_the_same(live):
    for words in (f"plan one --at {AT}", "down one --yes", "up one"):
        ran = live.run("maintenance", *words.split(), "--api", "v1")
        assert ran.status == 0, ran.err
    assert [one.rpartition(" ")[2] for one in live.changes] == [
        "UPDATE_MAINTENANCE_SCHEDULE",
        "START_MAINTENANCE",
        "STOP_MAINTENANCE",
    ]


def test_other_machines_keep_their_times(live):
    assert live.run("maintenance", "plan", "one", "127.0.0.1", "--at", "2030-01-01T00:00Z").status == 0
    assert live.run("maintenance", "plan", "two", "--at", AT).status == 0
    assert live.run("maintenance", "cancel", "three").status == 0
    shown = {name: one["unavailability"]["since"] for name, one in listed(live).items()}
    assert shown == {"one": "2030-01-01T00:00:00.000Z", "two": UTC}


def test_host_names_have_no_case(live):
    assert live.run("maintenance", "plan", "ONE", "--at", AT).status == 0
    window = {"machine_ids": [{"hostname": "ONE", "ip": "127.0.0.1"}]}
    text = json.dumps({"windows": [window | {"unavailability": {"start": {"nanoseconds": NANOSECONDS}}}]})
    assert live.run("maintenance", "schedule", "-f", "-", stdin=text).status == 0
    assert live.changes == ["POST /maintenance/schedule"]


def test_what_is_so_already_is_not_sent(live):
    for words in (f"plan one --at {AT}", f"plan one --at {UTC}", "cancel two", "up two", "down one --yes", "down one"):
        assert live.run("maintenance", *words.split()).status == 0, words
    assert live.changes == ["POST /maintenance/schedule", "POST /machine/down"]


def test_a_schedule_that_changed_meanwhile_is_not_written_over(live):
    answer, reads = live.handle_request, []

    def between(request):
        if request.url.path == "/maintenance/schedule" and request.method == "GET":
            reads.append(request)
            if len(reads) == 2:
                window = {"machine_ids": [{"hostname": "x"}], "unavailability": {"start": {"nanoseconds": 5}}}
                live.lab.request("POST", "/maintenance/schedule", {"windows": [window]})
        return answer(request)

    live.handle_request = between
    ran = live.run("maintenance", "plan", "one", "--at", AT)
    assert ran.status == 6
    assert "has changed meanwhile; nothing was sent" in ran.err
    assert list(listed(live)) == ["x"]


def test_a_file_replaces_the_schedule_after_a_question(live):
    assert live.run("maintenance", "plan", "one", "--at", AT).status == 0
    window = {"machine_ids": [{"hostname": "two"}], "unavailability": {"start": {"nanoseconds": NANOSECONDS}}}
    for payload in (
        {"windows": [window]},
        {
            "type": "UPDATE_MAINTENANCE_SCHEDULE",
            "update_maintenance_schedule": {"schedule": {"windows": [window]}},
        },
    ):
        text = json.dumps(payload)
        ran = live.run("maintenance", "schedule", "-f", "-", stdin=text)
        assert (ran.status, "the file does not name one" in ran.err) == (2, True)
        assert live.run("maintenance", "schedule", "-f", "-", "--yes", stdin=text).status == 0
        assert {name: one["unavailability"]["since"] for name, one in listed(live).items()} == {"two": UTC}
        assert live.run("maintenance", "cancel", "two").status == 0
        assert live.run("maintenance", "plan", "one", "--at", AT).status == 0


def test_a_framework_with_tasks_that_says_nothing_has_not_answered(live):
    assert live.run("maintenance", "plan", "one", "two", "three", "--at", AT).status == 0
    answers = [answer for one in listed(live).values() for answer in one["answers"]]
    assert {(one["framework"], one["answer"]) for one in answers} == {("shop", "not answered")}


def test_people_read_local_times(live, monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        assert live.run("maintenance", "plan", "one", "--at", UTC, "--duration", "90m").status == 0
        assert "2030-12-01 02:00 +01:00  2030-12-01 03:30 +01:00" in live.run("maintenance").out
    finally:
        monkeypatch.undo()
        time.tzset()


def elsewhere(live):
    """Every agent has an address of its own, as in a cluster."""
    for number, agent in enumerate(live.lab.master.state.agents.values(), 1):
        agent.ip = f"10.0.0.{number}"


def would(live, words):
    """The changes that a dry run makes, its answers, and its status; nothing is sent."""
    sent = list(live.changes)
    ran = live.run("maintenance", *words.split(), "--dry-run", "-o", "json")
    assert live.changes == sent
    changes = [(one["hostname"], one["done"]) for report in ran.json["would"] for one in report["changes"]]
    return changes, [(one["change"], one["status"]) for one in ran.json["answers"]], ran.status


def test_a_dry_run_knows_the_schedule_and_the_machines_that_are_down(live):
    elsewhere(live)
    assert live.run("maintenance", "plan", "one", "two", "--at", AT).status == 0
    assert would(live, "down one")[:2] == ([("one", "down")], [("POST /machine/down", 200)])
    left = live.run("maintenance", "down", "one", "--dry-run", "-o", "json").json["totals"]
    assert left == {"cpus": 4.0, "mem": 4096.0}  # its agent is shut down, and no other
    assert live.run("maintenance", "down", "two", "--yes").status == 0
    shown = listed(live)
    assert would(live, "up two") == ([("two", "up")], [("POST /machine/up", 200)], 0)
    assert would(live, "cancel one") == ([("one", "cancelled")], [("POST /maintenance/schedule", 200)], 0)
    assert would(live, "up one") == ([], [("maintenance up", 400)], 1)
    assert would(live, "cancel two") == ([], [("maintenance cancel", 400)], 1)
    assert would(live, "up three") == ([("three", "up")], [], 0)
    assert listed(live) == shown


def test_a_dry_run_of_a_machine_that_is_not_scheduled_says_so(live):
    assert would(live, "down three") == ([], [("maintenance down", 400)], 1)


def test_a_dry_run_counts_only_the_offers_that_the_change_rescinds(live):
    before = live.run("maintenance", "plan", "one", "--at", AT, "--dry-run", "-o", "json").json["rescinded"]
    assert live.run("maintenance", "plan", "two", "--at", AT).status == 0
    live.lab.wait(10.0)
    assert len(before) == len(
        live.run("maintenance", "plan", "one", "--at", AT, "--dry-run", "-o", "json").json["rescinded"]
    )


def scheduled(machine, start, duration=3600):
    unavailability = {"start": {"nanoseconds": start * 10**9}}
    if duration is not None:
        unavailability["duration"] = {"nanoseconds": duration * 10**9}
    return json.dumps({"windows": [{"machine_ids": [machine], "unavailability": unavailability}]})


LATER, BEFORE = 1922317200, 1500000000


@pytest.mark.parametrize(
    ("machine", "note"),
    [
        ({"hostname": "one", "ip": "127.0.0.1"}, None),
        ({"hostname": "ONE", "ip": "127.0.0.1"}, None),
        ({"hostname": "one"}, "'one' without an address, only as one with the address 127.0.0.1"),
        ({"ip": "127.0.0.1"}, "'127.0.0.1' without a host name, only as one with the address 127.0.0.1, three"),
        ({"hostname": "one", "ip": "10.0.0.1"}, "'one', only as one with the address 127.0.0.1"),
        ({"hostname": "old", "ip": "10.0.0.1"}, "no agent is registered as exactly machine 'old'"),
    ],
)
def test_a_machine_on_which_no_agent_is_is_noted(live, machine, note):
    ran = live.run("maintenance", "schedule", "-f", "-", stdin=scheduled(machine, LATER))
    assert ran.status == 0
    assert (note or "no agent is") in ran.err if note else "note" not in ran.err
    down = live.run("maintenance", "down", machine.get("hostname") or f"address:{machine['ip']}", "--yes")
    assert down.status == 0, down.err
    assert ("no agent is registered as exactly" in down.err) is (note is not None)
    assert len(live.lab.agents) == (3 if note else 2)


def test_a_machine_that_is_down_is_not_missing_its_agent(live):
    assert live.run("maintenance", "plan", "one", "--at", AT).status == 0
    assert live.run("maintenance", "down", "one", "--yes").status == 0
    assert "no agent" not in live.run("maintenance", "down", "one", "--yes").err
    assert "no agent" not in live.run("maintenance", "plan", "one", "two", "--at", AT).err


@pytest.mark.parametrize(
    ("start", "duration", "note"),
    [
        (BEFORE, 3600, "the window of one ended"),
        (BEFORE, 0, "the window of one lasts 0 seconds"),
        (LATER, 0, "the window of one lasts 0 seconds"),
        (BEFORE, None, None),
        (LATER, 3600, None),
        (BEFORE, LATER - BEFORE, None),
    ],
)
def test_a_window_that_is_over_or_lasts_no_time_is_noted(live, start, duration, note):
    machine = {"hostname": "one", "ip": "127.0.0.1"}
    ran = live.run("maintenance", "schedule", "-f", "-", stdin=scheduled(machine, start, duration))
    assert ran.status == 0
    assert (note or "") in ran.err
    assert ("note" in ran.err) is (note is not None)


@pytest.mark.parametrize(("start", "is_early"), [(LATER, True), (BEFORE, False)])
def test_going_down_long_before_the_window_is_noted(live, start, is_early):
    machine = {"hostname": "one", "ip": "127.0.0.1"}
    live.run("maintenance", "schedule", "-f", "-", stdin=scheduled(machine, start, None))
    asked = live.run("maintenance", "down", "one")
    assert (asked.status, "the window of one begins only at" in asked.err) == (2, is_early)


def test_several_notes_end_with_a_count(live):
    names = [{"hostname": f"host-{number}"} for number in range(9)]
    window = {"machine_ids": names, "unavailability": {"start": {"nanoseconds": LATER * 10**9}}}
    ran = live.run("maintenance", "schedule", "-f", "-", stdin=json.dumps({"windows": [window]}))
    assert ran.err.count("no agent is registered as exactly") == 5
    assert "and 4 more" in ran.err


NOW = 1798146000.0
"""2026-12-24 in UTC, at 21:00; in Berlin it is 22:00."""


@pytest.mark.parametrize(
    ("at", "zone", "start"),
    [
        ("22:30", "Europe/Berlin", "2026-12-24T21:30"),
        ("22:00", "Europe/Berlin", "2026-12-25T21:00"),
        ("02:00:30", "Europe/Berlin", "2026-12-25T01:00:30"),
        ("02:00", "Asia/Tokyo", "2026-12-25T17:00"),
        ("07:00", "Asia/Tokyo", "2026-12-24T22:00"),
        ("22:00", "UTC", "2026-12-24T22:00"),
        ("2026-12-31T22:00", "Europe/Berlin", "2026-12-31T21:00"),
        ("2026-07-01T02:00", "Europe/Berlin", "2026-07-01T00:00"),
    ],
)
def test_a_time_without_a_zone_is_the_next_one_of_the_time_zone(live, monkeypatch, at, zone, start):
    monkeypatch.setattr("time.time", lambda: NOW)
    ran = live.run("maintenance", "plan", "one", "two", "--at", at, "--timezone", zone, "-o", "json")
    assert ran.status == 0, ran.err
    begins = {machine["unavailability"]["since"][:19] for machine in listed(live).values()}
    assert begins == {start if start.count(":") == 2 else f"{start}:00"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--at", "22:00"), "'22:00' is a time without a date"),
        (("--at", "2026-12-31T22:00"), "has no zone"),
        (("--at", "22:00+01:00", "--timezone", "UTC"), "a time without a date"),
        (("--at", AT, "--timezone", "UTC"), "has a zone already"),
        (("--at", "22:00", "--timezone", "Europe/Atlantis"), "no time zone 'Europe/Atlantis'"),
        (("--at", "25:00", "--timezone", "UTC"), "'25:00' is not a time"),
        (("--at", "22", "--timezone", "UTC"), "'22' is not a time"),
    ],
)
def test_a_time_that_is_not_clear_is_refused(live, words, told):
    ran = live.run("maintenance", "plan", "one", *words)
    assert ran.status == 2
    assert told in ran.err
    assert live.changes == []
