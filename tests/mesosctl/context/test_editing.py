"""The file of contexts: how commands edit it, and the errors of one that makes no sense."""

import stat
import tomllib
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.cli.configuration.file import check, line_of
from mesosctl.context.editing import change, remove, use
from tests.mesosctl.context.kept import HAND_WRITTEN, effective, write


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
        assert ctl("--context", "prod", "quota", "list").status == 5

    def test_an_empty_set_is_a_usage_error_and_makes_no_file(self, ctl, config):
        assert ctl("context", "set", "prod").status == 2
        assert not config.exists()


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

    @pytest.mark.parametrize(
        "text",
        [
            'contexts = { prod = { master = "http://master:5050" } }\n',
            'contexts.prod.master = "http://master:5050"\n',
            'contexts.prod.master = "http://master:5050"\ncurrent = "prod"\ncontexts.prod.timeout = 7\n',
            '[contexts]\nprod = { master = "http://master:5050" }\n',
            '[contexts]\nprod.master = "http://master:5050"\n',
            'current = "prod"\ncontexts = {}\n',
            '["contexts".prod]\nmaster = "http://master:5050"\n',
        ],
    )
    def test_a_context_is_added_however_the_others_are_written(self, ctl, config, text):
        write(config, text)
        before = tomllib.loads(text)
        assert ctl("context", "set", "lab", "timeout=9", "--principal", "kim").status == 0
        assert ctl("context", "set", "prod", "principal=ops").status == 0
        contexts = {
            "prod": before["contexts"].get("prod", {}) | {"principal": "ops"},
            "lab": {"timeout": 9, "principal": "kim"},
        }
        assert tomllib.loads(config.read_text()) == before | {"contexts": contexts}

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

    def test_a_context_that_is_not_there_is_told_with_those_that_are(self, ctl, config):
        write(config, HAND_WRITTEN)
        assert "mesosctl context list" in ctl("context", "remove", "lab", "prod", "nope").err

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
        assert (ran.status, "secret-file is removed" in ran.err) == (0, True)
        kept = {"master": "https://m:5050", "principal": "ops"}
        assert tomllib.loads(config.read_text())["contexts"]["prod"] == kept | {"secret": "s3cret"}
        refused = ctl("context", "set", "prod", "secret-file=/ops.secret")
        assert (refused.status, "has a secret, which would be lost" in refused.err) == (2, True)
        assert tomllib.loads(config.read_text())["contexts"]["prod"] == kept | {"secret": "s3cret"}
        assert ctl("context", "set", "prod", "secret-file=/ops.secret", "--yes").status == 0
        assert tomllib.loads(config.read_text())["contexts"]["prod"] == kept | {"secret-file": "/ops.secret"}
        ran = ctl("context", "set", "prod", "token", "token-file=/t", stdin="t0ken\n")
        assert (ran.status, "line" in ran.err) == (2, False)

    def test_who_named_a_file_that_cannot_be_read(self, ctl, config):
        write(config, 'current = "c"\n[contexts.c]\nmaster = "http://m"\nprincipal = "ops"\nsecret-file = "/no/such"\n')
        ran = ctl("quota", "list")
        assert (ran.status, "hint: it comes from context c;" in ran.err) == (3, True)
        ran = ctl("quota", "list", MESOSCTL_SECRET_FILE="/no/such")
        assert "hint: it comes from variable MESOSCTL_SECRET_FILE;" in ran.err
        ran = ctl("quota", "list", "--secret-file", "/no/such")
        assert (ran.status, "it comes from" in ran.err) == (3, False)

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
            ("[contexts.c]\nyes = true\n", "there is no such key"),
            ("[contexts]\nc = 3\n", "line 2"),
            ("[contexts.'a b']\n", "not a name for a context"),
            ("[contxts.c]\n", "did you mean contexts?"),
            ("current = 3\n", "line 1"),
            ("[contexts.c]\nsecret = 'a'\nsecret-file = 'b'\n", "cannot be used together"),
        ],
    )
    def test_the_place_is_named(self, ctl, config, text, said):
        write(config, text)
        ran = ctl("quota", "list", MESOSCTL_MASTER="http://master:5050")
        assert (ran.status, said in ran.err, str(config) in ran.err) == (3, True, True), ran.err

    def test_every_fault_is_told_with_its_line(self, ctl, config):
        write(config, 'current = 3\n[contexts.a]\ntimeut = 3\n[contexts.b]\noutput = "xml"\n')
        ran = ctl("quota", "list", MESOSCTL_MASTER="http://master:5050")
        for place in ("line 1: current:", "line 3: contexts.a.timeut:", "line 5: contexts.b.output:"):
            assert f"{config}, {place}" in ran.err
        assert ran.status == 3

    def test_a_file_that_cannot_be_read(self, ctl, config):
        config.write_bytes(b"\xff")
        assert ctl("context", "list").status == 3
        config.unlink()
        config.mkdir()
        assert ctl("context", "list").status == 3

    def test_a_current_context_that_is_gone_can_be_replaced(self, ctl, config):
        write(config, HAND_WRITTEN.replace('"prod" ', '"gone" '))
        ran = ctl("quota", "list")
        assert (ran.status, "gone" in ran.err) == (5, True)
        assert ctl("context", "list").status == 0
        assert ctl("context", "use", "prod").status == 0
        assert ctl("quota", "list").status == 0

    @given(st.integers(0, 5), st.sampled_from(["", "  "]), st.sampled_from(['"timeout"', "timeout"]))
    def test_lines_are_counted_as_an_editor_does(self, before, indent, key):
        text = "# timeout = 1\n" * before + f"[contexts.c] # x\n{indent}{key} = 3\n[contexts.d]\ntimeout = 4\n"
        assert line_of(text, ("contexts", "c"), "timeout") == before + 2
        assert line_of(text, ("contexts", "d"), "timeout") == before + 4
