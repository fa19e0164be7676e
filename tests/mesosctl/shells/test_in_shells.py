"""Completion at the Tab key of real shells: both programs, earlier scripts, and nothing but words on the terminal."""

import pytest
from typer.completion import get_completion_script  # type: ignore[attr-defined]  # it only passes it on

from mesosctl.shells.scripts import SHELLS, variable_of
from tests.mesosctl.shells.hostile_names import BY_KIND

pytestmark = [pytest.mark.shell, pytest.mark.terminal, pytest.mark.process]


@pytest.mark.parametrize("shell", SHELLS)
def test_both_programs_complete(opened, shell):
    with opened(shell) as terminal:
        assert terminal.run("mesosctl quo\trem\t--ye\t\r") == ["quota", "remove", "--yes"]
        assert terminal.run("mesosctl quota list --output=jsonl --mas\tfa\t\r")[2:] == [
            *("--output=jsonl", "--master", "fake:")
        ]
        assert terminal.run("mesosctl context set prod timeo\t5s\r") == ["context", "set", "prod", "timeout=5s"]
        assert terminal.run("mesos-fake-master --regist\tsq\t\r") == ["--registry", "sqlite"]
        assert terminal.run("mesos-fake-master --registry=sq\t--no-pa\t\r") == ["--registry=sqlite", "--no-page"]


@pytest.mark.parametrize("shell", SHELLS)
def test_names_of_files_are_completed_where_nothing_else_is(opened, shell):
    with opened(shell) as terminal:
        assert terminal.run("mesosctl quota set -f pypr\t\r") == ["quota", "set", "-f", "pyproject.toml"]
        assert terminal.run("mesos-fake-master --cluster pypr\t\r") == ["--cluster", "pyproject.toml"]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_pattern_in_a_name_is_not_the_name_of_a_file(opened, shell):
    with opened(shell) as terminal:
        assert terminal.run("mesosctl agents gone pyproj\t\r")[2:] == ["pyproj*"]
        assert terminal.run("mesosctl agents gone '?yp\t\r")[2:] == ["?yproject.toml"]


FILES = {"bash": "{}.bash", "zsh": "_{}", "fish": "{}.fish"}


@pytest.mark.parametrize("shell", SHELLS)
def test_an_earlier_script_runs_no_name(opened, shell, tmp_path):
    """Those were typer's, and a user may have them still."""
    (tmp_path / "earlier").mkdir()
    for program in ("mesosctl", "mesos-fake-master"):
        text = get_completion_script(prog_name=program, complete_var=variable_of(program), shell=shell)
        (tmp_path / "earlier" / FILES[shell].format(program)).write_text(f"{text}\n")
    with opened(shell, files=tmp_path / "earlier") as terminal:
        for typed in (
            "mesosctl frameworks teardown -- ",
            "mesosctl frameworks teardown -- kaf",
            "mesosctl agents gone ",
        ):
            for _ in range(2):  # zsh reads its script at the first
                terminal.run(f"{typed}\t\x15mesosctl done\r")
                assert not any(name in terminal.shown for name in BY_KIND["frameworks"] if len(name) > 20)


NOISY = """
import sys, warnings
warnings.warn("a library is LOUD", stacklevel=1)
def get_password(*_):
    print("LOUD", file=sys.stderr)
    with open("/dev/tty", "w") as terminal:
        terminal.write("LOUD: the password of the keyring: ")
    return "secret-of-ops"
"""


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "variables",
    [
        {"MESOSCTL_MASTER": "fake:"},  # which overrides the context
        {"MESOSCTL_MASTER": "fake:", "MESOSCTL_CONTEXT": "prod"},
        {"MESOSCTL_MASTER": "http://127.0.0.1:1"},
        {"MESOSCTL_MASTER": "http://127.0.0.1:1", "MESOSCTL_VERBOSE": "2"},
        {"MESOSCTL_MASTER": "nonsense://"},
        {"MESOSCTL_PRINCIPAL": "ops"},
        {"MESOSCTL_PRINCIPAL": "ops", "MESOSCTL_SECRET_FROM": "prompt"},
        {"MESOSCTL_PRINCIPAL": "ops", "MESOSCTL_SECRET_FROM": "keyring", "PYTHONWARNINGS": "always"},
        {"MESOSCTL_CONTEXT": "nonsense"},
        {"PYTHONVERBOSE": "1"},
        {"PYTHONPATH": "/nonexistent"},
    ],
    ids=lambda variables: " ".join(map("=".join, variables.items())),
)
def test_the_terminal_shows_words_and_nothing_else(opened, shell, variables, tmp_path, home):
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "keyring.py").write_text(NOISY)
    (tmp_path / ".config" / "mesosctl").mkdir(parents=True)
    configuration = tmp_path / ".config" / "mesosctl" / "config.toml"
    configuration.write_text('current = "prod"\n[contexts.prod]\nmaster = "http://other:5050"\nprincipal = "p"\n')
    path = {"PYTHONPATH": f"{home['PYTHONPATH']}:{tmp_path}/library"}
    with opened(shell, path | variables) as terminal:
        for typed in ("mesosctl agents drain agent-1", "mesosctl quota remove '"):
            terminal.run(f"{typed}\t\x15mesosctl done\r")
            for word in (
                "LOUD",
                "note",
                "WARNING",
                "mesosctl: ",
                "Secret",
                "Error",
                "error",
                "import",
                "Traceback",
                "GET",
            ):
                assert word not in terminal.shown
