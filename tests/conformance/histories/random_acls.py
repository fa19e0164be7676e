"""Random ACL files, valid and not, and requests that show what they allow."""

import random
from collections.abc import Sequence
from typing import Any

OBJECTS = {
    "access_sandboxes": "users",
    "create_volumes": "roles",
    "deactivate_agents": "agents",
    "destroy_volumes": "creator_principals",
    "get_endpoints": "paths",
    "get_maintenance_schedules": "machines",
    "get_quotas": "roles",
    "prune_images": "images",
    "reactivate_agents": "agents",
    "register_frameworks": "roles",
    "reserve_resources": "roles",
    "run_tasks": "users",
    "set_log_level": "level",
    "set_quotas": "roles",
    "teardown_frameworks": "framework_principals",
    "unreserve_resources": "reserver_principals",
    "update_maintenance_schedules": "machines",
    "update_quotas": "roles",
    "update_weights": "roles",
    "view_executors": "users",
    "view_flags": "flags",
    "view_frameworks": "users",
    "view_roles": "roles",
    "view_tasks": "users",
}
NAMES = {
    "creator_principals": ("p",),
    "framework_principals": ("p", "q"),
    "paths": (
        "/metrics/snapshot",
        "/flags",
        "/logging/toggle",
        "/files/debug.json",
        "/monitor/statistics",
        "/monitor/statistics.json",
    ),
    "reserver_principals": ("p", "q"),
    "roles": ("r", "r/x", "r/%", "q", "*"),
    "users": ("u", "root"),
}
ANY = {"type": "ANY"}
ABOUT_FRAMEWORKS = {
    action: OBJECTS[action]
    for action in (
        "create_volumes",
        "destroy_volumes",
        "register_frameworks",
        "reserve_resources",
        "run_tasks",
        "teardown_frameworks",
        "unreserve_resources",
        "view_frameworks",
        "view_roles",
    )
}
"""Actions whose principal is a framework's, or that decide what operators see of frameworks and do to them."""
WITHOUT_NAMES = ("agents", "flags", "images", "level", "machines")


class AclDice:
    """A source of ACL files that a seed fixes."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def file(self, *, odd: bool) -> dict[str, Any]:
        """An ACL file; with `odd`, one that a master may refuse."""
        made: dict[str, Any] = {}
        if self._random.random() < 0.6:
            made["permissive"] = self._random.random() < 0.6
        for action in self._random.sample(sorted(OBJECTS), self._random.choice((2, 4, 8, 12))):
            count = self._random.choice((1, 1, 2, 3))
            made[action] = [self._rule(OBJECTS[action], odd=odd) for _ in range(count)]
        if odd and self._random.random() < 0.1:
            made["no_such_action"] = [{"x": 1}]
        return made | {"register_agents": [{"principals": ANY, "agents": ANY}]}

    def file_of_frameworks(self) -> dict[str, Any]:
        """A file that a master takes; it seldom allows what no rule speaks of, and shows metrics to everybody."""
        made = self.file(odd=False) | {"permissive": self._random.random() < 0.3}
        for action, subject in ABOUT_FRAMEWORKS.items():
            if self._random.random() < 0.7:
                rules = [self._rule(subject, odd=False) for _ in range(self._random.choice((1, 2, 3)))]
                made[action] = [*rules, {"principals": ANY, subject: ANY}][: self._random.choice((2, 3, 4))]
        if self._random.random() < 0.6:
            made["register_frameworks"] = [{"principals": ANY, "roles": ANY}]
        if self._random.random() < 0.1:
            made["register_agents"] = [self._rule("agents", odd=False)]
        return made | {"get_endpoints": [{"principals": ANY, "paths": ANY}]}

    def _rule(self, subject: str, *, odd: bool) -> dict[str, Any]:
        rule = {"principals": self._entity(("p", "q", "root"), odd=odd), subject: self._subject(subject, odd=odd)}
        if odd and self._random.random() < 0.15:
            del rule[self._random.choice(list(rule))]
        return rule

    def _subject(self, subject: str, *, odd: bool) -> dict[str, Any]:
        if subject in WITHOUT_NAMES and not (odd and self._random.random() < 0.2):
            return {"type": self._random.choice(("ANY", "NONE"))}
        if subject == "paths" and not odd:
            return {"values": ["/logging/toggle"]}
        return self._entity(NAMES.get(subject, ("x",)), odd=odd)

    def _entity(self, names: Sequence[str], *, odd: bool) -> dict[str, Any]:
        kind = self._random.random()
        if kind < 0.5:
            return {"type": "ANY" if kind < 0.3 else "NONE"}
        named: dict[str, Any] = {"values": self._random.sample(names, self._random.choice((1, 1, min(2, len(names)))))}
        if self._random.random() < 0.3:
            named["type"] = "SOME"
        return {**named, "type": "BOGUS"} if odd and self._random.random() < 0.05 else named
