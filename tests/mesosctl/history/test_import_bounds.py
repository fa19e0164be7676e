"""A log of any size, however it is made: what is read of it stays within bounds, and every bound says what it is."""

import csv
import gzip
import io
import itertools
import resource
import subprocess
import sys
from collections.abc import Iterator
from typing import TextIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.history.imports import log_file, rows, run
from mesosctl.history.imports.log_file import LogText, opened
from mesosctl.history.imports.run import ImportOptions, import_log
from mesosctl.history.sqlite import open_recording, open_writer
from mesosctl.mesos.errors import BadInput

HEADS = {
    "csv": "role,to,from,resources\n",
    "openb": "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time\n",
    "swf": "; Version: 2.2\n",
}
GOOD = {
    "csv": "web,2,1,cpus:1\n",
    "openb": "p-1,1500,1024,0,0,LS,10,100,20\n",
    "swf": "1 0 5 10 4 -1 -1 8 -1 -1 1 7 2 -1 3 -1 -1 -1\n",
}
AGENTS = "agent,resources\n"
NODES = "sn,cpu_milli,memory_mib,gpu\n"


def imported(folder, of_format, text, **options):
    """Import a text, and return what became of its rows."""
    (folder / "log.txt").write_text(text, encoding="utf-8", newline="")
    with open_writer(folder / "h.sqlite") as recording:
        return import_log(recording, ImportOptions(folder / "log.txt", of_format, **options), lambda *_: None)


# --- A row ---------------------------------------------------------------------------------------------------------


class Endless:
    """A text without an end: a piece again and again. It counts the characters that were asked for."""

    def __init__(self, piece):
        self.count = 0
        self._pieces = itertools.cycle(piece)

    def readline(self, size=-1):
        """A line, or as much of it as is asked for."""
        assert size >= 0, "a line without a bound is asked for"
        found = []
        for character in itertools.islice(self._pieces, size):
            found.append(character)
            if character == "\n":
                break
        self.count += len(found)
        return "".join(found)


def table(text: LogText) -> Iterator[list[str]]:
    """The rows of a csv file, as the formats read them."""
    reader = csv.reader(text, strict=True)
    while True:
        text.begin_row()
        try:
            yield next(reader)
        except (StopIteration, csv.Error):
            return


@given(st.text(alphabet='a,"\n; 1', min_size=1, max_size=30), st.sampled_from([table, LogText.rows]))
def test_of_a_text_without_an_end_no_more_is_read_than_the_rows_that_were_asked_for_and_one(piece, reads):
    """A row ends, or its bound is met: an import of any text goes on, and none needs more memory than one row."""
    most, wanted = 200, 20
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_file, "LONGEST_ROW", most)
        endless = Endless(piece)
        text = LogText(cast("TextIO", endless), "log", "FILE", lambda: None, None)
        try:
            found = len(list(itertools.islice(reads(text), wanted)))
        except BadInput as refused:
            assert "its row is longer than 200 characters" in refused.message  # noqa: PT017  # it need not come
            found = wanted - 1
        assert endless.count <= (found + 1) * (most + 1)


@given(st.text(alphabet='a,"\n\r; 1é', max_size=200), st.integers(1, 60))
def test_within_the_bound_a_row_is_what_it_is_without(text, most):
    def rows_of(longest):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(log_file, "LONGEST_ROW", longest)
            return list(LogText(io.StringIO(text, newline=""), "log", "FILE", lambda: None, None).rows())

    whole = rows_of(1000)
    if all(len(row) <= most for _, row in whole):
        assert rows_of(most) == whole
    else:
        line = next(line for line, row in whole if len(row) > most)
        with pytest.raises(BadInput, match=f"^log, line {line}: its row is longer than {most} characters$"):
            rows_of(most)


@pytest.mark.parametrize("of_format", HEADS)
def test_a_log_may_be_longer_than_a_row_and_so_may_the_file_of_its_agents(tmp_path, monkeypatch, of_format):
    monkeypatch.setattr(log_file, "LONGEST_ROW", 200)
    nodes = tmp_path / "nodes.csv"
    one = "n{},4000,1024,1\n" if of_format == "openb" else "n{},cpus:4\n"
    head = NODES if of_format == "openb" else AGENTS
    nodes.write_text(head + "".join(one.format(number) for number in range(40)), encoding="utf-8")
    assert imported(tmp_path, of_format, HEADS[of_format] + GOOD[of_format] * 40, agents=nodes).used == 40


@pytest.mark.parametrize("of_format", HEADS)
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_row_that_is_too_long_is_refused_in_every_format_and_nothing_is_imported(tmp_path, of_format, end):
    text = HEADS[of_format] + GOOD[of_format] + "x" * (log_file.LONGEST_ROW + 1) + end
    with pytest.raises(BadInput, match=r"log\.txt, line 3: ") as refused:
        imported(tmp_path, of_format, text)
    assert refused.value.field == "FILE"
    assert not list(tmp_path.glob("h.sqlite*"))


@pytest.mark.parametrize("of_format", ["csv", "openb"])
def test_a_row_of_many_lines_has_the_same_bound_and_its_quotes_too(tmp_path, of_format):
    text = HEADS[of_format] + '"a\n",' * (log_file.LONGEST_ROW // 5 + 1)
    with pytest.raises(BadInput, match="its row is longer than"):
        imported(tmp_path, of_format, text)


@pytest.mark.parametrize(("of_format", "agents"), [("csv", AGENTS), ("swf", AGENTS), ("openb", NODES)])
def test_the_file_of_agents_has_the_bounds_too(tmp_path, monkeypatch, of_format, agents):
    nodes = tmp_path / "nodes.csv"
    nodes.write_text(agents + "x" * (log_file.LONGEST_ROW + 1), encoding="utf-8")
    with pytest.raises(BadInput, match=r"nodes\.csv, line 2: its row is longer than") as refused:
        imported(tmp_path, of_format, HEADS[of_format] + GOOD[of_format], agents=nodes)
    assert refused.value.field == "--agents"
    monkeypatch.setattr(run, "LARGEST_TEXT", 1 << 20)
    nodes.write_text(agents + "\n" * (1 << 20), encoding="utf-8")
    with pytest.raises(BadInput, match="it holds more than 1 MiB"):
        imported(tmp_path, of_format, HEADS[of_format] + GOOD[of_format], agents=nodes)


# --- A compressed file ---------------------------------------------------------------------------------------------


def test_what_comes_out_of_a_compressed_file_has_a_bound_and_the_same_file_unpacked_has_none(tmp_path, monkeypatch):
    monkeypatch.setattr(log_file, "_ALWAYS", 1 << 20)
    text = HEADS["csv"] + GOOD["csv"] + "\n" * (3 << 20)
    packed, plain = tmp_path / "log.csv.gz", tmp_path / "log.csv"
    packed.write_bytes(gzip.compress(text.encode()))
    plain.write_text(text, encoding="utf-8")
    with open_writer(tmp_path / "h.sqlite") as recording:
        with pytest.raises(BadInput, match="more than 100 times its size comes out of it") as refused:
            import_log(recording, ImportOptions(packed, "csv"), lambda *_: None)
        assert "gunzip" in str(refused.value.hint)
        assert import_log(recording, ImportOptions(plain, "csv"), lambda *_: None).used == 1


@given(
    st.lists(st.tuples(st.integers(0, 255), st.integers(1, 40_000)), max_size=8),
    st.integers(1, 9),
    st.integers(1, 60),
    st.sampled_from([1 << 12, 1 << 16]),
)
def test_a_compressed_text_is_read_whole_or_is_larger_than_its_bound(tmp_path_factory, runs, level, times, always):
    content = b"".join(bytes([value]) * count for value, count in runs)
    path = tmp_path_factory.mktemp("packed") / "log.gz"
    path.write_bytes(gzip.compress(content, level))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_file, "_ALWAYS", always)
        patch.setattr(log_file, "_MOST_TIMES", times)
        patch.setattr(log_file, "LONGEST_ROW", 1 << 20)
        bound = max(always, times * path.stat().st_size)
        try:
            with opened(path, "FILE") as text:
                found = "".join(text)
        except BadInput as refused:
            assert "times its size" in refused.message  # noqa: PT017  # it need not come
            assert len(content) > min(bound, always)
        else:
            expected = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", errors="replace", newline="")
            assert found == expected.read()
            assert len(content) <= bound


# --- What is kept until the end ------------------------------------------------------------------------------------


def test_names_and_columns_have_bounds(tmp_path):
    long = "n" * (rows.LONGEST_NAME + 1)
    head = "role,to,from,resources,task,framework,principal,agent,state\n"
    good = ["web", "2", "1", "cpus:1", "t", "f", "p", "a", "s"]
    places = [0, 4, 5, 6, 7, 8]
    odd = [",".join(long if at == place else cell for at, cell in enumerate(good)) for place in places]
    done = imported(tmp_path, "csv", head + "\n".join([",".join(good), *odd]))
    assert (done.rows, done.used) == (1 + len(places), 1)
    assert [(one.cause, one.rows) for one in done.skipped] == [("a name in it is longer than 512 characters", 6)]
    for titles in ([*"ab", long], [f"c{number}" for number in range(1001)]):
        with pytest.raises(BadInput, match="more than 1,000 columns, or one with a name of more than 512"):
            imported(tmp_path, "csv", ",".join(titles) + "\n")
    nodes = tmp_path / "nodes.csv"
    nodes.write_text(f"{AGENTS}{long},cpus:1\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"line 2: the name 'n{60}…' is longer than 512"):
        imported(tmp_path, "csv", head + ",".join(good), agents=nodes, replace=True)


@pytest.mark.parametrize("of", ["framework", "role"])
def test_frameworks_and_their_roles_have_a_bound_and_what_was_imported_up_to_there_is_undone(tmp_path, monkeypatch, of):
    monkeypatch.setattr(run, "MOST_FRAMEWORKS", 10)
    head = "role,to,from,resources,framework\n"

    def text(count):
        named = ((f"r{at}", "f") if of == "role" else ("r", f"f{at}") for at in range(count))
        return head + "".join(f"{role},2,1,cpus:1,{framework}\n" * 2 for role, framework in named)

    with pytest.raises(BadInput, match="line 22: more than 10 frameworks"):
        imported(tmp_path, "csv", text(11))
    assert imported(tmp_path, "csv", text(10)).used == 20
    with open_recording(tmp_path / "h.sqlite") as recording:
        roles = [len(one.roles) for one in recording.frameworks("log")]
    assert roles == ([10] if of == "role" else [1] * 10)


def test_the_names_of_frameworks_have_a_bound_together(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "MOST_OF_NAMES", 10_000)
    head = "role,to,from,resources,framework\n"
    rows_of = [f"r,2,1,cpus:1,{number:03}{'f' * 97}\n" for number in range(60)]
    assert imported(tmp_path, "csv", head + "".join(rows_of[:49] * 3)).used == 147
    with pytest.raises(BadInput, match=r"line 51: .*their names have more than 10,000 characters"):
        imported(tmp_path, "csv", head + "".join(rows_of))


# --- Memory --------------------------------------------------------------------------------------------------------

ROOM = 250 << 20
"""Bytes of address space, of which Python and its libraries take two thirds."""


def within_room() -> None:
    """Bound the memory of a process from its beginning."""
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


@pytest.mark.process
@pytest.mark.parametrize("of_format", HEADS)
@pytest.mark.parametrize("where", ["FILE", "--agents"])
def test_a_line_without_an_end_takes_little_memory(tmp_path, of_format, where):
    """Half a GiB comes out of two MiB, and the program has room for far less."""
    endless, good = tmp_path / "endless.gz", tmp_path / "good.txt"
    agents = NODES if of_format == "openb" else AGENTS
    with gzip.open(endless, "wb", 1) as file:
        file.write((HEADS[of_format] if where == "FILE" else agents).encode())
        for _ in range(512):
            file.write(b"1 " * (1 << 19))
    good.write_text(HEADS[of_format] + GOOD[of_format], encoding="utf-8")
    words = [str(endless)] if where == "FILE" else [str(good), "--agents", str(endless)]
    ran = subprocess.run(
        [sys.executable, "-m", "mesosctl", "history", "import", *words, "--format", of_format, "--history", "h.sqlite"],
        capture_output=True, cwd=tmp_path, text=True, check=False, preexec_fn=within_room,
    )  # fmt: skip
    assert ran.returncode == 3, ran.stderr
    assert f"{endless}, line 2: its row is longer than" in ran.stderr
    assert f"at: field {where}" in ran.stderr
