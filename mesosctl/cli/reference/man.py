"""Man pages, section 1, one for each command."""

from collections.abc import Iterable

from mesosctl import __version__
from mesosctl.cli.exit_statuses import MEANINGS
from mesosctl.cli.reference.walk import Node, Option

_ENVIRONMENT = (
    ("MESOSCTL_MASTER", "The master's address where --master is not given."),
    ("MESOSCTL_PRINCIPAL", "Who asks, where --principal is not given."),
    ("MESOSCTL_SECRET", "The principal's secret, where --secret-file is not given."),
    ("NO_COLOR, FORCE_COLOR", "No colours at all; colours and drawn tables even where there is no terminal."),
)


def man_page(node: Node) -> str:
    """The page of one command."""
    name = "-".join(node.path)
    title = f'.TH "{name.upper()}" "1" "" "mesosctl {__version__}" "mesosctl"'
    lines = [title, ".SH NAME", f"{_text(name)} \\- {_text(_phrase(node.summary))}", ".SH SYNOPSIS"]
    lines.append(f".B {_text(node.words)}")
    lines.append(_text(node.usage.partition(" ")[2]))
    lines += [".SH DESCRIPTION", _text(node.summary)]
    for paragraph in node.text.split("\n\n") if node.text else ():
        lines += [".PP", _text(" ".join(paragraph.split()))]
    if node.children:
        lines.append(".SH COMMANDS")
        for child in node.children:
            lines += _tagged(" ".join(child.path[1:]), child.summary)
    if node.arguments:
        lines.append(".SH ARGUMENTS")
        for argument in node.arguments:
            lines += _tagged(argument.name, argument.help)
    lines += _options("OPTIONS", (option for option in node.options if not option.shared))
    lines += _options("GLOBAL OPTIONS", (option for option in node.options if option.shared))
    lines.append(".SH EXIT STATUS")
    for status, meaning in MEANINGS.items():
        lines += _tagged(str(int(status)), meaning[0].upper() + meaning[1:] + ".")
    lines.append(".SH ENVIRONMENT")
    for variable, meaning in _ENVIRONMENT:
        lines += _tagged(variable, meaning)
    if node.examples:
        lines.append(".SH EXAMPLES")
        for words, meaning in node.examples:
            lines += [".TP", f".B {_text('mesosctl ' + words)}", _text(meaning[0].upper() + meaning[1:])]
    lines += _see_also(node)
    return "\n".join(lines) + "\n"


def _options(title: str, options: Iterable[Option]) -> list[str]:
    lines = []
    for option in options:
        value = f" {option.value}" if option.value else ""
        lines += _tagged(", ".join(option.names) + value, option.help)
    return [f".SH {title}", *lines] if lines else []


def _see_also(node: Node) -> list[str]:
    others = [node.path[:-1]] if len(node.path) > 1 else []
    others += [child.path for child in node.children]
    if not others:
        return []
    names = [f".BR {_text('-'.join(path))}" for path in others]
    return [".SH SEE ALSO", *(f"{name} (1)," for name in names[:-1]), f"{names[-1]} (1)"]


def _tagged(tag: str, text: str) -> list[str]:
    return [".TP", f".B {_text(tag)}", _text(text)]


def _phrase(sentence: str) -> str:
    """A sentence as the short description that apropos shows."""
    sentence = sentence.rstrip(".")
    return sentence[:1].lower() + sentence[1:]


def _text(text: str) -> str:
    """Text without a meaning to roff: its escapes, a leading control character, hyphens that are typed."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
