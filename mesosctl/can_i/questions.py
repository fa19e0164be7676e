"""The questions in the words after can-i: a command line as it would be typed, or a command and a name alone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mesosctl.can_i.command_permissions import LOCAL, VERBS, PermissionQuestion, Verb
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.roles import check_role, did_you_mean
from mesosctl.mesos.rules.reservations.rules import check_reservable
from mesosctl.suggestion import command

Values = Mapping[str, Any]
"""The words of the arguments and options of a command, by the names of its parameters; None for those not given."""
Reader = Callable[[str, Sequence[str]], Values]
"""Reads the words after a command as the command line does.  Raises what it raises for wrong words."""


class TypedCommand(NamedTuple):
    """A command of which the words say what it is about, or at what on a cluster that is to be looked up."""

    verb: Verb
    names: tuple[str, ...] = ()
    """The names that it is about."""
    values: Values | None = None
    """Its words; None if it was typed with a name alone."""

    @property
    def questions(self) -> list[PermissionQuestion]:
        """A question about each name, or about everything."""
        return [PermissionQuestion(self.verb, name) for name in self.names or (None,)]


def parse_command(words: Sequence[str], read: Reader, role: str | None = None, **given: str | None) -> TypedCommand:
    """The command in words such as `quota set web cpus:4`; its last word is enough if only one noun has it.

    `role` is that of --role, and `given` are the other options, which the hints repeat.  Raises UsageError, and
    RuleViolation for a name that no role has.
    """
    verb, rest = _verb_of(words, given)
    is_name = len(rest) == 1 and role is None and not rest[0].startswith("-") and not verb.named_by
    values = None if is_name and verb.of else read(verb.command, rest)
    if role is not None and verb.of != "role" and values is not None and "role" not in values:
        about = f"a {verb.of}, which is written after it" if verb.of else "no role"
        raise UsageError(f"{verb.command} is about {about}", field="--role", hint="leave out --role")
    if role is not None and verb.named_by and _names(verb, values):
        hint = command("can-i", *verb.command.split(), role, **given)
        raise UsageError(f"{verb.command} and --role both name a role", field="--role", hint=hint)
    if values is not None and role is not None and "role" in values:
        values = {**values, "role": role}
    if role is not None and verb.of == "role":
        names: tuple[str, ...] = (role,)
    else:
        names = (rest[0],) if values is None else _names(verb, values)
    for name in names:
        if verb.of == "role":
            _check_role(verb, name, "--role" if role is not None else "COMMAND")
        elif not name.strip():
            every = f"leave it out to ask about every {verb.of}"
            raise UsageError(f"'{name}' is not a {verb.of}", field="COMMAND", hint=every)
    return TypedCommand(verb, names, values)


def _names(verb: Verb, values: Values | None) -> tuple[str, ...]:
    """The names in the words of a command."""
    if values is None:
        return ()
    value = values.get(verb.named_by or {"role": "role", "principal": "reserver"}.get(verb.of, ""))
    names = [value] if isinstance(value, str) else list(value or ())
    if verb.named_by == "pairs":
        names = [name.rpartition("=")[0] or name for name in names]
    return tuple(dict.fromkeys(names))


def _check_role(verb: Verb, role: str, field: str) -> None:
    """Raise RuleViolation for a role that does not exist, or that the command cannot be about."""
    check_role(role, field)
    if verb.changes and verb.actions[-1] in ("reserve_resources", "create_volumes"):
        check_reservable(role, field)


def _verb_of(words: Sequence[str], given: Mapping[str, str | None]) -> tuple[Verb, Sequence[str]]:
    """The verb at the beginning of the words, and the words after it.  Raises UsageError."""
    for length in (2, 1):
        typed = " ".join(words[:length])
        if typed in VERBS:
            return VERBS[typed], words[length:]
        if typed in LOCAL:
            return Verb(typed), words[length:]
    nouns = [verb for verb in VERBS.values() if words and verb.command.split()[-1] == words[0]]
    if len(nouns) == 1:
        return nouns[0], words[1:]
    listing = VERBS.get(f"{words[0]} list") if words else None
    if listing is not None and (len(words) == 1 or words[1].startswith("-")):
        return listing, words[1:]
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
    listed = f"{command('can-i', list=True, **given)} names every command that changes something"
    raise UsageError(f"can-i knows nothing about '{typed}'", field="COMMAND", hint=did_you_mean(typed, VERBS, listed))


def _of_noun(words: Sequence[str]) -> Iterable[Verb]:
    return [verb for verb in VERBS.values() if words and verb.command.split()[0] == words[0]]
