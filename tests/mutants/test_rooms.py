"""The table of rooms fits the tree, and what a mutant changes is read rightly."""

import pytest

from tests import ROOT
from tests.mutants.__main__ import Mutant, rooms, sample


@pytest.mark.parametrize("room", rooms().values(), ids=list(rooms()))
def test_a_room_names_what_exists(room):
    missing = [path for path in (*room.code, *room.tests, *room.wider) if not (ROOT / path).exists()]
    assert not missing
    assert 90 <= room.least < 100


@pytest.mark.parametrize(
    ("removed", "added", "is_wording"),
    [
        ('"the role is busy",', '"XXthe role is busyXX",', True),
        ('hint="leave it out",', 'hint="LEAVE IT OUT",', True),
        ('rule="quota.number",', 'rule="XXquota.numberXX",', False),
        ('hint="leave it out",', "hint=None,", False),
        ('hint="leave it out",', "", False),
        ("if value < 0:", "if value <= 0:", False),
        ('"SELECT name FROM names WHERE text = ?",', '"XXSELECT name FROM names WHERE text = ?XX",', False),
        ('f" WHERE cluster = ? AND {noun} = ?",', 'f"XX WHERE cluster = ? AND {noun} = ?XX",', False),
        ('"CREATE needs a principal",', '"XXCREATE needs a principalXX",', True),
    ],
)
def test_only_the_text_of_a_sentence_is_wording(removed, added, is_wording):
    assert Mutant("module.x_name__mutmut_1", "module:name", removed, added).is_wording is is_wording


@pytest.mark.parametrize(
    ("removed", "added", "changes_nothing"),
    [
        ('"SELECT name FROM names WHERE text = ?",', '"select name from names where text = ?",', True),
        ('new.execute("COMMIT")', 'new.execute("commit")', True),
        (
            "\"SELECT name FROM sqlite_master WHERE type = 'table'\",",
            "\"SELECT NAME FROM SQLITE_MASTER WHERE TYPE = 'TABLE'\",",
            False,
        ),
        ('new.execute("COMMIT")  # at last', 'new.execute("commit")  # at last', True),
        ('text.encode("utf-8")', 'text.encode("UTF-8")', True),
        ('text.encode(errors="ignore")', 'text.encode(errors="IGNORE")', False),
        ('"SELECT name FROM names WHERE text = ?",', '"XXSELECT name FROM names WHERE text = ?XX",', False),
        ("if value < 0:", "if value <= 0:", False),
        ("pairs = zip(a, b, strict=True)", "pairs = zip(a, b, strict=None)", True),
        ("pairs = zip(a, b, strict=True)", "pairs = zip(a, b, )", True),
        ("pairs = zip(a, b, strict=True)", "pairs = zip(a, None, strict=True)", False),
        ("key = sorted(a, b)", "key = sorted(a, )", False),
    ],
)
def test_the_case_of_sql_and_of_a_codec_and_strict_zip_make_no_difference(removed, added, changes_nothing):
    assert Mutant("module.x_name__mutmut_1", "module:name", removed, added).changes_nothing is changes_nothing


def test_a_sample_is_fair_and_grows_with_its_number():
    mutants = [Mutant(f"module.x_f__mutmut_{number}", "module:f", "a < b", "a <= b") for number in range(1000)]
    wording = Mutant("module.x_f__mutmut_wording", "module:f", '"it is busy"', '"XXit is busyXX"')
    small, large = (sample([*mutants, wording], number, seed=1) for number in (100, 300))
    assert large[:100] == small == sample([wording, *reversed(mutants)], 100, seed=1)
    assert small != sample(mutants, 100, seed=2)
    assert 100 < sum(mutant in mutants[:500] for mutant in large) < 200
    assert sorted(sample([*mutants, wording], 5000, seed=1), key=mutants.index) == mutants
