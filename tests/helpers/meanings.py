"""The agents that a word means, found by comparing it with every name of every agent."""

from mesosctl.mesos.names import kind_of


def _ends_whole(word: str) -> bool:
    """Whether a word ends as the id of an agent does, so that it is not the beginning of one."""
    last = word.rpartition("-")[2]
    return last[:1] == "S" and last[1:].isdigit()


def fitting(hostnames: dict[str, str], word: str) -> dict[str, set[str]]:
    """The agents that a word without a kind means, by the way in which it does."""
    found: dict[str, set[str]] = {
        "host": {one for one, host in hostnames.items() if host == word},
        "id": {one for one in hostnames if one == word},
        "short": {
            one
            for one in hostnames
            if one != word and (one.endswith(f"-{word}") or (one.startswith(word) and not _ends_whole(word)))
        },
    }
    return {way: agents for way, agents in found.items() if agents}


def _by_kind(hostnames: dict[str, str], kind: str, text: str) -> set[str]:
    """The agents that a word means whose kind is in front."""
    ways = fitting(hostnames, text)
    return ways.get("host", set()) if kind == "host" else ways.get("id", ways.get("short", set()))


def meant(hostnames: dict[str, str], word: str) -> set[str]:
    """Every agent that a word fits."""
    kind, text = kind_of(word)
    return _by_kind(hostnames, kind, text) if kind else set().union(*fitting(hostnames, text).values())
