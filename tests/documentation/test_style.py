"""No sentence that a person can meet has one of the phrases that CONTRIBUTING names."""

import re

import pytest

from tests.documentation.pages import pages
from tests.documentation.sentences import Sentence, sentences

PHRASES = (
    r"\bpass(es)? (the|this|that) check",
    r"\bwho asks\b",
    r"\bwhat if what\b",
    r"\b(has|have) not got\b",
    r"\bguarantees? in one piece\b",
    r"\bno master tells\b",
    r"\bnot told\b",
    r"\bunless given\b",
    r"\bmay not be (seen|read)\b",
    r"\btaken as\b",
    r"\bfor want of\b",
    r"\banew\b",
    r"\blook(ed)? with mesosctl\b",
    r"\bpicture (of the cluster|taken|settled)\b",
    r"\ba person is asked\b",
    r"\bcannot be told\b",
    r"\brepeat\.?$",
    r"\bnobody knows\b",
    r"' is no [a-z]+",
    r"\bwhoever\b",
    r"\bas (it|they) stands?\b",
    r"\bat hand\b",
    r"\btold of\b",
    r"\bas (it is|they are|it was) typed\b",
    r"\bso many (alike|seconds)\b",
    r"\b(is|are) not there\b",
    r"\ba person answer(s|ed)\b",
)
WORST = re.compile("|".join(PHRASES), re.IGNORECASE)
EXAMPLES = "docs/CONTRIBUTING.md"
"""The page that shows them."""


@pytest.fixture(scope="module")
def found() -> list[Sentence]:
    return list(sentences())


def test_no_sentence_has_one_of_the_worst_phrases(found: list[Sentence]) -> None:
    assert [f"{one.place}: {one.text}" for one in found if WORST.search(one.text) and EXAMPLES not in one.place] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Whoever asks is told of it.",
        "The script is tested as it stands.",
        "A program that is not at hand is skipped.",
        "Amounts are written as they are typed.",
        "Let so many seconds pass.",
        "The file is made if it is not there.",
        "A person answered no.",
    ],
)
def test_a_phrase_that_reads_as_translated_is_found(sentence: str) -> None:
    assert WORST.search(sentence) is not None


def test_sentences_of_every_kind_are_collected(found: list[Sentence]) -> None:
    places = {one.place.partition("/")[0].partition(" ")[0].partition(":")[0] for one in found}
    assert {"mesosctl", "mesos-fake-master", "fake_master", "schemas", "docs", "README.md"} <= places
    assert sum(WORST.search(one.text) is not None for one in found if EXAMPLES in one.place) > 10


def test_no_page_has_the_codes_of_a_terminal() -> None:
    """A program that was run for a page may have coloured its output."""
    codes = re.compile(r"[^\t\n -~\u00a0-\U0010ffff]")
    found = [f"{page}:{codes.search(text)}" for page in pages() if codes.search(text := page.read_text())]
    assert found == []
