"""A snapshot written as a cluster file: what `mesosctl export --cluster` writes.

The file makes a master with the same agents, frameworks and what they run, quotas, weights, reservations and volumes.
Its frameworks hold their offers, like those of a snapshot; the task of each is its average task, so that `answer =
"accept"` makes it launch tasks. One that runs tasks and suppresses all of its roles is full: it wants as many tasks as
it runs, and asks again for those that end. A sentence names anything that a cluster file cannot express.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from fake_master.services.agents.checkpointed_resources import configured_form
from fake_master.state.flags import DEFAULTS, known_flags
from mesosctl.files.desired_state import content, labels_to_toml
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, FrameworkUsage, SnapshotFramework
from mesosctl.mesos.desired.desired_state import Actual, exported, registered_agents
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.resource_text import write_resources
from mesosctl.mesos.rules.reservations.operations import plain_disk


def cluster_file(snapshot: ClusterSnapshot) -> tuple[str, list[str]]:
    """The text of a cluster file, and sentences about what it leaves out.  Raises BadInput."""
    import tomli_w  # imported late: needed only to write a file

    document, left_out = cluster_document(snapshot)
    text = tomli_w.dumps(document)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(
            "a name in the cluster is not UTF-8, which TOML requires", hint="mesosctl snapshot keeps it as it is"
        ) from None
    return text, left_out


def cluster_document(snapshot: ClusterSnapshot) -> tuple[dict[str, Any], list[str]]:
    """Return a snapshot as the tables of a cluster file, and a sentence about each thing that it leaves out."""
    names, left_out = _names(snapshot.agents)
    registered = registered_agents(replace(agent, hostname=names[agent.id]) for agent in snapshot.agents)
    desired, unwritten = exported(Actual(snapshot.quotas, snapshot.weights, registered))
    sections = {key: value for key, value in content(desired).items() if key != "schema_version" and value}
    left_out += unwritten
    usages: dict[str, list[FrameworkUsage]] = {}
    for usage in snapshot.usages:
        usages.setdefault(usage.framework_id, []).append(usage)
    document: dict[str, Any] = {"mesos_version": snapshot.profile.name}
    flags = {name: text for name, text in known_flags(snapshot.flags).items() if DEFAULTS.get(name) != text}
    document |= {"flags": flags} if flags else {}
    document |= sections
    volumes = [
        _volume(names[agent.id], entry)
        for agent in snapshot.agents
        for entry in agent.total
        if entry.is_persistent_volume
    ]
    document |= {"volumes": volumes} if volumes else {}
    agents = [_agent(agent, names[agent.id]) for agent in snapshot.agents]
    document |= {"agents": agents} if agents else {}
    frameworks = [
        _framework(framework, usages.get(framework.id, []), names, left_out) for framework in snapshot.frameworks
    ]
    document |= {"frameworks": frameworks} if frameworks else {}
    if snapshot.offers:
        left_out.append(f"outstanding offers ({len(snapshot.offers)}): the first allocation makes new ones")
    if snapshot.lending is not None:
        left_out.append("which lent resources are being taken back: the allocator starts over")
    return document, left_out


def _names(agents: Iterable[ClusterAgent]) -> tuple[dict[str, str], list[str]]:
    """A host name for each agent, by id: in a cluster file none may be used twice."""
    hosts = Counter(agent.hostname for agent in agents)
    taken, names, left_out = set(hosts), {}, []
    for agent in agents:
        names[agent.id] = agent.hostname
        if hosts[agent.hostname] > 1:
            numbered = (f"{agent.hostname}-{number}" for number in range(1, len(hosts) + sum(hosts.values()) + 1))
            names[agent.id] = next(name for name in numbered if name not in taken)
            taken.add(names[agent.id])
    left_out += [
        f"the host name {host}, which {count} agents share: their names are numbered"
        for host, count in hosts.items()
        if count > 1
    ]
    return names, left_out


def _agent(agent: ClusterAgent, name: str) -> dict[str, Any]:
    configured = Resources(configured_form(entry) for entry in agent.total.non_revocable())
    written: dict[str, Any] = {"hostname": name, "resources": _text(configured)}
    if agent.attributes:
        written["attributes"] = dict(agent.attributes)
    if not agent.active:
        written["active"] = False
    if agent.region and agent.zone:
        written |= {"region": agent.region, "zone": agent.zone}
    slack = agent.total.revocable()
    if len(slack):
        written["oversubscribed"] = _text(slack)
    return written


def _volume(name: str, entry: Resource) -> dict[str, Any]:
    assert entry.disk is not None
    top = entry.reservations[-1]
    written: dict[str, Any] = {
        "agent": name,
        "id": entry.disk.persistence_id,
        "size": write_resources([replace(plain_disk(entry), reservations=())]),
        "role": top.role,
        "under": [level.role for level in entry.reservations[:-1]],
        "path": entry.disk.container_path,
        "principal": entry.disk.principal,
        "reserver": top.principal,
        "labels": None if top.labels is None else labels_to_toml(top.labels),
        "shared": entry.shared,
    }
    return {key: value for key, value in written.items() if value}


def _framework(
    framework: SnapshotFramework, usages: list[FrameworkUsage], names: Mapping[str, str], left_out: list[str]
) -> dict[str, Any]:
    written: dict[str, Any] = {
        "name": framework.name,
        "roles": list(framework.roles),
        "principal": framework.principal,
        "capabilities": sorted(framework.capabilities),
        **_wish(framework, usages),
        "connected": framework.connected and framework.active,
        "running": [_running(usage, names, framework, left_out) for usage in usages],
    }
    for what, told in (("offer constraints", framework.offer_constraints), ("offer filters", framework.offer_filters)):
        if told:
            left_out.append(f"{what} of {framework.name}: a cluster file has none")
    always = ("capabilities", "connected", "roles")
    kept = {key: value for key, value in written.items() if value or key in always}
    if kept["connected"]:
        del kept["connected"]
    return kept


def _wish(framework: SnapshotFramework, usages: list[FrameworkUsage]) -> dict[str, Any]:
    """Return the task of a framework, and what it does with offers; one that is away may want more when it is back."""
    suppressed, task = framework.suppressed or frozenset(), average_task(usages)
    if task and framework.active and suppressed.issuperset(framework.roles):
        return {"answer": "accept", "task": task, "tasks": sum(usage.tasks for usage in usages)}
    return {"suppressed": sorted(suppressed), "answer": "hold", "task": task}


def average_task(usages: Iterable[FrameworkUsage]) -> str:
    """The average of the running tasks, as text of plain amounts; empty if none is running."""
    ran = [usage for usage in usages if usage.tasks]
    held = Quantities.total(usage.resources.scalar_quantities() for usage in ran)
    average = held.average(max(1, sum(usage.tasks for usage in ran)))  # rounded down, so that as many fit again
    return _text(Resource(name, milli) for name, milli in average.items())


def _running(
    usage: FrameworkUsage, names: Mapping[str, str], framework: SnapshotFramework, left_out: list[str]
) -> dict[str, Any]:
    held = usage.resources.non_revocable()
    if held != usage.resources:
        left_out.append(f"revocable resources that {framework.name} uses on {names[usage.agent_id]}")
    volumes = [entry.disk.persistence_id for entry in held if entry.disk is not None and entry.is_persistent_volume]
    plain = [entry for entry in held if not entry.is_persistent_volume]
    written = {
        "agent": names[usage.agent_id],
        "role": usage.role,
        "tasks": usage.tasks,
        "resources": _text(plain),
        "volumes": volumes,
    }
    return {key: value for key, value in written.items() if value or key in ("tasks", "resources")}


def _text(resources: Iterable[Resource]) -> str:
    """The amounts as a text or JSON, each with the role that it is reserved for, whatever that refines."""
    return write_resources(
        Resources(
            replace(
                entry,
                reservations=(Reservation("STATIC", entry.role),) if entry.is_reserved else (),
                allocation_role=None,
                revocable=False,
            )
            for entry in resources
        )
    )
