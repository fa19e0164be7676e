"""The job in small, and that it notices a writer that is not careful."""

from pathlib import Path

from tests.endurance.jobs.files import WRITER, kill_repeatedly

# It is nearly always in the midst of writing.
CARELESS = WRITER.replace(
    "from mesosctl.files.writing import write_atomically",
    """
import time
def write_atomically(path, text):
    with path.open("w") as file:
        file.write(text[:-1])
        file.flush()
        time.sleep(0.05)
        file.write(text[-1])
""",
)


def test_a_file_is_whole_whenever_its_writer_is_killed(tmp_path: Path) -> None:
    report = kill_repeatedly(tmp_path, 10, seed=1)
    assert report.problems == []
    assert (report.kills, report.seen["written and said so"] > 10) == (10, True)


def test_a_careless_writer_is_found_out(tmp_path: Path) -> None:
    assert kill_repeatedly(tmp_path, 10, seed=1, writer=CARELESS).problems != []
