"""One account of a cluster: whatever shows a cluster shows the same, and the sums are right."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import httpx
import pytest
from hypothesis import Phase, event, find, given, settings
from hypothesis import strategies as st

import fake_master
import mesosctl
from fake_master.registry.interface import MemoryRegistry
from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from fake_master.state.account import AccountsOfMaster
from mesosctl.agents.report import agent_list, agent_summary
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.amounts.amount_text import in_words
from mesosctl.mesos.amounts.holding import UsedAndOffered, regular_part, revocable_part
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.cluster.account import AgentBalance, account_of, agent_as_shown, sums_of_agents
from mesosctl.mesos.cluster.role_status import RoleStatus, RoleUsage
from mesosctl.mesos.door.forecast import DryRunOptions
from mesosctl.mesos.rules.version_profile import PROFILES
from mesosctl.quota.documents import RoleQuota
from mesosctl.reading.lists import list_agents, list_frameworks, list_roles
from mesosctl.reading.overview import OverviewReader
from mesosctl.reading.quotas import list_quotas
from mesosctl.reading.selection import Selection
from mesosctl.show.document import amounts as amounts_of
from mesosctl.show.html_page import ReportOrigin
from mesosctl.snapshot.work import read_snapshot
from mesosctl.whatif.page import page
from tests.helpers.lab import CommandLine, Lab
from tests.helpers.profiles import examples

ROLES = ("web", "web/shop", "batch", "idle")
NO_WAIT = ClientSettings()

amounts = st.integers(0, 6)
reserved = st.dictionaries(st.sampled_from(ROLES), st.integers(1, 3), max_size=2)


@st.composite
def agents(draw: st.DrawFn) -> AgentSpec:
    owned = "".join(f";cpus({role}):{cpus};mem({role}):{cpus * 100}" for role, cpus in draw(reserved).items())
    slack = draw(st.sampled_from(["", "cpus:2", "cpus:3;mem:300"]))
    return AgentSpec(
        f"cpus:{draw(st.integers(1, 8))};mem:{draw(st.integers(1, 8)) * 100}{owned}",
        active=draw(st.sampled_from([True, True, True, False])),
        oversubscribed=slack,
    )


@st.composite
def frameworks(draw: st.DrawFn, number: int) -> SimulatedFrameworkSpec:
    capabilities = ["MULTI_ROLE", "RESERVATION_REFINEMENT"]
    if draw(st.sampled_from([True, True, False])):
        capabilities.append("REVOCABLE_RESOURCES")
    roles = tuple(draw(st.lists(st.sampled_from(ROLES[:3]), min_size=1, max_size=2, unique=True)))
    return SimulatedFrameworkSpec(
        f"f{number}",
        roles,
        parse_resources(f"cpus:{draw(st.integers(1, 3))};mem:{draw(st.integers(1, 3)) * 50}"),
        tasks=draw(st.none() | st.integers(0, 6)),
        per_offer=draw(st.none() | st.integers(1, 2)),
        answer=draw(st.sampled_from(["accept", "accept", "decline", "hold"])),
        capabilities=tuple(capabilities),
        suppressed=roles if draw(st.sampled_from([False, False, False, True])) else (),
    )


@st.composite
def clusters(draw: st.DrawFn, *, lending: bool = True, versions: Sequence[str] = ("documents", "1.11")) -> Lab:
    lends = lending and draw(st.booleans())
    version = "1.11" if lends else draw(st.sampled_from(versions))
    kept = MemoryRegistry()
    lab = Lab(
        *draw(st.lists(agents(), min_size=1, max_size=4)),
        version=version,
        registry=lambda: kept,
        frameworks=tuple(draw(frameworks(number)) for number in range(draw(st.sampled_from([3, 2, 4, 1, 0])))),
        flags={"oversubscribe_reservations": "true"} if lends else {},
    )
    for role in sorted(draw(st.sets(st.sampled_from(("web", "batch"))))):
        cpus = {"name": "cpus", "type": "SCALAR", "scalar": {"value": float(draw(st.integers(1, 12)))}}
        assert lab.post("/quota", {"role": role, "guarantee": [cpus], "force": True}) == 200
    if draw(st.booleans()):
        assert lab.request("PUT", "/weights", [{"role": "batch", "weight": 2.0}]).status == 200
    for _ in range(draw(st.integers(1, 4))):
        lab.wait(draw(st.sampled_from([1.0, 3.0, 7.0])))
    if draw(st.sampled_from([False, False, True])):  # a failover; some agents may not come back
        back = lab.spec.agents[: draw(st.integers(1, len(lab.spec.agents)))]
        lab.restart(replace(lab.spec, agents=back))
        lab.wait(draw(st.sampled_from([0.0, 2.0])))
    return lab


KINDS = (
    "lent",
    "revocable",
    "reserved and idle",
    "reserved and used",
    "offered",
    "recovering",
    "below guarantee",
    "kept",
    "unmet",
)


def kinds_of(lab: Lab) -> set[str]:
    """The kinds of a cluster; a screen may be wrong about one of them alone."""
    account = AccountsOfMaster().of(lab.master.state)
    found = (
        account.lent,
        account.throttleable,
        account.idle,
        any(holding.owned_used for holding in account.roles.values()),
        account.offered,
        lab.master.state.known_agents.awaited,
        any(account.status(role).standing == "below guarantee" for role in account.quotas),
        any(account.status(role).guarantee_state == "kept" for role in account.quotas),
        any(account.status(role).guarantee_state == "unmet" for role in account.quotas),
    )
    return {kind for kind, amount in zip(KINDS, found, strict=True) if amount}


ADDRESS = "http://127.0.0.1:5050"


def reader(lab: Lab) -> LeadingMaster:
    return LeadingMaster(parse_address(ADDRESS), NO_WAIT, CommandLine(lab))


class WithoutMetrics(CommandLine):
    """A principal that may not see the metrics, in which alone a master shows suppressed roles."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/metrics/snapshot":
            return httpx.Response(403)
        return super().handle_request(request)


def scalars(held: Quantities | None) -> Mapping[str, int]:
    return {name: milli for name, milli in (held or {}).items() if name != "ports"}


def told(status: RoleStatus) -> dict[str, object]:
    """Everything that screens say of a role."""
    usage = status.usage or RoleUsage()
    return {
        "quota": status.quota,
        "standing": status.standing,
        "guarantee state": status.guarantee_state,
        "weight": usage.weight,
        "frameworks": usage.frameworks,
        **{
            name: scalars(found)
            for name, found in (
                ("used", status.used),
                ("offered", usage.offered),
                ("reserved", usage.reserved),
                ("idle", usage.idle),
                ("counted", status.counted),
                ("with offers", usage.counted_with_offers),
                ("missing", status.missing),
                ("unmet", status.unmet),
                ("limited", usage.limited),
                ("reached", status.reached),
            )
        },
    }


@pytest.mark.parametrize("kind", KINDS)
def test_the_random_clusters_are_of_every_kind(kind):
    some = settings(max_examples=500, database=None, phases=[Phase.generate], derandomize=True)
    assert kind in kinds_of(find(clusters(), lambda lab: kind in kinds_of(lab), settings=some))


@settings(max_examples=examples(100))
@given(clusters())
def test_the_account_of_a_snapshot_is_that_of_the_master(lab):
    made, own = account_of(read_snapshot(reader(lab))), AccountsOfMaster().of(lab.master.state)
    for kind in kinds_of(lab):
        event(kind)
    assert made == own
    for party in ("roles", "frameworks"):
        for name, holding in getattr(made, party).items():
            theirs = getattr(own, party)[name]
            assert (holding.lent, holding.throttleable) == (theirs.lent, theirs.throttleable)
            assert (holding.plain_used, holding.owned_used) == (theirs.plain_used, theirs.owned_used)


@settings(max_examples=examples(100))
@given(clusters())
def test_the_lists_show_the_account(lab):
    master = reader(lab)
    account = account_of(read_snapshot(master))
    assert {one.id: one.holding for one in list_frameworks(master, Selection())} == account.frameworks
    roles = {status.role: told(status) for status in list_roles(master, Selection())}
    assert roles == {role: told(account.status(role)) for role in account.known_roles}
    quotas = {status.role: told(status) for status in list_quotas(master, with_usage=True)}
    assert quotas == {role: roles[role] for role in account.quotas}


EVERY_ONE = tuple(PROFILES)


@settings(max_examples=examples(100))
@given(clusters(lending=False, versions=EVERY_ONE))
def test_what_counts_towards_a_guarantee_is_what_the_allocator_counts(lab):
    own, allocator = AccountsOfMaster().of(lab.master.state), lab.master.allocator
    listed = {status.role: status for status in list_quotas(reader(lab), with_usage=True)}
    assert listed.keys() == own.quotas.keys()
    for role, status in listed.items():
        node = allocator.state.roles.get(role)
        counted = scalars(Quantities(allocator.state.consumed_by(node)))
        assert status.usage is not None
        assert scalars(own.counted.get(role)) == scalars(status.usage.counted_with_offers) == counted
        assert own.shortfall(role) == status.missing


OF_AN_AGENT = ("total", "used", "offered", "free", "idle", "free_for_all", "slack", "lent", "whole")


def told_of_agent(one: AgentBalance) -> dict[str, object]:
    """Everything that screens say of an agent."""
    parts = {what: getattr(one, what).separate_quantities() for what in OF_AN_AGENT}
    return {"in service": one.is_in_service, "reserved": one.reserved, **parts}


@settings(max_examples=examples(100))
@given(clusters())
def test_the_agents_add_up_to_the_account(lab):
    master = reader(lab)
    account = account_of(read_snapshot(master))
    listed = [agent_as_shown(agent) for agent in list_agents(master, Selection()) if agent.status != "recovering"]

    def total(what: str) -> Quantities:
        return Quantities.total(getattr(agent, what).scalar_quantities() for agent in listed)

    def regular(what: str) -> Quantities:
        return Quantities.total(getattr(agent, what).non_revocable().scalar_quantities() for agent in listed)

    assert (regular_part(account.used), regular_part(account.offered)) == (regular("used"), regular("offered"))
    assert (account.lent, account.idle, account.free) == (total("lent"), total("idle"), total("free_for_all"))
    assert (account.registered, account.slack) == (regular("total"), total("slack"))


@settings(max_examples=examples(100))
@given(clusters())
def test_every_agent_is_shown_with_its_account(lab):
    master = reader(lab)
    account = account_of(read_snapshot(master))
    agents = list_agents(master, Selection())
    listed = {agent.id: told_of_agent(agent_as_shown(agent)) for agent in agents if agent.status != "recovering"}
    assert listed == {id_: told_of_agent(one) for id_, one in account.by_agent.items()}
    assert sums_of_agents([agent_as_shown(agent) for agent in agents]) == (account.free, account.idle, account.lent)


@settings(max_examples=examples(40))
@given(clusters())
def test_the_list_of_agents_writes_the_account(lab):
    agents = list_agents(reader(lab), Selection())
    account = account_of(read_snapshot(reader(lab)))
    sums = [("free", account.free), ("reserved and idle", account.idle), ("lent", account.lent)]
    written = agent_summary(agents).split("; ")[1:]
    assert written == [f"{word}: {in_words(held)}" for word, held in sums if held or word == "free"]
    documents = {document["id"]: document for document in (item.model_dump() for item in agent_list(agents).lines())}
    for id_, one in account.by_agent.items():
        for figure in ("total", "used", "offered", "free", "lent"):
            assert documents[id_][figure]["amounts"] == amounts_of(getattr(one, figure).separate_quantities()), figure
        assert documents[id_]["reserved"] == {role: amounts_of(held) for role, held in one.reserved.items()}


@settings(max_examples=examples(100))
@given(clusters())
def test_what_there_is_is_used_offered_idle_or_free(lab):
    lab_account = AccountsOfMaster().of(lab.master.state)
    if lab_account.agents["inactive"]:
        return
    parts = (regular_part(lab_account.used), regular_part(lab_account.offered), lab_account.idle, lab_account.free)
    assert Quantities.total(parts) == lab_account.registered == lab_account.totals


@settings(max_examples=examples(100))
@given(clusters())
def test_top_shows_the_account(lab):
    master = reader(lab)
    account = account_of(read_snapshot(master))
    shown = OverviewReader(master, lab.clock, lab.clock).read()
    assert (shown.total, shown.used) == (account.registered, regular_part(account.used))
    assert (shown.offered, shown.idle) == (account.offered, account.idle)
    assert shown.agents.get("active", 0) == account.agents["active"]
    assert shown.revocable == revocable_part(account.used)
    assert {one.role: told(one) for one in shown.roles} == {
        role: told(account.status(role)) for role in account.known_roles
    }


@settings(max_examples=examples(100))
@given(clusters())
def test_a_guarantee_is_what_is_met_kept_and_unmet(lab):
    account = account_of(read_snapshot(reader(lab)))
    for role, quota in account.quotas.items():
        lacking = quota.guarantees - account.counted.get(role, Quantities())
        assert account.kept[role] + account.unmet()[role] == lacking == account.status(role).missing
        assert not (role in account.asking and account.kept[role])
    assert account.free.contains(Quantities.total(account.kept.values()))
    assert account.free.contains(account.headroom)
    assert account.owed.contains(account.headroom)


GAUGE = re.compile(r'mesosctl_role_guarantee_(kept|unmet)\{resource="(\w+)",role="([^"]+)",unit="\w+"\} (\S+)')


@settings(max_examples=examples(60))
@given(clusters())
def test_metrics_and_the_page_show_what_is_kept_and_unmet(lab):
    account = account_of(read_snapshot(reader(lab)))
    text = CommandLine(lab).run("metrics").out
    shown = {(part, role, name): float(value) for part, name, role, value in GAUGE.findall(text)}
    parts = {"kept": account.kept, "unmet": account.unmet()}
    assert shown == {
        (part, role, name): amounts[role].get_amount(name) / 1000
        for part, amounts in parts.items()
        for role, quota in account.quotas.items()
        for name in quota.guarantees
    }
    of_page = {row["name"]: row["guarantee_state"] for row in lab.read("/page/cluster")["roles"]["rows"]}
    assert {role: of_page[role] for role in account.quotas} == {
        role: account.status(role).guarantee_state or "" for role in account.quotas
    }


@settings(max_examples=examples(100))
@given(clusters())
def test_a_forecast_begins_with_the_account(lab):
    snapshot = read_snapshot(reader(lab))
    account, before = account_of(snapshot), fake_master.start_dry_run(snapshot, DryRunOptions(cycles=1)).before
    assert used_by(before.roles) == used_by(account.roles)
    assert used_by(before.frameworks) == used_by(account.frameworks)
    for figure in ("totals", "registered", "capacity", "slack", "quotas", "weights", "reserved", "subscribed"):
        assert getattr(before, figure) == getattr(account, figure), figure
    assert {role: found for role, found in before.limited.items() if found} == {
        role: found for role, found in account.limited.items() if found
    }
    assert before.asking == account.asking


def used_by(holdings: Mapping[str, UsedAndOffered]) -> dict[str, Quantities]:
    return {name: holding.used for name, holding in holdings.items() if holding.used}


@settings(max_examples=examples(100))
@given(clusters())
def test_an_explanation_shows_the_account(lab):
    snapshot = read_snapshot(reader(lab))
    account = account_of(snapshot)
    subjects = [(framework.id, role) for framework in snapshot.frameworks for role in framework.roles]
    for explained in fake_master.account_offers(snapshot, subjects, {}):
        lines: dict[tuple[str, str | None], list[Quantities]] = {}
        for line in explained.lines:
            lines.setdefault((line.cause, line.framework_id), []).append(line.amounts)
        sums = {key: Quantities.total(parts) for key, parts in lines.items()}
        for cause, what in (("used", "used"), ("offered", "offered")):
            held = {one: getattr(holding, what) for one, holding in account.frameworks.items()}
            if snapshot.lending is not None:  # loans are part of no agent, and so of no line
                held = {one: regular_part(amounts) for one, amounts in held.items()}
            told = {owner: amounts for (of, owner), amounts in sums.items() if of == cause}
            if snapshot.lending is not None:  # slack of use is part of an agent
                told = {owner: regular for owner, amounts in told.items() if (regular := regular_part(amounts))}
            assert told == {one: amounts for one, amounts in held.items() if amounts}
        assert regular_part(Quantities.total(sums.values())) == account.registered


@settings(max_examples=examples(100))
@given(clusters())
def test_the_python_api_shows_the_account(lab):
    master = mesosctl.Master(ADDRESS, transport=CommandLine(lab))
    account = account_of(read_snapshot(reader(lab)))
    assert master.account() == master.account(master.snapshot()) == account
    quotas = master.quotas()
    assert quotas.keys() == account.quotas.keys()
    for role, shown in quotas.items():
        wanted = RoleQuota.of(account.status(role))
        assert (shown.guarantee, shown.limit) == (wanted.guarantee, wanted.limit)
        assert shown == master.quota(role)
        for figure in ("allocated", "offered", "reserved", "frameworks", "weight"):
            assert getattr(shown.usage, figure) == getattr(wanted.usage, figure), figure


@settings(max_examples=examples(100))
@given(clusters())
def test_the_page_of_the_fake_master_shows_the_account(lab):
    account, shown = account_of(read_snapshot(reader(lab))), lab.read("/page/cluster")
    for figure in ("totals", "capacity", "used", "offered", "lent", "idle", "free"):
        assert shown[figure] == amounts_of(getattr(account, figure)), figure
    for kind in ("roles", "frameworks"):
        holdings = getattr(account, kind)
        for row in shown[kind]["rows"]:
            held = holdings.get(row["id" if kind == "frameworks" else "name"], UsedAndOffered())
            for figure in ("used", "offered", "lent"):
                assert row[figure] == amounts_of(getattr(held, figure)), figure
    for row in shown["agents"]["rows"]:
        for figure in ("used", "offered", "lent"):
            held = getattr(account.by_agent[row["id"]], figure)
            plain = held.scalar_quantities() if figure == "lent" else held.separate_quantities()
            assert row[figure] == amounts_of(plain), figure


@settings(max_examples=examples(40))
@given(clusters())
def test_whether_somebody_wants_is_unknown_where_a_master_does_not_show_it(lab):
    master = LeadingMaster(parse_address(ADDRESS), NO_WAIT, WithoutMetrics(lab))
    account = account_of(read_snapshot(master))
    shown = {status.role: status.standing for status in list_roles(master, Selection())}
    assert shown == {role: account.status(role).standing for role in account.known_roles}
    assert "below guarantee" not in shown.values()
    complete = account_of(read_snapshot(reader(lab)))
    for role in complete.quotas:
        if complete.status(role).standing == "below guarantee":
            event("below guarantee")
            assert shown[role] == "wanting unknown"


@settings(max_examples=examples(40))
@given(clusters())
def test_the_report_shows_the_account_that_a_forecast_begins_with(lab):
    dry_run = fake_master.start_dry_run(read_snapshot(reader(lab)), DryRunOptions(cycles=1))
    before = dry_run.before
    forecast = dry_run.forecast()
    shown = page(forecast, [], ReportOrigin("mesosctl whatif", "1.0", 0.0))
    titles = [html.unescape(title) for title in re.findall(r"<title>(\w+: before .*?)</title>", shown)]
    parties = [
        (one.dominant, (before.roles if one.kind == "role" else before.frameworks).get(one.id, UsedAndOffered()).total)
        for one in (*forecast.roles, *forecast.frameworks)
        if one.dominant is not None
    ]
    assert sorted(title.partition(", after")[0] for title in titles) == sorted(
        f"{name}: before {in_words(held)}" for name, held in parties
    )
    free = f'<td data-title="Before">{html.escape(in_words(before.free) if before.free else "-")}</td>'
    assert free in shown
