"""`mesosctl whatif` on a live master and from a file."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mesosctl.__main__ import main
from tests.helpers.surroundings import InMemory, Ran
from tests.mesosctl.live import Live, ask
from tests.mesosctl.program.mistakes.mistake import typed


@pytest.fixture
def live() -> Live:
    return Live()


def forecast(live: Live, *words: str) -> dict[str, Any]:
    said = ask(live, "whatif", *words, "-o", "json")
    assert live.changes == []
    assert said.status == (0 if said.json["harmless"] else 1)
    return said.json


def cpus(document: dict[str, Any], moment: str = "after") -> dict[str, float]:
    return {
        role["name"]: role[moment]["used"].get("cpus", 0) + role[moment]["offered"].get("cpus", 0)
        for role in document["roles"]
    }


def test_several_changes_one_after_the_other(live: Live):
    said = forecast(
        live, "quota:web=cpus:8;mem:8192", "limit:web=cpus:12;mem:12GiB", "quota:ads=cpus:4", "remove-quota:ads"
    )
    assert [(answer["change"], answer["status"]) for answer in said["answers"]] == [
        ("quota:web=cpus:8;mem:8192", 200),
        ("limit:web=cpus:12;mem:12GiB", 200),
        ("quota:ads=cpus:4", 200),
        ("remove-quota:ads", 200),
    ]
    (web,) = [role for role in said["roles"] if role["name"] == "web"]
    assert web["guarantee"] == {"cpus": 8.0, "mem": 8192.0}


def test_a_change_sees_those_before_it(live: Live):
    said = forecast(live, "quota:a=cpus:10", "quota:b=cpus:10", "remove-quota:a", "quota:b=cpus:10")
    assert [answer["accepted"] for answer in said["answers"]] == [True, False, True, True]
    assert said["accepted"] is False


def test_force_passes_capacity(live: Live):
    assert forecast(live, "quota:a=cpus:1000", "--force")["accepted"]


def test_reservations_and_volumes(live: Live):
    words = [
        "reserve:agent-1=cpus(eng):2;disk(eng):500",
        "reserve:agent-1=cpus(eng>eng/dev):1",
        "create:agent-1=v1:disk(eng):100",
        "destroy:agent-1=v1",
        "unreserve:agent-1=cpus(eng>eng/dev):1",
        "unreserve:agent-1=cpus(eng):2",
        "unreserve:agent-1=cpus(eng):2",
    ]
    assert [answer["status"] for answer in forecast(live, *words)["answers"]] == [202] * 6 + [409]


def test_agents_lost_by_name_and_by_part(live: Live):
    assert sum(cpus(forecast(live, "--lose-agent", "agent-1", "--lose-agent", "agent-2")).values()) == 8
    said = [forecast(live, "--lose-fraction", "0.5") for _ in range(2)]
    assert sum(cpus(said[0]).values()) == 8
    assert said[0]["rescinded"] == said[1]["rescinded"]
    assert sorted({offer["hostname"] for offer in said[0]["rescinded"]}) == ["agent-1", "agent-3"]
    assert said[0]["answers"] == []
    assert said[0]["changes"] == ["agents lost: 2 of 4: agent-1, agent-3; with cpus:8; disk:2000; mem:8192"]
    assert [agent["hostname"] for agent in said[0]["agents_lost"]] == ["agent-1", "agent-3"]
    assert said[0]["totals"]["cpus"] == 8.0


def test_who_is_lost_is_said_once_everywhere(live: Live, tmp_path):
    page = tmp_path / "page.html"
    words = ["--lose-agent", "agent-2", "--lose-agent", "agent-2"]
    said = ask(live, "whatif", *words, "--report", str(page))
    assert "agents lost: 1 of 4: agent-2 (lost in total: 4 cpus, 4GiB mem and 1000MiB disk)\n" in said.out
    assert "agents lost: 1 of 4: agent-2 (lost in total: " in page.read_text(encoding="utf-8")
    assert len(forecast(live, *words)["agents_lost"]) == 1


@pytest.mark.parametrize(("part", "said"), [("0.2", "0.2 of 4 is 0.8"), ("60%", "0.6 of 4 is 2.4")])
def test_a_part_that_is_no_whole_number_of_agents_is_said(live: Live, part: str, said: str):
    (change,) = forecast(live, "--lose-fraction", part)["changes"]
    assert f"({said}, rounded up): agent-1" in change
    assert forecast(live, "--lose-fraction", "50%") | {"taken_at": 0} == (
        forecast(live, "--lose-fraction", "0.5") | {"taken_at": 0}
    )


def test_a_refusal_says_its_status_once(live: Live):
    said = ask(live, "whatif", "quota:web=cpus:1000")
    (line,) = [line for line in said.out.splitlines() if "REFUSED" in line]
    assert re.findall(r"\b4\d\d\b", line) == ["400"]
    assert "not enough capacity" in line


def test_a_framework_that_only_waited_does_not_starve(live: Live):
    said = forecast(live, *(f"--lose-agent=agent-{number}" for number in range(1, 5)))
    assert said["harmless"]
    assert said["starving"] == []
    out = ask(live, "whatif", "--lose-fraction", "100%").out
    assert "(ran nothing before):\n  role ads: it was offered" in out


def test_agents_added(live: Live):
    said = forecast(live, "--add-agent", "cpus:8;mem:8GiB", "--count", "3")
    assert said["totals"]["cpus"] == 16 + 24
    assert said["changes"] == ["3 more agents: cpus:8;mem:8GiB"]
    assert ask(live, "whatif", "--add-agent", "cpus:8", "--attribute", "rack").status == 2


def test_agents_added_are_shown_with_their_attributes_and_units(live: Live):
    words = ("--add-agent", "cpus:8;mem:8192", "--count", "2", "--attribute", "rack=r1", "--attribute", "zone=a")
    named = "2 more agents with rack=r1, zone=a: cpus:8;mem:8192"
    assert forecast(live, *words)["changes"] == [named]
    assert f"{named} (added in total: 16 cpus and 16GiB mem)\n" in ask(live, "whatif", *words).out


def test_a_framework_lost_by_name(live: Live):
    said = forecast(live, "--lose-framework", "spark")
    assert cpus(said) == {"ads": 0, "web": 16}
    assert said["harmless"]


def test_frameworks_that_take_all(live: Live):
    said = forecast(live, "quota:idle=cpus:4;mem:4096", "--assume", "accept")
    assert not said["harmless"]  # nothing is left of what is promised to it
    assert [one["name"] for one in said["starving"]] == ["idle"]


def test_from_a_snapshot(live: Live, tmp_path):
    file = tmp_path / "prod.json"
    assert ask(live, "snapshot", "-f", str(file)).status == 0
    live.asked.clear()
    words = ("quota:web=cpus:8;mem:8192",)
    first, second = (forecast(live, *words, *source) for source in ((), ("--from", str(file))))
    for said in (first, second):
        assert said.pop("taken_at") > 0
    assert first == second


def test_from_a_cluster_file(live: Live, tmp_path):
    file = tmp_path / "cluster.toml"
    file.write_text(
        'mesos_version = "1.11"\n[[agents]]\nresources = "cpus:4;mem:4096"\ncount = 2\n'
        '[[frameworks]]\nname = "a"\ntask = "cpus:1;mem:512"\n'
    )
    said = forecast(live, "--from", str(file), "--lose-fraction", "0.5")
    assert live.asked == []
    assert cpus(said, "before") == {"a": 8}
    assert cpus(said) == {"a": 4}
    assert said["unknowns"][0]["assumed"] == "what the cluster file says about them"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ((), 2),
        (("quota:web",), 2),
        (("bogus:web=1",), 2),
        (("quota:web=cpus:x",), 3),
        (("--lose-agent", "nobody"), 5),
        (("--lose-framework", "nobody"), 5),
        (("--add-agent", "cpus"), 3),
        (("--lose-fraction", "1.5"), 2),
        (("quota:web=cpus:1", "--cycles", "0"), 2),
        (("quota:web=cpus:1", "--from", "/nowhere.json"), 3),
        (("quota:web=cpus:1", "--from", "/nowhere.toml"), 3),
    ],
)
def test_words_that_make_no_forecast(live: Live, words: tuple[str, ...], status: int):
    said = ask(live, "whatif", *words)
    assert (said.status, said.out) == (status, "")
    assert said.err.startswith("mesosctl: ")


def test_a_page(live: Live, tmp_path):
    page = tmp_path / "page.html"
    assert ask(live, "whatif", "weight:web=2", "--report", str(page), "-o", "name").status == 0
    assert "weight:web=2: accepted (200)" in page.read_text(encoding="utf-8")


def test_the_verdict_comes_first_and_then_who_gains(live: Live):
    said = ask(live, "whatif", "--lose-framework", "spark")
    lines = said.out.splitlines()
    assert lines[0].startswith("YES: nobody would starve")
    assert lines[2].split()[:2] == ["KIND", "NAME"]


def test_a_new_guarantee_has_a_row_and_a_verdict_of_its_own(live: Live, tmp_path):
    page = tmp_path / "page.html"
    said = ask(live, "whatif", "quota:nobody=cpus:30", "--force", "--report", str(page))
    assert said.status == 1
    assert " below its new guarantee\n" in said.out.partition("\n")[0] + "\n"
    assert "met before" not in said.out
    lines = said.out.splitlines()
    (row,) = (re.split("  +", line.strip()) for line in lines if line.startswith("  nobody "))
    assert row[:3] == ["nobody", "-", "30 cpus"]
    assert row[3] == "unmet"
    assert all(amount.endswith(" cpus") for amount in row[4:])
    assert len(row) == 6, "the part that lies free for it, and the rest"
    assert "Guarantees that change" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["table", "wide"])
def test_a_limit_that_changes_is_beside_the_guarantee(live: Live, form: str):
    assert ask(live, *"quota set web cpus:4 --limit cpus:4".split()).status == 0
    said = ask(live, "whatif", "limit:web=cpus:8", "-o", form).out
    (_, table) = said.split("\nguarantees and limits that change:\n")
    heads, row = table.splitlines()[:2]
    assert heads.split() == "ROLE BEFORE AFTER GUARANTEE IS KEPT UNMET LIMIT BEFORE LIMIT AFTER".split()
    assert re.split("  +", row.strip()) == ["web", "4 cpus", "4 cpus", "met", "-", "-", "4 cpus", "8 cpus"]
    assert "limits that change" not in ask(live, "whatif", "weight:web=2").out


@pytest.mark.parametrize("words", ["whatif quota:web=cpus:3", "quota update web cpus:3 --dry-run"])
def test_a_guarantee_that_is_dropped_without_being_named_is_told(live: Live, words: str):
    assert ask(live, *"quota set web cpus:2 mem:1GiB".split()).status == 0
    said = ask(live, *words.split())
    assert said.status == 0
    assert said.err == "mesosctl: note: role 'web' loses its guarantee of 1GiB mem\n"
    assert ask(live, *words.split(), "--quiet").err == ""


def test_json_lines_are_one_document(live: Live):
    said = ask(live, "whatif", "weight:web=2", "-o", "jsonl")
    assert json.loads(said.out)["kind"] == "forecast"


def test_the_work_of_a_forecast_ends_at_the_timeout(tmp_path: Path) -> None:
    cluster = tmp_path / "c.toml"
    cluster.write_text('[[agents]]\nresources = "cpus:4;mem:2048"\n', encoding="utf-8")
    ticks = itertools.count()
    words = ("whatif", "--from", str(cluster), "quota:web=cpus:1")

    def run(*more: str) -> Ran:
        environment = InMemory(clock=lambda: float(next(ticks)))
        return Ran(main((*words, *more), environment), environment.out, environment.err)

    late = run("--timeout", "3", "--cycles", "100")
    assert late.status == 9
    assert "the forecast took longer than 3 s" in late.err
    assert "hint: give a longer --timeout" in late.err
    assert run("--cycles", "100").status == 0


def test_a_limit_is_a_change_of_its_own(live: Live):
    said = forecast(live, "quota:ads=cpus:2", "limit:ads=none")
    assert [answer["accepted"] for answer in said["answers"]] == [True, True]


def test_a_rack_is_lost(tmp_path):
    """An attribute names every agent that has it, also beside an agent that is named twice so."""
    file = tmp_path / "racks.toml"
    agents = (f'[[agents]]\nresources = "cpus:4"\nattributes = {{ rack = "{rack}" }}\n' for rack in ("r1", "r1", "r2"))
    file.write_text("".join(agents), encoding="utf-8")
    said = ask(
        Live(), "whatif", "--from", str(file), "--lose-agent", "rack=r1", "--lose-agent", "agent-1", "-o", "json"
    )
    assert said.status == 0, said.err
    assert said.json["totals"]["cpus"] == 4


RUNNING = """
mesos_version = "1.11"
[[agents]]
resources = "cpus:4;mem:4096"
attributes = { rack = "r1" }
[[agents]]
resources = "cpus:8;mem:8192"
[[frameworks]]
name = "shop"
role = "web"
task = "cpus:2;mem:1024"
"""


def test_tasks_that_end_with_lost_agents_are_counted(folder):
    (folder / "c.toml").write_text(RUNNING, encoding="utf-8")
    ran = typed("whatif --lose-agent rack=r1", folder, "fake:c.toml")
    assert ran.status == 0, ran.err
    assert ran.out.splitlines()[0].endswith("; 2 tasks would end with the agents")
    assert "; 2 tasks running there end)" in ran.out
    lost = typed("whatif --lose-agent rack=r1 --lose-agent agent-2 -o json", folder, "fake:c.toml")
    assert json.loads(lost.out)["tasks_lost"] == 6
    assert json.loads(typed("whatif quota:web=cpus:1 -o json", folder, "fake:c.toml").out)["tasks_lost"] == 0


FULL = """
mesos_version = "1.11"
[[agents]]
hostname = "a1"
resources = "cpus:3;mem:384"
[[agents]]
hostname = "a2"
resources = "cpus:8;mem:1024"
"""


def test_a_role_that_has_nothing_left_lost_what_is_used_below_it_too(folder):
    frameworks = [
        f'[[frameworks]]\nname = "{name}"\nrole = "{role}"\ntask = "cpus:1;mem:128"\n[[frameworks.running]]\n'
        f'agent = "{agent}"\ntasks = {tasks}\nresources = "cpus:{tasks};mem:{128 * tasks}"\n'
        for name, role, agent, tasks in (("shop", "web/shop", "a1", 3), ("big", "ads", "a2", 8))
    ]
    (folder / "c.toml").write_text(FULL + "".join(frameworks), encoding="utf-8")
    ran = typed("whatif --lose-agent a1", folder, "fake:c.toml")
    assert ran.status == 1, ran.err
    used = "used 3 cpus and 384MiB mem"
    assert f"nothing left: its tasks {used}" in ran.out
    assert f"and those of roles below it {used}" in ran.out


def test_tasks_that_are_added_did_not_wait_before(folder):
    (folder / "c.toml").write_text(RUNNING.partition("[[frameworks]]")[0], encoding="utf-8")
    word = "role=new;task=cpus:1,mem:128;tasks=100;lasts=1h"
    ran = typed(f"whatif --add-framework '{word}'", folder, "fake:c.toml")
    assert ran.status == 1, ran.err
    assert ran.out.splitlines()[0] == "NO: 76 of 100 tasks of new would wait more than 1h"


@pytest.mark.parametrize(("version", "told"), [("1.4", True), ("1.8", False)])
def test_what_roles_below_hold_is_told_where_it_does_not_count(folder, version: str, told: bool):
    (folder / "c.toml").write_text(
        '[quotas.web]\nguarantee = "cpus:2"\n[[agents]]\nhostname = "a"\nresources = "cpus:8;mem:1024"\n'
        '[[frameworks]]\nname = "f"\nrole = "web/a"\ntask = "cpus:1;mem:128"\n[[frameworks.running]]\nagent = "a"\n'
        'resources = "cpus:7;mem:128"\n',
        encoding="utf-8",
    )
    ran = typed("whatif weight:web=2", folder, f"fake:c.toml?version={version}")
    assert ("beside 7 cpus and 128MiB mem of the roles below" in ran.out) == told
