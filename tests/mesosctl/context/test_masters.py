"""A context's credentials are for the context's master, and the cluster that is asked is the one that was meant."""

import sys
from types import SimpleNamespace

import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import ClusterSpec
from fake_master.transports.in_process import InProcessTransport

HOME = "https://master.example:5050"
OTHER = "http://127.0.0.1:5090"
NOTHING_TOLD = "mesosctl: note: no quota is set\n"
"""On standard error, of the answer alone."""
WAYS = {
    "a secret": 'principal = "ops"\nsecret = "s3cret-of-ops"\n',
    "a secret's file": 'principal = "ops"\nsecret-file = "ops.secret"\n',
    "a token": 'token = "t0ken-of-ops"\n',
    "a token's file": 'token-file = "ops.token"\ntoken-scheme = "dcos"\n',
}


@pytest.fixture
def keep(tmp_path):
    """Write the current context `prod`, and `lab` beside it; files of secrets are there unless `files` is empty."""
    folder = tmp_path / "mesosctl"
    folder.mkdir()

    def write(text, files=("ops.secret", "ops.token")):
        for name in files:
            (folder / name).write_text("s3cret-of-ops\n")
            (folder / name).chmod(0o600)
        config = folder / "config.toml"
        config.write_text(f'current = "prod"\n[contexts.prod]\n{text}[contexts.lab]\nmaster = "fake:"\n')
        config.chmod(0o600)

    return write


def settings_of(ran):
    return {setting["key"]: setting["value"] for setting in ran.json["settings"]}


@pytest.mark.parametrize("said", WAYS.values(), ids=WAYS)
class TestCredentials:
    def test_the_contexts_own_master_is_shown_them(self, ctl, keep, cluster, said):
        keep(f'master = "{HOME}"\n{said}')
        assert ctl("quota", "list").status == 0
        assert cluster.requests[0].headers["authorization"]

    @pytest.mark.parametrize("flag", [True, False])
    def test_no_other_is(self, ctl, keep, cluster, said, flag):
        keep(f'master = "{HOME}"\n{said}')
        words, variables = (["--master", OTHER], {}) if flag else ([], {"MESOSCTL_MASTER": OTHER})
        ran = ctl("-vv", "quota", "list", *words, **variables)
        assert ran.status == 0
        assert {request.url.host for request in cluster.requests} == {"127.0.0.1"}
        assert not any("authorization" in request.headers for request in cluster.requests)
        assert "authorization" not in ran.err.lower()
        for told in (HOME, OTHER, "ignored", said.partition(" ")[0]):
            assert told in ran.err
        assert "of-ops" not in ran.err

    def test_their_files_are_not_even_read(self, ctl, keep, said):
        keep(f'master = "{HOME}"\n{said}', files=())
        assert ctl("--master", "fake:", "quota", "list").status == 0

    def test_without_a_master_they_are_for_whoever_is_named(self, ctl, keep, cluster, said):
        keep(said)
        ran = ctl("--master", OTHER, "quota", "list")
        assert (ran.status, ran.err) == (0, NOTHING_TOLD)
        assert cluster.requests[0].headers["authorization"]


class TestOneMasterInManyWords:
    @pytest.mark.parametrize(
        ("own", "named", "same"),
        [
            ("http://a:5050", "a", True),
            ("http://a:5050", "http://A.:5050/", True),
            ("http://a,b:5051", "http://b:5051", True),
            ("zk://z1,z2/mesos", "zk://z1:2181,z2:2181/mesos/", True),
            ("https://a:5050", "http://a:5050", False),
            ("http://a:5050", "http://a:5051", False),
            ("http://a:5050", "http://a:5050,http://b:5050", False),
            ("zk://z1/mesos", "zk://z1/other", False),
            ("zk+https://z1/mesos", "zk://z1/mesos", False),
            ("http://a:5050", "zk://z1/mesos", False),
            ("http://a:5050", "fake:", False),
            ("fake:", "fake:?version=1.11", False),
        ],
    )
    def test_what_is_the_same_keeps_its_credentials(self, ctl, keep, own, named, same):
        keep(f'master = "{own}"\nprincipal = "ops"\nsecret-file = "ops.secret"\n')
        shown = settings_of(ctl("context", "show", "-o", "json", "--master", named))
        assert ("principal" in shown, "secret-file" in shown) == (same, same)

    def test_a_file_with_the_address_is_the_address(self, ctl, keep, tmp_path):
        (tmp_path / "master").write_text("http://a:5050\n")
        keep('master = "a"\nprincipal = "ops"\n')
        shown = settings_of(ctl("context", "show", "-o", "json", "--master", f"file://{tmp_path}/master"))
        assert shown["principal"] == "ops"


class TestWhatIsSaidWithThem:
    def test_tls_is_left_out_too_and_other_settings_stay(self, ctl, keep):
        keep(f'master = "{HOME}"\ncacert = "ca"\ncert = "c"\nkey = "k"\ntimeout = 7\n')
        ran = ctl("context", "show", "--origin", "-o", "json", "--master", "https://other:5050")
        shown = settings_of(ran)
        assert not {"cacert", "cert", "key"} & set(shown)
        assert shown["timeout"] == "7"
        ran = ctl("context", "show", "--origin", "--master", "https://other:5050")
        assert "; ignored from that context: cacert, cert, key" in ran.err

    def test_what_a_flag_says_goes_where_the_flag_says(self, ctl, keep, cluster):
        keep(f'master = "{HOME}"\nprincipal = "ops"\nsecret = "s3cret-of-ops"\n')
        assert ctl("quota", "list", "--master", OTHER, "--principal", "eve", MESOSCTL_SECRET="x").status == 0
        assert cluster.requests[0].headers["authorization"] == "Basic ZXZlOng="  # eve:x

    def test_the_same_principal_does_not_bring_the_secret(self, ctl, keep, cluster):
        keep(f'master = "{HOME}"\nprincipal = "ops"\nsecret = "s3cret-of-ops"\n')
        ran = ctl("quota", "list", "--master", OTHER, "--principal", "ops")
        assert (ran.status, cluster.requests) == (2, [])

    def test_the_keyring_is_not_asked_for_the_contexts_secret(self, ctl, keep, cluster, monkeypatch):
        ring = SimpleNamespace(get_password=lambda service, _name: service)
        monkeypatch.setitem(sys.modules, "keyring", ring)
        keep(f'master = "{HOME}"\n')
        words = ("quota", "list", "--principal", "op", "--secret-from", "keyring")
        assert ctl(*words, "--master", OTHER).status == 0
        assert cluster.requests[0].headers["authorization"] == "Basic b3A6bWVzb3NjdGw="  # op:mesosctl

    def test_nothing_is_said_where_nothing_is_left_out(self, ctl, keep):
        keep(f'master = "{HOME}"\n')
        assert ctl("quota", "list", "--master", OTHER).err == NOTHING_TOLD
        assert ctl("quota", "list", MESOSCTL_MASTER=OTHER).err == NOTHING_TOLD

    def test_a_rehearsal_says_it_once(self, ctl, keep, cluster, monkeypatch):
        master = ClusterSpec(agents=(AgentSpec("cpus:4;mem:4096"),)).start(clock=lambda: 1_000_000.0)
        monkeypatch.setattr(cluster, "handle_request", InProcessTransport(master).handle_request)
        keep(f'master = "{HOME}"\nprincipal = "ops"\nsecret = "s3cret-of-ops"\n')
        ran = ctl("quota", "set", "web", "cpus:1", "--dry-run", "--master", OTHER)
        assert (ran.status, ran.err.count("ignored from that context: principal, secret")) == (0, 1)


class TestTwoClusters:
    @pytest.mark.parametrize("words", [("quota", "set", "web", "cpus:1"), ("quota", "list")])
    def test_a_typed_context_and_another_master_in_the_surroundings_are_refused(self, ctl, keep, cluster, words):
        keep(f'master = "{HOME}"\n')
        ran = ctl("--context", "prod", *words, MESOSCTL_MASTER=OTHER)
        assert (ran.status, cluster.requests) == (2, [])
        for told in (HOME, OTHER, "unset MESOSCTL_MASTER"):
            assert told in ran.err

    def test_an_apply_forgets_nothing_before_it_is_refused(self, ctl, keep, tmp_path):
        keep(f'master = "{HOME}"\n')
        (tmp_path / "wanted.toml").write_text("")
        words = ("apply", "-f", str(tmp_path / "wanted.toml"), "--restart")
        assert ctl(*words, "--context", "prod", MESOSCTL_MASTER="fake:").status == 2
        assert not (tmp_path / "state").exists()

    def test_a_typed_master_is_stronger_than_both(self, ctl, keep, cluster):
        keep(f'master = "{HOME}"\n')
        words = ("--context", "prod", "--master", "http://third:5050", "quota", "list")
        assert ctl(*words, MESOSCTL_MASTER=OTHER).status == 0
        assert cluster.requests[0].url.host == "third"

    def test_where_both_mean_the_same_nobody_is_surprised(self, ctl, keep):
        keep(f'master = "{HOME}"\n')
        ran = ctl("--context", "lab", "quota", "list", MESOSCTL_MASTER="fake:")
        assert (ran.status, "lab" in ran.err) == (0, False)

    def test_a_context_of_the_surroundings_is_warned_of_even_quietly(self, ctl, keep, cluster):
        keep(f'master = "{HOME}"\n')
        ran = ctl("-q", "quota", "list", MESOSCTL_MASTER=OTHER, MESOSCTL_CONTEXT="prod")
        assert ran.status == 0
        assert cluster.requests[0].url.host == "127.0.0.1"
        assert f"WARNING: MESOSCTL_MASTER names '{OTHER}'" in ran.err
        assert f"'prod' is for '{HOME}'" in ran.err

    def test_it_can_be_looked_at(self, ctl, keep):
        keep(f'master = "{HOME}"\n')
        ran = ctl("context", "show", "--origin", "--context", "prod", MESOSCTL_MASTER=OTHER)
        assert (ran.status, "environment MESOSCTL_MASTER" in ran.out, "WARNING" in ran.err) == (0, True, True)

    def test_making_a_context_the_current_one_says_what_stays_stronger(self, ctl, keep):
        keep(f'master = "{HOME}"\n')
        ran = ctl("context", "use", "prod", MESOSCTL_MASTER="fake:")
        assert (ran.status, "WARNING: MESOSCTL_MASTER names 'fake:'" in ran.err) == (0, True)
        assert ctl("context", "use", "prod").err == ""
