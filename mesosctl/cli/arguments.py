"""Arguments and options that the commands of several nouns take, each declared once, and their values.

The modules of the nouns declare their own.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named, read_text
from mesosctl.cli.global_options import NOT_A_DASH
from mesosctl.cli.meanings import Meaning
from mesosctl.cli.questions import AFTER_LIMIT
from mesosctl.cli.session import Session
from mesosctl.mesos.amounts.values import NONE
from mesosctl.mesos.cluster.selectors import EXAMPLES, Selectors, parse_selectors
from mesosctl.mesos.errors import RuleViolation, UsageError, Violations
from mesosctl.mesos.names import kind_of
from mesosctl.mesos.roles import STANDARD_NAMES, role_error
from mesosctl.suggestion import options_text

if TYPE_CHECKING:
    from mesosctl.files.text_file import TextFile
    from mesosctl.mesos.amounts.quantities import Limits, Quantities
    from mesosctl.mesos.amounts.resource import Resource
    from mesosctl.mesos.cluster.holdings import RegisteredAgent


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
    return _principal_option("--as", "PRINCIPAL", f"{help_text} Without it, {without}.", without)


def reserver_option(help_text: str, without: str) -> typer.models.OptionInfo:
    """`--reserver NAME`: every command says in `help_text` what it chooses, and in `without` what is so without it."""
    return _principal_option("--reserver", "NAME", help_text, without)


def _principal_option(option: str, metavar: str, help_text: str, without: str) -> typer.models.OptionInfo:
    """An option that names a principal: an empty name, such as that of a variable that is not set, is refused."""

    def named(value: str | None) -> str | None:
        if value is not None and not value.strip():
            raise UsageError(f"'{value}' is not a principal", field=option, hint=f"name one; without it, {without}")
        return value

    made: typer.models.OptionInfo = typer.Option(
        option, metavar=metavar, callback=named, help=help_text, show_default=False
    )
    return made


_ATTRIBUTE = "--attribute"


def selectors_of(words: list[str] | None) -> Selectors:
    """The selectors that were given with --attribute.  Raises UsageError."""
    return parse_selectors(words, _ATTRIBUTE)


def attribute_option(help_text: str) -> typer.models.OptionInfo:
    """`--attribute SELECTOR`: every command says in `help_text` what the attribute chooses there."""
    option: typer.models.OptionInfo = typer.Option(
        _ATTRIBUTE,
        metavar="SELECTOR",
        autocompletion=completing.attributes,
        help=f"{help_text}: {EXAMPLES}. Repeat for several, which all have to hold.",
    )
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
Amounts = Annotated[list[str], _RESOURCES, Meaning.AMOUNTS]
OptionalAmounts = Annotated[list[str] | None, _RESOURCES, Meaning.AMOUNTS]
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
    Meaning.AMOUNTS,
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
Attributes = Annotated[list[str] | None, attribute_option("Only agents with this attribute")]
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
    reserver_option("The reservation's principal. The default is your own.", "it is your own"),
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


def refuse_options(given: Mapping[str, object], why: str, hint: str) -> None:
    """Raise UsageError if any of these options was given."""
    for name, value in given.items():
        if value is not None and value != []:
            raise UsageError(f"{name} {why}", field=name, hint=hint)


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
TimeZone = Annotated[
    str, typer.Option("--timezone", metavar="ZONE", help="The time zone of days and months, such as Europe/Berlin.")
]
TimeZoneOfFile = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        metavar="ZONE",
        help="The time zone of times in FILE that name none, such as Europe/Berlin. The default is UTC.",
    ),
]
ClusterId = Annotated[
    str | None,
    typer.Option("--cluster-id", metavar="ID", help="The cluster in the recording, if it holds several."),
]


def _every(text: str | float) -> float:
    """Seconds of --every.  Raises UsageError."""
    from mesosctl.mesos.amounts.notation import parse_seconds

    return parse_seconds(str(text), "--every", 0.05)


Every = Annotated[
    float,
    typer.Option(
        "--every", metavar="SPAN", parser=_every, help="The time between readings, such as 2 (seconds), 500ms or 1m."
    ),
]


def read_payload(session: Session, file: str) -> "TextFile":
    """The JSON of --file, which knows the line of each value that is refused.  Raises BadInput."""
    from mesosctl.files.text_file import TextFile
    from mesosctl.mesos.messages.strict.line_numbers import places_in_json

    return TextFile(named(file), read_text(file, "--file", session.environment.stdin), places_in_json)


def agent_beside_file(agent: str | None, *others: object) -> str:
    """The one argument that --file allows. Raises UsageError for none, and for any other."""
    if agent is None or any(others):
        raise UsageError("with --file, give only AGENT", field="--file", hint="the JSON has everything else")
    return agent


def parse_words(words: Sequence[str]) -> "list[Resource]":
    """Resources from words such as `cpus:12`, `mem:6GiB` or `cpus:12;mem:6144`.  Raises RuleViolation."""
    from mesosctl.mesos.amounts.notation import parse_entries

    return _parse_all(words, parse_entries)


def _parse_all(
    words: Sequence[str], parse: "Callable[[str], list[Resource]]", hint: str | None = None
) -> "list[Resource]":
    """Parse the words; `hint` is the one for a word that may be a name.

    Raises RuleViolation, which tells of every wrong word.
    """
    found: list[Resource] = []
    broken = Violations()
    for word in words:
        with broken.noted():
            try:
                found += parse(word)
            except RuleViolation as error:
                is_name = role_error(word) is None and not _SIGNS.search(word) and word not in STANDARD_NAMES
                if hint is not None and (is_name or kind_of(word)[0] is not None):
                    error.hint = hint
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
    from mesosctl.mesos.rules.quota.desired import limits_of

    with refusals_of([word], "--limit"):
        return limits_of([] if word == NONE else parse_words([word]))


def parse_guarantee(words: Sequence[str] | None) -> "list[Resource] | None":
    """The entries of a guarantee: None if no word is given, and none for the word "none".  Raises RuleViolation."""
    if not words:
        return None
    return [] if list(words) == [NONE] else parse_words(words)


def parse_quota(
    role: str, words: Sequence[str] | None, limit: str | None
) -> "tuple[list[Resource] | None, Limits | None]":
    """The entries of a guarantee and the limits, each None if it is not given.

    Raises RuleViolation, which tells what is wrong with the role, the guarantee and the limits at once.
    """
    from mesosctl.mesos.rules.quota.rules import QUOTA, GivenFacts, Wish, refuse
    from mesosctl.mesos.rules.version_profile import MESOS_1_11

    broken = Violations()
    guarantee, limits = None, None
    with broken.noted():
        guarantee = parse_guarantee(words)
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
        word for word in after if word in (resources or ()) and any(name not in limits for name in _names_in(word))
    ]
    if unnamed:
        from mesosctl.mesos.amounts.amount_text import in_mesos_notation

        both = ";".join([in_mesos_notation(limits), *unnamed])
        session.confirm(
            "Guarantee it?",
            f"{' '.join(unnamed)} after --limit is a guarantee, not a part of the limit",
            f"write {options_text(limit=both)} to limit it too, or put it before --limit",
            case=AFTER_LIMIT,
        )


def _names_in(word: str) -> list[str]:
    """The names of the amounts in a word that was parsed, also of a share such as `cpus:25%`."""
    return [token.partition(":")[0].strip() for token in word.split(";") if token.strip()]


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
    from mesosctl.mesos.amounts import notation

    chosen = "leave AGENT out: with --any or --count, mesosctl chooses the agents"

    def parse(word: str) -> "list[Resource]":
        return notation.parse_of_agents(word, whole=whole)

    return _parse_all(words, parse, "AGENT comes first, and each command takes one" if agent else chosen)


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
            raise UsageError(f"'{word}' is not NAME=VALUE", field=option, hint=f"write {option} NAME=VALUE")
        found.append((key, value))
    return found


def nothing_found(sentence: str, options: Mapping[str, str | None]) -> str:
    """Why a list is empty: `sentence`, and the options that choose what is listed."""
    said = [f"{option} {value}" for option, value in options.items() if value is not None]
    return f"{sentence} with {' and '.join(said)}" if said else sentence
