"""The expressions of offer constraints; every row was seen on a Mesos 1.11.0 master with its default limits."""

import importlib.util

import pytest

from mesosctl.core import regexes
from mesosctl.core.errors import RuleViolation
from mesosctl.core.regexes import RegexLimits, whole
from tests.needs import lacking

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
# What the library alone knows, or can measure.
OF_RE2 = ["[[:alpha:]]", r"\z", r"\Q.\E", "(?U)a", "a(?i)b", r"\C", r"\p{Greek}", r"\x{41}", "(?P<n>a)(?P<n>b)"]
TOO_LARGE = [r"\pL", r"\pL{10}", "(a{100}){10}", "((((a{10}){10}){10}))", "[^a]{50}", r"\w{100}", ".{50}"]
HAS_RE2 = importlib.util.find_spec("re2") is not None


@pytest.fixture(params=["re2", "python"], autouse=True)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "re2" and not HAS_RE2:
        lacking("google-re2", "it is not installed")
    if request.param == "python":
        monkeypatch.setattr(regexes, "_re2", lambda: None)
    return str(request.param)


@pytest.mark.parametrize("pattern", TAKEN)
def test_taken(pattern: str) -> None:
    whole(pattern, RegexLimits())


@pytest.mark.parametrize("pattern", REFUSED, ids=[pattern[:20] for pattern in REFUSED])
def test_refused(pattern: str) -> None:
    with pytest.raises(RuleViolation, match=r"regex|Regex"):
        whole(pattern, RegexLimits())


@pytest.mark.parametrize("pattern", OF_RE2)
def test_what_only_re2_knows(pattern: str, library: str) -> None:
    if library == "re2":
        whole(pattern, RegexLimits())
    else:
        with pytest.raises(RuleViolation):
            whole(pattern, RegexLimits())


@pytest.mark.parametrize("pattern", TOO_LARGE)
def test_what_only_re2_measures(pattern: str, library: str) -> None:
    if library == "re2":
        with pytest.raises(RuleViolation):
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
