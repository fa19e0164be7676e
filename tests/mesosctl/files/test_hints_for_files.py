"""The reason and the hint for a file that cannot be read."""

import sqlite3
from io import StringIO
from pathlib import Path

import pytest

from mesosctl.cli.environment import read_text
from mesosctl.files.reading import read_text_file, unreadable_hint, why_unreadable
from mesosctl.mesos.errors import BadInput


def refused(path: Path) -> tuple[str, str | None]:
    try:
        text = read_text_file(path)
    except (OSError, ValueError) as error:
        return why_unreadable(error), unreadable_hint(path, error)
    pytest.fail(f"it was read: {text}")


def test_a_name_that_is_nearly_that_of_another_file(tmp_path: Path):
    (tmp_path / "limits.json").write_text("{}")
    assert refused(tmp_path / "limit.json")[1] == f"did you mean {tmp_path / 'limits.json'}?"


def test_the_ending_alone_makes_no_name_similar(tmp_path: Path):
    (tmp_path / "e.json").write_text("{}")
    assert refused(tmp_path / "nope.json")[1] == f"the folder {tmp_path} has no file with this name"
    (tmp_path / "nope.yaml").write_text("{}")
    assert refused(tmp_path / "nope.yml")[1] == f"did you mean {tmp_path / 'nope.yaml'}?"


def test_a_folder_that_is_not_there(tmp_path: Path):
    assert refused(tmp_path / "no" / "limits.json")[1] == f"there is no folder {tmp_path / 'no'}"


def test_a_file_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert refused(tmp_path / "limits.json")[1] == f"the folder {tmp_path} has no file with this name"
    monkeypatch.chdir(tmp_path)
    assert refused(Path("limits.json"))[1] == f"it was looked for in {tmp_path}"


def test_a_link_to_nothing(tmp_path: Path):
    (tmp_path / "link").symlink_to("nowhere")
    assert (refused(tmp_path / "link")[1] or "").startswith("it is a link to nowhere, ")


def test_a_recording_is_no_text(tmp_path: Path):
    sqlite3.connect(tmp_path / "h.sqlite").execute("create table a (b)").connection.close()
    assert "SQLite" in (refused(tmp_path / "h.sqlite")[1] or "")
    with pytest.raises(BadInput) as by_a_command:
        read_text(str(tmp_path / "h.sqlite"), "--file", StringIO())
    assert "replay" in (by_a_command.value.hint or "")


def test_bytes_that_are_not_utf_8(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"a\nb\n\xff\n")
    assert refused(tmp_path / "file") == ("it is not text in UTF-8 (line 3)", "save it as text in UTF-8")
