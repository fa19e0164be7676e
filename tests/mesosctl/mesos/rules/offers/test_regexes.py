"""The expressions of offer constraints; every row was seen on a Mesos 1.11.0 master with its default limits."""

import sys
import time
from collections.abc import Sequence
from typing import Any

import pytest

from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, SnapshotFramework, evaluable
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.rules.offers.constraints import RegexLimits, has_patterns, whole, without_patterns

TAKEN = [
    "a",
    r"\d+",
    r"(?i)a",
    "é",
    "",
    "a|",
    "a{,3}",
    "a*" * 50,
    r"[^\W]",
    r"[\]*+]",
    r"\++",
    r"(?P<n>a)",
]
REFUSED = [
    *("(", "[a", "*a", "a**", "\\", "a{3,2}", "x{2}{3}", r"[a-\d]"),
    *(r"(a)\1", "(?=a)", "(?!a)", "(?<!a)b", "(?P<n>a)(?P=n)", "a++", "a*+", "(?>a)", "(?(1)a|b)", "(?#c)a"),
    *(r"\Z", r"\u0041", r"\N{DIGIT ONE}", r"\8", "(?x) a", "(?a)a", "(?<n>a)"),
    *("a{200}", "a{1000}", "a{1001}", "a" * 200, "a" * 5000),
]
# What Python writes otherwise, or not at all.
OF_RE2 = ["[[:alpha:]]", r"\z", r"\Q.\E", "(?U)a", "a(?i)b", r"\C", r"\p{Greek}", r"\x{41}", "(?P<n>a)(?P<n>b)"]
TOO_LARGE = [r"\pL", r"\pL{10}", "(a{100}){10}", "((((a{10}){10}){10}))", "[^a]{50}", r"\w{100}", ".{50}"]


@pytest.mark.parametrize("pattern", [*TAKEN, *OF_RE2])
def test_taken(pattern: str) -> None:
    whole(pattern, RegexLimits())


@pytest.mark.parametrize("pattern", [*REFUSED, *TOO_LARGE], ids=lambda pattern: pattern[:20])
def test_refused(pattern: str) -> None:
    with pytest.raises(RuleViolation, match=r"regex|Regex"):
        whole(pattern, RegexLimits())


def test_the_whole_text_is_matched() -> None:
    accepts = whole("a+b", RegexLimits())
    assert accepts("aab")
    assert not accepts("aabc")
    assert not accepts("xaab")


def test_the_limits_are_those_of_the_flags() -> None:
    flags = {"offer_constraints_re2_max_mem": "1MB", "offer_constraints_re2_max_program_size": "5000"}
    assert whole("a" * 200, RegexLimits.of(flags))("a" * 200)
    with pytest.raises(RuleViolation, match="is too complex: program size"):
        whole("a" * 200, RegexLimits(memory=2**20))


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a*)*(a*)*b"])
def test_the_time_is_linear_in_the_text(pattern: str) -> None:
    # Python's own library would go on for longer than the universe has lasted.
    accepts = whole(pattern, RegexLimits())
    started = time.process_time()
    assert not accepts("a" * 100_000 + "!")
    assert time.process_time() - started < 5


@pytest.mark.parametrize("pattern", ["[" * 1_000_000, "(" * 1_000_000, "[a" * 500_000, "(?<" * 300_000, "a" * 10**7])
def test_a_long_pattern_is_refused_at_once(pattern: str) -> None:
    started = time.process_time()
    with pytest.raises(RuleViolation):
        whole(pattern, RegexLimits())
    assert time.process_time() - started < 5


@pytest.mark.parametrize("pattern", ["[(?<]a", r"\Q(?<\Ea", r"\(?<a", "[[:alpha:](?<]", "([a]?<)", r"[^]\](?<]?"])
def test_only_a_group_is_a_group(pattern: str) -> None:
    whole(pattern, RegexLimits())


def test_bytes_that_are_no_utf_8() -> None:
    assert whole("a.*", RegexLimits())("ab")
    assert not whole("a.", RegexLimits())("a\udcff")
    with pytest.raises(RuleViolation, match="invalid UTF-8"):
        whole("a\udcff", RegexLimits())


@pytest.fixture
def without_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)


@pytest.mark.usefixtures("without_re2")
def test_no_other_library_ever_runs_a_pattern() -> None:
    with pytest.raises(RuleViolation, match=r"'a' cannot be evaluated: .*pip install '\.\[constraints\]'"):
        whole("a", RegexLimits())


def about(**predicate: Any) -> dict[str, Any]:
    return {"selector": {"attribute_name": "rack"}, "predicate": predicate}


def constraints(*groups: Sequence[Any]) -> dict[str, Any]:
    return {"role_constraints": {"web": {"groups": [{"attribute_constraints": list(group)} for group in groups]}}}


PATTERN, OTHER = about(text_matches={"regex": "r1"}), about(text_not_equals={"value": "r2"})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (constraints([OTHER]), constraints([OTHER])),
        (constraints([PATTERN, OTHER]), constraints([OTHER])),
        (constraints([about(text_not_matches={"regex": "r1"}), OTHER], [OTHER]), constraints([OTHER], [OTHER])),
        (constraints([PATTERN], [OTHER]), {"role_constraints": {}}),  # the first alternative holds for every agent
    ],
)
def test_a_pattern_that_cannot_be_evaluated_is_regarded_as_holding(given: Any, kept: Any) -> None:
    assert without_patterns(given) == kept
    assert has_patterns(given) == (given != kept)


@pytest.mark.parametrize("given", [constraints([PATTERN, OTHER]), constraints([PATTERN])])
def test_a_snapshot_says_what_was_not_evaluated(given: Any, request: pytest.FixtureRequest) -> None:
    framework = SnapshotFramework("f", "f", roles=("web",), offer_constraints=given)
    snapshot = ClusterSnapshot("1.11.0", 0, frameworks=(framework,), unknown=("other",))
    assert evaluable(snapshot) is snapshot
    request.getfixturevalue("without_re2")
    changed = evaluable(snapshot)
    assert changed.frameworks[0].offer_constraints == without_patterns(given)
    assert changed.unknown[0] == "other"
    assert "not evaluated" in changed.unknown[1]
