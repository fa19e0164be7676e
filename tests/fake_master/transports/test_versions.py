"""Which master an address or a file means, what it calls itself, and what was kept before releases had profiles."""

import json
from contextlib import closing

import pytest

from fake_master.transports.address import FakeAddress, open_on_call
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.messages.snapshots import snapshot as snapshot_api
from mesosctl.mesos.rules.version_profile import PROFILES, RELEASES, VERSIONS, profile_named, profile_of

QUOTA = {"role": "web", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 2}}]}


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "mesosctl" / "fake"


def ask(address, path, method="GET", body=None, notes=None):
    notes = [] if notes is None else notes
    with closing(open_on_call(address, notice=notes.append)) as carrier:
        answer = carrier.answer(method, path, {}, b"" if body is None else json.dumps(body).encode())
        assert answer.status == 200
        return json.loads(answer.body) if answer.body else None


def roles_with_quota(address, notes=None):
    return [info["role"] for info in ask(address, "/quota", notes=notes).get("infos", [])]


@pytest.mark.parametrize(
    ("address", "number", "tag"),
    [
        ("fake:", "1.4.0", "documents"),
        ("fake:?version=documents", "1.4.0", "documents"),
        ("fake:?version=1.4", "1.4.3", "1.4.3"),
        ("fake:?version=1.4.0", "1.4.3", "1.4.3"),
        ("fake:?version=1.8", "1.8.1", "1.8.1"),
        ("fake:?version=1.11.0", "1.11.0", "1.11.0"),
    ],
)
def test_a_master_says_which_it_is(address, number, tag):
    shown = ask(address, "/version")
    assert (shown["version"], shown["git_tag"]) == (number, tag)
    assert profile_of(shown["version"], shown["git_tag"]) is profile_named(address.partition("version=")[2] or tag)


def test_each_release_answers_as_itself_without_a_note(tmp_path):
    for release in RELEASES:
        file = tmp_path / f"{release}.toml"
        file.write_text(f'mesos_version = "{release}"\n[[agents]]\nresources = "cpus:8;mem:1024"\n')
        notes: list[str] = []
        for address in (f"fake:?version={release}", f"fake:{file}", f"fake:{file}?version={release}"):
            assert ask(address, "/version", notes=notes)["version"] == release
        assert notes == []
    assert ask("fake:?version=1.7.0", "/version")["version"] == "1.7.3"


def test_every_version_that_is_offered_has_a_profile():
    assert all(profile_named(version) in PROFILES.values() for version in VERSIONS)
    assert [profile_named(f"1.{minor}") for minor in (3, 12)] == [None, None]
    assert profile_named("1.111") is None


def test_each_version_keeps_a_cluster_of_its_own(kept):
    for version in VERSIONS:
        assert roles_with_quota(f"fake:?version={version}") == []
        ask(f"fake:?version={version}", "/quota", "POST", QUOTA)
    assert roles_with_quota("fake:") == ["web"]
    assert len(list(kept.glob("*.sqlite"))) == len(VERSIONS)


@pytest.mark.parametrize("name", ["", "c.toml"])
def test_what_was_kept_for_1_4_is_the_documents_masters(kept, tmp_path, name):
    file = tmp_path / name
    if name:
        file.write_text('[[agents]]\nresources = "cpus:8;mem:1024"\n')
        name = str(file)
    chosen = f"fake:{name}?version=documents"
    ask(chosen, "/quota", "POST", QUOTA)
    now = FakeAddress.parse(chosen).state_file()
    assert now.name.endswith("-documents.sqlite")
    now.rename(now.with_name(now.name.replace("-documents", "-1.4")))
    assert roles_with_quota(f"fake:{name}?version=1.4") == []
    assert roles_with_quota(chosen) == ["web"]
    assert now.exists()
    assert not list(kept.glob("*-1.4.sqlite"))


def test_the_present_state_is_not_replaced_by_the_former_one(kept):
    ask("fake:", "/quota", "POST", QUOTA)
    now = FakeAddress.parse("fake:").state_file()
    former = now.with_name("built-in-1.4.sqlite")
    former.write_bytes(b"of an older program")
    assert roles_with_quota("fake:") == ["web"]
    assert former.read_bytes() == b"of an older program"


@pytest.mark.parametrize(("line", "number"), [("", "1.4.0"), ('mesos_version = "1.4"\n', "1.4.3")])
def test_a_cluster_file_that_names_no_version_is_the_documents(tmp_path, line, number):
    file = tmp_path / "c.toml"
    file.write_text(f'{line}[[agents]]\nresources = "cpus:8;mem:1024"\n')
    assert ask(f"fake:{file}", "/version")["version"] == number


def snapshot(version, profile):
    total = Resources(parse_resources("cpus:8;mem:1024"))
    return ClusterSnapshot(
        version, 0.0, (ClusterAgent("m-S0", "host", "slave(1)@10.0.0.1:5051", total),), mesos_profile=profile
    )


@pytest.mark.parametrize(
    ("version", "profile", "plays", "said"),
    [
        ("1.4.0", "documents", "documents", ()),
        ("1.4.0", None, "1.4", ("1.4.3", "--mesos-version documents")),
        ("1.4.0", "1.4", "1.4", ()),
        ("1.7.3", "1.8", "1.7", ()),
        ("1.12.0", "1.11", "1.11", ("1.12.0", "1.11.0")),
        ("1.11.0", None, "1.11", ()),
        ("1.4.0", "of-a-later-program", "1.4", ()),
    ],
)
def test_a_snapshot_is_played_by_the_rules_of_its_master(tmp_path, version, profile, plays, said):
    file = tmp_path / "s.json"
    file.write_text(snapshot_api.dump(snapshot(version, profile)))
    notes: list[str] = []
    assert ask(f"fake:{file}", "/version", notes=notes)["version"] == PROFILES[plays].version
    assert all(word in notes[0] for word in said) if said else notes == []
    assert ask(f"fake:{file}?version=documents", "/version")["git_tag"] == "documents"
