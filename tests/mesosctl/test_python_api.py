"""`mesosctl.Master`: the commands from Python, and the same values as `-o json`."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest

import mesosctl
from fake_master import FakeMaster
from mesosctl import (
    BadInput,
    Conflict,
    Forbidden,
    Master,
    MesosctlError,
    NotFound,
    RuleViolation,
    Unauthenticated,
    Unreachable,
    UsageError,
    recorded_cost,
)
from mesosctl.__main__ import main
from mesosctl.mesos import errors
from tests.helpers.surroundings import InMemory
from tests.mesosctl.usage.priced import write_priced

AGENT = "cpus:4;mem:2048"


@pytest.fixture
def fake():
    with FakeMaster([AGENT, AGENT]) as started:
        yield started


@pytest.fixture
def master(fake):
    return Master("http://mesos:5050", transport=fake.transport)


# --- The names ----------------------------------------------------------------------------------------


def test_the_public_names_are_these():
    values = (
        "AgentChange ClusterAccount ClusterSnapshot CostReport ForecastDocument Master QuotaChange QuotaCheck "
        "ReservationEntry RoleQuota SpareCapacity recorded_cost"
    )
    of_errors = (
        "BadInput Conflict DeadlinePassed Denied Forbidden Invalid MasterFailed MesosctlError NoLeader NoMaster "
        "NoZooKeeper NotConfirmed NotFound Rejected RuleViolation TlsFailure Unauthenticated UnexpectedAnswer "
        "Unreachable UsageError"
    )
    assert sorted(mesosctl.__all__) == sorted(values.split() + of_errors.split())
    methods = (
        "account check_quota forecast quota quotas remove_quota reservations reserve set_quota set_weights snapshot "
        "spare unreserve update_quota weights"
    )
    assert [name for name in dir(Master) if not name.startswith("_")] == methods.split()


@pytest.mark.parametrize("name", mesosctl.__all__)
def test_each_of_them_is_there_and_documented(name):
    assert getattr(mesosctl, name).__doc__
    assert name in dir(mesosctl)


def test_every_error_that_an_operation_raises_is_public():
    unraised = {"Bug", "Interrupted", "HungUp", "Terminated"}
    tree = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, MesosctlError)}
    assert tree - unraised <= set(mesosctl.__all__)


@pytest.mark.process
def test_importing_it_loads_nothing():
    code = "import mesosctl, sys; print(*(name for name in sys.modules if name.startswith(('mesosctl', 'httpx'))))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "mesosctl\n"
    )


@pytest.mark.process
def test_its_names_load_no_command_and_nothing_that_writes_on_a_terminal():
    code = "import sys; from mesosctl import *; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    words = [name.split(".") for name in ran.stdout.split()]
    assert ["mesosctl", "python_api"] in words
    assert [".".join(parts) for parts in words if parts[0] in ("typer", "rich", "click")] == []
    assert [
        ".".join(parts) for parts in words if parts[:2] == ["mesosctl", "cli"] or parts[-1].endswith("command")
    ] == []


# --- Quota --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("guarantee", ["cpus:2;mem:1GiB", {"cpus": 2, "mem": 1024.0}])
def test_a_quota_comes_changes_and_goes(fake, master, guarantee):
    change = master.set_quota("web", guarantee)
    assert (change.role, change.done, change.before, change.confirmed) == ("web", "set", None, True)
    assert fake.roles["web"].guarantees == {"cpus": 2.0, "mem": 1024.0}
    assert master.update_quota("web", limit={"cpus": 3}).after.limit == {"cpus": 3.0}
    assert master.update_quota("web", "cpus:1", "none").after.guarantee == {"cpus": 1.0}
    assert master.quota("web").limit == {}
    assert list(master.quotas()) == ["web"]
    assert master.remove_quota("web").after is None
    assert master.quotas() == {}


def test_a_quota_that_would_not_fit(master):
    check = master.check_quota("web", "cpus:9")
    assert (check.passed, check.largest) == (False, {"cpus": 8.0, "mem": 4096.0})
    with pytest.raises(Conflict):
        master.set_quota("web", "cpus:9")
    assert master.set_quota("web", "cpus:9", force=True).confirmed


@pytest.mark.parametrize(
    ("amounts", "error"),
    [
        ({"cpus": float("nan")}, RuleViolation),
        ({"cpus": -1}, RuleViolation),
        ({"cpus": "2"}, RuleViolation),
        ({"cpus": 0}, RuleViolation),
        ({"cups": 1}, RuleViolation),
        ("cpus", RuleViolation),
    ],
)
def test_amounts_that_are_none(fake, master, amounts, error):
    with pytest.raises(error):
        master.set_quota("web", amounts)
    assert "web" not in fake.roles


@pytest.mark.parametrize("act", ["quota", "remove_quota"])
def test_a_role_without_quota(master, act):
    with pytest.raises(NotFound, match="web"):
        getattr(master, act)("web")


def test_an_update_makes_a_quota_only_where_it_may(master):
    with pytest.raises(NotFound):
        master.update_quota("web", "cpus:1")
    assert master.update_quota("web", "cpus:1", create=True).before is None


# --- Weights, reservations ----------------------------------------------------------------------------


def test_weights(fake, master):
    assert master.set_weights({"web": 2, "ads": 0.5})
    assert master.weights() == {"ads": 0.5, "web": 2.0}
    assert fake.roles["web"].weight == 2.0
    with pytest.raises(RuleViolation, match="not above zero"):
        master.set_weights({"web": 0})


def test_a_reservation_is_made_refined_and_undone(fake, master):
    change = master.reserve("agent-1", "cpus:2;mem:512", "ads", labels={"why": "test"})
    assert (change.agent.hostname, change.done, change.by_master, change.by_agent) == (
        "agent-1",
        "reserved",
        True,
        True,
    )
    master.reserve("agent-1", {"cpus": 1}, "ads/video", under=["ads"])
    assert fake.agents[0].reserved == {"ads": {"cpus": 1.0, "mem": 512.0}, "ads/video": {"cpus": 1.0}}
    found = master.reservations(role="ads", agent="agent-1")
    assert {(entry.role, entry.stack[0].labels[0].value) for entry in found} == {("ads", "test"), ("ads/video", "test")}
    assert master.reservations(agent="agent-2") == []
    master.unreserve("agent-1", "cpus:1", "ads/video")
    master.unreserve("agent-1", "cpus:2;mem:512", "ads", labels={"why": "test"})
    assert master.reservations() == []
    with pytest.raises(NotFound, match="agent-3"):
        master.reserve("agent-3", "cpus:1", "ads")


def test_an_agent_that_is_called_like_the_short_id_of_another_takes_nobodys_place():
    with FakeMaster([{"hostname": "S1", "resources": AGENT}, {"hostname": "h2", "resources": AGENT}]) as fake:
        master = Master("http://mesos:5050", transport=fake.transport)
        for refused in (
            lambda: master.reserve("S1", "cpus:1", "ads"),
            lambda: master.unreserve("S1", "cpus:1", "ads"),
            lambda: master.reservations(agent="S1"),
            lambda: master.forecast("reserve:S1=cpus(ads):1"),
            lambda: master.forecast(lose_agents=["S1"]),
            lambda: fake.lose("S1"),
        ):
            with pytest.raises(UsageError, match=r"'S1' matches several agents: host:S1 .*, id:S1"):
                refused()
        assert master.reserve("host:S1", "cpus:1", "ads").agent.hostname == "S1"
        assert master.reserve("id:S1", "cpus:2", "ads").agent.hostname == "h2"
        assert [one.agent.hostname for one in master.reservations(agent="id:S1")] == ["h2"]
        lost = master.forecast(lose_agents=["host:S1"]).agents_lost
        assert [one.hostname for one in lost] == ["S1"]
        fake.lose("id:S1")
        assert [agent.hostname for agent in fake.agents] == ["S1"]


# --- Snapshots and forecasts --------------------------------------------------------------------------


def test_the_account_says_what_every_role_has(master):
    master.set_quota("web", "cpus:2")
    account = master.account()
    assert dict(account.status("web").quota.guarantees) == {"cpus": 2000}
    assert account == master.account(master.snapshot())


def test_a_snapshot_in_a_file_can_be_asked_like_a_master(master, tmp_path):
    master.set_quota("web", "cpus:3")
    snapshot = master.snapshot(tmp_path / "s.json")
    assert len(snapshot.agents) == 2
    kept = Master(f"fake:{tmp_path / 's.json'}")
    assert kept.quota("web").guarantee == {"cpus": 3.0}
    assert not kept.forecast("quota:ads=cpus:6").accepted


def test_a_forecast_changes_nothing(fake, master):
    forecast = master.forecast("quota:web=cpus:5", lose_agents=["agent-2"])
    assert (forecast.accepted, [lost.hostname for lost in forecast.agents_lost]) == (False, ["agent-2"])
    assert master.forecast("quota:web=cpus:5").harmless
    assert (len(fake.agents), "web" in fake.roles) == (2, False)
    earlier = master.snapshot()
    fake.lose("agent-2")
    assert not master.forecast("quota:web=cpus:5").accepted
    assert master.forecast("quota:web=cpus:5", snapshot=earlier).accepted
    assert master.forecast("quota:web=cpus:5", add_agents=["cpus:4"]).accepted
    with pytest.raises(UsageError, match="no change was given"):
        master.forecast()


# --- Who asks, and whom -------------------------------------------------------------------------------


def test_credentials(tmp_path):
    (tmp_path / "c").write_text('{"credentials": [{"principal": "ops", "secret": "s"}]}', encoding="utf-8")
    flags: dict[str, str | float | bool] = {
        "credentials": str(tmp_path / "c"),
        "authenticate_http_readwrite": True,
        "acls": json.dumps({"update_quotas": [{"principals": {"values": ["ops"]}, "roles": {"type": "NONE"}}]}),
    }
    with FakeMaster([AGENT], flags=flags) as fake:
        with pytest.raises(Unauthenticated):
            Master("http://mesos:5050", transport=fake.transport).quotas()
        allowed = Master("http://mesos:5050", transport=fake.transport, principal="ops", secret="s")
        assert allowed.quotas() == {}
        with pytest.raises(Forbidden):
            allowed.set_quota("web", "cpus:1")


def test_a_quota_that_an_acl_hides_is_not_replaced(tmp_path):
    hide = {"get_quotas": [{"principals": {"type": "ANY"}, "roles": {"type": "NONE"}}]}
    with FakeMaster([AGENT], flags={"acls": json.dumps(hide)}) as fake:
        master = Master("http://mesos:5050", transport=fake.transport)
        asked = httpx.Client(base_url="http://mesos:5050", transport=fake.transport)
        hidden = {"role": "web", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 3}}]}
        assert asked.post("/quota", json=hidden).status_code == 200
        assert master.quotas() == {}
        with pytest.raises(errors.Rejected):
            master.set_quota("web", "cpus:1")
        with pytest.raises(Conflict, match="may not see; nothing was done"):
            master.set_quota("web", limit="cpus:1")
        with pytest.raises(Conflict, match="may not see; nothing was done"):
            master.update_quota("web", limit="cpus:1", create=True)
        environment = InMemory(
            io.StringIO('[quotas.web]\nlimit = "cpus:1"\n'),
            variables={"MESOSCTL_MASTER": "http://mesos:5050", "XDG_STATE_HOME": str(tmp_path)},
            transport=fake.transport,
        )
        assert main(["apply", "-f", "-", "--yes"], environment) == 6
        assert "may not see; nothing was done" in environment.err
        (role,) = [one for one in asked.get("/roles").json()["roles"] if one["name"] == "web"]
        assert role["quota"]["guarantee"]["cpus"] == 3


@pytest.mark.parametrize(
    "options",
    [
        {"principal": "ops"},
        {"secret": "s"},
        {"principal": "a:b", "secret": "s"},
        {"principal": "ops", "secret": "s", "token": "t"},
    ],
)
def test_credentials_that_make_no_sense(options):
    with pytest.raises(UsageError):
        Master("http://mesos:5050", **options)


def test_an_address_that_is_none():
    with pytest.raises(UsageError):
        Master("ftp://mesos").quotas()
    with pytest.raises(BadInput):
        Master("fake:/nowhere.toml").quotas()


def test_nobody_is_there():
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(Unreachable):
        Master("http://mesos:5050", transport=httpx.MockTransport(refuse), timeout=0.2).set_quota("web", "cpus:1")


def test_a_master_goes_on_with_the_next_leader(fake, master):
    master.set_quota("web", "cpus:1")
    fake.fail_over()
    assert list(master.quotas()) == ["web"]


# --- The command line says the same -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "act", "where"),
    [
        (["quota", "list"], lambda master: list(master.quotas().values()), "quotas"),
        (["quota", "show", "web"], lambda master: [master.quota("web")], "quota"),
        (["quota", "check", "b", "cpus:9"], lambda master: [master.check_quota("b", "cpus:9")], None),
        (["reservations"], lambda master: master.reservations(), "reservations"),
        (["whatif", "quota:b=cpus:9"], lambda master: [master.forecast("quota:b=cpus:9")], None),
    ],
)
def test_the_value_is_the_document(fake, master, words, act: Callable[[Master], list[Any]], where):
    master.set_quota("web", "cpus:1")
    master.reserve("agent-1", "cpus:1", "ads")
    shown = json.loads(typed(fake, *words))
    found = shown if where is None else shown[where]
    documents = found if isinstance(found, list) else [found]
    returned = [value.model_dump(mode="json") for value in act(master)]
    for document in (*returned, *documents):
        document.pop("taken_at", None)
    assert returned == documents


def typed(fake: FakeMaster, *words: str) -> str:
    """Standard output of a command with -o json."""
    stdout = io.StringIO()
    environment = InMemory(
        stdin=io.StringIO(),
        stdout=stdout,
        stderr=io.StringIO(),
        variables={"MESOSCTL_MASTER": "http://mesos:5050"},
        ask_secret=lambda _: "",
        transport=fake.transport,
    )
    main([*words, "-o", "json"], environment)
    return stdout.getvalue()


# --- What a recording cost ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("", {}),
        ("--month 2026-11 --by principal", {"month": "2026-11", "by": "principal"}),
        (
            "--since 2026-11-01 --timezone Europe/Berlin --share idle=evenly",
            {"since": "2026-11-01", "timezone": "Europe/Berlin", "share": "evenly"},
        ),
    ],
)
def test_the_cost_of_a_recording_is_that_of_usage(tmp_path, words, given):
    write_priced(tmp_path)
    history, prices = tmp_path / "h.sqlite", str(tmp_path / "prices.toml")
    environment = InMemory(variables={"HOME": str(tmp_path)})
    line = ["usage", "--history", str(history), "--prices", prices, *words.split(), "-o", "json"]
    assert main(line, environment) == 0, environment.err
    assert json.loads(environment.out) == json.loads(recorded_cost(history, prices, **given).model_dump_json())


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"prices": "none.toml"}, BadInput, "none.toml cannot be read"),
        ({"history": "none.sqlite"}, BadInput, "none.sqlite"),
        ({"by": "agent", "share": "use"}, UsageError, "idle cost is shared among roles, not by agent"),
        ({"by": "user"}, UsageError, "by is 'user', but not one of role, framework, principal, agent"),
        ({"share": "idle"}, UsageError, "share is 'idle', but not one of use, guarantee, evenly"),
        ({"timezone": "Mars"}, UsageError, "there is no time zone 'Mars'"),
        ({"month": "2026-11", "since": "1d"}, UsageError, "--month is a span of its own"),
        ({"cluster_id": "other"}, MesosctlError, "the recording has no cluster 'other'"),
    ],
)
def test_what_is_wrong_with_a_question_about_cost_is_told(tmp_path, monkeypatch, given: dict[str, Any], error, says):
    monkeypatch.chdir(tmp_path)
    write_priced(tmp_path)
    with pytest.raises(error, match=says):
        recorded_cost(**{"history": "h.sqlite", "prices": "prices.toml"} | given)
