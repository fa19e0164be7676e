"""Notes about a role that a change leaves at or above its limit."""

import json
from pathlib import Path

import pytest

from tests.mesosctl.live import Live, ask

AT = "ads would use or have reserved 4 cpus, all of its limit of 4 cpus: it would get no more cpus"


@pytest.fixture
def live() -> Live:
    """The role ads has reserved 4 cpus, and has no quota."""
    found = Live()
    assert ask(found, *"reserve agent-1 cpus:4 --role ads --trust-master".split()).status == 0
    found.wait(2)
    return found


@pytest.mark.parametrize(
    ("words", "todo"),
    [
        ("quota set ads cpus:1 --limit cpus:4 --dry-run", "--limit none sets no limit"),
        ("quota check ads --limit cpus:4", "--limit none sets no limit"),
        ("whatif limit:ads=cpus:4", "limit:ads=none sets no limit"),
    ],
)
def test_a_forecast_says_that_a_role_would_be_at_its_limit(live: Live, words: str, todo: str) -> None:
    said = ask(live, *words.split())
    assert said.status == 0
    assert said.out.startswith("YES: ")
    assert said.err == f"mesosctl: note: {AT}; {todo}\n"
    assert ask(live, *words.split(), "--quiet").err == ""


@pytest.mark.parametrize("limit", ["none", "cpus:5", "mem:1GiB"])
def test_a_limit_above_what_the_role_uses_needs_no_note(live: Live, limit: str) -> None:
    assert ask(live, *"quota set ads cpus:1 --dry-run --limit".split(), limit).err == ""
    assert ask(live, *"quota check ads cpus:1 --limit".split(), limit).err == ""


def test_set_and_update_say_it_of_what_they_did(live: Live) -> None:
    todo = "mesosctl quota update ads --limit none removes it"
    said = ask(live, *"quota set ads cpus:1 --limit cpus:1 --force".split())
    above = "ads uses or has reserved 4 cpus, more than its limit of {}: it gets no more cpus"
    assert said.err == f"mesosctl: note: {above.format('1 cpu')}; {todo}\n"
    said = ask(live, *"quota update ads --limit cpus:2 --force".split())
    assert said.err == f"mesosctl: note: {above.format('2 cpus')}; {todo}\n"
    assert ask(live, *"quota update ads --limit none".split()).err == ""


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_reservation_beyond_the_limit(live: Live, *, dry_run: bool) -> None:
    assert ask(live, *"quota set ads --limit cpus:5".split()).err == ""
    words = "reserve agent-2 cpus:2 --role ads/video --trust-master".split()
    said = ask(live, *words, *(["--dry-run"] if dry_run else []))
    assert said.status == 0
    uses = "would use or have" if dry_run else "uses or has"
    assert f"note: ads {uses} reserved 6 cpus, more than its limit of 5 cpus: " in said.err
    assert said.err.endswith("; mesosctl quota remove ads removes it\n")


def test_a_limit_that_a_change_leaves_alone_is_not_told_of_again(live: Live) -> None:
    ask(live, *"quota set ads --limit cpus:1 --force".split())
    assert ask(live, "whatif", "weight:web=2").err == ""


def test_a_file_of_desired_state_and_a_page(live: Live, tmp_path: Path) -> None:
    file, page = tmp_path / "wanted.toml", tmp_path / "page.html"
    file.write_text('[quotas.ads]\nlimit = "cpus:4"\n', encoding="utf-8")
    said = ask(live, "apply", "-f", str(file), "--dry-run", "--report", str(page), XDG_STATE_HOME=str(tmp_path))
    assert f'mesosctl: note: {AT}; limit = "none" in the file sets no limit\n' in said.err
    assert f"<li>{AT}</li>" in page.read_text(encoding="utf-8")


def test_an_older_master_has_no_limits() -> None:
    old = Live("documents")
    assert ask(old, *"reserve agent-1 cpus:4 --role ads --trust-master".split()).status == 0
    assert ask(old, *"quota set ads cpus:1 --dry-run".split()).err == ""
    assert ask(old, *"quota set ads cpus:1".split()).err == ""


def test_a_role_with_a_limit_alone_has_no_guarantee_to_be_met(live: Live) -> None:
    ask(live, *"quota set batch --limit cpus:4".split())
    ask(live, *"quota set ads --limit cpus:5".split())
    ask(live, *"quota set web --limit none cpus:0.001 --force".split())
    shown = ask(live, "roles", "-o", "json").out
    standings = {one["role"]: one["standing"] for one in json.loads(shown)["roles"]}
    assert (standings["batch"], standings["ads"]) == ("within limit", "within limit")
    ask(live, *"quota update ads --limit cpus:4".split())
    assert "at limit" in ask(live, "roles", "ads").out
