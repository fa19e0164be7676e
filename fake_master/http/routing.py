"""Which endpoint a path means, as libprocess finds it (spec/endpoints.md §1).

The first part of a path names an actor, and may be percent-encoded; who is no actor's name is the
master's own path.  Of the rest, which is taken as it stands, the longest beginning that is an
endpoint decides.
"""

from collections.abc import Collection, Mapping
from typing import Generic, TypeVar
from urllib.parse import unquote

_MASTER = "master"
Endpoint = TypeVar("Endpoint")


class Router(Generic[Endpoint]):
    """Finds what stands at a path; `apart` are the paths whose first part is an actor beside the master."""

    def __init__(self, by_path: Mapping[str, Endpoint], apart: Collection[str]) -> None:
        self._of_master = {path: endpoint for path, endpoint in by_path.items() if path not in apart}
        self._apart: dict[str, dict[str, Endpoint]] = {}
        for path in apart:
            actor, _, name = path.partition("/")
            self._apart.setdefault(actor, {})[name] = by_path[path]

    def find(self, path: str) -> Endpoint | None:
        """The endpoint of a raw path, or None."""
        first = next(filter(None, path.split("/")), None)
        if first is None or "/.." in path:
            return None
        actor = unquote(first)
        if actor != _MASTER and actor not in self._apart:
            return _longest(self._of_master, path)
        below = self._of_master if actor == _MASTER else self._apart[actor]
        return _longest(below, path.removeprefix("/" + first))


def _longest(endpoints: Mapping[str, Endpoint], path: str) -> Endpoint | None:
    """What the path's longest beginning names; repeated slashes within it are none of ours."""
    name = path.strip("/")
    if not name:
        return endpoints.get(name)
    while name:
        if name in endpoints:
            return endpoints[name]
        name = name.rpartition("/")[0].rstrip("/")
    return None
