"""The permissions that each command needs (Mesos documentation, "Authorization"), and what ACLs say about one of them.

A master authorizes actions; operators think in commands.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from mesosctl.mesos.messages.acls import OBJECT_FIELDS
from mesosctl.mesos.roles import check_role
from mesosctl.mesos.rules.acls import Access, AclDecision, Acls

By = Literal["master", "acls"]
Kind = Literal["role", "principal", "user", ""]
_KINDS: Mapping[str, Kind] = {
    "roles": "role",
    "users": "user",
    "creator_principals": "principal",
    "framework_principals": "principal",
    "reserver_principals": "principal",
}
"""The kind of name that an action is about, by the field of its objects; others are about everything at once."""


class Verb(NamedTuple):
    """A command that a principal may be allowed to run."""

    command: str
    """The words of the command: `quota set`."""
    actions: tuple[str, ...] = ()
    """The actions that it needs, all of them; none if every principal may run it."""
    of: Kind = ""
    """The kind of name that it is about; empty if it is about everything at once."""
    named_by: str = ""
    """The argument of the command that names it; empty if another option does, or what the cluster has."""
    changes: bool = False
    """Whether it changes the cluster; of what others show, a master leaves out what a principal may not see."""
    by_steps: bool = False
    """Whether it needs only some of the actions: those of its steps, which are unknown before they are planned."""
    listed: bool = True
    """Whether `can-i --list` asks about it."""

    @property
    def usage(self) -> str:
        """The words with the name that may follow them: `quota set ROLE`."""
        return f"{self.command} {self.of.upper()}".strip()


_READS = (
    Verb("agents list"),
    Verb("frameworks list", ("view_frameworks",), "user"),
    Verb("maintenance list", ("get_maintenance_schedules", "get_maintenance_statuses")),
    Verb("quota list", ("get_quotas",), "role", "roles"),
    Verb("ratelimit show", ("view_flags",)),
    Verb("reservations", ("view_roles",), "role"),
    Verb("roles list", ("view_roles",), "role", "names"),
    Verb("tasks list", ("view_frameworks", "view_tasks"), "user"),
    Verb("volumes list", ("view_roles",), "role"),
    Verb("weights list", ("view_roles",), "role", "names"),
)
_CLUSTER = ("view_frameworks", "view_roles", "view_tasks", "get_quotas")
_OTHER_READS = (
    *(Verb(f"quota {verb}", ("get_quotas",), "role", "role") for verb in ("check", "room", "show")),
    *(Verb(f"offers {verb}", ("view_frameworks", "view_roles")) for verb in ("explain", "list", "watch")),
    *(Verb(f"ratelimit {verb}", ("view_frameworks",)) for verb in ("suggest", "watch")),
    *(Verb(words, _CLUSTER) for words in ("diff", "export", "history record", "metrics", "plan")),
    *(Verb(words, _CLUSTER) for words in ("capacity spare", "snapshot", "top", "wait", "whatif")),
)
_CHANGES = (
    Verb("agents deactivate", ("deactivate_agents",)),
    Verb("agents drain", ("drain_agents",)),
    Verb("agents gone", ("mark_agents_gone",)),
    Verb("agents reactivate", ("reactivate_agents",)),
    Verb(
        "apply",
        (
            *("update_quotas", "update_weights", "reserve_resources", "unreserve_resources"),
            *("create_volumes", "destroy_volumes"),
        ),
        by_steps=True,
    ),
    Verb("cleanup", ("unreserve_resources", "destroy_volumes"), by_steps=True),
    Verb("frameworks teardown", ("teardown_frameworks",), "principal"),
    Verb("maintenance cancel", ("update_maintenance_schedules",)),
    Verb("maintenance down", ("start_maintenances",)),
    Verb("maintenance plan", ("update_maintenance_schedules",)),
    Verb("maintenance schedule", ("update_maintenance_schedules",)),
    Verb("maintenance up", ("stop_maintenances",)),
    Verb("offers reserve", ("register_frameworks", "reserve_resources"), "role"),
    Verb("offers take", ("register_frameworks",), "role"),
    Verb("offers unreserve", ("register_frameworks", "unreserve_resources"), "role"),
    Verb("quota remove", ("update_quotas",), "role", "roles"),
    Verb("quota set", ("update_quotas",), "role", "role"),
    Verb("quota update", ("update_quotas",), "role", "role"),
    Verb("reserve", ("reserve_resources",), "role"),
    Verb("unreserve", ("unreserve_resources",), "principal"),
    Verb("volumes create", ("create_volumes",), "role"),
    Verb("volumes destroy", ("destroy_volumes",), "principal"),
    Verb("weights set", ("update_weights",), "role", "pairs"),
)
VERBS = {
    verb.command: verb
    for verb in sorted(
        (
            *_READS,
            *(verb._replace(listed=False) for verb in _OTHER_READS),
            *(verb._replace(changes=True) for verb in _CHANGES),
        )
    )
}
"""The commands that ask a master, by their words."""
LOCAL = frozenset(
    {
        *("acls check", "audit list", "can-i", "completion", "options", "offers simulate", "replay", "tune", "usage"),
        *(f"context {verb}" for verb in ("list", "remove", "set", "show", "use")),
        *(f"history {verb}" for verb in ("export", "import", "list")),
        *(f"ratelimit {verb}" for verb in ("default", "plan", "set", "simulate", "unset", "validate")),
        "who-can",
    }
)
"""The commands that need no permission, because they work on files and settings."""


class PermissionQuestion(NamedTuple):
    """A command, and the name that it is about; without a name, everything of its kind."""

    verb: Verb
    name: str | None = None

    @property
    def words(self) -> str:
        """The command and the name."""
        return f"{self.verb.command} {self.name or ''}".strip()


class CommandPermission(NamedTuple):
    """The answer to a question, as far as it is known."""

    question: PermissionQuestion
    allowed: bool | None
    """None if it is unknown."""
    reason: str
    by: By | None = None
    """The source of the answer; None if it is unknown, and if nobody has to allow it."""

    @property
    def known(self) -> bool:
        """Whether there is an answer."""
        return self.allowed is not None


class Client(NamedTuple):
    """The sender of a request."""

    principal: str | None
    """None if it is unauthenticated, and for all whom no rule names."""
    who: Literal["named", "anybody else", "unauthenticated"] = "named"


class ClientPermission(NamedTuple):
    """The answer to a question about a command, of one client."""

    client: Client
    found: CommandPermission
    is_you: bool = False
    """Whether it is the one that asks."""


def every_question(role: str | None) -> list[PermissionQuestion]:
    """A question about each list and each change, about this role where one is about a role.  Raises RuleViolation."""
    if role is not None:
        check_role(role, "--role")
    return [PermissionQuestion(verb, role if verb.of == "role" else None) for verb in VERBS.values() if verb.listed]


def deciding(found: Sequence[CommandPermission]) -> CommandPermission:
    """The answer that decides whether a command that is about several names may be run."""
    return min(found, key=lambda permission: {False: 0, None: 1, True: 2}[permission.allowed])


def judge(
    question: PermissionQuestion, acls: Acls, principal: str | None, by: By = "acls", client: str = ""
) -> CommandPermission:
    """The answer of ACLs to a question for a principal; None is an unauthenticated client.

    `by` says whose ACLs they are: those of a file, or those that a master shows.  `client` names the client otherwise.
    """
    verb, name = question
    client = client or ("an unauthenticated client" if principal is None else f"principal '{principal}'")
    whose = "the ACLs" if by == "acls" else "the ACLs of the master"
    if verb.command in LOCAL:
        return CommandPermission(question, True, "it works on files and settings, so nobody has to allow it")
    if not verb.actions:
        return CommandPermission(question, True, "no ACL decides about it", by)
    if acls == Acls():
        return CommandPermission(question, True, "there are no ACLs, so everybody may do it", by)
    found = {action: _access(action, verb.of, name, acls, principal) for action in verb.actions}
    about = f" on {verb.of} '{name}'" if name is not None else ""
    if verb.by_steps:
        return _judge_steps(question, found, f"{whose} allow it to {client}", by)
    refused = next((action for action, access in found.items() if not access.anything), None)
    if refused is not None:
        return CommandPermission(question, False, f"{whose} refuse {refused}{about} to {client}", by)
    partly = {action: access for action, access in found.items() if not access.everything}
    if not partly:
        return CommandPermission(question, True, f"{whose} allow {' and '.join(found)}{about} to {client}", by)
    hint = f"; name one: {verb.usage}" if verb.changes and name is None and verb.of else ""
    return CommandPermission(question, not verb.changes, f"only for some: {_texts(partly)}{hint}", by)


def who_can(
    questions: Sequence[PermissionQuestion], acls: Acls, by: By = "acls", you: str | None = None
) -> list[ClientPermission]:
    """Every principal that a rule names, all others, and clients without a principal, each with the answer to all.

    `you` is the principal that asks; None is one without.
    """
    entries = (rule.principals for rules in acls.rules.values() for rule in rules)
    named = sorted({value for entity in entries for value in entity.values})
    other = max(named, key=len, default="") + "'"  # no rule names it
    clients = [
        *((Client(name), name, "") for name in named),
        (Client(None, "anybody else"), other, "anybody else"),
        (Client(None, "unauthenticated"), None, ""),
    ]
    yours = Client(you) if you in named else Client(None, "unauthenticated" if you is None else "anybody else")
    return [
        ClientPermission(
            client, deciding([judge(question, acls, principal, by, text) for question in questions]), client == yours
        )
        for client, principal, text in clients
    ]


def _access(action: str, kind: Kind, name: str | None, acls: Acls, principal: str | None) -> Access:
    """The things that a command is about and that a principal may do an action to."""
    field = OBJECT_FIELDS[action]
    its_kind = _KINDS.get(field, "")
    if its_kind and (its_kind != kind or name is None):
        return acls.access(action, principal)
    return Access(field, (AclDecision(None, acls.allows(action, principal, name if its_kind else None)),))


def _judge_steps(question: PermissionQuestion, found: Mapping[str, Access], allowed: str, by: By) -> CommandPermission:
    """The same about a command that needs only the actions of its steps."""
    partly = {action: access for action, access in found.items() if not access.everything}
    if not partly:
        return CommandPermission(question, True, allowed, by)
    reason = f"this depends on its steps: {_texts(partly)}"
    if not any(access.anything for access in found.values()):
        return CommandPermission(question, False, reason, by)
    return CommandPermission(question, None, reason)


def _texts(found: Mapping[str, Access]) -> str:
    return "; ".join(f"{action}: {access}" for action, access in found.items())
