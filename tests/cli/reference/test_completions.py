import shutil
import subprocess
from pathlib import Path

import pytest

import mesosctl

FILES = Path(mesosctl.__file__).parent.parent / "completions"


def shell(name, *arguments):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not here to complete in")
    return subprocess.run([name, *arguments], capture_output=True, text=True, check=True).stdout


def bash(*words):
    """What bash offers for the last of `words`, split as bash splits them."""
    quoted = " ".join(f"'{word}'" for word in ("mesosctl", *words))
    script = f"source '{FILES}/mesosctl.bash'; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _mesosctl; "
    return set(shell("bash", "-euo", "pipefail", "-c", script + 'printf "%s\\n" "${COMPREPLY[@]}"').split())


def test_bash_offers_commands():
    assert bash("qu") == {"quota"}
    assert bash("quota", "s") == {"set", "show"}
    assert bash("-o", "json", "quota", "re") == {"remove"}


def test_bash_offers_the_options_of_the_command():
    assert {"--force", "--file", "--master"} <= bash("quota", "set", "dev", "-")
    assert "--force" not in bash("quota", "list", "-")


def test_bash_offers_values():
    assert bash("quota", "list", "-o", "js") == {"json", "jsonl"}
    assert bash("quota", "list", "--output", "=", "js") == {"json", "jsonl"}
    assert bash("quota", "list", "--output", "=") == {"table", "wide", "json", "jsonl", "csv", "name"}
    assert bash("--master", "") == set()
    assert "mesosctl.bash" in {Path(path).name for path in bash("quota", "set", "-f", f"{FILES}/mesosctl.b")}


def test_a_value_is_not_taken_for_a_command():
    assert bash("--principal", "quota", "") >= {"quota"}


def test_zsh_reads_its_file():
    shell("zsh", "-fn", f"{FILES}/_mesosctl")


def test_zsh_offers_commands():
    script = (
        f"fpath=('{FILES}' $fpath); autoload -Uz compinit; compinit -D -u; "
        "print -r -- ${_comps[mesosctl]}; autoload +X _mesosctl; whence -w _mesosctl"
    )
    assert shell("zsh", "-fc", script).split() == ["_mesosctl", "_mesosctl:", "function"]


def fish(line):
    script = f"source '{FILES}/mesosctl.fish'; complete -C '{line}'"
    return {offered.partition("\t")[0] for offered in shell("fish", "--no-config", "-c", script).splitlines()}


def test_fish_offers_commands_options_and_values():
    assert fish("mesosctl qu") == {"quota"}
    assert fish("mesosctl quota s") == {"set", "show"}
    assert fish("mesosctl quota set --for") == {"--force"}
    assert fish("mesosctl quota list --for") == set()
    assert fish("mesosctl quota list -o js") == {"json", "jsonl"}
