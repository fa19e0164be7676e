"""What happens to frameworks (spec/allocator.md §3)."""

# ruff: noqa: D102  # the interface documents its methods

from collections.abc import Collection, Iterable, Mapping, Sequence

from fake_master.allocator import inverse_offers
from fake_master.allocator.engine import Engine
from fake_master.allocator.interface import FrameworkInfo, ResourceRequest
from fake_master.allocator.records import Client, Framework
from mesosctl.core.resources import Resources


class FrameworkEvents(Engine):
    """Frameworks come, change and go."""

    def add_framework(
        self,
        info: FrameworkInfo,
        used: Mapping[str, Resources] | None = None,
        *,
        active: bool = True,
        suppressed: Collection[str] = (),
    ) -> None:
        state = self._state
        if info.id in state.frameworks:
            raise ValueError(f"framework {info.id} is known already")
        framework = state.frameworks[info.id] = Framework(info)
        framework.active = active
        self._subscribe(framework, info.roles, suppressed)
        for name, resources in (used or {}).items():
            agent = state.agents.get(name)
            if agent is not None:
                self._account(agent, framework, resources)
                agent.refresh()
        if active:
            self._run_for_all()
        self._framework_changed(info.id)

    def _subscribe(self, framework: Framework, roles: Iterable[str], suppressed: Collection[str]) -> None:
        for role in sorted(roles):
            client = self._state.track(framework, role)
            client.subscribed = True
            client.suppressed = role in suppressed
            self._state.set_active(client)

    def update_framework(self, info: FrameworkInfo, *, suppressed: Collection[str] = ()) -> None:
        state = self._state
        framework = state.frameworks[info.id]
        before = framework.info.roles
        state.describe(framework, info)
        # Before the others go: a role above or below one of those keeps its place in the tree of the sorter.
        self._subscribe(framework, info.roles - before, suppressed)
        for role in before - info.roles:
            client = framework.clients[role]
            client.subscribed = client.suppressed = False
            self._forget_filters(client)
            state.set_active(client)
            state.untrack_unless_needed(client)
        kept = info.roles & before
        self.suppress(info.id, {role for role in kept if role in suppressed and not framework.clients[role].suppressed})
        woken = {role for role in kept if role not in suppressed and framework.clients[role].suppressed}
        self._revive(info.id, woken)
        self._framework_changed(info.id)

    def remove_framework(self, framework: str) -> None:
        state = self._state
        record = state.frameworks[framework]
        for agent in state.agents.values():
            if any(client.framework is record for client, _ in agent.held):
                for client, parcel in [pair for pair in agent.held if pair[0].framework is record]:
                    state.mark_allocated(agent, parcel, -1)
                    state.give_back(agent, client, parcel)
                agent.refresh()
            agent.outstanding.discard(record)
        for client in list(record.clients.values()):
            self._forget_filters(client)
            client.subscribed = False
            state.untrack_unless_needed(client)
        inverse_offers.forget(record)
        del state.frameworks[framework]

    def activate_framework(self, framework: str) -> None:
        record = self._state.frameworks[framework]
        record.active = True
        for client in record.clients.values():
            self._state.set_active(client)
        self._run_for_all()
        self._framework_changed(framework)

    def deactivate_framework(self, framework: str) -> None:
        record = self._state.frameworks[framework]
        record.active = False
        for client in record.clients.values():
            self._state.set_active(client)
            self._forget_filters(client)
        inverse_offers.forget(record)
        self._framework_changed(framework)

    def suppress(self, framework: str, roles: Collection[str] | None = None) -> None:
        for client in self._clients(framework, roles):
            client.suppressed = True
            self._state.set_active(client)
        self._framework_changed(framework)

    def revive(self, framework: str, roles: Collection[str] | None = None) -> None:
        self._revive(framework, roles)
        self._run_for_all()
        self._framework_changed(framework)

    def _revive(self, framework: str, roles: Collection[str] | None) -> None:
        clients = self._clients(framework, roles)
        if clients:
            inverse_offers.forget(self._state.frameworks[framework])
        for client in clients:
            self._forget_filters(client)
            client.suppressed = False
            self._state.set_active(client)

    def request_resources(self, framework: str, requests: Sequence[ResourceRequest]) -> None:
        """Taken and ignored, as Mesos's own allocator does."""

    def _clients(self, framework: str, roles: Collection[str] | None) -> list[Client]:
        """Those in the named roles, or in all that the framework is subscribed to."""
        record = self._state.frameworks[framework]
        return [record.clients[role] for role in sorted(record.info.roles if roles is None else roles)]

    def _forget_filters(self, client: Client) -> None:
        for filters in client.filters.values():
            for held in filters:
                held.alive = False
        client.filters.clear()
        self._state.renew(client)
