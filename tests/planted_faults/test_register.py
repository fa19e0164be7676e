"""Every planted fault finds its place, and is a program."""

import pytest

from tests.planted_faults.register import FURTHER, Fault, Misplaced, elsewhere, faults, plant, read
from tests.seeds.test_sentences import NODE, defined

FAULTS = faults()
EXAMPLE = Fault("", "mesosctl.client.deadline", "return self._end - self._clock()", "return 0", (), FURTHER)


def test_each_fault_finds_its_place():
    """If this fails because you changed the code: edit the fault as the message says."""
    problems = []
    for fault in FAULTS:
        try:
            plant(fault)
        except (Misplaced, SyntaxError) as error:
            problems.append(f"{error} (the fault of {fault.says!r})" if isinstance(error, SyntaxError) else str(error))
    assert not problems, "\n\n".join(problems)


def test_each_fault_changes_something():
    assert [fault.says for fault in FAULTS if fault.text == fault.becomes] == []


def test_each_further_fault_is_described_once_with_tests_that_exist():
    entries = read(FURTHER, "faults")
    assert len({entry["says"] for entry in entries}) == len(entries)
    for entry in entries:
        assert set(entry) == {"says", "where", "text", "becomes", "tests"}, entry
        for test in entry["tests"]:
            match = NODE.fullmatch(test)
            assert match is not None, test
            assert match["name"].rpartition("::")[2] in defined(match["file"]), test


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ({"text": "self"}, "times: write more of the line, or name the function"),
        ({"where": "mesosctl.client.tls"}, 'write `where = "mesosctl.client.deadline:Deadline.remaining"`'),
        ({"where": "mesosctl.no.such"}, 'write `where = "mesosctl.client.deadline:Deadline.remaining"`'),
        ({"where": "mesosctl.client.deadline:Deadline.begin"}, "mesosctl.client.deadline:Deadline.remaining"),
        ({"text": "no such line"}, "find the code that decides it now"),
    ],
)
def test_a_fault_that_is_not_in_its_place_is_told_with_what_to_edit(change, advice):
    with pytest.raises(Misplaced, match=r"faults\.toml: the fault of ''") as raised:
        plant(EXAMPLE._replace(**change))
    assert advice in str(raised.value)


def test_a_fault_is_found_below_a_package_and_within_a_name():
    for where in ("mesosctl.client.deadline", "mesosctl.client", "mesosctl.client.deadline:Deadline"):
        assert "return 0\n" in plant(EXAMPLE._replace(where=where)).text
    assert elsewhere(EXAMPLE) == ["mesosctl.client.deadline:Deadline.remaining"]


def test_a_fault_that_is_no_program_is_an_error():
    with pytest.raises(SyntaxError):
        plant(EXAMPLE._replace(becomes="return ("))
