"""What agents are called where several run on one host: by an end of the id that no other agent has."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping


def names_agent(word: str, agent_id: str, hostname: str) -> bool:
    """Whether `word` can mean this agent: as its id, its host name, or the beginning or end of its id."""
    return word in (agent_id, hostname) or agent_id.startswith(word) or agent_id.endswith(f"-{word}")


def shared_hostnames(hostnames: Iterable[str]) -> frozenset[str]:
    """Return the host names that stand there more than once."""
    return frozenset(name for name, count in Counter(hostnames).items() if count > 1)


def short_ids(hostnames: Mapping[str, str]) -> dict[str, str]:
    """Return, by id, the shortest end of each id that means this agent alone; `hostnames` are those of all, by id.

    The ids of one master end in `-S0`, `-S1` and so on, so that is mostly what remains.
    """
    ends = Counter(end for agent_id in hostnames for end in _ends(agent_id))
    ordered = sorted(hostnames)
    taken = frozenset(hostnames.values())

    def is_unique(end: str) -> bool:
        place = bisect_left(ordered, end)
        begins_another = place < len(ordered) and ordered[place].startswith(end)
        return ends[end] == 1 and end not in taken and not begins_another

    return {one: next((end for end in _ends(one) if end != one and is_unique(end)), one) for one in hostnames}


def _ends(agent_id: str) -> Iterable[str]:
    """The ends of an id that begin after a dash, shortest first, and the whole id."""
    parts = agent_id.split("-")
    return ["-".join(parts[-count:]) for count in range(1, len(parts) + 1)]


def told_apart(hostnames: Mapping[str, str]) -> dict[str, str]:
    """Return, by id, what a sentence calls each agent: its host name, with its short id where others have that too."""
    shared = shared_hostnames(hostnames.values())
    if not shared:
        return dict(hostnames)
    short = short_ids(hostnames)
    return {one: f"{host} ({short[one]})" if host in shared else host for one, host in hostnames.items()}
