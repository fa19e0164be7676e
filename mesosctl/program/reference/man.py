"""Man pages, section 1, one for each command."""

import textwrap
from collections.abc import Iterable, Iterator

from mesosctl import __version__
from mesosctl.cli.global_options import ONLY_SAID, known_settings
from mesosctl.mesos.exit_status import MEANINGS, ExitStatus
from mesosctl.program.reference.command_tree import Example, Node, Option, cluster_file

_DATE = "2026-11-22"
"""The day on which this version was written; it changes with `__version__`."""
_WIDTH = 78
"""Of a line of source: mandoc asks for at most 80 bytes, and two may be needed for an escape."""
_SURROUNDINGS = (
    ("MESOSCTL_CONFIG", "The configuration file. The default is mesosctl/config.toml in XDG_CONFIG_HOME."),
    ("XDG_CONFIG_HOME", "The folder of mesosctl/config.toml. The default is ~/.config."),
    ("XDG_CACHE_HOME", "The folder for names that completion remembers. The default is ~/.cache."),
    (
        "XDG_STATE_HOME",
        (
            "The folder for the audit file, journals of apply, and the state of fake: masters. "
            "The default is ~/.local/state."
        ),
    ),
    (
        "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY",
        (
            "The proxies to masters if neither --proxy nor MESOSCTL_PROXY nor the context names one, and the hosts "
            "that are reached without. A master on this machine never goes through a proxy."
        ),
    ),
    (
        "MESOSCTL_PAGER, PAGER",
        "The pager for help that is longer than the terminal. The default is less; an empty MESOSCTL_PAGER uses none.",
    ),
    (
        "NO_COLOR, FORCE_COLOR",
        "NO_COLOR turns colors off. FORCE_COLOR turns colors and drawn tables on, even without a terminal.",
    ),
    ("TERM, COLUMNS", "TERM=dumb turns colors and progress off. COLUMNS is the width of drawn tables."),
)
_FILES = (
    (
        "~/.config/mesosctl/config.toml",
        "Contexts; see mesosctl context. Only you may read it (mode 600) if it holds a secret.",
    ),
    ("~/.cache/mesosctl/names", "Names of roles, agents, frameworks and contexts, for completions."),
    ("~/.local/state/mesosctl/apply", "Journals of interrupted applies. Only you may read them (mode 600)."),
    ("~/.local/state/mesosctl/fake", "The state of fake: masters."),
)
_PROGRAM, _SERVER, _GLOBAL_OPTIONS = ("mesosctl",), ("mesos-fake-master",), ("mesosctl", "options")
_EVERYWHERE = "mesosctl\\-options(1) describes the options that every command takes."
_SURROUNDINGS_ELSEWHERE = "mesosctl(1) describes the exit statuses, environment variables and files."
_OF_A_SERVER = (ExitStatus.DONE, ExitStatus.USAGE, ExitStatus.INVALID, ExitStatus.INTERRUPTED, ExitStatus.TERMINATED)


def environment() -> Iterator[tuple[str, str]]:
    """Every variable and its meaning; those of the options come from their declarations."""
    for setting in known_settings():
        if setting.name in ONLY_SAID:
            continue
        if setting.is_secret:
            yield setting.variable, f"The {setting.key} itself, not a file that contains it (--{setting.key}-file)."
        else:
            yield setting.variable, f"The default for {setting.option}."
    yield from _SURROUNDINGS


def man_page(node: Node) -> str:
    """The page of one command."""
    name = "-".join(node.path)
    lines = [f'.TH "{name.upper()}" "1" "{_DATE}" "mesosctl {__version__}" "mesosctl"']
    lines += [".SH NAME", *_lines(f"{_text(name)} \\- {_text(_phrase(node.summary))}")]
    lines += [".SH SYNOPSIS", f".B {_text(node.words)}", *_lines(_text(node.usage.partition(" ")[2]))]
    lines += [".SH DESCRIPTION", *_lines(_text(node.summary))]
    for paragraph in node.text.split("\n\n") if node.text else ():
        lines += [".PP", *_lines(_text(" ".join(paragraph.split())))]
    if node.children:
        lines.append(".SH COMMANDS")
        for child in node.children:
            lines += _tagged(" ".join(child.path[1:]), child.summary)
    if node.arguments:
        lines.append(".SH ARGUMENTS")
        for argument in node.arguments:
            lines += _tagged(argument.name, argument.help)
    lines += _options("OPTIONS", (option for option in node.options if not option.shared))
    lines += _of_every_command(node)
    if node.path == _SERVER:
        lines += [
            *_exit_statuses(_OF_A_SERVER),
            ".SH CLUSTER FILE",
            ".nf",
            *map(_text, cluster_file().splitlines()),
            ".fi",
        ]
    lines.append(".SH EXAMPLES")
    for words, meaning in node.examples or _first_examples(node):
        lines += _tagged(f"{node.path[0]} {words}", _sentence(meaning))
    lines += _see_also(node)
    return "\n".join(lines) + "\n"


def _of_every_command(node: Node) -> list[str]:
    """The parts that hold for every command, on the page that has them; the other pages name that page."""
    if node.path == _GLOBAL_OPTIONS:
        return _options("GLOBAL OPTIONS", (option for option in node.options if option.shared))
    if node.path == _PROGRAM:
        return [".SH GLOBAL OPTIONS", *_lines(_EVERYWHERE), *_exit_statuses(MEANINGS), *_surroundings()]
    if node.path == _SERVER:
        return []
    return [".SH GLOBAL OPTIONS", *_lines(f"{_EVERYWHERE} {_SURROUNDINGS_ELSEWHERE}")]


def _exit_statuses(statuses: Iterable[ExitStatus]) -> list[str]:
    lines = [".SH EXIT STATUS"]
    for status in statuses:
        meaning = MEANINGS[status]
        lines += _tagged(str(int(status)), meaning[0].upper() + meaning[1:] + ".")
    return lines


def _surroundings() -> list[str]:
    lines = [".SH ENVIRONMENT"]
    for variable, meaning in environment():
        lines += _tagged(variable, meaning)
    lines.append(".SH FILES")
    for path, meaning in _FILES:
        lines += _tagged(path, meaning)
    return lines


def _options(title: str, options: Iterable[Option]) -> list[str]:
    lines = []
    for option in options:
        value = f" {option.value}" if option.value else ""
        lines += _tagged(", ".join(option.names) + value, option.meaning)
    return [f".SH {title}", *lines] if lines else []


def _first_examples(node: Node) -> Iterator[Example]:
    """Yield one example of each command below a group."""
    for child in node.children:
        yield from child.examples[:1] or list(_first_examples(child))[:1]


def _see_also(node: Node) -> list[str]:
    others = [node.path[:-1]] if len(node.path) > 1 else []
    others += [child.path for child in node.children]
    if len(node.path) == 1:
        others.append(_PROGRAM if node.path == _SERVER else _SERVER)
    elif node.path != _GLOBAL_OPTIONS:
        others += [path for path in (_PROGRAM, _GLOBAL_OPTIONS) if path not in others]
    names = [f".BR {_text('-'.join(path))}" for path in others]
    return [".SH SEE ALSO", *(f"{name} (1)," for name in names[:-1]), f"{names[-1]} (1)"]


def _tagged(tag: str, text: str) -> list[str]:
    return [".TP", f".B {_text(tag)}", *_lines(_text(text))]


def _lines(text: str) -> list[str]:
    """Text in lines that are short enough for mandoc, none of which looks like a request."""
    found = textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f"\\&{line}" if line.startswith((".", "'")) else line for line in found]


def _phrase(sentence: str) -> str:
    """A sentence as the short description in apropos."""
    sentence = sentence.rstrip(".")
    return sentence[:1].lower() + sentence[1:]


def _sentence(phrase: str) -> str:
    """Return a phrase as a complete sentence."""
    return phrase[:1].upper() + phrase[1:] + ("" if phrase.endswith(("?", ".")) else ".")


def _text(text: str) -> str:
    """Text escaped for roff: backslashes, a leading control character, hyphens."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    escaped = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in escaped)
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
