"""The changes of `mesosctl whatif`, done to a rehearsal in the ways in which commands do them."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from mesosctl.client.master import Master
from mesosctl.core import changes
from mesosctl.core.changes import Change, Owned
from mesosctl.core.errors import NotFound, UsageError
from mesosctl.core.holdings import AgentHolding
from mesosctl.core.quota import DesiredQuota
from mesosctl.core.resource import Disk, Resource
from mesosctl.core.resources import Resources
from mesosctl.core.suggestion import did_you_mean
from mesosctl.ops.quota.options import QuotaOptions
from mesosctl.ops.reservation.agents import find_agent, read_agents
from mesosctl.ops.reservation.operating import Manner, operate
from mesosctl.ops.reservation.stacks import Owner, check_owner
from mesosctl.ops.resource_names import check_entries

if TYPE_CHECKING:
    from fake_master import Rehearsal

_ONCE = Manner(v1=True, wait=False, ask_agents=False)


class Deeds:
    """Does changes to the master of a rehearsal.

    `force` passes the capacity heuristic, `allow_new_resource` takes quotas and agents with names of
    resources that no agent has.
    """

    def __init__(
        self, rehearsal: "Rehearsal", master: Master, *, force: bool = False, allow_new_resource: bool = False
    ) -> None:
        self._rehearsal = rehearsal
        self._master = master
        self._options = QuotaOptions(force=force, wait=False, allow_new_resource=allow_new_resource)

    def do(self, change: Change) -> None:
        """One change.  Raises what its command raises."""
        match change:
            case changes.Guarantee() | changes.Bounds():
                self._quota(change)
            case changes.NoQuota(role):
                from mesosctl.ops.quota.removing import remove_quotas

                remove_quotas(self._master, [role], wait=False)
            case changes.Weight(role, weight):
                from mesosctl.ops.weights import update_weights

                update_weights(self._master, {role: weight}, wait=False)
            case changes.Reserve() | changes.Unreserve():
                self._reservation(change)
            case changes.CreateVolume(agent, volume, disk):
                self._create(agent, volume, disk)
            case changes.DestroyVolume(agent, volume):
                from mesosctl.ops.reservation.undoing import destroy_volume

                destroy_volume(self._master, self._agent(agent), volume, None, _ONCE)
            case changes.LoseAgents():
                self._lose(change)
            case changes.AddAgents(entries, count, attributes):
                if not self._options.allow_new_resource:
                    check_entries(self._master, entries)
                self._rehearsal.add_agents(Resources(entries), count, attributes)
            case changes.LoseFramework(word):
                self._rehearsal.lose_framework(self._framework(word))

    def _quota(self, change: changes.Guarantee | changes.Bounds) -> None:
        from mesosctl.ops.quota import updating
        from mesosctl.ops.quota.payload import guarantees_of
        from mesosctl.ops.quota.setting import set_quota
        from mesosctl.ops.quota.state import read_quotas

        if isinstance(change, changes.Guarantee):
            if change.role not in read_quotas(self._master):
                set_quota(self._master, change.role, change.entries, None, self._options)
                return
            desired = DesiredQuota(guarantees=guarantees_of(change.entries))
        else:
            desired = DesiredQuota(limits=change.limits)
        updating.update_quotas(self._master, [(change.role, desired)], self._options._replace(create=True))

    def _reservation(self, change: changes.Reserve | changes.Unreserve) -> None:
        from mesosctl.ops.reservation.making import plan_reserve
        from mesosctl.ops.reservation.stacks import to_reserve, to_undo
        from mesosctl.ops.reservation.undoing import plan_unreserve

        check_entries(self._master, [part.entry for part in change.parts])
        agent = self._agent(change.agent)
        entries: list[Resource] = []
        for part in change.parts:
            owner = self._owner(part)
            entries += (to_reserve if isinstance(change, changes.Reserve) else to_undo)(agent, [part.entry], owner)
        plan = plan_reserve if isinstance(change, changes.Reserve) else plan_unreserve
        operate(self._master, [plan(self._master, agent, entries)], _ONCE)

    def _create(self, word: str, volume: str, disk: Owned) -> None:
        from mesosctl.ops.reservation.making import create_volume

        made = Disk(persistence_id=volume, container_path="data", mode="RW")
        owner = replace(self._owner(disk), principal=None)
        create_volume(self._master, self._agent(word), disk.entry, made, owner, _ONCE)

    def _owner(self, part: Owned) -> Owner:
        owner = Owner(part.roles[-1], part.roles[:-1])
        check_owner(owner)
        return owner

    # --- Who is meant ---------------------------------------------------------------------------------

    def _agent(self, word: str) -> AgentHolding:
        return find_agent(read_agents(self._master), word)

    def _lose(self, change: changes.LoseAgents) -> None:
        everybody = read_agents(self._master)
        gone = [find_agent(everybody, word).id for word in change.words]
        part = round(len(everybody) * change.fraction, 6)
        count = math.ceil(part)
        # The first of every so many by host name, so that racks named after each other lose alike.
        gone += [everybody[place * len(everybody) // count].id for place in range(count)]
        # Of few agents a part is mostly no whole number, and then far more of the cluster than was said.
        rounded = f"{change.fraction:g} of {len(everybody)} is {part:g}, rounded up" if count != part else ""
        self._rehearsal.lose_agents(gone, rounded)

    def _framework(self, word: str) -> str:
        known = list(self._rehearsal.frameworks.items())
        for candidates in ([i for i, _ in known if i == word], [i for i, name in known if name == word]):
            if len(candidates) == 1:
                return candidates[0]
            if candidates:
                raise UsageError(
                    f"{len(candidates)} frameworks are called '{word}'",
                    field="--lose-framework",
                    hint=f"name one by its id: {', '.join(candidates)}",
                )
        raise NotFound(
            f"no framework is called '{word}'",
            field="--lose-framework",
            rule="framework.exists",
            hint=did_you_mean(
                word, [name for one in known for name in reversed(one)], "name one by its name or its id"
            ),
        )
