"""Lists of agents, frameworks, roles and weights as reports."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mesosctl.model.amount_text import in_words
from mesosctl.model.notation import counted
from mesosctl.model.offers.frameworks import ListedFramework
from mesosctl.model.quantities import format_double
from mesosctl.model.quota.role_status import RoleStatus, WeightChange
from mesosctl.model.reservations.holdings import RegisteredAgent
from mesosctl.model.roles import short_ids
from mesosctl.output.formats.amounts import agent_use_text, amounts_text, plain_resources_text
from mesosctl.output.formats.report import NOTHING, Column, Meaning, Report, Rows, naturally
from mesosctl.output.quota import LEGEND, MEANINGS, QUOTA_USE, guarantee_verdict, quota_use
from mesosctl.output.reservations import agent_id_column
from mesosctl.planning.account import agent_as_shown, sums_of_agents

if TYPE_CHECKING:
    from mesosctl.output.json_documents import cluster

_STATES: dict[str, Meaning] = {
    "active": "met",
    "inactive": "at risk",
    "deactivated": "at risk",
    "draining": "at risk",
    "drained": "at risk",
    "recovered": "at risk",
    "recovering": "not met",
    "disconnected": "not met",
}
AGENT_LEGEND = "█ used   ▒ offered   ▞ reserved, idle   ░ free"


def agent_list(
    agents: Sequence[RegisteredAgent], *, empty: str = "no agents are registered", sort: str | None = None
) -> Report:
    """A line for every agent; `empty` is shown if there is none, and `sort` as in `naturally`."""
    shown = naturally(agents, lambda one: one.hostname, lambda one: one.id, sort=sort)

    def document() -> "cluster.AgentList":
        from mesosctl.output.json_documents import cluster

        return cluster.AgentList(agents=[])

    def items() -> "Iterator[cluster.Agent]":
        from mesosctl.output.json_documents import cluster

        accounts = map(agent_as_shown, agents)
        return (
            cluster.Agent.of(agent, free=account.free, lent=account.lent, reserved=account.reserved)
            for agent, account in zip(agents, accounts, strict=True)
        )

    lends = any(agent_as_shown(agent).lent for agent in agents)
    columns = (
        Column("AGENT"),
        Column("STATUS", meaning=_STATES),
        Column("TOTAL", kind="amounts"),
        Column("USED", kind="amounts"),
        Column("OFFERED", kind="amounts", rank=2),
        *([Column("LENT", kind="amounts", rank=1)] if lends else []),
        Column("RESERVED FOR", key="reserved_for", rank=3),
        Column("ATTRIBUTES", rank=4),
        Column("REGION", wide=True),
        Column("ZONE", wide=True),
        agent_id_column(agents),
        Column("FREE", kind="amounts", rank=1),  # the last one, so that the others keep their places in csv
    )

    def row(agent: RegisteredAgent) -> list[str]:
        account = agent_as_shown(agent)
        return [
            agent.hostname,
            agent.status,
            plain_resources_text(agent.total),
            plain_resources_text(agent.used),
            plain_resources_text(agent.offered),
            *([plain_resources_text(account.lent)] if lends else []),
            ",".join(account.reserved) or NOTHING,
            _attributes(agent),
            agent.region or NOTHING,
            agent.zone or NOTHING,
            agent.id,
            plain_resources_text(account.free),
        ]

    return Report(
        columns,
        Rows(shown, row),
        [agent.id for agent in shown],
        document,
        items,
        empty=empty,
        listing="agents",
        terminal=lambda: _agent_screen(shown, empty),
    )


def _agent_screen(agents: Sequence[RegisteredAgent], empty: str) -> Report:
    lends = any(agent_as_shown(agent).lent for agent in agents)
    columns = (
        Column("AGENT"),
        Column("STATUS", meaning=_STATES, rank=-1 if any(one.status != "active" for one in agents) else 1),
        Column("USED/TOTAL", kind="usage", rank_of_rare=3),
        *([Column("LENT", kind="amounts", rank=1)] if lends else []),
        Column("RESERVED FOR", rank=2),
        Column("ATTRIBUTES", rank=4),
        agent_id_column(agents),
    )

    def row(agent: RegisteredAgent) -> list[str]:
        account = agent_as_shown(agent)
        used, offered, total = (held.separate_quantities() for held in (account.used, account.offered, account.whole))
        use = agent_use_text(used, offered, total, account.idle.quantities())
        lent = [plain_resources_text(account.lent)] if lends else []
        return [
            agent.hostname,
            agent.status,
            use,
            *lent,
            ",".join(account.reserved) or NOTHING,
            _attributes(agent),
            agent.id,
        ]

    remark = [agent_summary(agents), AGENT_LEGEND] if agents else []
    return screen(columns, Rows(agents, row), empty, remark)


def screen(columns: Sequence[Column], rows: Sequence[Sequence[str]], empty: str, remark: Sequence[str]) -> Report:
    """A report only for a terminal; the report that it replaces has the names and the document."""
    return Report(columns, rows, (), _no_document, list, empty=empty, remark=remark)


def _no_document() -> "cluster.AgentList":
    raise AssertionError("the report that it stands for has the document")


def agent_summary(agents: Sequence[RegisteredAgent]) -> str:
    """The number of agents, those out of service by status, and what is free."""
    counts = Counter(agent.status for agent in agents)
    states = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    sums = sums_of_agents([agent_as_shown(agent) for agent in agents])
    parts = [("free", sums.free), ("reserved and idle", sums.idle), ("lent", sums.lent)]
    told = [f"{word}: {in_words(amounts)}" for word, amounts in parts if amounts or word == "free"]
    return "; ".join([f"{counted(len(agents), 'agent')} ({states})", *told])


def _attributes(agent: RegisteredAgent) -> str:
    pairs = sorted(agent.attributes.items())
    texts = (f"{name}={value if isinstance(value, str) else format_double(value)}" for name, value in pairs)
    return ",".join(texts) or NOTHING


def framework_list(
    frameworks: Sequence[ListedFramework], *, empty: str = "no frameworks are registered", sort: str | None = None
) -> Report:
    """A line for every framework; `empty` is shown if there is none, and `sort` as in `naturally`."""
    shown = naturally(frameworks, lambda one: one.title, lambda one: one.id, sort=sort)

    def items() -> "list[cluster.Framework]":
        from mesosctl.output.json_documents import cluster

        return [cluster.Framework.of(framework) for framework in frameworks]

    def document() -> "cluster.FrameworkList":
        from mesosctl.output.json_documents import cluster

        return cluster.FrameworkList(frameworks=items())

    is_shared = len({one.title for one in frameworks}) < len(frameworks)
    short = short_ids({one.id: one.name for one in frameworks}) if is_shared else {}
    columns = (
        Column("FRAMEWORK"),
        Column("STATUS", meaning=_STATES),
        Column("ROLES"),
        Column("USED", kind="amounts"),
        Column("OFFERS", kind="number", rank=1),
        Column("OFFERED", kind="amounts", rank=2),
        Column("PRINCIPAL", rank=3),
        Column("FRAMEWORK ID", wide=not is_shared, short=short, rank=-1),
    )
    rows = [
        [
            one.title,
            one.status,
            ",".join(one.roles) or NOTHING,
            amounts_text(one.used),
            str(one.offers),
            amounts_text(one.offered),
            NOTHING if one.principal is None else one.principal,
            one.id,
        ]
        for one in shown
    ]
    return Report(columns, rows, [one.id for one in shown], document, items, empty=empty)


def role_list(
    roles: Sequence[RoleStatus], *, empty: str = "the master knows no roles", sort: str | None = None
) -> Report:
    """A line for every role; `empty` is shown if there is none, and `sort` as in `naturally`."""
    shown = naturally(roles, lambda one: one.role, sort=sort)

    def items() -> "list[cluster.Role]":
        from mesosctl.output.json_documents import cluster

        return [cluster.Role.of(status) for status in roles]

    def document() -> "cluster.RoleList":
        from mesosctl.output.json_documents import cluster

        return cluster.RoleList(roles=items())

    columns = (
        Column("ROLE"),
        Column("STATUS", meaning=MEANINGS),
        Column("WEIGHT", kind="number", rank=3),
        Column("FRAMEWORKS", kind="number", rank=2),
        Column("USED", kind="amounts"),
        Column("GUARANTEE", kind="amounts"),
        Column("LIMIT", kind="amounts", rank=1),
        Column("OFFERED", kind="amounts", rank=4),
        Column("RESERVED", kind="amounts", rank=5),
    )
    return Report(
        columns,
        [_role_row(status) for status in shown],
        [status.role for status in shown],
        document,
        items,
        empty=empty,
        terminal=lambda: _role_screen(shown, empty),
    )


def _role_row(status: RoleStatus) -> list[str]:
    usage = status.usage
    return [
        status.role,
        status.standing,
        *_weight_and_frameworks(status),
        amounts_text(None if usage is None else usage.allocated),
        amounts_text(status.quota.guarantees),
        amounts_text(status.quota.limits),
        amounts_text(None if usage is None else usage.offered),
        amounts_text(None if usage is None else usage.reserved),
    ]


def _weight_and_frameworks(status: RoleStatus) -> tuple[str, str]:
    usage = status.usage
    return (NOTHING, NOTHING) if usage is None else (format_double(usage.weight), str(usage.frameworks))


def _role_screen(roles: Sequence[RoleStatus], empty: str) -> Report:
    columns = (
        Column("ROLE"),
        Column("STATUS", meaning=MEANINGS, rank=-1),
        Column(QUOTA_USE, kind="usage"),
        Column("WEIGHT", kind="number", rank=2),
        Column("FRAMEWORKS", kind="number", rank=1),
        Column("OFFERED", kind="amounts", rank=3),
    )
    rows = [
        [
            status.role,
            status.standing,
            quota_use(status, everything=True),
            *_weight_and_frameworks(status),
            amounts_text(None if status.usage is None else status.usage.offered),
        ]
        for status in roles
    ]
    shown = screen(columns, rows, empty, [LEGEND] if rows else ())
    return shown._replace(verdicts=[guarantee_verdict(roles)]) if any(one.quota.guarantees for one in roles) else shown


NO_WEIGHTS = "no weight is set; every role has weight 1"


def weight_list(weights: Sequence[tuple[str, float]], *, empty: str = NO_WEIGHTS, sort: str | None = None) -> Report:
    """A line for every weight that was set; `empty` is shown if there is none, and `sort` as in `naturally`."""

    def items() -> "list[cluster.Weight]":
        from mesosctl.output.json_documents import cluster

        return [cluster.Weight(role=role, weight=weight) for role, weight in weights]

    def document() -> "cluster.WeightList":
        from mesosctl.output.json_documents import cluster

        return cluster.WeightList(weights=items())

    shown = naturally(weights, lambda one: one[0], sort=sort)
    return Report(
        (Column("ROLE"), Column("WEIGHT", kind="number")),
        [[role, format_double(weight)] for role, weight in shown],
        [role for role, _ in shown],
        document,
        items,
        empty=empty,
    )


def weight_changes(changes: Sequence[WeightChange]) -> Report:
    """Weights that were set."""

    def items() -> "list[cluster.WeightChange]":
        from mesosctl.output.json_documents import cluster

        return [cluster.WeightChange.of(change) for change in changes]

    def document() -> "cluster.WeightChanges":
        from mesosctl.output.json_documents import cluster

        return cluster.WeightChanges(changes=items())

    columns = (
        Column("ROLE"),
        Column("BEFORE", kind="number"),
        Column("WEIGHT", kind="number"),
        Column("CONFIRMED", wide=True),
    )
    figures = [(format_double(one.before), format_double(one.after)) for one in changes]
    rows = [[one.role, *pair, "yes" if one.confirmed else "no"] for one, pair in zip(changes, figures, strict=True)]
    done = "; ".join(f"weight of '{one.role}' was set to {format_double(one.after)}" for one in changes)
    names = [one.role for one in changes]
    return Report(columns, rows, names, document, items, done=done, empty="the weights are already set")
