"""The generated reference and man pages are up to date and complete."""

import os
import re
import subprocess

import pytest

from mesosctl.cli.global_options import ONLY_SAID, known_settings
from mesosctl.program.main import NOUNS, SECTIONS
from mesosctl.program.reference.__main__ import main, stale, write
from mesosctl.program.reference.command_tree import commands
from mesosctl.program.reference.pages import files
from tests import ROOT
from tests.helpers.needs import require

FILES = files()
PAGES = sorted(path for path in FILES if path.endswith(".1"))


def test_nothing_is_stale():
    assert stale(ROOT) == [], "run python -m mesosctl.program.reference --write"


def test_what_is_stale_is_found_and_written(tmp_path, capsys):
    write(tmp_path)
    assert main(["--check", str(tmp_path)]) == 0
    (tmp_path / "man/mesosctl.1").write_text("old")
    (tmp_path / "man/mesosctl-gone.1").write_text("old")
    assert main(["--check", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "stale: man/mesosctl-gone.1\nstale: man/mesosctl.1\n"
    write(tmp_path)
    assert main(["--check", str(tmp_path)]) == 0


def test_every_command_says_what_it_does_and_shows_examples():
    for node in commands().walk():
        assert node.summary, node.words
        assert node.children or node.examples, node.words
        assert all(option.help for option in node.options), node.words


def test_a_page_of_help_has_its_own_options_and_fits():
    for node in commands().walk():
        assert "Global options: see mesosctl options" in node.page
        assert all(len(line) <= 80 for line in node.page.splitlines() if not line.startswith("  mesosctl ")), node.words
        assert (" --cacert" in node.page) is False, node.words
        places = [node.page.find(f"\n{title}:") for title in ("Examples", "Arguments", "Options")]
        assert places == sorted(places) or -1 in places, node.words


def test_the_help_ends_with_the_fake_master():
    last = commands().page.strip().splitlines()[-3:]
    assert ["mesos-fake-master" in " ".join(last), "pytest" in last[-1]] == [True, True]


def test_a_summary_is_one_line_beside_its_command():
    for node in commands().walk():
        lines = [line.split() for line in node.page.splitlines()]
        for child in node.children:
            name = child.path[-1]
            summary = child.summary if len(node.path) > 1 else NOUNS[name][1]
            assert [name, *summary.split()] in lines, child.words


def test_every_command_is_listed_once_by_what_it_is_for():
    named = [name for section in SECTIONS.values() for name in section]
    assert sorted(named) == sorted(child.path[-1] for child in commands().children)
    page = commands().page
    assert [page.index(f"{title}:") for title in SECTIONS] == sorted(page.index(f"{title}:") for title in SECTIONS)


def test_options_shows_what_every_command_takes(run):
    shown = run("options")
    assert shown.status == 0
    assert all(one.option is None or one.option in shown.out for one in known_settings())


def test_every_example_is_a_command_that_parses(run, cluster, entries, tmp_path, monkeypatch):
    """As far as the words go: none of them is a usage error."""
    monkeypatch.chdir(tmp_path)  # some write files
    for node in commands().walk():
        for words, _ in node.examples:
            cluster.quotas = {"dev": entries(cpus=1), "ops": entries(cpus=1)}
            typed = [word.strip("'") for word in re.split(" && | < | > ", words)[0].split()]
            if not {"--listen", "record", "watch"}.isdisjoint(typed):
                continue  # they go on until they are stopped
            ran = run(*typed, stdin='{"role": "dev"}')
            assert ran.status != 2, (words, ran.err)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.process
def test_man_pages_are_clean(page):
    require("groff")
    ran = subprocess.run(["groff", "-ww", "-man", "-Tutf8", ROOT / page], capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    plain = re.sub(".\b", "", ran.stdout)  # bold is a letter typed twice
    for title in ("NAME", "SYNOPSIS", "DESCRIPTION"):
        assert title in plain


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.process
def test_mandoc_finds_nothing_to_say(page):
    require("mandoc")
    ran = subprocess.run(["mandoc", "-Tlint", "-Wall", ROOT / page], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr, ran.returncode) == ("", "", 0)


@pytest.mark.parametrize("page", PAGES)
def test_every_man_page_has_a_date_examples_and_others_to_see(page):
    text = FILES[page]
    assert re.match(r'\.TH "[A-Z-]+" "1" "20\d\d-\d\d-\d\d" ', text)
    for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "SEE ALSO"):
        assert re.search(rf"^\.SH {title}\n\S", text, re.MULTILINE), title


@pytest.mark.parametrize(
    ("telling", "homes"),
    [
        (".B \\-o, \\-\\-output ", {"man/mesosctl-options.1"}),
        (".SH EXIT STATUS\n", {"man/mesosctl.1", "man/mesos-fake-master.1"}),
        (".B MESOSCTL_MASTER\n", {"man/mesosctl.1"}),
    ],
)
def test_what_holds_for_every_command_is_described_on_one_page(telling, homes):
    assert {page for page in PAGES if telling in FILES[page]} == homes


@pytest.mark.parametrize("page", sorted(set(PAGES) - {"man/mesosctl.1", "man/mesos-fake-master.1"}))
def test_every_other_page_leads_there(page):
    text = FILES[page].partition(".SH SEE ALSO")[2]
    assert ".BR mesosctl (1)" in text
    assert ".BR mesosctl\\-options (1)" in text or page == "man/mesosctl-options.1"


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.process
def test_man_warns_of_nothing(page):
    require("man")
    ran = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", ROOT / page],
        capture_output=True,
        check=True,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MANROFFSEQ": ""},
    )
    assert ran.stderr == b""


def test_the_server_has_its_pages_too():
    made = FILES
    assert "_MESOS_FAKE_MASTER_COMPLETE=words_bash" in made["completions/mesos-fake-master.bash"]
    page = made["man/mesos-fake-master.1"]
    assert ".SH EXAMPLES" in page
    assert "GLOBAL OPTIONS" not in page
    assert "MESOSCTL_MASTER" not in page


def test_every_variable_of_the_options_is_told():
    page = files()["man/mesosctl.1"]
    for setting in known_settings():
        assert (f".B {setting.variable}\n" in page) == (setting.name not in ONLY_SAID)
