"""Every console session of README and docs prints what its page shows."""

from pathlib import Path

import pytest

from tests import ROOT
from tests.documentation.__main__ import difference
from tests.documentation.console import Command, SessionFailed, blocks, parse, run, written
from tests.documentation.pages import pages

SESSIONS = [page for page in pages() if blocks(page)]


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.process
@pytest.mark.shell
@pytest.mark.terminal
@pytest.mark.socket  # some pages start a fake master of their own
@pytest.mark.slow
def test_a_page_shows_what_its_commands_print(page: Path) -> None:
    changed = difference(page, written(page, run(page)))
    assert not changed, f"run python -m tests.documentation --write\n{changed}"


def test_a_block_is_commands_and_what_they_print() -> None:
    text = "$ one\n$ cat <<END\n> a\n>\n> END\na\n\n$ three\nfour\n> five\n"
    assert list(parse(text)) == [
        Command("one", ""),
        Command("cat <<END\na\n\nEND", "a\n"),
        Command("three", "four\n> five"),
    ]


def test_a_block_that_begins_with_output_is_refused() -> None:
    with pytest.raises(SessionFailed, match="begins with 'one'"):
        list(parse("one\n"))


PAGE = """# A page

```text title="names"
web
ads
```

```console
$ sort names
ads
web
$ cd / && false
$ echo $?
0
```

Then:

```console
$ pwd; echo ~
```
"""


@pytest.mark.process
@pytest.mark.shell
@pytest.mark.terminal
class TestSessions:
    def test_a_page_is_one_session_and_is_written_anew(self, tmp_path: Path) -> None:
        page = tmp_path / "page.md"
        page.write_text(PAGE)
        found = run(page)
        assert [command.output for block in found for command in block.commands] == [
            "ads\nweb",
            "",
            "1",
            "/\n/srv/operator",
        ]
        page.write_text(written(page, found))
        assert page.read_text() == PAGE.replace("\n0\n", "\n1\n").replace("echo ~\n", "echo ~\n/\n/srv/operator\n")

    def test_a_failure_that_is_not_shown_is_a_fault(self, tmp_path: Path) -> None:
        page = tmp_path / "page.md"
        page.write_text("```console\n$ false\n```\n")
        with pytest.raises(SessionFailed, match="status 1 without"):
            run(page)

    def test_a_session_that_ends_early_is_a_fault(self, tmp_path: Path) -> None:
        page = tmp_path / "page.md"
        page.write_text("```console\n$ exit 0\n$ true\n```\n")
        with pytest.raises(SessionFailed, match="ended before"):
            run(page)
