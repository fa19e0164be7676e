"""The permissions that each command needs (Mesos documentation, "Authorization"), and what is known about one of them.

A master authorizes actions; operators think in commands.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from mesosctl.model.acls import Access, Acls
from mesosctl.model.errors import UsageError
from mesosctl.model.quota.rules import check_not_default_role
from mesosctl.model.reservations.rules import check_reservable
from mesosctl.model.roles import check_role, did_you_mean
from mesosctl.model.suggestion import command

By = Literal["master", "acls"]


class Verb(NamedTuple):
    """A command that a principal may be allowed to run."""

    command: str
    """The words of the command: `quota set`."""
    actions: tuple[str, ...] = ()
    """The actions that it needs, all of them; none if every principal may run it."""
    of: str = ""
    """The kind of name that the actions are about: `role`; empty if they are about everything at once."""
    changes: bool = False
    """Whether it changes the cluster; of what others show, a master leaves out what a principal may not see."""

    @property
    def usage(self) -> str:
        """The words with the name that may follow them: `quota set ROLE`."""
        return f"{self.command} {self.of.upper()}".strip()


_READS = (
    Verb("agents list"),
    Verb("frameworks list", ("view_frameworks",), "user"),
    Verb("maintenance list", ("get_maintenance_schedules", "get_maintenance_statuses")),
    Verb("quota list", ("get_quotas",), "role"),
    Verb("ratelimit show", ("view_flags",)),
    Verb("reservations", ("view_roles",), "role"),
    Verb("roles list", ("view_roles",), "role"),
    Verb("tasks list", ("view_frameworks", "view_tasks"), "user"),
    Verb("volumes list", ("view_roles",), "role"),
    Verb("weights list", ("view_roles",), "role"),
)
_CHANGES = (
    Verb("agents deactivate", ("deactivate_agents",)),
    Verb("agents drain", ("drain_agents",)),
    Verb("agents gone", ("mark_agents_gone",)),
    Verb("agents reactivate", ("reactivate_agents",)),
    Verb("frameworks teardown", ("teardown_frameworks",), "principal"),
    Verb("maintenance cancel", ("update_maintenance_schedules",)),
    Verb("maintenance down", ("start_maintenances",)),
    Verb("maintenance schedule", ("update_maintenance_schedules",)),
    Verb("maintenance up", ("stop_maintenances",)),
    Verb("offers reserve", ("register_frameworks", "reserve_resources"), "role"),
    Verb("offers take", ("register_frameworks",), "role"),
    Verb("quota remove", ("update_quotas",), "role"),
    Verb("quota set", ("update_quotas",), "role"),
    Verb("quota update", ("update_quotas",), "role"),
    Verb("reserve", ("reserve_resources",), "role"),
    Verb("unreserve", ("unreserve_resources",), "principal"),
    Verb("volumes create", ("create_volumes",), "role"),
    Verb("volumes destroy", ("destroy_volumes",), "principal"),
    Verb("weights set", ("update_weights",), "role"),
)
VERBS = {one.command: one for one in sorted((*_READS, *(one._replace(changes=True) for one in _CHANGES)))}
"""The commands about which can-i knows, by their words."""

_BY_STEPS = "is judged by its steps, such as quota set, weights set and reserve: ask about each"
_CHANGES_NOTHING = "changes no cluster: it needs what the lists that it reads need"
_ITS_OPERATIONS = "is judged by its steps, unreserve and volumes destroy: ask about each"
_OF_FILES = "reads files alone, so it needs no permission of a master"
NOT_ASKED: Mapping[str, str] = {
    "acls check": _OF_FILES,
    "apply": _BY_STEPS,
    "cleanup": _ITS_OPERATIONS,
    "diff": _CHANGES_NOTHING,
    "export": _CHANGES_NOTHING,
    "maintenance plan": _CHANGES_NOTHING,
    "offers explain": _CHANGES_NOTHING,
    "offers list": _CHANGES_NOTHING,
    "offers simulate": _OF_FILES,
    "offers unreserve": "is judged by its steps, offers take and unreserve: ask about each",
    "offers watch": _CHANGES_NOTHING,
    "plan": _BY_STEPS,
    "snapshot": _CHANGES_NOTHING,
    "top": _CHANGES_NOTHING,
    "tune": _OF_FILES,
    "whatif": "changes no cluster: it reads a file, or what the lists of a master show",
}
"""Commands that need no permission of their own, and why can-i has no answer for them."""


class Question(NamedTuple):
    """A command, and the name that it is about; without a name, everything of its kind."""

    verb: Verb
    name: str | None = None

    @property
    def words(self) -> str:
        """The command and the name."""
        return f"{self.verb.command} {self.name or ''}".strip()


class Permission(NamedTuple):
    """The answer to a question, as far as it is known."""

    question: Question
    allowed: bool | None
    """None if it is unknown."""
    reason: str
    by: By | None = None
    """The source of the answer."""

    @property
    def known(self) -> bool:
        """Whether there is an answer."""
        return self.allowed is not None


def parse_question(words: Sequence[str], role: str | None = None, **given: str | None) -> Question:
    """The question in words such as `quota set web`; the last word of a command is enough if it is of one noun alone.

    `role` is that of --role, and `given` are the other options, which the hints repeat.  Raises UsageError, and
    RuleViolation for a name that no role has.
    """
    verb, rest = _verb_of(words, given)
    names = [*rest, *([] if role is None else [role])]
    if role is not None and verb.of != "role":
        about = f"a {verb.of}, which is written after it" if verb.of else "no role"
        raise UsageError(f"{verb.command} is about {about}", field="--role", hint="leave out --role")
    if len(names) > 1 or (names and not verb.of):
        takes = f"one {verb.of} alone" if verb.of else "no name"
        first = [role or names[0]] if verb.of else []
        raise UsageError(
            f"after {verb.command}, can-i takes {takes}",
            field="COMMAND",
            hint=command("can-i", *verb.command.split(), *first, **given),
        )
    if names and verb.of == "role":
        _check_role(verb, names[0], "--role" if role is not None else "COMMAND")
    elif names and not names[0].strip():
        raise UsageError(
            f"'{names[0]}' is no {verb.of}", field="COMMAND", hint=f"leave it out to ask about every {verb.of}"
        )
    return Question(verb, names[0] if names else None)


def _check_role(verb: Verb, role: str, field: str) -> None:
    """Raise RuleViolation for a role that does not exist, or that the command cannot be about."""
    check_role(role, field)
    if verb.actions == ("update_quotas",):
        check_not_default_role(role)
    elif verb.actions[-1] in ("reserve_resources", "create_volumes"):
        check_reservable(role, field)


def _verb_of(words: Sequence[str], given: Mapping[str, str | None]) -> tuple[Verb, Sequence[str]]:
    """The verb at the beginning of the words, and the words after it.  Raises UsageError."""
    for length in (2, 1):
        typed = " ".join(words[:length])
        if typed in VERBS:
            return VERBS[typed], words[length:]
        if typed in NOT_ASKED:
            raise UsageError(
                f"{typed} {NOT_ASKED[typed]}",
                field="COMMAND",
                hint=f"{command('can-i', list=True, **given)} asks about all single steps",
            )
    nouns = [verb for verb in VERBS.values() if words and verb.command.split()[-1] == words[0]]
    if len(nouns) == 1:
        return nouns[0], words[1:]
    listing = VERBS.get(f"{words[0]} list") if words else None
    if listing is not None and len(words) == 1:
        return listing, ()
    typed = " ".join(words[:2])
    split = [part for word in words for part in word.split()]
    if len(split) > len(words) and (" ".join(split[:2]) in VERBS or split[0] in VERBS):
        raise UsageError(f"'{typed}' is quoted as one word", field="COMMAND", hint=command("can-i", *split, **given))
    several = [verb.command for verb in nouns or _of_noun(words)]
    if several:
        raise UsageError(
            f"'{typed}' is not one command that can-i knows",
            field="COMMAND",
            hint=f"write one of: {', '.join(several)}",
        )
    listed = f"{command('can-i', list=True, **given)} names every command that it knows"
    raise UsageError(f"can-i knows nothing about '{typed}'", field="COMMAND", hint=did_you_mean(typed, VERBS, listed))


def _of_noun(words: Sequence[str]) -> Iterable[Verb]:
    return [verb for verb in VERBS.values() if words and verb.command.split()[0] == words[0]]


def every_question(role: str | None) -> list[Question]:
    """A question about each command, about this role where a role is what it is about.  Raises RuleViolation."""
    if role is not None:
        check_role(role, "--role")
    return [Question(verb, role if verb.of == "role" else None) for verb in VERBS.values()]


def judge(question: Question, acls: Acls, principal: str | None) -> Permission:
    """The answer of ACLs to a question for a principal; None is an unauthenticated client."""
    verb, name = question
    client = "an unauthenticated client" if principal is None else f"principal '{principal}'"
    if not verb.actions:
        return Permission(question, True, "no ACL decides about it", "acls")
    if name is not None or not verb.of:
        refused = [action for action in verb.actions if not acls.allows(action, principal, name)]
        about = f" on {verb.of} '{name}'" if name is not None else ""
        if refused:
            return Permission(question, False, f"the ACLs refuse {refused[0]}{about} to {client}", "acls")
        return Permission(question, True, f"the ACLs allow {' and '.join(verb.actions)}{about} to {client}", "acls")
    found = {action: acls.access(action, principal) for action in verb.actions}
    return _judge_all(question, found, client)


def _judge_all(question: Question, found: dict[str, Access], client: str) -> Permission:
    """The same about everything of a kind: who may do a part of it is allowed to read, but not to change."""
    verb = question.verb
    for action, access in found.items():
        if not access.anything:
            return Permission(question, False, f"the ACLs refuse {action} to {client}", "acls")
    partly = {action: access for action, access in found.items() if not access.everything}
    if not partly:
        return Permission(question, True, f"the ACLs allow {' and '.join(found)} to {client}", "acls")
    parts = "; ".join(f"{action}: {access}" for action, access in partly.items())
    hint = "" if not verb.changes else f"; name one: {verb.usage}"
    return Permission(question, not verb.changes, f"only for some: {parts}{hint}", "acls")
