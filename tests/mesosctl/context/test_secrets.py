"""Secrets of a context: asked for, kept where nobody else may look, and never told."""

import tomllib

import pytest

from mesosctl.__main__ import main
from tests.helpers.surroundings import InMemory, Terminal
from tests.mesosctl.context.kept import HAND_WRITTEN, write


def test_a_secret_is_asked_for_or_read(ctl, config, cluster):
    assert ctl("context", "set", "c", "master=http://master:5050", "principal=op").status == 0
    assert ctl("context", "set", "c", "secret", stdin="s3cret\n").status == 0
    assert ctl("quota", "list").status == 0
    assert cluster.requests[0].headers["authorization"] == "Basic b3A6czNjcmV0"
    ctl("context", "set", "c", "secret", terminal=True)
    assert tomllib.loads(config.read_text())["contexts"]["c"]["secret"] == "typed"


def test_a_file_with_a_secret_that_others_may_open_is_refused(ctl, config):
    write(config, '[contexts.c]\nmaster = "http://m"\nprincipal = "op"\nsecret = "s3cret"\n', 0o644)
    ran = ctl("quota", "list", "--context", "c")
    assert (ran.status, f"chmod 600 '{config}'" in ran.err, "s3cret" in ran.err) == (3, True, False)
    write(config, config.read_text(), 0o600)
    assert ctl("context", "list").status == 0


def test_no_secret_gets_into_a_file_that_others_may_open(ctl, config):
    write(config, HAND_WRITTEN, 0o644)
    assert ctl("context", "set", "prod", "secret", stdin="s3cret").status == 3
    assert config.read_text() == HAND_WRITTEN


def test_an_open_secret_file_is_told(ctl, tmp_path):
    path = tmp_path / "secret"
    path.write_text("s3cret\n")
    path.chmod(0o640)
    words = ("quota", "list", "-q", "--master", "master", "--principal", "op", "--secret-file", str(path))
    ran = ctl(*words)
    assert (ran.status, "WARNING: other users may open" in ran.err, "s3cret" in ran.err) == (0, True, False)
    path.chmod(0o600)
    assert ctl(*words).err == ""


def test_the_keyring_is_asked_only_when_it_is_named(ctl, config, cluster, tmp_path, monkeypatch):
    (tmp_path / "keyring.py").write_text("def get_password(service, name):\n    return f'{service} {name}'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    write(config, 'current = "c"\n[contexts.c]\nmaster = "m"\nprincipal = "op"\nsecret-from = "keyring"\n')
    assert ctl("quota", "list").status == 0
    assert cluster.requests[0].headers["authorization"] == "Basic b3A6bWVzb3NjdGwvYyBvcA=="  # op:mesosctl/c op


def test_prompting_in_a_script_is_an_error(ctl):
    words = ("quota", "list", "--master", "m", "--principal", "op", "--secret-from", "prompt")
    assert ctl(*words, MESOSCTL_SECRET="weaker").status == 2
    assert ctl(*words, MESOSCTL_SECRET="weaker", terminal=True).status == 0


@pytest.mark.parametrize(
    "words", ["quota set web cpus:1 --dry-run", "apply -f wanted.toml --dry-run", "plan -f wanted.toml"]
)
def test_a_typed_secret_is_asked_for_once(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "wanted.toml").write_text('[quotas.web]\nguarantee = "cpus:1"\n')
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "s3cret"

    environment = InMemory(
        stdin=Terminal(),
        stdout=Terminal(),
        stderr=Terminal(),
        variables={"MESOSCTL_MASTER": "fake:", "HOME": str(tmp_path)},
        ask_secret=ask,
    )
    status = main([*words.split(), "--principal", "op", "--secret-from", "prompt"], environment)
    assert (status, len(asked)) == (0, 1), environment.err
