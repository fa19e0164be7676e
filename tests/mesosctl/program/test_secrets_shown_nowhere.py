"""No secret of a run is in what a command shows or keeps, however a master repeats it."""

import base64
import html
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from mesosctl.__main__ import main
from mesosctl.mesos.errors import BadInput
from tests.conftest import StandIn, guarantee
from tests.helpers.surroundings import InMemory, Ran

SECRET = 'hun"ter2\\hunter2'
SPELLINGS = {
    "as it is": SECRET,
    "JSON": json.dumps(SECRET)[1:-1],
    "JSON in JSON": json.dumps(json.dumps(SECRET))[3:-3],
    "percent": quote(SECRET, safe=""),
    "HTML": html.escape(SECRET),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "basic": base64.b64encode(f"ops:{SECRET}".encode()).decode(),
}
INSIDE = "ter2"
"""What each of them but base64 has."""


def type_words(cluster: StandIn, *words: str, **variables: str) -> Ran:
    environment = InMemory(
        variables={"MESOSCTL_MASTER": "http://master:5050", **variables},
        ask_secret=lambda _: SECRET,
        sleep=lambda _: None,
        transport=cluster,
    )
    return Ran(main(words, environment), environment.out, environment.err)


def check_nothing_shown(ran: Ran) -> None:
    for text in (ran.out, ran.err):
        assert INSIDE not in text
        for written in SPELLINGS.values():
            assert written not in text


@pytest.fixture(params=["variable", "file", "context", "token"])
def said(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    """Where the secret comes from."""
    if request.param == "variable":
        return {"MESOSCTL_PRINCIPAL": "ops", "MESOSCTL_SECRET": SECRET}
    if request.param == "token":
        return {"MESOSCTL_TOKEN": SECRET}
    kept = tmp_path / "kept"
    if request.param == "file":
        kept.write_text(SECRET + "\n")
        kept.chmod(0o600)
        return {"MESOSCTL_PRINCIPAL": "ops", "MESOSCTL_SECRET_FILE": str(kept)}
    kept.write_text(f"current = 'a'\n[contexts.a]\nprincipal = 'ops'\nsecret = {json.dumps(SECRET)}\n")
    kept.chmod(0o600)
    return {"MESOSCTL_CONFIG": str(kept)}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv", "name"])
def test_in_data(cluster, said, spelling, form):
    cluster.quotas[f"role-{SPELLINGS[spelling]}"] = guarantee(cpus=1)
    ran = type_words(cluster, "quota", "list", "-o", form, **said)
    assert (ran.status, "***" in ran.out) == (0, True), ran.err
    check_nothing_shown(ran)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("form", ["table", "json"])
@pytest.mark.parametrize("status", [400, 401, 403, 404, 500, 503])
def test_in_errors_and_traces(cluster, said, spelling, form, status):
    def refuse(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, text=f"you sent {SPELLINGS[spelling]}, and that is wrong")

    cluster.instead["GET /quota"] = [refuse] * 9
    ran = type_words(cluster, "quota", "list", "-vv", "-o", form, **said)
    assert ran.status != 0
    assert "***" in ran.err
    check_nothing_shown(ran)


@pytest.mark.parametrize("form", ["table", "json"])
def test_what_a_master_was_started_with(cluster, form):
    cluster.flags["zk"] = f"zk://mesos:{SECRET}@zk1:2181/mesos"
    cluster.flags["modules"] = json.dumps({"parameters": [{"key": "password", "value": SECRET}]})
    ran = type_words(cluster, "quota", "check", "a", "cpus:1", "-vv", "-o", form)
    assert ran.status == 0, ran.err
    assert "zk://***@zk1:2181" in ran.err
    check_nothing_shown(ran)


@pytest.mark.parametrize(
    "address",
    [pytest.param(f"zk://ops:{SECRET}@127.0.0.1:1/m", marks=pytest.mark.socket), f"http://ops:{SECRET}@host"],
)
@pytest.mark.parametrize("way", ["option", "variable", "file"])
def test_in_an_address(address, way, tmp_path):
    """Whether it makes sense or not."""
    kept = tmp_path / "address"
    kept.write_text(address)
    named = {"option": ("--master", address), "file": ("--master", f"file://{kept}"), "variable": ()}[way]
    environment = InMemory(variables={"MESOSCTL_MASTER": address} if way == "variable" else {}, sleep=lambda _: None)
    status = main(["quota", "list", "-vv", "--timeout", "1", *named], environment)
    assert status in (2, 3, 7, 9)
    check_nothing_shown(Ran(status, environment.out, environment.err))


def test_what_counts_for_nothing_is_known_all_the_same(cluster, tmp_path):
    """A variable that an option is stronger than, and the password of a proxy."""
    kept = tmp_path / "kept"
    kept.write_text("another secret")
    kept.chmod(0o600)
    cluster.quotas[SECRET] = guarantee(cpus=1)
    cluster.quotas["proxy-password"] = guarantee(cpus=1)
    ran = type_words(
        cluster,
        *("quota", "list", "-o", "json", "--principal", "ops", "--secret-file", str(kept)),
        MESOSCTL_SECRET=SECRET,
        https_proxy="http://me:proxy-password@proxy:3128",
    )
    assert (ran.status, [quota["role"] for quota in ran.json["quotas"]]) == (0, ["***", "***"])


def fake(tmp_path: Path, *words: str, **variables: str) -> Ran:
    environment = InMemory(
        variables={"MESOSCTL_MASTER": "fake:?version=1.11", "XDG_STATE_HOME": str(tmp_path), **variables},
        sleep=lambda _: None,
    )
    return Ran(main(words, environment), environment.out, environment.err)


def test_in_what_is_kept(tmp_path, monkeypatch):
    """Snapshots, exports and reports; it is said where they are not what the cluster has."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    secret = "hunter2hunter2"
    assert fake(tmp_path, "quota", "set", secret, "cpus:1").status == 0
    said = {"MESOSCTL_PRINCIPAL": "ops", "MESOSCTL_SECRET": secret}
    kept = {name: tmp_path / name for name in ("snapshot.json", "export.toml", "report.html")}
    for words in (
        ("snapshot", "-f", str(kept["snapshot.json"])),
        ("export", "-f", str(kept["export.toml"])),
        ("quota", "set", "b", "cpus:1", "--dry-run", "--report", str(kept["report.html"])),
    ):
        ran = fake(tmp_path, *words, **said)
        assert ran.status == 0, ran.err
        assert secret not in ran.out + ran.err
        assert ("is hidden" in ran.err) == (words[0] != "quota")
    for name, path in kept.items():
        text = path.read_text()
        assert secret not in text
        assert "***" in text or name == "report.html"
    json.loads(kept["snapshot.json"].read_text())
    for typed in ("snapshot", "export", "export -o json"):
        ran = fake(tmp_path, *typed.split(), **said)
        assert (ran.status, "***" in ran.out, secret in ran.out + ran.err) == (0, True, False)


def test_in_the_journal_of_an_apply(cluster, tmp_path, monkeypatch):
    """A master that tells nothing of itself is known by its address, and that holds a secret."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mesosctl.apply.work.perform", interrupt)
    monkeypatch.setattr("mesosctl.client.leader.Leader._named", lambda _: ["http://master:5050"])
    wanted = tmp_path / "wanted.toml"
    wanted.write_text("[quotas.a]\nlimit = 'cpus:1'\n")
    cluster.agents = []
    ran = type_words(
        cluster,
        *("apply", "-f", str(wanted), "-vv"),
        MESOSCTL_MASTER=f"zk://ops:{SECRET}@zk1/mesos",
        XDG_STATE_HOME=str(tmp_path),
    )
    assert (ran.status, "0 of 1 steps done" in ran.err) == (130, True), ran.err
    check_nothing_shown(ran)
    (journal,) = (tmp_path / "mesosctl" / "apply").glob("*.json")
    assert INSIDE not in journal.read_text()
    assert "zk1/mesos" in journal.read_text()
    assert journal.stat().st_mode & 0o777 == 0o600


def test_in_the_names_for_completion(cluster, tmp_path):
    cluster.quotas["web"] = guarantee(cpus=1)
    cluster.roles = [{"name": "web"}, {"name": f"role-{SECRET}"}]
    type_words(
        cluster,
        "quota",
        "list",
        "-o",
        "json",
        MESOSCTL_PRINCIPAL="ops",
        MESOSCTL_SECRET=SECRET,
        XDG_CACHE_HOME=str(tmp_path),
    )
    kept = [path.read_text() for path in tmp_path.rglob("role")]
    assert kept
    assert all("web" in text and INSIDE not in text for text in kept)


def test_in_a_hint_as_well(cluster, monkeypatch):
    def fail(*_: Any) -> None:
        raise BadInput("m", field=f"f {SECRET}", hint=f"h {SECRET}")

    monkeypatch.setattr("mesosctl.reading.quotas.read_quotas", fail)
    for form in ("table", "json"):
        monkeypatch.setattr("mesosctl.client.leading_master.LeadingMaster.get", fail)
        ran = type_words(cluster, "quota", "list", "-o", form, MESOSCTL_PRINCIPAL="ops", MESOSCTL_SECRET=SECRET)
        assert ran.status == 3
        check_nothing_shown(ran)
