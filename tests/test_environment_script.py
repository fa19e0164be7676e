"""The set-up commands check Python before they make anything, and say what they make."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = '. tests/scripts/environment; echo "ready: $venv"'

pytestmark = pytest.mark.process


def interpreter(path: Path, version: str, *, is_new_enough: bool = True) -> Path:
    """A stand-in for Python: it says which it is, and writes down the environments that it makes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "#!/bin/sh\n"
        f'case "$1 $2" in *base_prefix*) echo "/opt/{version} {version}";;\n'
        f"*version_info*) exit {int(not is_new_enough)};;\n"
        f'*) echo "$*" >>"{path}.made";; esac\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


def set_up(python: Path, venv: Path) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"PYTHON": str(python), "VENV": str(venv)}
    return subprocess.run(
        ["sh", "-euc", SOURCE], cwd=ROOT, env=variables, capture_output=True, text=True, check=False, timeout=60
    )


def made_by(python: Path) -> str:
    log = Path(f"{python}.made")
    return log.read_text(encoding="utf-8").strip() if log.exists() else ""


def test_a_python_that_is_too_old_is_told_before_anything_is_made(tmp_path: Path) -> None:
    python, venv = interpreter(tmp_path / "python", "3.8", is_new_enough=False), tmp_path / "venv"
    ran = set_up(python, venv)
    assert (ran.returncode, ran.stdout, made_by(python), venv.exists()) == (1, "", "", False)
    assert "is Python 3.8, but this project needs" in ran.stderr
    assert "set PYTHON to one" in ran.stderr


def test_a_python_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    ran = set_up(tmp_path / "nothing", tmp_path / "venv")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "nothing cannot be run: set PYTHON to Python" in ran.stderr


def test_an_environment_is_made_where_there_is_none(tmp_path: Path) -> None:
    python, venv = interpreter(tmp_path / "python", "3.12"), tmp_path / "venv"
    ran = set_up(python, venv)
    assert f"creating {venv} with Python 3.12" in ran.stderr
    assert made_by(python) == f"-m venv {venv}"


def test_an_environment_of_another_python_is_made_anew(tmp_path: Path) -> None:
    python, venv = interpreter(tmp_path / "python", "3.12"), tmp_path / "venv"
    interpreter(venv / "bin" / "python", "3.11")
    (venv / "pyvenv.cfg").touch()
    ran = set_up(python, venv)
    assert f"making {venv} anew with Python 3.12: " in ran.stderr
    assert made_by(python) == f"-m venv --clear {venv}"


def test_an_environment_of_the_same_python_is_kept(tmp_path: Path) -> None:
    python, venv = interpreter(tmp_path / "python", "3.12"), tmp_path / "venv"
    interpreter(venv / "bin" / "python", "3.12")
    (venv / "pyvenv.cfg").touch()
    ran = set_up(python, venv)
    assert (ran.returncode, ran.stdout, ran.stderr, made_by(python)) == (0, f"ready: {venv}\n", "", "")
