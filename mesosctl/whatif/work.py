"""The work of `whatif`: a dry run does the same operations on a fake master that is made of a snapshot."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import BufferedIOBase
from typing import TYPE_CHECKING

from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.settings import ClientSettings
from mesosctl.files.rate_limits import RateLimitsMessage
from mesosctl.hints import hint_of
from mesosctl.mesos import errors
from mesosctl.mesos.amounts.notation import parse_of_agents
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.amounts.resource import Disk, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import RegisteredAgent, spread
from mesosctl.mesos.cluster.message_rates import RecordedTraffic, Simulation
from mesosctl.mesos.cluster.selectors import is_selector, parse_selectors
from mesosctl.mesos.door.forecast import AnsweredChange, DryRunOptions
from mesosctl.mesos.door.upgrade import SentRequest
from mesosctl.mesos.errors import BadInput, Conflict, DeadlinePassed, MesosctlError, NotFound, UsageError
from mesosctl.mesos.messages.http_statuses import BROKEN_RULE, NOT_ALLOWED, NOT_AVAILABLE
from mesosctl.mesos.names import kind_of
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange, describe_losses, guarantees_of
from mesosctl.mesos.rules.version_profile import RELEASES, STRICT_PRIORITY_ALLOCATOR, Profile, check_profile_named
from mesosctl.quota.work import make_update, plan_update, remove_quotas
from mesosctl.reading.lists import find_framework
from mesosctl.reading.meant_quotas import note_meaning
from mesosctl.reading.quotas import QuotaOptions, check_entries, note_unknown_role
from mesosctl.reading.targets import (
    Owner,
    check_owner,
    find_agent,
    has_attributes,
    in_order,
    no_agent_with,
    read_agent,
    to_reserve,
    to_undo,
)
from mesosctl.reservations.send import SendOptions, operate
from mesosctl.reservations.work import create_volume, destroy_volume, plan_reserve, plan_unreserve, requester
from mesosctl.snapshot.work import read_snapshot
from mesosctl.weights.work import update_weights
from mesosctl.whatif import changes
from mesosctl.whatif.changes import Change, Owned
from mesosctl.whatif.variants import check_one_change

if TYPE_CHECKING:
    from fake_master import DryRun


_NOT_ABOUT_THE_CHANGE = (UsageError, BadInput, errors.Bug, errors.UnexpectedAnswer)
# Names of things that do not exist make no request that could be refused.
_NAMES_NOTHING = frozenset({"agent.exists", "framework.exists"})
_WORDS = ("resource.", "wanted.")
"""Rules on arguments, or on a desired state, which make no request either."""
# Rules of mesosctl itself: a master would accept the request, but the operator would regret it.
_OWN_RULES = frozenset(
    {"quota.above-zero", "quota.path", "quota.empty", "quota.readable", "quota.limits-need-update", "apply.unchanged"}
)
# Faults that a master notices only when it looks for the resources.
_FOUND_LACKING = frozenset({"reservation.exists"})


def start_dry_run_of_master(master: LeadingMaster, terms: DryRunOptions, progress: Callable[[str], None]) -> "DryRun":
    """A dry run of the cluster as it is now; `progress` is called while it is read.  Raises what reading raises."""
    import fake_master

    return fake_master.start_dry_run(read_snapshot(master, progress=progress), terms)


def start_dry_run_of_file(file: BufferedIOBase, where: str, terms: DryRunOptions) -> "DryRun":
    """A dry run of a snapshot or of a cluster file, which `where` names.  Raises BadInput, and OSError."""
    import fake_master

    return fake_master.start_dry_run_of_file(file, where, terms)


def open_dry_run(dry_run: "DryRun", settings: ClientSettings) -> LeadingMaster:
    """The fake master of a dry run, used like any other; `settings` need the dry run's clock."""
    return LeadingMaster(parse_address("fake:"), settings, dry_run.transport)


def attempt(dry_run: "DryRun", change: Callable[[], object], *, label: str | None = None, name: str = "") -> None:
    """Make a change on the dry run's master; a refusal becomes an answer.

    `label` is the name of its requests, by default the requests themselves; `name` is the name of a change that sends
    none. Raises errors that are not about the change: arguments that make none, UsageError, BadInput, Bug.
    """
    dry_run.begin(label or name)
    before = len(dry_run.answers)
    dry_run.connection.label = label
    try:
        change()
    except _NOT_ABOUT_THE_CHANGE:
        raise
    except MesosctlError as error:
        if error.rule is not None and (error.rule in _NAMES_NOTHING or error.rule.startswith(_WORDS)):
            raise
        if all(answer.accepted for answer in dry_run.answers[before:]):
            dry_run.refuse(_refusal(label or name, error))
    finally:
        dry_run.connection.label = None


def upgrade(dry_run: "DryRun", name: str, requests: Sequence[SentRequest] = ()) -> None:
    """A master of another release leads from now on, which a person names; both masters are sent the requests.

    Only before the master of the dry run is opened.  Raises UsageError.
    """
    make_upgrade(dry_run, check_upgrade(name), requests)


def make_upgrade(dry_run: "DryRun", profile: Profile, requests: Sequence[SentRequest] = ()) -> None:
    """The same, with the profile of that release."""
    dry_run.begin(upgrade_words(profile))
    dry_run.upgrade(profile, requests)


def check_upgrade(name: str) -> Profile:
    """The profile of the release that --upgrade names.  Raises UsageError."""
    profile = check_profile_named(name, "--upgrade", UsageError)
    if profile.is_documents:
        sentence = f"--upgrade is '{name}', which no cluster can run: it was never released"
        raise UsageError(sentence, field="--upgrade", hint=f"name a release, such as {RELEASES[-1]}")
    return profile


def upgrade_words(profile: Profile) -> str:
    """The name of the change."""
    return f"upgrade to {profile}"


def _refusal(change: str, error: MesosctlError) -> AnsweredChange:
    """Return the answer to a change that mesosctl itself refuses, before it sends anything."""
    own = error.rule in _OWN_RULES or isinstance(error, DeadlinePassed)
    status = None if own else _status(error)
    # If the message says what a master would answer, use its cause: the status is shown separately.
    said = error.__cause__ if error.would_answer is not None else None
    message = said.message if isinstance(said, MesosctlError) else error.message
    return AnsweredChange(
        change, status, accepted=False, message=message, rule=error.rule, by="mesosctl", hint=hint_of(error)
    )


def _status(error: MesosctlError) -> int | None:
    """Return the status of a master for an error that mesosctl raises first; the rules are the same."""
    if error.would_answer is not None or error.status is not None:
        return error.would_answer or error.status
    if isinstance(error, Conflict) or error.rule in _FOUND_LACKING:
        return NOT_AVAILABLE
    if isinstance(error, errors.Denied):
        return NOT_ALLOWED
    return BROKEN_RULE if isinstance(error, errors.Invalid | NotFound) else None


def named_changes(  # the kinds of change
    words: Sequence[str] = (),
    *,
    lose_agents: Sequence[str] = (),
    lose_fraction: float = 0.0,
    lose_frameworks: Sequence[str] = (),
    add_agents: Sequence[str] = (),
    count: int = 1,
    attributes: Mapping[str, str] | None = None,
) -> list[tuple[str, Change]]:
    """Return changes with their names, in order: agents and frameworks that come and go, then `words`.

    `add_agents` are resource texts, for `count` agents with `attributes` each.  Raises UsageError and RuleViolation.
    """
    found: list[tuple[str, Change]] = []
    if lose_agents or lose_fraction:
        agents = tuple(dict.fromkeys(lose_agents))
        named = ", ".join([*agents, *([f"{lose_fraction:g} of all"] if lose_fraction else [])])
        found.append((f"agents lost: {named}", changes.LoseAgents(agents, lose_fraction)))
    found += [(f"framework lost: {word}", changes.LoseFramework(word)) for word in lose_frameworks]
    having = f" with {', '.join(f'{name}={value}' for name, value in attributes.items())}" if attributes else ""
    more = f"{count} more agent{'s' * (count > 1)}{having}"
    found += [
        (f"{more}: {text}", changes.AddAgents(tuple(parse_of_agents(text)), count, attributes or {}))
        for text in add_agents
    ]
    return found + [(word, changes.parse_change(check_one_change(word))) for word in words]


def _meant(agents: Sequence[RegisteredAgent], word: str) -> list[RegisteredAgent]:
    """The agent that `word` names, or every agent that it selects.  Raises NotFound, and UsageError."""
    if not is_selector(word) or kind_of(word)[0] is not None:
        return [find_agent(agents, word)]
    wanted = parse_selectors([word], "--lose-agent")
    found = [agent for agent in agents if has_attributes(agent, wanted)]
    if not found:
        error = no_agent_with(agents, wanted)
        raise NotFound(error.message, field="--lose-agent", rule="agent.exists", hint=error.hint)
    return found


_ONCE = SendOptions(v1=True, wait=False, ask_agents=False)


class ChangeRunner:
    """Makes changes on the master of a dry run.

    `force` skips the capacity heuristic, `allow_new_resource` accepts quotas and agents with resources that no agent
    has.  `traffic` is needed if rate limits are changed.
    """

    def __init__(
        self,
        dry_run: "DryRun",
        master: LeadingMaster,
        *,
        force: bool = False,
        allow_new_resource: bool = False,
        traffic: RecordedTraffic | None = None,
    ) -> None:
        self._dry_run = dry_run
        self._traffic = traffic
        self._master = master
        self._options = QuotaOptions(force=force, wait=False, allow_new_resource=allow_new_resource)

    def note_roles(self, made: Sequence[Change]) -> None:
        """Tell the operator of roles that may be mistyped, as they are before the changes are made."""
        named: list[str] = []
        quotas: dict[str, Quota] = {}
        for change in made:
            match change:
                case changes.Guarantee(role, entries):
                    quotas[role] = Quota(Resources(entries).quantities())
                case changes.Bounds(role, limits):
                    quotas.setdefault(role, Quota(limits=limits))
                case changes.ChangedWeight(role):
                    named.append(role)
                case changes.ReserveOnAgent(_, parts):
                    named += [part.roles[-1] for part in parts]
        note_meaning(self._master, quotas)
        for role in dict.fromkeys([*quotas, *named]):
            note_unknown_role(self._master, role, Quantities())

    def attempt(self, wanted: Sequence[tuple[str, Change]]) -> None:
        """Make changes with their names, in order; a refusal becomes an answer.  Raises what `attempt` raises."""
        for name, change in wanted:
            attempt(self._dry_run, partial(self.do, change), label=name)

    def do(self, change: Change) -> None:
        """One change.  Raises what its command raises."""
        match change:
            case changes.Guarantee() | changes.Bounds():
                self._quota(change)
            case changes.NoQuota(role):
                remove_quotas(self._master, [role], wait=False)
            case changes.ChangedWeight(role, weight):
                update_weights(self._master, {role: weight}, wait=False)
            case changes.ReserveOnAgent() | changes.UnreserveOnAgent():
                self._reservation(change)
            case changes.CreateVolume(agent, volume, disk):
                self._create(agent, volume, disk)
            case changes.DestroyVolume(agent, volume):
                destroy_volume(self._master, self._agent(agent), volume, None, _ONCE)
            case changes.LoseAgents():
                self._dry_run.lose_agents(*self._lost(change))
            case changes.AddAgents(entries, count, attributes):
                if not self._options.allow_new_resource:
                    check_entries(self._master, entries)
                self._dry_run.add_agents(Resources(entries), count, attributes)
            case changes.Failover() | changes.Priority() | changes.Switch() | changes.LimitsFile():
                self._restart(change)
            case changes.LoseFramework(word):
                self._dry_run.lose_framework(find_framework(self._dry_run.frameworks, word, "--lose-framework"))

    def _restart(self, change: changes.Restart) -> None:
        """Restart the master. Raises BadInput for invalid flags, UsageError after agents came or went."""
        if self._dry_run.has_moved:
            sentence = "a change that restarts the master cannot follow one that adds or loses agents or frameworks"
            hint = "leave those out; failover:80% says how many agents are back"
            raise UsageError(sentence, field="CHANGES", hint=hint)
        match change:
            case changes.Failover(part):
                self._dry_run.restart({}, part)
            case changes.Priority(role, priority):
                pairs = filter(None, self._dry_run.flags.get("priorities", "").split(","))
                others = [pair for pair in pairs if pair.rpartition("=")[0].strip() != role]
                flags = {"priorities": ",".join([*others, f"{role}={priority}"])}
                self._dry_run.restart({"allocator": STRICT_PRIORITY_ALLOCATOR, **flags})
            case changes.Switch(flag, on):
                self._dry_run.restart({flag: "true" if on else "false"})
            case changes.LimitsFile(path):
                assert self._traffic is not None, "the files of limits are read with the traffic"
                limits = self._traffic.limits[path]
                self._dry_run.restart({"rate_limits": json.dumps(RateLimitsMessage.of(limits).content())})
                self._dry_run.traffic = Simulation.play(limits, self._traffic.arrivals, self._traffic.today)

    def _quota(self, change: changes.Guarantee | changes.Bounds) -> None:
        if isinstance(change, changes.Guarantee):
            desired = DesiredQuotaChange(guarantees=guarantees_of(change.entries))
        else:
            desired = DesiredQuotaChange(limits=change.limits)
        # A list of many thousands of agents would take longer than everything else.
        options = self._options._replace(capacity=self._dry_run.capacity, create=True)
        plan = plan_update(self._master, [(change.role, desired)], options)
        losses = describe_losses(plan)
        if losses:
            self._master.notice(losses)
        make_update(self._master, plan, options)

    def _reservation(self, change: changes.ReserveOnAgent | changes.UnreserveOnAgent) -> None:
        if not self._options.allow_new_resource:
            check_entries(self._master, [part.entry for part in change.parts])
        agent = self._agent(change.agent)
        reserves = isinstance(change, changes.ReserveOnAgent)
        principal = requester(self._master).principal if reserves else None  # None matches any reserver
        entries: list[Resource] = []
        for part in change.parts:
            entries += (to_reserve if reserves else to_undo)(agent, [part.entry], self._owner(part, principal))
        plan = plan_reserve if reserves else plan_unreserve
        operate(self._master, [plan(self._master, agent, entries)], _ONCE)

    def _create(self, word: str, volume: str, disk: Owned) -> None:
        made = Disk(persistence_id=volume, container_path="data", mode="RW")
        create_volume(self._master, self._agent(word), disk.entry, made, self._owner(disk), _ONCE)

    def _owner(self, part: Owned, principal: str | None = None) -> Owner:
        owner = Owner(part.roles[-1], part.roles[:-1], principal=principal)
        check_owner(owner)
        return owner

    def _agent(self, word: str) -> RegisteredAgent:
        return read_agent(self._master, find_agent(in_order(self._dry_run.agents), word))

    def _lost(self, change: changes.LoseAgents) -> tuple[list[str], str]:
        """The ids of the agents to lose, and the reason for their number if it was rounded up."""
        everybody = in_order(self._dry_run.agents)  # a master takes long to list thousands of agents
        gone = list(dict.fromkeys(agent.id for word in change.names for agent in _meant(everybody, word)))
        part = round(len(everybody) * change.fraction, 6)
        count = math.ceil(part)
        gone += [agent.id for agent in spread(everybody, count)]
        # With few agents a fraction is rarely a whole number, and rounding up may take far more of the cluster.
        rounded = f"{change.fraction:g} of {len(everybody)} is {part:g}, rounded up" if count != part else ""
        return gone, rounded
