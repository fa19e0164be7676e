"""The permissions that each command needs (Mesos documentation, "Authorization"), and what is known about one of them.

A master authorizes actions; operators think in commands.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from mesosctl.model.acls import Access, Acls
from mesosctl.model.errors import UsageError
from mesosctl.model.roles import did_you_mean
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


def parse_question(words: Sequence[str], role: str | None = None) -> Question:
    """The question in words such as `quota set web`; the last word of a command is enough if it is of one noun alone.

    `role` is that of --role.  Raises UsageError.
    """
    verb, rest = _verb_of(words)
    names = [*rest, *([] if role is None else [role])]
    if role is not None and verb.of != "role":
        about = f"a {verb.of}, which is written after it" if verb.of else "no role"
        raise UsageError(f"{verb.command} is about {about}", field="--role", hint="leave out --role")
    if len(names) > 1 or (names and not verb.of):
        takes = f"one {verb.of} alone" if verb.of else "no name"
        words_of_it = verb.command if not verb.of or not names else f"{verb.command} {names[-1]}"
        raise UsageError(
            f"after {verb.command}, can-i takes {takes}", field="COMMAND", hint=command("can-i", *words_of_it.split())
        )
    return Question(verb, names[0] if names else None)


def _verb_of(words: Sequence[str]) -> tuple[Verb, Sequence[str]]:
    """The verb at the beginning of the words, and the words after it.  Raises UsageError."""
    for length in (2, 1):
        typed = " ".join(words[:length])
        if typed in VERBS:
            return VERBS[typed], words[length:]
    nouns = [verb for verb in VERBS.values() if words and verb.command.split()[-1] == words[0]]
    if len(nouns) == 1:
        return nouns[0], words[1:]
    listing = VERBS.get(f"{words[0]} list") if words else None
    if listing is not None and len(words) == 1:
        return listing, ()
    typed = " ".join(words[:2])
    several = [verb.command for verb in nouns or _of_noun(words)]
    if several:
        raise UsageError(
            f"'{typed}' is not one command that can-i knows",
            field="COMMAND",
            hint=f"write one of: {', '.join(several)}",
        )
    raise UsageError(
        f"can-i knows nothing about '{typed}'",
        field="COMMAND",
        hint=did_you_mean(typed, VERBS, "mesosctl can-i --list names every command that it knows"),
    )


def _of_noun(words: Sequence[str]) -> Iterable[Verb]:
    return [verb for verb in VERBS.values() if words and verb.command.split()[0] == words[0]]


def every_question(role: str | None, principal: str | None) -> list[Question]:
    """A question about each command, about this role and what this principal has made."""
    names = {"role": role, "principal": principal}
    return [Question(verb, names.get(verb.of)) for verb in VERBS.values()]


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
