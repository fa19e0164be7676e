"""--dry-run: every command that changes something says what it would do, and nothing is sent but reads."""

import json

import pytest

from mesosctl.mesos.rules.version_profile import PROFILES
from mesosctl.program.reference.command_tree import commands
from tests.helpers.screen import visible
from tests.mesosctl.live import Live, ask

CHANGING = {
    "quota set": "quota set web cpus:8 mem:8192",
    "quota update": "quota update web cpus:8 --create",
    "quota remove": "quota remove batch",
    "weights set": "weights set web=2",
    "reserve": "reserve --any cpus:2 --role web",
    "unreserve": "unreserve --role batch --all",
    "volumes create": "volumes create agent-1 v2 disk:10 --role batch",
    "volumes destroy": "volumes destroy agent-1 v1",
    "apply": "apply -f @FILE",
    "cleanup": "cleanup --role batch",
    "offers take": "offers take --role ads --reserve cpus:1 --timeout 5",
    "agents drain": "agents drain agent-1",
    "agents deactivate": "agents deactivate agent-1",
    "agents reactivate": "agents reactivate agent-1",
    "agents gone": "agents gone agent-1",
    "frameworks teardown": "frameworks teardown spark",
    "maintenance plan": "maintenance plan agent-1 --at 2030-12-01T02:00+01:00",
    "maintenance schedule": "maintenance schedule -f @SCHEDULE",
    "maintenance down": "maintenance down agent-1",
    "maintenance up": "maintenance up agent-1",
    "maintenance cancel": "maintenance cancel agent-1",
}
ALREADY_SO = {"agents reactivate", "maintenance up", "maintenance cancel"}
"""Here the agent is in service, and a snapshot has no schedule of maintenance."""
SCHEDULE = """
{"windows": [{"machine_ids": [{"hostname": "agent-1"}],
              "unavailability": {"start": {"nanoseconds": 1900000000000000000}}}]}
"""


@pytest.fixture
def live() -> Live:
    """Also with something to remove, unreserve and destroy."""
    found = Live()
    assert ask(found, *"quota set batch cpus:1".split()).status == 0
    assert ask(found, *"reserve agent-1 cpus:1 disk:500 --role batch --trust-master".split()).status == 0
    assert ask(found, *"volumes create agent-1 v1 disk:100 --role batch --trust-master".split()).status == 0
    assert ask(found, *"reserve agent-2 cpus:1 --role batch --trust-master".split()).status == 0
    found.wait(10)
    found.asked.clear()
    return found


@pytest.mark.parametrize("verb", CHANGING)
def test_nothing_is_sent_but_reads(live: Live, verb: str, tmp_path):
    file = tmp_path / "wishes.toml"
    file.write_text('[quotas.web]\nguarantee = "cpus:4"\n[weights]\nweb = 2.0\n')
    (tmp_path / "schedule.json.toml").write_text(SCHEDULE)
    before = live.state()
    words = CHANGING[verb].replace("@FILE", str(file)).replace("@SCHEDULE", f"{tmp_path}/schedule.json.toml").split()
    said = ask(live, *words, "--dry-run", "-o", "json", XDG_STATE_HOME=str(tmp_path))
    assert not [kept for kept in tmp_path.rglob("*") if kept.suffix not in (".toml", ".lock") and kept.is_file()]
    assert live.changes == []
    assert live.state() == before
    document = said.json
    assert document["kind"] == "forecast"
    assert said.status == (0 if document["harmless"] else 1)
    assert (document["answers"] == []) == (verb in ALREADY_SO)


def test_these_are_all_commands_that_change_a_cluster():
    changing = {
        " ".join(node.path[1:])
        for node in commands().walk()
        if any("--report" in option.names and "With --dry-run" in option.help for option in node.options)
    }
    assert changing == CHANGING.keys()


def test_what_would_happen_and_then_does(live: Live):
    said = ask(live, *"quota set web cpus:8 mem:8192 --dry-run -o json".split()).json
    assert said["harmless"]
    assert said["would"][0]["changes"][0]["after"]["guarantee"] == {"cpus": 8.0, "mem": 8192.0}
    (web,) = [role for role in said["roles"] if role["name"] == "web"]
    assert ask(live, *"quota set web cpus:8 mem:8192".split()).status == 0
    live.wait(10)
    (shown,) = [role for role in live.read("/roles")["roles"] if role["name"] == "web"]
    assert {name: shown["offered"][name] for name in ("cpus", "mem")} == {
        name: web["after"]["offered"][name] for name in ("cpus", "mem")
    }


def test_the_option_may_stand_before_the_words(live: Live):
    assert ask(live, *"--dry-run quota set web cpus:1 -o name".split()).status == 0
    assert live.changes == []


def test_a_refusal_is_an_answer(live: Live):
    said = ask(live, *"quota set web cpus:1000 --dry-run -o json".split())
    assert said.status == 1
    (answer,) = said.json["answers"]
    assert (answer["status"], answer["accepted"], answer["rule"]) == (400, False, "quota.capacity")
    assert (answer["change"], answer["by"]) == ("quota set", "mesosctl")


def test_a_rule_of_the_tool_alone_is_no_answer_of_a_master(live: Live):
    (answer,) = ask(live, *"quota set web cpus:0 --dry-run -o json".split()).json["answers"]
    assert (answer["status"], answer["accepted"]) == (None, False)
    (answer,) = ask(live, *"quota update web cpus:1 --dry-run -o json".split()).json["answers"]
    assert (answer["status"], answer["accepted"]) == (200, False)  # UPDATE_QUOTA would make one


def test_a_guarantee_that_cannot_be_met_makes_it_a_no(live: Live):
    # The master counts what is reserved for others as capacity, and accepts.
    said = ask(live, *"quota set web cpus:15 mem:15000 --dry-run -o json".split())
    assert said.status == 1
    assert said.json["accepted"]
    assert [(one["name"], one["reason"]) for one in said.json["starving"] if one["caused"]] == [("web", "guarantee")]


def test_offers_that_are_taken_back_starve_nobody():
    said = ask(Live(), *"quota set web cpus:16 mem:16384 --dry-run".split())
    assert said.status == 0
    assert "starving:" not in said.out
    told = "no longer offered anything (ran nothing before):\n  role ads: it was offered 8 cpus"
    assert told in said.out
    assert "nobody would starve" in said.out


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("quota set web cpus:x --dry-run", 3),
        ("quota set web --dry-run", 2),
        ("reserve nobody cpus:1 --role web --dry-run", 5),
        ("quota set web cpus:1 --report page.html", 2),
        ("quota set web cpus:1 --dry-run --report /nowhere/page.html", 3),
    ],
)
def test_words_that_make_no_request(live: Live, words: str, status: int):
    assert ask(live, *words.split()).status == status
    assert live.changes == []


def test_a_page_for_a_ticket(live: Live, tmp_path):
    page = tmp_path / "ticket.html"
    assert ask(live, "quota", "set", "web", "cpus:8", "mem:8192", "--dry-run", "--report", str(page)).status == 0
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "UPDATE_QUOTA: accepted (200)" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("words", ["quota set web cpus:8 --dry-run", "whatif weight:web=2"])
def test_a_page_on_standard_output_stands_there_alone(live: Live, tmp_path, monkeypatch, words: str):
    monkeypatch.chdir(tmp_path)
    said = ask(live, *words.split(), "--report", "-")
    assert (said.status, said.out.startswith("<!DOCTYPE html>"), said.out.endswith("</html>\n")) == (0, True, True)
    assert ask(live, *words.split(), "--report", "-", "-o", "json").status == 2
    assert list(tmp_path.iterdir()) == []


def test_progress_only_on_a_terminal(live: Live):
    assert "\r" not in ask(live, *"quota set web cpus:1 --dry-run".split()).err
    shown = ask(live, *"quota set web cpus:1 --dry-run".split(), terminal=True).err
    assert "making the allocations" in shown
    assert "100%" in shown
    assert visible(shown) == []


def test_a_command_that_only_reads_runs_as_ever(live: Live):
    assert ask(live, *"quota list --dry-run -o name".split()).out == "batch\n"


@pytest.mark.parametrize("version", ["documents", "1.11"])
def test_the_rules_are_those_of_the_master(version: str):
    live = Live(version)
    said = ask(live, *"quota set * cpus:1 --dry-run -o json".split()).json
    assert said["accepted"] is (version == "1.11")
    assert (said["mesos_version"], said["mesos_profile"]) == (PROFILES[version].version, version)


def test_who_may_not_read_gets_no_forecast(tmp_path):
    known = tmp_path / "credentials.json"
    known.write_text(json.dumps({"credentials": [{"principal": "op", "secret": "s"}]}))
    live = Live(authenticate_http_readwrite="true", credentials=str(known))
    assert ask(live, *"quota set web cpus:1 --dry-run".split()).status == 4
    secret = tmp_path / "secret"
    secret.write_text("s")
    secret.chmod(0o600)
    words = "quota set web cpus:1 --dry-run -o json --principal op --secret-file".split()
    said = ask(live, *words, str(secret))
    assert (said.status, live.changes) == (0, [])


def test_ratelimit_files_are_left_alone(live: Live, tmp_path):
    file = tmp_path / "limits.json"
    said = ask(live, "ratelimit", "set", "batch", "--qps", "5", "-f", str(file), "--dry-run")
    assert said.status == 0
    assert "batch" in said.out
    assert not file.exists()
    assert ask(live, "--dry-run", "ratelimit", "default", "--qps", "5", "-f", str(file)).status == 0
    assert not file.exists()
