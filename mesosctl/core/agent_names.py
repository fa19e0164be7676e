"""What agents are called where several run on one host: by an end of the id that no other agent has."""

import itertools
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
    ordered = sorted(hostnames)
    taken = frozenset(hostnames.values())

    def means_more(end: str) -> bool:
        """Whether it is a host name, or begins an id."""
        place = bisect_left(ordered, end)
        return end in taken or (place < len(ordered) and ordered[place].startswith(end))

    found: dict[str, str] = {}
    left = list(hostnames)
    for parts in itertools.count(1):
        if not left:
            return {one: found[one] for one in hostnames}
        times = Counter(_end(one, parts) for one in hostnames)
        for one in left:
            end = _end(one, parts)
            if end == one or (times[end] == 1 and not means_more(end)):
                found[one] = end
        left = [one for one in left if one not in found]
    raise AssertionError("an id has an end")


def _end(agent_id: str, parts: int) -> str:
    """The last so many parts of an id, between dashes; the whole id where it has no more."""
    return "-".join(agent_id.rsplit("-", parts)[-parts:])


def told_apart(hostnames: Mapping[str, str]) -> dict[str, str]:
    """Return, by id, what a sentence calls each agent: its host name, with its short id where others have that too."""
    shared = shared_hostnames(hostnames.values())
    if not shared:
        return dict(hostnames)
    short = short_ids(hostnames)
    return {one: f"{host} ({short[one]})" if host in shared else host for one, host in hostnames.items()}
