"""The work of `snapshot`: it reads a cluster from a live master (Mesos documentation, "HTTP Endpoints").

Agents, frameworks, tasks and offers come from one GET_STATE, so from one moment. Quotas, weights and reservations
belong to that moment if quotas and weights are the same before and after; otherwise everything is read again.

On a large cluster, a master takes seconds to make its metrics; meanwhile another thread evaluates its state.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from mesosctl.client.deadline import Deadline
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.response import Response
from mesosctl.files.writing import write_pieces
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, FrameworkUsage, Lending, SnapshotFramework
from mesosctl.mesos.errors import Denied, MesosctlError
from mesosctl.mesos.messages import responses
from mesosctl.mesos.messages.protobuf_json.decoding import decode
from mesosctl.mesos.messages.snapshots import cluster_state
from mesosctl.mesos.messages.snapshots import snapshot as snapshot_api
from mesosctl.mesos.messages.snapshots.cluster_state import ClusterState
from mesosctl.mesos.messages.snapshots.lending import lending
from mesosctl.mesos.rules.version_profile import LENDS, STRICT_PRIORITY_ALLOCATOR
from mesosctl.reading.unreachable import in_registry, number_in

ATTEMPTS = 3
DECISIVE_FLAGS = (
    "allocation_interval",
    "allocator",
    "allocator_agent_recovery_factor",
    "allocator_recovery_timeout",
    "domain",
    "fair_sharing_excluded_resource_names",
    "filter_gpu_resources",
    "framework_sorter",
    "lendable_names",
    "min_allocatable_resources",
    LENDS,
    "preemption",
    "priorities",
    "revocation_grace_period",
    "role_sorter",
    "roles",
)
"""The flags that affect allocation; others are left out, because some hold secrets."""

UNKNOWN_WHITELIST = "the agents that --whitelist names: unknown; assumed to be all"
"""Among what is unknown, if a master offers only some agents."""
UNKNOWN_FILTERS = "offer filters: a master does not show them; assumed that no framework has any"
"""Among what is unknown, unless the master lends."""

Progress = Callable[..., None]
"""Takes a sentence, and the fraction that is done, if it is known."""
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Settings:
    """The settings of operators, as far as this principal may see them."""

    quotas: Mapping[str, Quota] | None
    weights: Mapping[str, float] | None


def read_snapshot(
    master: LeadingMaster, *, progress: Progress | None = None, now: Callable[[], float] = time.time
) -> ClusterSnapshot:
    """Read the snapshot of a cluster from its `master`; `progress` gets a sentence whenever there is news.

    `unknown` lists what is not visible. Raises the errors of `LeadingMaster` if the agents, frameworks and tasks cannot
    be read.
    """
    report = progress or (lambda *_: None)
    version = master.version()
    before = _settings(master)  # which finds the leader; for /flags it would have to be looked for
    flags = _if_allowed(lambda: responses.flags(master.get("/flags")))
    for attempt in range(1, ATTEMPTS + 1):
        again = "" if attempt == 1 else f" again, because quotas or weights changed ({attempt} of {ATTEMPTS})"
        answer = _receive_state(master, report, again)
        after = _settings(master)
        state, lent, metrics = _evaluate_during_metrics(master, answer)
        changed = before != after
        before = after
        if not changed:
            break
    suppressed = None if metrics is None else _if_told(lambda: cluster_state.suppressed_roles(metrics))
    unreachable = in_registry(master) if number_in(metrics) else ()
    lost = {agent.id for agent in unreachable or ()}
    snapshot = ClusterSnapshot(
        version=version,
        taken_at=now(),
        agents=tuple(state.agents),
        frameworks=tuple(_with_suppression(framework, suppressed) for framework in state.frameworks),
        usages=tuple(state.usages),
        offers=tuple(state.offers),
        quotas=after.quotas or {},
        weights=after.weights or {},
        flags=_decisive(flags, lends=lent is not None),
        lending=lent,
        mesos_profile=master.profile.name,
        completed=tuple(state.completed),
        unreachable=unreachable or (),
        unreachable_tasks=tuple(task for task in state.unreachable_tasks if task.agent_id in lost),
    )
    unknown = _unknown(snapshot, after, flags, changed=changed)
    if unreachable is None:
        unknown.append("unreachable agents: the registry, which has their ids, could not be read; they are left out")
    return _with_unseen(snapshot, state, unknown)


def _receive_state(master: LeadingMaster, report: Progress, again: str) -> Response:
    report(f"asking for the state{again} …")
    with master.hearing(lambda size, part: report(f"reading the state{again}: {size / 2**20:.1f} MiB …", part)):
        answer = master.receive_call("GET_STATE")
    report("evaluating it …")
    return answer


def _evaluate_during_metrics(master: LeadingMaster, answer: Response) -> tuple[ClusterState, Lending | None, Any]:
    """The state in `answer`, evaluated while the master makes its metrics, and these; None if it does not send them."""
    deadline = master.deadline.again()
    with ThreadPoolExecutor(1) as evaluation:
        evaluated = evaluation.submit(_evaluate, answer, deadline)
        try:
            metrics = _if_told(lambda: master.get("/metrics/snapshot"))
            return *evaluated.result(), metrics
        finally:
            # After Ctrl-C or an error, the evaluation ends at its next piece of the answer.
            deadline.end()


def _evaluate(answer: Response, deadline: Deadline) -> tuple[ClusterState, Lending | None]:
    from mesosctl.mesos.messages.snapshots import cluster_state  # imported late, while the master makes its metrics

    state: ClusterState = answer.take(cluster_state.cluster_state, deadline)
    # The parts of lending refer to each other, and only a fake master lends: they are read from the whole answer.
    return state, answer.take(_lending, deadline) if state.lends else None


def _lending(chunks: Iterable[bytes]) -> Lending | None:

    return lending(decode(b"".join(chunks)))


def _decisive(flags: Mapping[str, str] | None, *, lends: bool) -> dict[str, str]:
    """Return the flags that decide about allocation; a master that lends shows it without its flags too."""
    seen = {LENDS: "true"} if flags is None and lends else flags or {}
    return {name: text for name, text in seen.items() if name in DECISIVE_FLAGS}


def _settings(master: LeadingMaster) -> _Settings:
    return _Settings(
        _if_allowed(lambda: responses.quotas(master.get("/quota"))),
        _if_allowed(lambda: responses.weights(master.get("/weights"))),
    )


def _if_allowed(read: Callable[[], Value]) -> Value | None:
    try:
        return read()
    except Denied:
        return None


def _if_told(read: Callable[[], Value]) -> Value | None:
    """The metrics, or none: a master may not have them or not send them in time, and a snapshot can do without them."""
    try:
        return read()
    except MesosctlError:
        return None


def _with_suppression(
    framework: SnapshotFramework, suppressed: Mapping[str, Mapping[str, bool]] | None
) -> SnapshotFramework:
    told = (suppressed or {}).get(framework.id)
    if told is None or not told.keys() >= set(framework.roles):
        return framework
    return replace(framework, suppressed=frozenset(role for role in framework.roles if told[role]))


def _with_unseen(snapshot: ClusterSnapshot, state: ClusterState, unknown: list[str]) -> ClusterSnapshot:
    """Add a stand-in framework for each role with resources in use by frameworks that this principal may not see."""
    if not state.unseen:
        return replace(snapshot, unknown=tuple(unknown))
    roles = sorted({role for _, role, _ in state.unseen})
    stand_ins = tuple(
        SnapshotFramework(
            id=f"unseen-{role}",
            name="(unseen)",
            roles=(role,),
            capabilities=frozenset({"MULTI_ROLE", "RESERVATION_REFINEMENT"}),
            active=False,
            connected=False,
        )
        for role in roles
    )
    usages = tuple(FrameworkUsage(f"unseen-{role}", agent, role, resources) for agent, role, resources in state.unseen)
    unknown.append(
        "frameworks or tasks that this principal may not see: in each role, a framework '(unseen)' holds their "
        "resources and gets no offers"
    )
    return replace(
        snapshot,
        frameworks=snapshot.frameworks + stand_ins,
        usages=snapshot.usages + usages,
        unknown=tuple(unknown),
    )


def _unknown(
    snapshot: ClusterSnapshot, settings: _Settings, flags: Mapping[str, str] | None, *, changed: bool
) -> list[str]:
    """Each unknown fact, and what is assumed instead."""
    found = _of_frameworks(snapshot)
    silent = sum(framework.suppressed is None for framework in snapshot.frameworks)
    if silent:
        found.append(
            f"suppressed roles of {silent} framework{'s' * (silent > 1)}: unknown, since they are not in the master's "
            "metrics, which have them from Mesos 1.7 on; assumed to be none"
        )
    if settings.quotas is None:
        found.append("quotas: this principal may not see them; assumed that there are none")
    if settings.weights is None:
        found.append("weights: this principal may not see them; assumed to be 1 for every role")
    if flags is None:
        found.append("flags of the master: this principal may not see them; assumed to be the defaults")
    else:
        found += _hidden_by_flags(flags)
    if changed:
        found.append(
            f"the state at a single moment: quotas or weights changed during each of {ATTEMPTS} readings; "
            "the last reading is kept"
        )
    return found


def _of_frameworks(snapshot: ClusterSnapshot) -> list[str]:
    """Return what is unknown about frameworks: their demand, and their revocable tasks."""
    if snapshot.lending is not None:
        phases = {task.phase for task in snapshot.lending.tasks}
        told = {
            "ending": "tasks that are ending: progress unknown; assumed that they have just been told to end",
            "arriving": "launches under way: when they reach the agents is unknown; assumed to be now",
        }
        return [sentence for phase, sentence in told.items() if phase in phases]
    found = [UNKNOWN_FILTERS]
    if any(entry.revocable for agent in snapshot.agents for entry in agent.total):
        found.append(
            "further oversubscription, and the tasks that its controllers evict: unknown; "
            "assumed that the agents' last reports stand, and that no task is evicted"
        )
    return found


def _hidden_by_flags(flags: Mapping[str, str]) -> list[str]:
    found = []
    if not responses.shows_everything({"flags": dict(flags)}):
        found.append("what access rules hide: assumed not to exist")
    if "whitelist" in flags:
        found.append(UNKNOWN_WHITELIST)
    allocator = flags.get("allocator", "hierarchical")
    if allocator == STRICT_PRIORITY_ALLOCATOR:
        found.append("what frameworks have requested (REQUEST): unknown; assumed to be nothing")
    elif allocator.lower().removesuffix("drf") != "hierarchical":
        found.append(
            f"the rules of the allocator '{flags['allocator']}': unknown; assumed to be those of the "
            "hierarchical allocator"
        )
    return found


def write_file(path: Path, snapshot: ClusterSnapshot, redact: Callable[[Iterable[str]], Iterable[str]] = iter) -> None:
    """Replace a file completely, or leave the old one; `redact` removes secrets.  Raises BadInput."""
    write_pieces(path, redact(snapshot_api.lines(snapshot)), field="--file")
