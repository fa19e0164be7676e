"""`--install-completion` and `--show-completion`: the scripts of the project, in the places of typer's."""

import pytest
from typer.completion import get_completion_script  # type: ignore[attr-defined]  # it only passes it on

from fake_master.__main__ import main as serve
from mesosctl.shells.scripts import SHELLS, script, variable_of

PLACES = {
    "bash": ".bash_completions/{}.sh",
    "zsh": ".zfunc/_{}",
    "fish": ".config/fish/completions/{}.fish",
}


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    # The options then take a shell: a test runs in none.
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    return tmp_path


@pytest.fixture
def write(run, monkeypatch, capsys):
    """A function that runs either program with an option and a shell, and returns its status and output."""

    def write_with(program, option, shell):
        if program == "mesosctl":
            ran = run(option, shell)
            return ran.status, ran.out, ran.err
        monkeypatch.setattr("sys.argv", [program, option, shell])
        with pytest.raises(SystemExit) as ended:
            serve()
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return write_with


@pytest.mark.parametrize("program", ["mesosctl", "mesos-fake-master"])
@pytest.mark.parametrize("shell", SHELLS)
class TestBothPrograms:
    def test_the_script_is_installed_in_place_of_an_earlier_one(self, home, write, program, shell):
        place = home / PLACES[shell].format(program)
        place.parent.mkdir(parents=True)
        place.write_text(get_completion_script(prog_name=program, complete_var=variable_of(program), shell=shell))
        status, out, _ = write(program, "--install-completion", shell)
        assert (status, place.read_text(encoding="utf-8")) == (0, script(program, shell))
        assert str(place) in out

    def test_the_script_is_shown(self, home, write, program, shell):
        assert write(program, "--show-completion", shell)[:2] == (0, script(program, shell))


@pytest.mark.parametrize("program", ["mesosctl", "mesos-fake-master"])
@pytest.mark.parametrize("option", ["--install-completion", "--show-completion"])
@pytest.mark.parametrize("shell", ["powershell", "pwsh"])
def test_another_shell_has_none(home, write, program, option, shell):
    """typer has a script for it, which inserts names unquoted."""
    status, out, err = write(program, option, shell)
    assert (status, out) == (2, "")
    assert f"there is no completion for {shell}" in err
    assert "bash, zsh and fish" in err
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_no_script_evaluates(shell):
    text = script("mesosctl", shell)
    assert "eval" not in text.replace("zsh_eval_context", "")
    assert "complete_" not in text
