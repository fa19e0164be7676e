"""The contents of a wheel: every generated file is where something looks for it.  tests/scripts/versions builds one."""

import tomllib
from pathlib import Path

import pytest

from mesosctl.program.reference.pages import files
from tests import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


def test_every_completion_is_where_its_shell_looks():
    shared = WHEEL["shared-data"]
    folders = {"bash": "share/bash-completion/completions", "fish": "share/fish/vendor_completions.d"}
    for path in files():
        if path.startswith("completions/"):
            name = Path(path).name
            program, _, shell = name.removeprefix("_").partition(".")
            expected = {
                "": f"share/zsh/site-functions/{name}",
                "bash": f"{folders['bash']}/{program}",
                "fish": f"{folders['fish']}/{name}",
            }[shell]
            assert shared[path] == expected
    assert shared["man"] == "share/man/man1"
    assert {source.partition("/")[0] for source in shared} == {"completions", "man"}


def test_the_sdist_holds_what_the_wheel_is_made_of():
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"/completions", "/man", "/mesosctl", "/fake_master", "/LICENSE", "/README.md"} <= set(included)


@pytest.mark.parametrize("words", [("bash",), ("zsh",), ("fish",), ("bash", "--server"), ("zsh", "--server")])
def test_completions_can_be_written_anywhere(run, words):
    program = "mesos-fake-master" if "--server" in words else "mesosctl"
    name = {"bash": f"{program}.bash", "zsh": f"_{program}", "fish": f"{program}.fish"}[words[0]]
    assert run("completion", *words).out == (ROOT / "completions" / name).read_text(encoding="utf-8")
