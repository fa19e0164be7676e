"""How the source reads: docstrings that say what a thing is, in plain English, with sources by their titles."""

import ast
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests import ROOT

ROOMS = sorted(
    f"{package}/{folder.name}"
    for package in ("mesosctl", "fake_master")
    for folder in (ROOT / package).iterdir()
    if (folder / "__init__.py").exists()
)
OPENING = re.compile(r"(What|Whatever|Who|Whom|Whose|Whoever|Nobody|Somebody|Anybody)\b")
FOREIGN = re.compile(r"\b(spec|seeds)/\w+\.(md|txt)")
"""Files outside of the repository: a rule names the document and its section instead."""
SLEEPING = re.compile(r"\btime\.sleep\(")
SLEEPERS = {
    "tests/helpers/waiting.py",  # what the others use
    "tests/endurance/faults/law.py",  # a clock that skips what the tool sleeps
    "tests/endurance/jobs/files.py",  # the random moment of a kill
    "tests/endurance/jobs/test_files.py",  # a writer that is slow
    "tests/endurance/jobs/recordings.py",  # the random moment of a kill
    "tests/benchmarks/recording.py",  # the span that is measured
}
TRANSLATED = re.compile(
    r"\b(Raises \w+|None|nothing|empty|absent|False) where\b|\bwhoever\b|\bso many\b|\banew\b|\bstands? twice\b"
    r"|\bas it comes\b|\bis no JSON\b|\bmay be had\b|\blet go of\b|\bcalled nothing\b|\bfor want of\b",
    re.IGNORECASE,
)
"""Phrases of docstrings and comments that read as translated: *where* is for places, and "if" is for conditions."""

WORDING = {
    "tests/mesosctl/program/mistakes",  # the mistakes that a user can make
    "tests/mesosctl/show",  # what each report says
    "tests/mesosctl/top/test_report.py",
    "tests/mesosctl/offers/test_explanation.py",  # the sentences of `offers explain`
    "tests/conformance",  # what Mesos itself answers
}
"""The tests that are read for their wording: all others ask for names, amounts, statuses and commands."""
WORD = re.compile(r"(?<![\w/.:=-])[A-Za-z][a-z']*(?![\w/:=-])")
A_SENTENCE = 9
"""As many words of one line quote a whole sentence."""


def modules(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


@cache
def docstrings(path: Path) -> tuple[tuple[int, str], ...]:
    """Line and text of every docstring, those of fields and constants included."""
    return tuple(_docstrings(ast.parse(path.read_text())))


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for one in body if isinstance(body, list) else ():
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                yield one.lineno, one.value.value


def comments(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of every comment."""
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


@pytest.mark.parametrize("room", ROOMS)
def test_a_docstring_begins_with_the_thing_itself(room):
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in modules(room)
        for line, text in docstrings(path)
        if OPENING.match(text)
    ]
    assert found == []


def test_a_file_of_tests_begins_with_the_thing_itself():
    heads = {path: ast.get_docstring(ast.parse(path.read_text())) for path in modules("tests")}
    named = {str(path.relative_to(ROOT)): text for path, text in heads.items() if path.stat().st_size}
    assert {name: text for name, text in named.items() if text is None or OPENING.match(text)} == {}


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_and_comments_are_plain_english(room):
    found = [
        f"{path.relative_to(ROOT)}:{line}: {' '.join(text.split())}"
        for path in modules(room)
        for line, text in (*docstrings(path), *comments(path))
        if TRANSLATED.search(" ".join(text.replace("#", " ").split()))
    ]
    assert found == []


@pytest.mark.parametrize("text", ["None where it has none.", "Whoever asks waits.", "A key that stands\n    # twice."])
def test_a_translated_phrase_is_found(text):
    assert TRANSLATED.search(" ".join(text.replace("#", " ").split()))


@pytest.mark.parametrize("room", ROOMS)
def test_a_source_is_named_by_its_title(room):
    assert [path.name for path in modules(room) if FOREIGN.search(path.read_text())] == []


CITED = re.compile(r'(docs/[\w/.-]+\.md)((?:,| and) "[^"]+")*')


@pytest.mark.parametrize("room", ROOMS)
def test_a_cited_page_has_the_section_that_is_named(room):
    missing = []
    for path in modules(room):
        for line, text in docstrings(path):
            for cited in CITED.finditer(" ".join(text.split())):
                page = ROOT / cited[1]
                headings = set(re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)) if page.exists() else set()
                named = set(re.findall(r'"([^"]+)"', cited[0]))
                missing += (
                    [f"{path.relative_to(ROOT)}:{line}: {cited[0]}"] if not page.exists() or named - headings else []
                )
    assert missing == []


def test_one_helper_waits():
    found = {str(path.relative_to(ROOT)) for path in modules("tests") if SLEEPING.search(path.read_text())}
    assert found == SLEEPERS


def quoted(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each line that an assertion expects word by word, if it is a whole sentence."""
    for asserted in ast.walk(ast.parse(source)):
        if not isinstance(asserted, ast.Assert):
            continue
        for node in ast.walk(asserted.test):
            if isinstance(node, ast.JoinedStr):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            else:
                continue
            yield from ((node.lineno, line) for line in text.splitlines() if len(WORD.findall(line)) >= A_SENTENCE)


def test_sentences_are_quoted_where_they_are_read_for_their_wording():
    found = {
        (str(path.relative_to(ROOT)), line, text)
        for path in modules("tests")
        for line, text in quoted(path.read_text(encoding="utf-8"))
    }
    tables = {place: {one for one in found if (one[0] + "/").startswith(place + "/")} for place in WORDING}
    others = sorted(found - set().union(*tables.values()))
    assert others == [], "assert names, amounts, statuses and commands, or a few words of it"
    assert [place for place, sentences in tables.items() if not sentences] == [], "read for no wording any more"


def test_a_quoted_sentence_is_found():
    said = 'assert f"the quota of {role} was sent; whether it took effect is unknown" in err'
    assert [line for line, _ in quoted(said)] == [1]
    assert list(quoted("""assert "quota of 'dev' was sent; " in err""")) == []
