"""Contexts: what is kept, what is stronger, and what becomes of the file."""

import json
import stat
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.cli.configuration import check, line_of
from mesosctl.cli.configuration_editing import change, remove, use
from mesosctl.cli.options import DEFAULTS, GlobalOptions
from mesosctl.cli.settings import declared, resolve

HAND_WRITTEN = """\
# clusters of the east, ask Kim before changing anything
current = "prod"   # careful

[contexts.prod]
# the leading master moves
master = "http://master:5050"
timeout = 7        # it is slow

[contexts.lab]
master = "fake:"
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "mesosctl" / "config.toml"
    path.parent.mkdir()
    return path


@pytest.fixture
def ctl(run, tmp_path):
    """Run a command at home in `tmp_path`; the environment names no master."""

    def run_at_home(*words, **variables):
        stdin, terminal = variables.pop("stdin", ""), variables.pop("terminal", False)
        home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "MESOSCTL_MASTER": ""}
        return run(*words, stdin=stdin, terminal=terminal, **home | variables)

    return run_at_home


def write(config, text, mode=0o600):
    config.write_text(text)
    config.chmod(mode)


def effective(ran):
    return {setting["key"]: (setting["value"], setting["origin"]) for setting in ran.json["settings"]}


class TestFromNothing:
    def test_the_first_context_is_the_current_one_and_the_file_is_private(self, ctl, config, cluster):
        config.parent.rmdir()
        ran = ctl("context", "set", "prod", "--master", "http://master:5050", "timeout=7")
        assert (ran.status, "current context" in ran.err) == (0, True)
        assert stat.S_IMODE(config.stat().st_mode) == 0o600
        assert ctl("quota", "list").status == 0
        assert cluster.requests[0].url.host == "master"

    def test_without_a_file_there_is_nothing_and_no_error(self, ctl):
        assert ctl("context", "list", "-o", "json").json["contexts"] == []
        assert effective(ctl("context", "show", "-o", "json"))["timeout"] == ("30", "default")
        assert ctl("context", "use", "prod").status == 5
        assert ctl("--context", "prod", "quota", "list").status == 3

    def test_an_empty_set_is_a_usage_error_and_makes_no_file(self, ctl, config):
        assert ctl("context", "set", "prod").status == 2
        assert not config.exists()


class TestStrength:
    """A flag beats the environment, the environment beats the context, the context beats the default."""

    @pytest.mark.parametrize("flag", [None, "1"])
    @pytest.mark.parametrize("variable", [None, "2"])
    @pytest.mark.parametrize("kept", [None, "3"])
    def test_in_this_order(self, ctl, config, flag, variable, kept):
        write(config, 'current = "c"\n[contexts.c]\nmaster = "fake:"\n' + (f"timeout = {kept}\n" if kept else ""))
        words = ["--timeout", flag] if flag else []
        variables = {"MESOSCTL_TIMEOUT": variable} if variable else {}
        shown = effective(ctl("context", "show", "-o", "json", *words, **variables))["timeout"]
        said = [(flag, "flag"), (variable, "environment"), (kept, "context"), ("30", "default")]
        assert shown == next((value, origin) for value, origin in said if value)

    def test_the_context_of_a_flag_beats_the_variable_beats_the_file(self, ctl, config):
        write(config, HAND_WRITTEN + '[contexts.x]\nmaster = "fake:?version=1.11"\n')
        assert ctl("context", "show", "-o", "json").json["context"] == "prod"
        assert ctl("context", "show", "-o", "json", MESOSCTL_CONTEXT="lab").json["context"] == "lab"
        assert ctl("context", "show", "-o", "json", "--context", "x", MESOSCTL_CONTEXT="lab").json["context"] == "x"
        assert ctl("context", "show", "x", "-o", "json", MESOSCTL_CONTEXT="lab").json["context"] == "x"

    def test_every_option_is_a_variable_and_a_key(self):
        """A new global option needs nothing more than its declaration."""
        for setting in declared():
            if not setting.in_contexts:
                continue
            text = {float: "2.5", int: "2", bool: "true"}.get(setting.kind, (setting.choices or ("x",))[0])
            resolved = resolve(GlobalOptions(), {setting.variable: text})
            assert resolved.origin(setting.name).name == setting.variable
            toml = text if setting.kind in (float, int, bool) else json.dumps(text)
            kept = check(Path("config.toml"), f"[contexts.c]\n{setting.key} = {toml}\n").contexts["c"]
            assert str(kept[setting.key]).lower() == text

    @pytest.mark.parametrize(
        ("words", "variables", "shown"),
        [
            ((), {}, {"principal": "ops", "secret-file": "/f"}),
            (("--principal", "eve"), {}, {"principal": "eve"}),
            (("--principal", "ops"), {}, {"principal": "ops", "secret-file": "/f"}),
            ((), {"MESOSCTL_SECRET": "x"}, {"principal": "ops", "secret": "***"}),
            ((), {"MESOSCTL_SECRET_FILE": "/g"}, {"principal": "ops", "secret-file": "/g"}),
            (("--secret-file", "/h"), {"MESOSCTL_SECRET": "x"}, {"principal": "ops", "secret-file": "/h"}),
            (("--cert", "/c2"), {}, {"principal": "ops", "secret-file": "/f", "cert": "/c2"}),
        ],
    )
    def test_a_secret_belongs_to_its_principal_and_a_key_to_its_certificate(self, ctl, config, words, variables, shown):
        cert = "" if words[:1] != ("--cert",) else 'cert = "/c"\nkey = "/k"\n'
        write(config, f'current = "c"\n[contexts.c]\nprincipal = "ops"\nsecret-file = "/f"\n{cert}')
        found = effective(ctl("context", "show", "-o", "json", *words, **variables))
        keys = ("principal", "secret", "secret-file", "cert", "key")
        assert {key: found[key][0] for key in keys if key in found} == shown

    def test_the_form_of_a_context_is_the_form_of_errors_too(self, ctl, config):
        write(config, 'current = "c"\n[contexts.c]\nmaster = "http://master:5050"\noutput = "json"\n')
        ran = ctl("quota", "show", "nobody")
        assert (ran.status, json.loads(ran.err)["error"]["exit_status"]) == (5, 5)
        assert ctl("quota", "show", "nobody", "-o", "table").err.startswith("mesosctl: ")
        assert json.loads(ctl("bogus", MESOSCTL_OUTPUT="json").err)["error"]["exit_status"] == 2

    @pytest.mark.parametrize(
        ("variable", "value"),
        [("TIMEOUT", "soon"), ("TIMEOUT", "0"), ("TIMEOUT", "nan"), ("OUTPUT", "xml"), ("QUIET", "maybe")],
    )
    def test_a_variable_that_makes_no_sense_is_named(self, ctl, variable, value):
        ran = ctl("quota", "list", **{f"MESOSCTL_{variable}": value, "MESOSCTL_MASTER": "http://master:5050"})
        assert (ran.status, f"MESOSCTL_{variable}" in ran.err) == (3, True)

    def test_yes_is_neither_kept_nor_inherited(self, ctl, cluster, entries):
        cluster.quotas = {"a": entries(cpus=1), "b": entries(cpus=1)}
        ran = ctl("quota", "remove", "a", "b", terminal=True, stdin="n\n", MESOSCTL_YES="1", MESOSCTL_MASTER="master")
        assert ran.status == 2
        assert ctl("context", "set", "prod", "yes=true").status == 2


class TestShowing:
    def test_origins_name_flag_variable_file_and_line(self, ctl, config):
        write(config, HAND_WRITTEN)
        out = ctl("context", "show", "--origin", "-o", "table", MESOSCTL_API="v1").out
        lines = {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines()}
        assert lines["timeout"] == f"7 context prod ({config}:7)"
        assert lines["api"] == "v1 environment MESOSCTL_API"
        assert lines["output"] == "table flag --output"

    def test_secrets_are_struck_out(self, ctl, config):
        write(config, '[contexts.c]\nmaster = "http://m"\nprincipal = "ops"\nsecret = "s3cret"\n')
        for words in (["show", "c", "--origin"], ["show", "c", "-o", "json"], ["list", "-o", "json"], ["list"]):
            ran = ctl("context", *words)
            assert (ran.status, "s3cret" in ran.out + ran.err) == (0, False)

    def test_the_current_one_is_marked(self, ctl, config):
        write(config, HAND_WRITTEN)
        assert ctl("context", "list").out.splitlines()[2].split() == ["*", "prod", "http://master:5050", "-"]
        assert ctl("context", "list", "-o", "name").out == "lab\nprod\n"


class TestEditing:
    def test_comments_and_order_stay(self, ctl, config):
        write(config, HAND_WRITTEN)
        assert ctl("context", "set", "prod", "timeout=9").status == 0
        assert config.read_text() == HAND_WRITTEN.replace("timeout = 7 ", "timeout = 9 ")
        assert ctl("context", "set", "prod", "timeout=9.5").status == 0
        assert config.read_text() == HAND_WRITTEN.replace("timeout = 7 ", "timeout = 9.5 ")
        assert ctl("context", "set", "prod", "--timeout", "9").status == 0
        assert config.read_text() == HAND_WRITTEN.replace("timeout = 7 ", "timeout = 9 ")
        assert ctl("context", "set", "prod", "timeout=7").status == 0
        assert ctl("context", "use", "lab").status == 0
        assert '"lab"   # careful' in config.read_text()
        assert ctl("context", "remove", "lab").status == 0
        left = config.read_text()
        assert "ask Kim" in left
        assert "it is slow" in left
        assert tomllib.loads(left) == {"contexts": {"prod": {"master": "http://master:5050", "timeout": 7}}}

    def test_permissions_and_links_stay(self, ctl, config, tmp_path):
        real = tmp_path / "dotfiles.toml"
        real.write_text(HAND_WRITTEN)
        real.chmod(0o640)
        config.symlink_to(real)
        assert ctl("context", "use", "lab").status == 0
        assert config.is_symlink()
        assert stat.S_IMODE(real.stat().st_mode) == 0o640
        assert 'current = "lab"' in real.read_text()

    def test_files_mean_the_same_in_every_folder(self, ctl, config, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        ctl("context", "set", "c", "cacert=ca.pem", "cert=~/me.pem", "--master", "fake:lab.toml?fresh")
        kept = tomllib.loads(config.read_text())["contexts"]["c"]
        assert kept == {
            "master": f"fake:{tmp_path}/lab.toml?fresh",
            "cacert": f"{tmp_path}/ca.pem",
            "cert": "~/me.pem",
        }
        assert effective(ctl("context", "show", "-o", "json"))["cert"][0] == f"{tmp_path}/me.pem"

    def test_a_relative_file_lies_beside_the_configuration(self, ctl, config):
        write(config, 'current = "c"\n[contexts.c]\ncacert = "ca.pem"\n')
        assert effective(ctl("context", "show", "-o", "json"))["cacert"][0] == str(config.parent / "ca.pem")

    @pytest.mark.parametrize(
        ("words", "status"),
        [
            (["set", "prod", "timeout=soon"], 3),
            (["set", "prod", "output=xml"], 3),
            (["set", "prod", "master=ftp://x"], 2),
            (["set", "prod", "master=http://ops:pw@x"], 2),
            (["set", "prod", "bogus=1"], 2),
            (["set", "prod", "timeout"], 2),
            (["set", "prod", "secret=hunter2"], 2),
            (["set", "a b", "timeout=1"], 2),
            (["set", "prod", "--unset", "api"], 5),
            (["use", "nope"], 5),
            (["remove", "lab", "nope"], 5),
            (["show", "nope"], 5),
        ],
    )
    def test_a_mistake_leaves_the_file_alone(self, ctl, config, words, status):
        write(config, HAND_WRITTEN)
        ran = ctl("context", *words)
        assert (ran.status, config.read_text()) == (status, HAND_WRITTEN), ran.err
        assert "hunter2" not in ran.err
        assert [path.name for path in config.parent.iterdir()] == ["config.toml"]

    def test_a_disk_that_fails_leaves_the_file_alone(self, ctl, config, monkeypatch):
        write(config, HAND_WRITTEN)

        def fail(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", fail)
        ran = ctl("context", "use", "lab")
        assert (ran.status, "No space left" in ran.err) == (3, True)
        assert config.read_text() == HAND_WRITTEN
        assert [path.name for path in config.parent.iterdir()] == ["config.toml"]

    def test_nobodys_change_is_lost(self, config):
        names = [f"c{number}" for number in range(16)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda name: change(config, name, {"timeout": 1.0}, ()), names))
        assert sorted(check(config, config.read_text()).contexts) == sorted(names)

    def test_a_secret_and_its_file_replace_each_other(self, ctl, config):
        """What the README says of both, in this order."""
        ctl(
            "context", "set", "prod", "--master", "https://m:5050", "--principal", "ops", "--secret-file", "/ops.secret"
        )
        ran = ctl("context", "set", "prod", "secret", stdin="s3cret\n")
        assert (ran.status, "secret-file was there too" in ran.err) == (0, True)
        kept = {"master": "https://m:5050", "principal": "ops"}
        assert tomllib.loads(config.read_text())["contexts"]["prod"] == kept | {"secret": "s3cret"}
        assert ctl("context", "set", "prod", "secret-file=/ops.secret").status == 0
        assert tomllib.loads(config.read_text())["contexts"]["prod"] == kept | {"secret-file": "/ops.secret"}
        ran = ctl("context", "set", "prod", "token", "token-file=/t", stdin="t0ken\n")
        assert (ran.status, "line" in ran.err) == (2, False)

    def test_who_named_a_file_that_cannot_be_read(self, ctl, config):
        write(config, 'current = "c"\n[contexts.c]\nmaster = "http://m"\nprincipal = "ops"\nsecret-file = "/no/such"\n')
        ran = ctl("quota", "list")
        assert (ran.status, "hint: context c says so" in ran.err) == (3, True)
        ran = ctl("quota", "list", MESOSCTL_SECRET_FILE="/no/such")
        assert "hint: environment MESOSCTL_SECRET_FILE says so" in ran.err
        ran = ctl("quota", "list", "--secret-file", "/no/such")
        assert (ran.status, "says so" in ran.err) == (3, False)

    def test_what_is_unknown_can_be_taken_away(self, ctl, config):
        write(config, '[contexts.c]\ntimeut = 3\nmaster = "fake:"\n')
        ran = ctl("context", "list")
        assert (ran.status, "mesosctl context set c --unset timeut" in ran.err) == (3, True)
        assert ctl("context", "set", "c", "--unset", "timeut").status == 0
        assert ctl("context", "list").status == 0

    @settings(deadline=None)  # each step waits for the disk
    @given(
        st.lists(
            st.one_of(
                st.tuples(st.just("set"), st.sampled_from("abc"), st.sampled_from([{"timeout": 3.0}, {"api": "v1"}])),
                st.tuples(st.just("use"), st.sampled_from("abc")),
                st.tuples(st.just("remove"), st.sampled_from("abc")),
            ),
            max_size=12,
        )
    )
    def test_any_history_leaves_what_a_dictionary_would_hold(self, tmp_path_factory, history):
        path = tmp_path_factory.mktemp("c") / "config.toml"
        contexts: dict[str, dict[str, str]] = {}
        current = None
        for step in history:
            if step[0] == "set":
                change(path, step[1], step[2], ())
                current = step[1] if not contexts and current is None else current
                contexts.setdefault(step[1], {}).update(step[2])
            elif step[1] in contexts and step[0] == "use":
                use(path, step[1])
                current = step[1]
            elif step[1] in contexts:
                remove(path, [step[1]])
                del contexts[step[1]]
                current = None if current == step[1] else current
        if path.exists():
            kept = check(path, path.read_text())
            assert (kept.contexts, kept.current) == (contexts, current)


class TestFaults:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("current = prod\n", "line 1"),
            ('[contexts.c]\nmaster = "fake:"\ntimeut = 3\n', "line 3"),
            ('[contexts.c]\ntimeout = "3"\n', "line 2"),
            ("[contexts.c]\ntimeout = true\n", "a number"),
            ("[contexts.c]\ntimeout = -1\n", "at least"),
            ("[contexts.c]\noutput = 'xml'\n", "one of table"),
            ("[contexts.c]\nyes = true\n", "unknown"),
            ("[contexts]\nc = 3\n", "line 2"),
            ("[contexts.'a b']\n", "no name"),
            ("[contxts.c]\n", "is it contexts?"),
            ("current = 3\n", "line 1"),
            ("[contexts.c]\nsecret = 'a'\nsecret-file = 'b'\n", "contradict"),
        ],
    )
    def test_the_place_is_named(self, ctl, config, text, said):
        write(config, text)
        ran = ctl("quota", "list", MESOSCTL_MASTER="http://master:5050")
        assert (ran.status, said in ran.err, str(config) in ran.err) == (3, True, True), ran.err

    def test_a_file_that_cannot_be_read(self, ctl, config):
        config.write_bytes(b"\xff")
        assert ctl("context", "list").status == 3
        config.unlink()
        config.mkdir()
        assert ctl("context", "list").status == 3

    def test_a_current_context_that_is_gone_can_be_replaced(self, ctl, config):
        write(config, HAND_WRITTEN.replace('"prod" ', '"gone" '))
        ran = ctl("quota", "list")
        assert (ran.status, "gone" in ran.err) == (3, True)
        assert ctl("context", "list").status == 0
        assert ctl("context", "use", "prod").status == 0
        assert ctl("quota", "list").status == 0

    @given(st.integers(0, 5), st.sampled_from(["", "  "]), st.sampled_from(['"timeout"', "timeout"]))
    def test_lines_are_counted_as_an_editor_does(self, before, indent, key):
        text = "# timeout = 1\n" * before + f"[contexts.c] # x\n{indent}{key} = 3\n[contexts.d]\ntimeout = 4\n"
        assert line_of(text, ("contexts", "c"), "timeout") == before + 2
        assert line_of(text, ("contexts", "d"), "timeout") == before + 4


class TestSecrets:
    def test_a_secret_is_asked_for_or_read(self, ctl, config, cluster):
        assert ctl("context", "set", "c", "master=http://master:5050", "principal=op").status == 0
        assert ctl("context", "set", "c", "secret", stdin="s3cret\n").status == 0
        assert ctl("quota", "list").status == 0
        assert cluster.requests[0].headers["authorization"] == "Basic b3A6czNjcmV0"
        ctl("context", "set", "c", "secret", terminal=True)
        assert tomllib.loads(config.read_text())["contexts"]["c"]["secret"] == "typed"

    def test_a_file_with_a_secret_that_others_may_open_is_refused(self, ctl, config):
        write(config, '[contexts.c]\nmaster = "http://m"\nprincipal = "op"\nsecret = "s3cret"\n', 0o644)
        ran = ctl("quota", "list", "--context", "c")
        assert (ran.status, f"chmod 600 '{config}'" in ran.err, "s3cret" in ran.err) == (3, True, False)
        write(config, config.read_text(), 0o600)
        assert ctl("context", "list").status == 0

    def test_no_secret_gets_into_a_file_that_others_may_open(self, ctl, config):
        write(config, HAND_WRITTEN, 0o644)
        assert ctl("context", "set", "prod", "secret", stdin="s3cret").status == 3
        assert config.read_text() == HAND_WRITTEN

    def test_an_open_secret_file_is_told(self, ctl, tmp_path):
        path = tmp_path / "secret"
        path.write_text("s3cret\n")
        path.chmod(0o640)
        words = ("quota", "list", "-q", "--master", "master", "--principal", "op", "--secret-file", str(path))
        ran = ctl(*words)
        assert (ran.status, "WARNING: others may open" in ran.err, "s3cret" in ran.err) == (0, True, False)
        path.chmod(0o600)
        assert ctl(*words).err == ""

    def test_the_keyring_is_asked_only_when_it_is_named(self, ctl, config, cluster, tmp_path, monkeypatch):
        (tmp_path / "keyring.py").write_text("def get_password(service, name):\n    return f'{service} {name}'\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        write(config, 'current = "c"\n[contexts.c]\nmaster = "m"\nprincipal = "op"\nsecret-from = "keyring"\n')
        assert ctl("quota", "list").status == 0
        assert cluster.requests[0].headers["authorization"] == "Basic b3A6bWVzb3NjdGwvYyBvcA=="  # op:mesosctl/c op

    def test_prompting_in_a_script_is_an_error(self, ctl):
        words = ("quota", "list", "--master", "m", "--principal", "op", "--secret-from", "prompt")
        assert ctl(*words, MESOSCTL_SECRET="weaker").status == 2
        assert ctl(*words, MESOSCTL_SECRET="weaker", terminal=True).status == 0


def test_defaults_are_values_of_their_settings():
    by_name = {setting.name: setting for setting in declared()}
    assert all(by_name[name].check(value) == "" for name, value in DEFAULTS.items())
