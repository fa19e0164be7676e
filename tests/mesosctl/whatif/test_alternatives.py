"""`whatif --each` and `whatif --find-largest`: several forecasts from one reading."""

import io
import json
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.__main__ import main
from mesosctl.cli.environment import Environment
from mesosctl.mesos.errors import UsageError
from mesosctl.whatif.changes import Change
from mesosctl.whatif.variants import expand, parse_template, search
from mesosctl.whatif.work import ChangeRunner
from tests.mesosctl.live import Live, ask


@pytest.fixture
def live() -> Live:
    return Live()


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("quota:web=cpus:{8,12}", ("quota:web=cpus:8", "quota:web=cpus:12")),
        ("quota:web=cpus:{8..16..4}", ("quota:web=cpus:8", "quota:web=cpus:12", "quota:web=cpus:16")),
        ("weight:web={3..1}", ("weight:web=3", "weight:web=2", "weight:web=1")),
        ("quota:{a,b}=cpus:{1,2}", ("quota:a=cpus:1", "quota:a=cpus:2", "quota:b=cpus:1", "quota:b=cpus:2")),
        ("remove-quota:web", ("remove-quota:web",)),
    ],
)
def test_braces_list_changes(word: str, found: tuple[str, ...]):
    assert expand(word) == found


@pytest.mark.parametrize(
    "word",
    [
        "quota:web=cpus:{8,",
        "quota:web=cpus:8}",
        "quota:web=cpus:{}",
        "w={1,,2}",
        "w={1..9..0}",
        "w={1..999999}",
        "w={0.5..2}",
        "w={9..1..-2}",
        "w={1,{2,3}}",
    ],
)
def test_braces_that_list_nothing_are_refused(word: str):
    with pytest.raises(UsageError):
        expand(word)


@given(total=st.integers(0, 5000), precision=st.integers(1, 50), guess=st.integers(0, 6000), data=st.data())
def test_the_search_finds_the_largest_amount_that_is_harmless(total: int, precision: int, guess: int, data):
    limit = data.draw(st.integers(0, total))
    asked: list[int] = []

    def ask_about(amounts):
        asked.extend(amounts)
        return [amount <= limit for amount in amounts]

    assert search(ask_about, total, precision, guess) == limit // precision * precision
    assert all(0 < amount <= total for amount in asked)
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize(
    "word",
    ["quota:web=cpus:8", "quota:web=cpus:?;mem:?", "weight:web=?", "quota:?=cpus:8", "limit:web=cpus:?", "quota:web=?"],
)
def test_a_template_leaves_one_amount_open(live: Live, word: str):
    with pytest.raises(UsageError):
        parse_template(word)
    assert ask(live, "whatif", "--find-largest", word).status == 2


@pytest.mark.process
def test_each_change_is_forecast_as_if_it_were_alone(live: Live):
    words = ["quota:web=cpus:4", "quota:web=cpus:16;mem:4GiB", "quota:web=cpus:17"]
    said = ask(live, "whatif", *(f"--each={word}" for word in words), "-o", "json")
    assert said.status == 0
    assert live.changes == []
    found = said.json["alternatives"]
    assert [one["change"] for one in found] == words
    for one in found:
        alone = ask(live, "whatif", one["change"], "-o", "json").json
        assert one["forecast"] | {"taken_at": 0} == alone | {"taken_at": 0}
    assert [one["forecast"]["harmless"] for one in found] == [True, True, False]


@pytest.mark.process
def test_each_comes_after_the_common_changes(live: Live):
    said = ask(live, "whatif", "--lose-fraction", "50%", "--each", "quota:web=cpus:{8,9}", "-o", "json")
    assert [one["forecast"]["harmless"] for one in said.json["alternatives"]] == [True, False]
    assert all(one["forecast"]["totals"]["cpus"] == 8 for one in said.json["alternatives"])


@pytest.mark.process
@pytest.mark.parametrize("more", [("--each", "quota:wbe=cpus:{1,2}"), ("--find-largest", "quota:wbe=cpus:?")])
def test_a_role_that_is_probably_mistyped_is_noted_once(live: Live, more: tuple[str, str]):
    said = ask(live, "whatif", *more)
    (note,) = said.err.splitlines()
    assert "role 'wbe'; did you mean web?" in note


@pytest.mark.process
def test_no_alternative_is_harmless(live: Live):
    said = ask(live, "whatif", "--each", "quota:web=cpus:{17,18}")
    assert said.status == 1
    assert "0 of 2 changes would be harmless" in said.out


@pytest.mark.process
@pytest.mark.parametrize("version", ["documents", "1.11"])
def test_the_largest_is_accepted_and_a_little_more_is_not(version: str):
    live = Live(version)
    said = ask(live, "whatif", "quota:ads=cpus:5.5", "--find-largest", "quota:web=cpus:?;mem:1GiB", "-o", "json")
    assert said.status == 0
    largest, precision = said.json["largest"], said.json["precision"]
    assert live.changes == []
    for amount, status in ((largest, 0), (largest + precision, 1)):
        assert ask(live, "whatif", "quota:ads=cpus:5.5", f"quota:web=cpus:{amount:g};mem:1GiB").status == status
    assert said.json["best"]["change"] == f"quota:web=cpus:{largest:g};mem:1GiB"


@pytest.mark.process
def test_the_largest_quota_replaces_the_present_one(live: Live):
    assert ask(live, "quota", "set", "web", "cpus:10").status == 0
    assert ask(live, "whatif", "--find-largest", "quota:web=cpus:?", "-o", "json").json["largest"] == 16


@pytest.mark.process
def test_the_largest_that_is_accepted_and_the_largest_that_harms_nobody_name_each_other(live: Live):
    """Only the cluster as it is has the other answer: not one that loses an agent first."""
    other = shlex.split(ask(live, "quota", "room", "web").out.splitlines()[-1])
    found = ask(live, *other[1:])
    assert (other[:2], found.status) == (["mesosctl", "whatif"], 0)
    assert found.out.splitlines()[2].endswith(": mesosctl quota room web")
    assert "quota room" not in ask(live, "whatif", "--lose-agent", "agent-1", *other[2:]).out


@pytest.mark.process
def test_where_nothing_can_be_had(live: Live):
    said = ask(live, "whatif", "quota:ads=cpus:16", "--find-largest", "quota:web=cpus:?", "-o", "json")
    assert said.status == 1
    assert said.json["largest"] is None
    assert said.json["beyond"]["change"] == "quota:web=cpus:0.001"
    gpus = ask(live, "whatif", "--find-largest", "quota:web=gpus:?")
    assert gpus.status == 1
    assert "no agent has gpus" in gpus.out


@pytest.mark.process
@pytest.mark.parametrize("form", ["table", "json"])
@pytest.mark.parametrize("more", [("--each", "quota:web=cpus:{1,2}"), ("--find-largest", "quota:web=cpus:?")])
def test_notes_are_those_of_the_common_changes(tmp_path, monkeypatch, form: str, more: tuple[str, ...]):
    """Not those of alternatives, whose processes have the same standard error."""
    do = ChangeRunner.do

    def do_with_a_note(self: ChangeRunner, change: Change) -> None:
        self._master.notice(f"a note about {type(change).__name__}")
        do(self, change)

    monkeypatch.setattr(ChangeRunner, "do", do_with_a_note)
    with (tmp_path / "stderr").open("w+", buffering=1, encoding="utf-8") as stderr:
        environment = Environment(
            stdin=io.StringIO(),
            stdout=io.StringIO(),
            stderr=stderr,
            variables={"MESOSCTL_MASTER": "http://live:5050"},
            transport=Live(),
        )
        assert main(["whatif", "weight:web=2", *more, "-o", form], environment) == 0
        stderr.seek(0)
        written = stderr.read()
    assert written.count("a note about") == 1
    assert "a note about ChangedWeight" in written


@pytest.mark.process
def test_an_agent_of_that_name_does_not_exist(live: Live):
    said = ask(live, "whatif", "--each", "reserve:nowhere=cpus(web):{1,2}", "-o", "json")
    assert said.status == 5
    assert "nowhere" in json.loads(said.err)["error"]["message"]


def test_questions_that_do_not_go_together(live: Live):
    each = ("whatif", "--each", "quota:web=cpus:{1,2}")
    assert ask(live, *each, "--find-largest", "quota:web=cpus:?").status == 2
    assert ask(live, *each, "--report", "page.html").status == 2


@pytest.mark.process
def test_the_page_of_the_largest(live: Live, tmp_path):
    page = tmp_path / "largest.html"
    assert ask(live, "whatif", "--find-largest", "quota:web=cpus:?", "--report", str(page)).status == 0
    assert "quota:web=cpus:16" in page.read_text(encoding="utf-8")
