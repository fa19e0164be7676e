"""Arguments and options that the commands of several nouns take, each declared once, and their values.

The modules of the nouns declare their own.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named, read_text
from mesosctl.cli.global_options import NOT_A_DASH
from mesosctl.cli.session import Session
from mesosctl.model.errors import MesosctlError, RuleViolation, UsageError, Violations
from mesosctl.model.roles import closest, role_error
from mesosctl.model.suggestion import command, options_text

if TYPE_CHECKING:
    from mesosctl.api.files.text_file import TextFile
    from mesosctl.client.leading_master import Master
    from mesosctl.model.quantities import Limits, Quantities, Quota
    from mesosctl.model.quota.role_status import RoleStatus
    from mesosctl.model.reservations.holdings import RegisteredAgent
    from mesosctl.model.resource import Resource
    from mesosctl.model.resources import Resources
    from mesosctl.operations.reservations.send import SendOptions
    from mesosctl.operations.reservations.targets import Owner


def role_option(help_text: str) -> typer.models.OptionInfo:
    """`--role ROLE`: every command says in `help_text` what the role chooses there."""
    option: typer.models.OptionInfo = typer.Option(
        "--role", metavar="ROLE", autocompletion=completing.roles, help=help_text, show_default=False
    )
    return option


def as_option(help_text: str, without: str) -> typer.models.OptionInfo:
    """`--as PRINCIPAL`: every command says in `help_text` what the principal is for, and in `without` what else is so.

    The name of the parameter is another than that of the global --principal, which help and usage leave out.
    """

    def named(value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise UsageError(f"'{value}' is not a principal", field="--as", hint=f"name one; without it, {without}")
        return value

    option: typer.models.OptionInfo = typer.Option(
        "--as",
        metavar="PRINCIPAL",
        callback=named,
        help=f"{help_text} Without it, {without}.",
        show_default=False,
    )
    return option


def attribute_option(help_text: str) -> typer.models.OptionInfo:
    """`--attribute NAME=VALUE`: every command says in `help_text` what the attribute chooses there."""
    option: typer.models.OptionInfo = typer.Option("--attribute", metavar="NAME=VALUE", help=help_text)
    return option


def names_argument(noun: str, complete: Callable[..., object] | None, help_text: str) -> typer.models.ArgumentInfo:
    """`[NOUN...]`: the entries of a list that are shown; `complete` is None if a shell cannot know them."""
    argument: typer.models.ArgumentInfo = typer.Argument(
        metavar=f"{noun}...", autocompletion=complete, help=help_text, show_default=False
    )
    return argument


_ROLE = typer.Argument(
    metavar="ROLE",
    autocompletion=completing.roles,
    help="The name of a role, as frameworks use it to subscribe.",
    show_default=False,
)
Role = Annotated[str, _ROLE]
OptionalRole = Annotated[str | None, _ROLE]
_RESOURCES = typer.Argument(
    metavar="RESOURCES...",
    help="cpus:12 mem:6GiB, or 'cpus:12;mem:6144'. GB means GiB, as in Mesos.",
    show_default=False,
)
Amounts = Annotated[list[str], _RESOURCES]
OptionalAmounts = Annotated[list[str] | None, _RESOURCES]
AllowNewResource = Annotated[
    bool,
    typer.Option(
        "--allow-new-resource",
        help="Accept a resource name that no agent has yet.",
        show_default=False,
    ),
]
Limit = Annotated[
    str | None,
    typer.Option(
        "--limit",
        metavar="RESOURCES",
        help="Limits, such as 'cpus:16;mem:8GiB', or none; Mesos 1.9 or later. By default, a new quota has no limit, "
        "and an existing one keeps its limits.",
    ),
]
PayloadFile = Annotated[
    str | None, typer.Option("--file", "-f", metavar="FILE", help="Read the documented JSON; - is standard input.")
]

Agent = Annotated[
    str,
    typer.Argument(
        metavar="AGENT",
        autocompletion=completing.agents,
        help="An agent: its id, the beginning or end of its id, or its host name.",
        show_default=False,
    ),
]
OnlyAgent = Annotated[
    str | None, typer.Option("--agent", metavar="AGENT", autocompletion=completing.agents, help="Show only this agent.")
]
Attributes = Annotated[list[str] | None, attribute_option("Only agents with this attribute. Repeat for several.")]
OptionalOwnerRole = Annotated[str | None, role_option("The role that owns the resources.")]
RoleAndBelow = Annotated[str | None, role_option("Show only this role and the roles below it.")]
Under = Annotated[
    list[str] | None,
    typer.Option(
        "--under",
        metavar="ROLE",
        autocompletion=completing.roles,
        help="The role whose reservation is refined. Repeat for several levels, from the bottom of the stack up.",
    ),
]
LabelWords = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="KEY=VALUE", help="A label of the reservation. Repeat for several."),
]
Reserver = Annotated[
    str | None,
    typer.Option("--reserver", metavar="NAME", help="The reservation's principal. The default is your own."),
]
TrustMaster = Annotated[
    bool,
    typer.Option("--trust-master", help="Rely on the master; do not ask the agent to confirm.", show_default=False),
]

FileWord = Annotated[str | None, typer.Argument(metavar="[FILE]", help="The same as --file.", show_default=False)]
"""The file that a command works on, which can be named with or without -f."""


def the_file(word: str | None, option: str | None) -> str:
    """The one file that FILE and --file name.  Raises UsageError for none and for both."""
    if word is not None and option is not None:
        raise UsageError("FILE and --file both name a file", field="--file", hint="leave one of them out")
    named_one = word if option is None else option
    if named_one is None:
        raise UsageError("no file is named", field="--file", hint="give -f FILE")
    return named_one


def read_by_option(word: str | None, hint: str) -> str:
    """The hint for a word that is the name of a file, which -f reads; otherwise `hint`."""
    if word is not None and ":" not in word and Path(word).is_file():
        return f"to read the file {word}, write {options_text(f=word)}"
    return hint


WrittenFile = Annotated[
    Path | None,
    typer.Option("--file", "-f", metavar="FILE", help="Write to this file. The default, and -, is standard output."),
]
ForecastPage = Annotated[
    str | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Also write the forecast as an HTML page; - writes only the page, to standard output.",
    ),
]
SnapshotSource = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Read a snapshot instead of asking a master; - is standard input."),
]


ONLY_BY_NAME = "cannot be -: name a file"
"""The refusal of - for a file that is opened several times, or that must outlive the command."""


def named_file(field: str, otherwise: str = NOT_A_DASH) -> Callable[[str | Path], Path]:
    """A parser of files that are opened by their names, so that - is not one of them."""

    def parse(text: str | Path) -> Path:
        if str(text) == "-":
            raise UsageError(f"{field} {otherwise}", field=field)
        return Path(text)

    return parse


HistoryFile = Annotated[
    Path,
    typer.Option(
        "--history",
        metavar="FILE",
        parser=named_file("--history", ONLY_BY_NAME),
        help="The recording, a SQLite file.",
        show_default=False,
    ),
]
MesosVersion = Annotated[
    str | None,
    typer.Option(
        "--mesos-version",
        metavar="VERSION",
        help="Whose rules a replay follows. The default is the recorded version, or else 1.11.",
    ),
]
Uncalibrated = Annotated[
    bool,
    typer.Option(
        "--uncalibrated",
        help="Answer even if a replay without changes is far from the recording.",
        show_default=False,
    ),
]


def save_option(help_text: str) -> typer.models.OptionInfo:
    """`--save FILE`: every command says in `help_text` what it writes there."""
    option: typer.models.OptionInfo = typer.Option(
        "--save",
        metavar="FILE",
        parser=named_file("--save", ONLY_BY_NAME),
        help=help_text,
        show_default=False,
    )
    return option


def refuse_option(when: str = "") -> typer.models.OptionInfo:
    """`--refuse SPAN` of replays; `when` says when it counts."""
    sentence = f"How long frameworks decline an offer that they cannot use{when}. The default is 5s."
    option: typer.models.OptionInfo = typer.Option("--refuse", metavar="SPAN", help=sentence)
    return option


def refuse_to_overwrite(history: Path, written: str | Path | None, field: str) -> None:
    """Raise UsageError if the file to write is the recording, by whatever name, or a file of SQLite's beside it."""
    if written is None or str(written) == "-":
        return
    for end in ("", "-wal", "-shm"):
        with suppress(OSError):  # one of them is not there
            if Path(f"{history}{end}").samefile(written):
                raise UsageError(
                    f"{field} is the recording {history} itself, which would be lost",
                    field=field,
                    hint="name another file",
                )


Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="A span before the recording's end, such as 30d, or a time such as 2026-03-01T08:00Z. The default is its "
        "beginning.",
    ),
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Like --since. The default is the recording's end.")
]
ClusterId = Annotated[
    str | None,
    typer.Option("--cluster-id", metavar="ID", help="The cluster in the recording, if it holds several."),
]


def _every(text: str | float) -> float:
    """Seconds of --every.  Raises UsageError."""
    from mesosctl.model.notation import parse_seconds

    return parse_seconds(str(text), "--every", 0.05)


Every = Annotated[
    float,
    typer.Option(
        "--every", metavar="SPAN", parser=_every, help="The time between readings, such as 2 (seconds), 500ms or 1m."
    ),
]


NONE = "none"
"""The word for no limits, or no guarantee."""


def read_payload(session: Session, file: str) -> "TextFile":
    """The JSON of --file, which knows the line of each value that is refused.  Raises BadInput."""
    from mesosctl.api.files.line_numbers import places_in_json
    from mesosctl.api.files.text_file import TextFile

    return TextFile(named(file), read_text(file, "--file", session.environment.stdin), places_in_json)


def agent_beside_file(agent: str | None, *others: object) -> str:
    """The one argument that --file allows. Raises UsageError for none, and for any other."""
    if agent is None or any(others):
        raise UsageError("with --file, give only AGENT", field="--file", hint="the JSON has everything else")
    return agent


def parse_words(words: Sequence[str], after: str | None = None) -> "list[Resource]":
    """Resources from words such as `cpus:12`, `mem:6GiB` or `cpus:12;mem:6144`.

    `after` is the argument before them, a role or an agent.  Raises RuleViolation.
    """
    from mesosctl.model.notation import parse_entries

    return _parse_all(words, parse_entries, after)


def _parse_all(
    words: Sequence[str], parse: "Callable[[str], list[Resource]]", after: str | None, hint: str = ""
) -> "list[Resource]":
    """Parse the words; if one of them and the argument `after` which they stand have changed places, the hint says so.

    `hint` is the one for any other word that may be a name.  Raises RuleViolation, which tells of every wrong word.
    """
    from mesosctl.model.notation import with_semicolons

    found: list[Resource] = []
    broken = Violations()
    for word in words:
        with broken.noted():
            try:
                found += parse(word)
            except RuleViolation as error:
                if role_error(word) is None and not _SIGNS.search(word):
                    if after and ":" in after:
                        with broken.noted():
                            parse(after)
                        others = [with_semicolons(other) for other in (after, *words) if other != word]
                        error.hint = f"write {word} first: {shlex.join([word, *others])}"
                    else:
                        error.hint = hint or error.hint
                raise
    broken.refuse()
    return found


_SIGNS = re.compile("[:=;%]")
"""A word with one of them is meant as an amount, not as a role or an agent."""


@contextmanager
def refusals_of(words: Sequence[str], option: str = "") -> Iterator[None]:
    """Give refusals in this block the word that was typed; a person sees it instead of the place in the request."""
    try:
        yield
    except RuleViolation as error:
        place = _IN_REQUEST.match(error.field or "")
        typed = [token.strip() for word in words for token in word.split(";") if token.strip()]
        if place is not None and int(place[1]) < len(typed):
            error.typed = f"{option} {typed[int(place[1])]}".strip()
        raise


_IN_REQUEST = re.compile(r"(?:guarantee|limits)\[(\d+)\]")


def parse_limit(word: str | None) -> "Limits | None":
    """The limits of --limit: None if it is not given, no limits for "none".  Raises RuleViolation."""
    if word is None:
        return None
    from mesosctl.model.quota.desired import limits_of

    with refusals_of([word], "--limit"):
        return limits_of([] if word == NONE else parse_words([word]))


def parse_guarantee(words: Sequence[str] | None, role: str) -> "list[Resource] | None":
    """The entries of a guarantee: None if no word is given, and none for the word "none".  Raises RuleViolation."""
    if not words:
        return None
    return [] if list(words) == [NONE] else parse_words(words, role)


def parse_quota(
    role: str, words: Sequence[str] | None, limit: str | None
) -> "tuple[list[Resource] | None, Limits | None]":
    """The entries of a guarantee and the limits, each None if it is not given.

    Raises RuleViolation, which tells what is wrong with the role, the guarantee and the limits at once.
    """
    from mesosctl.model.quota.rules import QUOTA, GivenFacts, Wish, refuse
    from mesosctl.model.version_profile import MESOS_1_11

    broken = Violations()
    guarantee, limits = None, None
    with broken.noted():
        guarantee = parse_guarantee(words, role)
    with broken.noted():
        limits = parse_limit(limit)
    if broken:
        with broken.noted():
            refuse(QUOTA, Wish(role), GivenFacts(MESOS_1_11))
    broken.refuse()
    return guarantee, limits


def ask_about_words_after_limit(session: Session, resources: Sequence[str] | None, limits: "Limits | None") -> None:
    """Ask about RESOURCES after --limit that it does not name, which may be meant as limits too.  Raises UsageError."""
    typed = session.environment.words
    places = [index for index, word in enumerate(typed) if word.partition("=")[0] == "--limit"]
    if not places or not limits:
        return
    after = typed[places[-1] + (1 if "=" in typed[places[-1]] else 2) :]
    unnamed = [
        word
        for word in after
        if word in (resources or ()) and any(entry.name not in limits for entry in parse_words([word]))
    ]
    if unnamed:
        from mesosctl.model.amount_text import in_mesos_notation

        both = ";".join([in_mesos_notation(limits), *unnamed])
        session.confirm_destructive(
            "Guarantee it?",
            f"{' '.join(unnamed)} after --limit is a guarantee, not a part of the limit",
            f"write {options_text(limit=both)} to limit it too, or put it before --limit",
        )


def has_parts(words: Sequence[str]) -> bool:
    """Whether amounts among the words are parts of an agent, such as `cpus:50%`, which has to be read first."""
    return any("%" in word for word in words)


def parse_amounts(
    words: Sequence[str], agent: str | None = None, whole: "Quantities | None" = None
) -> "list[Resource]":
    """The resources of an agent, from words such as `cpus:8`, `mem(ads):4GiB` or `ports:31000`.

    `agent` is the argument before them; None if mesosctl chooses the agents.  `whole` is what the agent has in total,
    of which `cpus:50%` is a part.  Raises RuleViolation.
    """
    from mesosctl.model import notation

    chosen = "leave AGENT out: with --any or --count, mesosctl chooses the agents"

    def parse(word: str) -> "list[Resource]":
        return notation.parse_of_agents(word, whole=whole)

    return _parse_all(words, parse, agent, "name one agent for each command" if agent else chosen)


class AmountsOfAgent:
    """RESOURCES of one agent, read at once, or if some are parts of the agent, such as `cpus:50%`, once it is known.

    Raises RuleViolation.
    """

    def __init__(self, words: Sequence[str], agent: str | None) -> None:
        self._words = words
        self._agent = agent
        self._entries = None if has_parts(words) else parse_amounts(words, agent)

    def on(self, agent: "RegisteredAgent | None") -> "list[Resource]":
        """The amounts on an agent; None if mesosctl chooses the agents, and no amount can be a part.

        Raises RuleViolation.
        """
        if self._entries is not None:
            return self._entries
        whole = None if agent is None else agent.total.non_revocable().scalar_quantities()
        return parse_amounts(self._words, self._agent, whole)


def pairs(words: Sequence[str] | None, option: str) -> list[tuple[str, str]]:
    """NAME=VALUE words of an option.  Raises UsageError."""
    found = []
    for word in words or ():
        key, equals, value = word.partition("=")
        if not key or not equals:
            name, colon, rest = key.partition(":")
            meant = f"{name}={rest}" if name and colon and rest else f"{key or 'NAME'}=VALUE"
            raise UsageError(f"'{word}' is not NAME=VALUE", field=option, hint=f"write {option} {shlex.quote(meant)}")
        found.append((key, value))
    return found


def owner(role: str, under: Sequence[str] | None, labels: Sequence[str] | None, principal: str | None) -> "Owner":
    """The owner of a reservation that the options name.  Raises UsageError."""
    from mesosctl.model.resource import Labels
    from mesosctl.operations.reservations.targets import Owner

    named = Labels(pairs(labels, "--label")) if labels else None
    return Owner(role, tuple(under or ()), named, principal)


def send_options(session: Session, *, trust_master: bool) -> "SendOptions":
    """The options that say how operations on agents are sent and awaited."""
    from mesosctl.operations.reservations.send import SendOptions

    return SendOptions(
        v1=session.options.api == "v1", wait=session.waits, ask_agents=not trust_master, progress=session.progress
    )


def note_role(session: Session, master: "Master", role: str, reserved: "Quantities | None" = None) -> None:
    """Tell the operator of a role that may be mistyped, unless nothing is to be read or told any more."""
    from mesosctl.model.quantities import Quantities
    from mesosctl.operations.quota.reading import note_unknown_role

    if not session.options.quiet and (session.waits or session.options.dry_run):
        note_unknown_role(master, role, reserved or Quantities())


NO_LIMIT_OPTION = "--limit none sets no limit"


def note_limit(session: Session, status: "RoleStatus", no_limit: str | None, *, would: bool = False) -> None:
    """Tell the operator of a role that is, or would be, at or above its limit, and how to set none.

    `no_limit` says how, with {role} for its name; None if that takes a command of its own.
    """
    from mesosctl.model.amount_text import in_words

    if no_limit is None:
        has_guarantee, role = bool(status.quota.guarantees), status.role
        remove = command("quota update", role, limit=NONE) if has_guarantee else command("quota remove", role)
        how = f"{remove} removes it"
    else:
        how = no_limit.format(role=shlex.quote(status.role))
    session.note(f"{status.limit_sentence(in_words, would=would)}; {how}")


def note_role_at_limit(
    session: Session, master: "Master", role: str, limits: "Limits | None" = None, *, would: bool = False
) -> None:
    """Tell the operator if the role is, or would be, at or above its limit or `limits`; a forecast says so itself."""
    from mesosctl.operations.quota.reading import status_at_limit

    if not session.options.quiet and session.waits and not session.options.dry_run:
        status = status_at_limit(master, role, limits)
        if status is not None:
            note_limit(session, status, NO_LIMIT_OPTION if would else None, would=would)


def _counts_as_free(entry: "Resource") -> bool:
    return not entry.is_reserved and not entry.revocable


def note_unmet_guarantees(
    session: Session, master: "Master", agents: "Iterable[RegisteredAgent]", taken: "Quantities"
) -> None:
    """Tell the operator of guarantees that cannot be met after `taken` is reserved of what these agents had free.

    A forecast says so itself.
    """
    from mesosctl.model.amount_text import in_words
    from mesosctl.operations.quota.reading import unmet_guarantees

    if session.options.quiet or not session.waits or session.options.dry_run:
        return
    for role, lacking in unmet_guarantees(master, lambda: _free_on(agents) - taken).items():
        if any(name in taken for name in lacking):
            session.note(
                f"{role} lacks {in_words(lacking)} of its guarantee, and what is free now is not enough for it"
            )


def note_unmet_wish(session: Session, master: "Master", role: str, wish: "Quota", tried: str) -> None:
    """Tell the operator of a guarantee that would be accepted, and for which what is free now is not enough.

    `tried` is the command that forecasts the change. Nothing is said if the cluster cannot be read.
    """
    from mesosctl.model.amount_text import in_words
    from mesosctl.model.notation import listed
    from mesosctl.model.quantities import Quantities
    from mesosctl.operations.quota.reading import unmet_guarantees
    from mesosctl.operations.reservations.targets import read_agents

    if session.options.quiet:
        return
    try:
        agents = [one for one in read_agents(master) if one.active]
    except MesosctlError:
        return
    free = _free_on(agents)
    unmet = unmet_guarantees(master, lambda: free, {role: wish})
    if role not in unmet:
        return
    short = Quantities.total(unmet.values()) - free
    held = _unreserved(one.total for one in agents) - free
    until = " until other roles release enough" if held.contains(short) else ""
    if len(unmet) == 1:
        says = f"role {role} would be {in_words(short)} below its new guarantee{until}"
    else:
        says = f"what is free now is {in_words(short)} too little for the guarantees of {listed(sorted(unmet))}{until}"
    session.note(f"{says}; {tried} forecasts it")


def _free_on(agents: "Iterable[RegisteredAgent]") -> "Quantities":
    """The amounts that a guarantee can be met with at once; what is offered counts too."""
    return _unreserved(one.available for one in agents if one.active)


def _unreserved(parts: "Iterable[Resources]") -> "Quantities":
    from mesosctl.model.quantities import Quantities

    return Quantities.total(one.filter(_counts_as_free).scalar_quantities() for one in parts)


def nothing_found(sentence: str, options: Mapping[str, str | None], known: Iterable[str]) -> str:
    """Why a list is empty: `sentence`, the options that choose what is listed, and the likely role of those `known`."""
    said = [f"{option} {value}" for option, value in options.items() if value is not None]
    if not said:
        return sentence
    likely = closest(options.get("--role") or "", known)
    return f"{sentence} with {' and '.join(said)}" + (f"; did you mean {likely}?" if likely else "")
