"""`mesosctl.Master`: what an operator does, from Python; `recorded_cost`: what a recording cost.

Each of them is a command: it runs the same operation and returns the value that `-o json` writes.  Nothing is kept
between two calls, so a `Master` keeps working when another master leads.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, environ
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.proxies import Proxy, proxies
from mesosctl.client.settings import ClientSettings, Credentials, Tls, Token
from mesosctl.files.reading import read_text_file, unreadable_hint, why_unreadable
from mesosctl.hints import in_our_words
from mesosctl.mesos.amounts.notation import parse_entries, parse_of_agents
from mesosctl.mesos.amounts.quantities import Limits, Quantities, to_milli
from mesosctl.mesos.amounts.resource import Labels, Resource
from mesosctl.mesos.cluster.account import ClusterAccount, account_of
from mesosctl.mesos.cluster.holdings import agent_reservations
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.errors import BadInput, RuleViolation, UsageError
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange, guarantees_of, limits_of
from mesosctl.quota.check import check_quota
from mesosctl.quota.work import remove_quotas, set_quota, update_quotas
from mesosctl.reading.quotas import QuotaOptions, list_quotas, show_quota
from mesosctl.reading.targets import Owner, find_agent, read_agents
from mesosctl.reservations.send import SendOptions
from mesosctl.reservations.work import requester, reserve_for, unreserve_of
from mesosctl.snapshot.work import read_snapshot, write_file
from mesosctl.weights.work import read_weights, update_weights

if TYPE_CHECKING:
    import httpx

    from mesosctl.capacity.documents import SpareCapacity
    from mesosctl.quota.documents import QuotaChange, QuotaCheck, RoleQuota
    from mesosctl.reservations.documents import AgentChange, ReservationEntry
    from mesosctl.usage.cost_documents import CostReport
    from mesosctl.whatif.documents import ForecastDocument

Amounts = str | Mapping[str, float]
"""Resource text such as "cpus:12;mem:6GiB", or numbers by name (mem and disk in MiB)."""


class Master:
    """The leading master of an address: a URL, several with commas between them, `zk://…`, or `fake:`.

    It authenticates with `principal` and `secret`, or with `token`.  `ca_file`, `cert_file` and `key_file` are for
    https.  `proxy` is the URL of one; without it, those of HTTP_PROXY and its like are used.  `timeout` is in seconds,
    for all requests of one method together.  `notice` is called with messages for the operator.  An httpx `transport`
    replaces the network.

    Every error is a `MesosctlError`.  A method that changes something reads the change back before it returns.
    """

    @in_our_words()
    def __init__(  # noqa: PLR0913  # each is an option of the command line
        self,
        address: str,
        *,
        principal: str | None = None,
        secret: str | None = None,
        token: str | None = None,
        ca_file: str | PathLike[str] | None = None,
        cert_file: str | PathLike[str] | None = None,
        key_file: str | PathLike[str] | None = None,
        proxy: str | None = None,
        timeout: float = 30.0,
        notice: Callable[[str], None] | None = None,
        transport: "httpx.BaseTransport | None" = None,
    ) -> None:
        self._address = parse_address(address)
        self._settings = ClientSettings(
            credentials=_credentials(principal, secret, token),
            tls=Tls(*(None if path is None else str(path) for path in (ca_file, cert_file, key_file))),
            proxies=proxies(None if proxy is None else Proxy(proxy, "proxy"), environ),
            timeout=timeout,
        )
        if notice is not None:
            self._settings = self._settings._replace(notice=notice, alarm=notice)
        self._transport = transport

    @contextmanager
    def _connected(self) -> Iterator[LeadingMaster]:
        connection = LeadingMaster(self._address, self._settings, self._transport)
        try:
            yield connection
        finally:
            if self._transport is None:  # the caller closes a transport that it gave
                connection.close()

    # --- Quota ------------------------------------------------------------------------------------------

    @in_our_words()
    def quotas(self) -> "dict[str, RoleQuota]":
        """Return the quota of every role that has one, and what the role uses (`quota list`)."""
        from mesosctl.quota.documents import RoleQuota

        with self._connected() as connection:
            return {found.role: RoleQuota.of(found) for found in list_quotas(connection, with_usage=True)}

    @in_our_words()
    def quota(self, role: str) -> "RoleQuota":
        """Return the quota of one role (`quota show`).  Raises NotFound for a role without quota."""
        from mesosctl.quota.documents import RoleQuota

        with self._connected() as connection:
            return RoleQuota.of(show_quota(connection, role))

    @in_our_words()
    def set_quota(
        self,
        role: str,
        guarantee: Amounts | None = None,
        limit: Amounts | None = None,
        *,
        force: bool = False,
        allow_new_resource: bool = False,
    ) -> "QuotaChange":
        """Set the quota of a role that has none (`quota set`): a guarantee, a limit, or both."""
        from mesosctl.quota.documents import QuotaChange

        options = QuotaOptions(force=force, allow_new_resource=allow_new_resource)
        with self._connected() as connection:
            return QuotaChange.of(set_quota(connection, role, _guarantee(guarantee), _limits(limit), options))

    @in_our_words()
    def update_quota(
        self,
        role: str,
        guarantee: Amounts | None = None,
        limit: Amounts | None = None,
        *,
        create: bool = False,
        force: bool = False,
        allow_new_resource: bool = False,
    ) -> "QuotaChange":
        """Change the quota of a role (`quota update`): the whole guarantee, or all limits, or both.

        A part that is not given stays as it is. With `create`, a role without quota gets one.
        """
        from mesosctl.quota.documents import QuotaChange

        entries = _guarantee(guarantee)
        named = None if guarantee is None else guarantees_of(entries) if entries else Quantities()
        desired = DesiredQuotaChange(named, _limits(limit))
        options = QuotaOptions(force=force, allow_new_resource=allow_new_resource, create=create)
        with self._connected() as connection:
            (change,) = update_quotas(connection, [(role, desired)], options)
        return QuotaChange.of(change)

    @in_our_words()
    def remove_quota(self, role: str) -> "QuotaChange":
        """Remove the quota of a role (`quota remove`).  Raises NotFound for a role without quota."""
        from mesosctl.quota.documents import QuotaChange

        with self._connected() as connection:
            (change,) = remove_quotas(connection, [role])
        return QuotaChange.of(change)

    @in_our_words()
    def check_quota(
        self,
        role: str,
        guarantee: Amounts | None = None,
        limit: Amounts | None = None,
        *,
        allow_new_resource: bool = False,
    ) -> "QuotaCheck":
        """Return whether `set_quota` would be accepted, and how much room there is (`quota check`)."""
        from mesosctl.quota.documents import QuotaCheck

        with self._connected() as connection:
            found = check_quota(
                connection, role, _guarantee(guarantee), _limits(limit), allow_new_resource=allow_new_resource
            )
        return QuotaCheck.of(found)

    # --- Weights ----------------------------------------------------------------------------------------

    @in_our_words()
    def weights(self) -> dict[str, float]:
        """Return the weights that were set; every other role has 1."""
        with self._connected() as connection:
            return read_weights(connection)

    @in_our_words()
    def set_weights(self, weights: Mapping[str, float]) -> bool:
        """Set all weights or none; return False if this principal may not read them back."""
        with self._connected() as connection:
            return update_weights(connection, weights)

    # --- Reservations -----------------------------------------------------------------------------------

    @in_our_words()
    def reservations(self, *, role: str | None = None, agent: str | None = None) -> "list[ReservationEntry]":
        """Return reservations (`reservations`): for a role and those below it, on an agent, or all of them."""
        from mesosctl.reservations.documents import ReservationEntry

        with self._connected() as connection:
            agents = read_agents(connection)
        meant = agents if agent is None else [find_agent(agents, agent)]
        return [ReservationEntry.of(held) for registered in meant for held in agent_reservations(registered, role)]

    @in_our_words()
    def reserve(
        self,
        agent: str,
        resources: Amounts,
        role: str,
        *,
        under: Sequence[str] = (),
        labels: Mapping[str, str] | None = None,
    ) -> "AgentChange":
        """Reserve resources of an agent (its host name or id) for a role (`reserve`); `under` is what it refines."""
        from mesosctl.reservations.documents import AgentChange

        entries = _entries(resources, of_agents=True)
        with self._connected() as connection:
            owner = _owner(role, under, labels, requester(connection).principal)
            meant = find_agent(read_agents(connection), agent)
            (change,) = reserve_for(connection, [meant], entries, owner, SendOptions())
        return AgentChange.of(change)

    @in_our_words()
    def unreserve(
        self,
        agent: str,
        resources: Amounts,
        role: str,
        *,
        under: Sequence[str] = (),
        labels: Mapping[str, str] | None = None,
    ) -> "AgentChange":
        """Undo a dynamic reservation (`unreserve`); its principal is looked up, and its labels if you give none."""
        from mesosctl.reservations.documents import AgentChange

        entries = _entries(resources, of_agents=True)
        with self._connected() as connection:
            meant = find_agent(read_agents(connection), agent)
            owner = _owner(role, under, labels, None)
            (change,) = unreserve_of(connection, meant, entries, owner, SendOptions())
        return AgentChange.of(change)

    # --- The whole cluster ------------------------------------------------------------------------------

    @in_our_words()
    def snapshot(self, file: str | PathLike[str] | None = None) -> ClusterSnapshot:
        """Return the cluster as it is now (`snapshot`), and write it to a file, if one is named."""
        with self._connected() as connection:
            found = read_snapshot(connection)
        if file is not None:
            write_file(Path(file), found)
        return found

    @in_our_words()
    def account(self, snapshot: ClusterSnapshot | None = None) -> ClusterAccount:
        """Return what every agent, framework and role uses, is offered, wants and may get (`agents`, `roles`).

        `snapshot` replaces the current cluster.
        """
        return account_of(snapshot or self.snapshot())

    @in_our_words()
    def forecast(  # noqa: PLR0913  # each is an option of the command line
        self,
        *changes: str,
        lose_agents: Sequence[str] = (),
        lose_fraction: float = 0.0,
        add_agents: Sequence[str] = (),
        lose_frameworks: Sequence[str] = (),
        snapshot: ClusterSnapshot | None = None,
        assume: Literal["hold", "accept"] = "hold",
        cycles: int = 10,
        force: bool = False,
        upgrade: str | None = None,
    ) -> "ForecastDocument":
        """Return a forecast of changes such as "quota:web=cpus:12;mem:6GiB" (`whatif`); no change is sent.

        `snapshot` replaces the current cluster.  `upgrade` is the release of the master that leads before the changes.
        """
        import fake_master
        from mesosctl.mesos.door.forecast import DryRunOptions
        from mesosctl.whatif.documents import ForecastDocument
        from mesosctl.whatif.work import ChangeRunner, named_changes, open_dry_run
        from mesosctl.whatif.work import upgrade as upgrade_master

        wanted = named_changes(
            changes,
            lose_agents=lose_agents,
            lose_fraction=lose_fraction,
            lose_frameworks=lose_frameworks,
            add_agents=add_agents,
        )
        if not wanted and upgrade is None:
            raise UsageError("no change was given, so there is nothing to forecast", field="changes")
        dry_run = fake_master.start_dry_run(snapshot or self.snapshot(), DryRunOptions(cycles, assume))
        if upgrade is not None:
            upgrade_master(dry_run, upgrade)
        settings = self._settings._replace(clock=dry_run.clock, sleep=dry_run.clock.sleep)
        with open_dry_run(dry_run, settings) as connection:
            ChangeRunner(dry_run, connection, force=force).attempt(wanted)
        return ForecastDocument.answering(dry_run.forecast(), [])

    @in_our_words()
    def spare(
        self,
        *each: str,
        at_once: Literal[1, 2] = 1,
        every: bool = False,
        snapshot: ClusterSnapshot | None = None,
        cycles: int = 10,
    ) -> "SpareCapacity":
        """Return what every single loss of an agent ("agent"), or of each value of an attribute, would do.

        It is `capacity spare`: of losses that look alike, two are played, or with `every` each.  `snapshot` replaces
        the current cluster.
        """
        import fake_master
        from mesosctl.capacity.documents import SpareCapacity
        from mesosctl.capacity.work import SpareTerms, find_spare
        from mesosctl.mesos.door.forecast import DryRunOptions
        from mesosctl.whatif.work import ChangeRunner, open_dry_run

        asked = [SpareTerms(name, at_once, every, "each") for name in dict.fromkeys(each or ("agent",))]
        dry_run = fake_master.start_dry_run(snapshot or self.snapshot(), DryRunOptions(cycles))
        settings = self._settings._replace(clock=dry_run.clock, sleep=dry_run.clock.sleep)
        with open_dry_run(dry_run, settings) as connection:
            found = find_spare(dry_run, ChangeRunner(dry_run, connection), asked, lambda _: None)
        return SpareCapacity.answering(found, every=every)


def _credentials(principal: str | None, secret: str | None, token: str | None) -> Credentials | Token | None:
    if token is not None:
        if secret is not None:
            raise UsageError("secret and token cannot be used together", field="token", hint="give one of them")
        return Token(token, principal=principal)
    if principal is None and secret is None:
        return None
    if not principal or secret is None:
        raise UsageError("a principal and a secret go together", field="principal", hint="give both")
    if ":" in principal:
        raise UsageError("a principal cannot contain a colon", field="principal")
    return Credentials(principal, secret)


def _entries(amounts: Amounts, *, of_agents: bool = False) -> list[Resource]:
    if isinstance(amounts, str):
        return parse_of_agents(amounts) if of_agents else parse_entries(amounts)
    try:
        entries = [Resource(name, to_milli(value)) for name, value in amounts.items()]
    except (TypeError, ValueError) as error:
        raise RuleViolation(f"an amount is not a number that Mesos can hold: {error}", field="resources") from None
    for entry in entries:
        if isinstance(entry.value, int) and entry.value < 0:
            raise RuleViolation(f"{entry.name} is below zero", field=entry.name, rule="resource.negative")
    return entries


def _guarantee(amounts: Amounts | None) -> list[Resource]:
    """The entries of a guarantee; none for None and "none"."""
    return [] if amounts is None or amounts == "none" else _entries(amounts)


def _limits(amounts: Amounts | None) -> Limits | None:
    return None if amounts is None else limits_of([] if amounts == "none" else _entries(amounts))


def _owner(role: str, under: Sequence[str], labels: Mapping[str, str] | None, principal: str | None) -> Owner:
    return Owner(role, tuple(under), None if labels is None else Labels(labels.items()), principal)


@in_our_words()
def recorded_cost(  # noqa: PLR0913  # each is an option of the command line
    history: str | PathLike[str],
    prices: str | PathLike[str],
    *,
    month: str | None = None,
    since: str | None = None,
    until: str | None = None,
    timezone: str = "UTC",
    by: Literal["role", "framework", "principal", "agent"] = "role",
    share: Literal["use", "guarantee", "evenly"] | None = None,
    cluster_id: str | None = None,
) -> "CostReport":
    """Return what a recording cost, at the prices of a file (`usage --prices`); `share` is how idle cost is shared."""
    from mesosctl.history.contents import chosen_cluster
    from mesosctl.history.sqlite import open_recording
    from mesosctl.history.windows import asked_window, time_zone
    from mesosctl.usage.calculation import By
    from mesosctl.usage.cost import CostOptions, Sharing, cost
    from mesosctl.usage.cost_documents import cost_document
    from mesosctl.usage.prices import load

    zone = time_zone(timezone)
    _check_word("by", by, get_args(By))
    if share is not None:
        _check_word("share", share, get_args(Sharing))
    try:
        text = read_text_file(prices)
    except (OSError, ValueError) as error:
        sentence = f"{prices} cannot be read: {why_unreadable(error)}"
        raise BadInput(sentence, field="prices", hint=unreadable_hint(prices, error)) from None
    table = load(text, str(prices), zone)
    with open_recording(Path(history)) as recording:
        cluster = chosen_cluster(recording, cluster_id)
        window = asked_window(cluster, since, until, zone, month)
        options = CostOptions(window.since, window.until, table, zone, by, share, window.outside)
        return cost_document(cost(recording, cluster, options))


def _check_word(name: str, word: str, known: Sequence[str]) -> None:
    if word not in known:
        raise UsageError(f"{name} is '{word}', but not one of {', '.join(known)}", field=name)
