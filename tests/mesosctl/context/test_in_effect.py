"""The settings in effect where several places set them, and how they are shown."""

import json
from pathlib import Path

import pytest

from mesosctl.cli.configuration.file import check
from mesosctl.cli.configuration.settings import resolve
from mesosctl.cli.global_options import DEFAULTS, GlobalOptions, known_settings
from tests.mesosctl.context.kept import HAND_WRITTEN, effective, write


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
        for setting in known_settings():
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


def test_defaults_are_values_of_their_settings():
    by_name = {setting.name: setting for setting in known_settings()}
    assert all(by_name[name].check(value) == "" for name, value in DEFAULTS.items())
