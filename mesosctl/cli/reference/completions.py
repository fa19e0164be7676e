"""Completion files for bash, zsh and fish: static text, so that pressing Tab starts no Python.

The engines stand in `bash.sh`, `zsh.sh` and `fish.fish` beside this module; what is made here are
the tables they look into.  Names of roles, agents, frameworks and contexts come from files that
`cli.names` keeps, which the shell reads itself.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from mesosctl.cli.reference.walk import Node, Option, Place

_GOES_ON = (":", "=", "/")
"""The ends of words that are only begun: no blank follows."""
_MADE = "made from its commands by python -m mesosctl.cli.reference"


def bash(root: Node) -> str:
    """For bash, with or without the bash-completion package."""
    function = _function(root)
    options = _distinct(root)
    lines = [
        f"# bash completion for {root.words}; {_MADE}",
        "",
        *_bash_test(
            f"{function}_takes_value",
            (name for option in options if option.takes != "nothing" for name in option.names),
        ),
        *_bash_test(
            f"{function}_goes_along",
            (name for option in root.options if option.goes_along for name in option.names),
        ),
        *_bash_test(f"{function}_is_command", (_quoted(node.words) for node in root.walk() if node is not root)),
        f"{function}_after_option() {{",
        '    case "$1" in',
    ]
    lines += [f"        {'|'.join(o.names)}) {_bash_values(o)} ;;" for o in options if o.takes != "nothing"]
    lines += ["    esac", "}", "", f"{function}_at() {{", '    case "$1" in']
    for node in root.walk():
        lines += [
            f"        {_quoted(node.words)})",
            f"            commands=({' '.join(child.path[-1] for child in node.children)})",
            f"            options=({' '.join(name for option in node.options for name in option.names)})",
            f"            places=({' '.join(_quoted(_place_word(place)) for place in node.places)}) ;;",
        ]
    lines += ["    esac", "}", ""]
    return "\n".join(lines) + _engine("bash.sh", root)


def _bash_test(name: str, words: Iterator[str]) -> list[str]:
    """A function that tells whether its argument is one of these words."""
    found = "|".join(words)
    one_of_them = [f"        {found}) return 0 ;;"] if found else []
    return [f"{name}() {{", '    case "$1" in', *one_of_them, "        *) return 1 ;;", "    esac", "}", ""]


def _bash_values(option: Option) -> str:
    if option.takes == "choice":
        return f"choices=({' '.join(option.choices)})"
    if option.takes in ("file", "folder"):
        return "kinds=file"
    if option.words:
        return f"choices=({' '.join(map(_quoted, option.words))})"
    return f"kinds={','.join(option.kinds)}"


def _place_word(place: Place) -> str:
    """`role`, `role,framework`, `=word`, `-` for what cannot be completed; with a star for all that follow too."""
    return (",".join([*place.kinds, *(f"={word}" for word in place.words)]) or "-") + ("*" if place.repeats else "")


def zsh(root: Node) -> str:
    """For zsh, as a file named after the program on its fpath."""
    lines = [f"#compdef {root.words}", f"# {_MADE}", ""]
    for node in root.walk():
        lines += [*_zsh_function(node, root), ""]
    along = " ".join(name for option in root.options if option.goes_along for name in option.names)
    lines += [line for name, words in _zsh_words(root).items() for line in (*_zsh_words_function(name, words), "")]
    engine = _engine("zsh.sh", root).replace("GOES_ALONG", along)
    return "\n".join(lines) + engine


def _zsh_words(root: Node) -> dict[str, tuple[str, ...]]:
    """The words that are the same in every cluster, by the function that offers them."""
    held = [(o.value or "", o.words) for o in _distinct(root)]
    held += [(place.title, place.words) for node in root.walk() for place in node.places]
    return {_zsh_words_name(title, root): words for title, words in sorted(held) if words}


def _zsh_words_name(title: str, root: Node) -> str:
    return f"{_function(root)}_words_" + re.sub(r"[^a-z]+", "_", title.lower())


def _zsh_words_function(name: str, words: tuple[str, ...]) -> list[str]:
    whole = [_quoted(word) for word in words if not word.endswith(_GOES_ON)]
    begun = [_quoted(word) for word in words if word.endswith(_GOES_ON)]
    lines = [f"  compadd -- {' '.join(whole)}"] if whole else []
    return [f"{name}() {{", *lines, *([f"  compadd -S '' -- {' '.join(begun)}"] if begun else []), "}"]


def _zsh_name(node: Node) -> str:
    return "_" + "_".join(word.replace("-", "_") for word in node.path)


def _zsh_function(node: Node, root: Node) -> list[str]:
    name = _zsh_name(node) + ("_words" if node is root else "")
    specs = [spec for option in node.options for spec in _zsh_specs(option, root)]
    if not node.children:
        specs += [_zsh_place(index, place, root) for index, place in enumerate(node.places, 1)]
        return [f"{name}() {{", "  _arguments \\", *(f"    {spec} \\" for spec in specs[:-1]), f"    {specs[-1]}", "}"]
    described = [f"    {_quoted(child.path[-1] + ':' + child.summary)}" for child in node.children]
    return [
        f"{name}() {{",
        "  local context state state_descr line",
        "  typeset -A opt_args",
        "  local -a commands=(",
        *described,
        "  )",
        "  _arguments -C -A '-*' \\",  # what follows a command is its own affair
        *(f"    {spec} \\" for spec in specs),
        "    '1: :->command' '*:: :->words'",
        "  case $state in",
        "    command) _describe command commands ;;",
        "    words)",
        "      case $line[1] in",
        *(f"        {child.path[-1]}) {_zsh_name(child)} ;;" for child in node.children),
        "      esac ;;",
        "  esac",
        "}",
    ]


def _zsh_place(index: int, place: Place, root: Node) -> str:
    title = place.title.lower().replace(":", " ")
    action = f" {_zsh_words_name(place.title, root)}" if place.words else _zsh_action(place.kinds, root)
    return _quoted(f"{'*' if place.repeats else index}:{title}:{action}")


def _zsh_action(kinds: tuple[str, ...], root: Node) -> str:
    if not kinds:
        return " "
    # The blank in front keeps zsh from adding words of its own.
    return "_files" if "file" in kinds else f" {_function(root)}_names {' '.join(kinds)}"


def _zsh_specs(option: Option, root: Node) -> list[str]:
    text = option.help.replace("[", "(").replace("]", ")").replace(":", "\\:")
    after = {
        "nothing": "",
        "choice": f":value:({' '.join(option.choices)})",
        "file": ":file:_files",
        "folder": ":folder:_files -/",
        "text": f":{(option.value or '').lower().replace(':', ' ')}:{_zsh_after(option, root)}",
    }[option.takes]
    return [_quoted(f"{name}[{text}]{after}") for name in option.names]


def _zsh_after(option: Option, root: Node) -> str:
    if option.words:
        return f" {_zsh_words_name(option.value or '', root)}"
    return _zsh_action(option.kinds, root)


def fish(root: Node) -> str:
    """For fish."""
    valued = sorted(name for option in _distinct(root) if option.takes != "nothing" for name in option.names)
    along = sorted(name for option in root.options if option.goes_along for name in option.names)
    engine = _engine("fish.fish", root).replace("VALUED", " ".join(valued)).replace("GOES_ALONG", " ".join(along))
    engine = engine.replace("PATHS", " ".join(_quoted(" ".join(n.path[1:])) for n in root.walk() if n is not root))
    lines = [f"# fish completion for {root.words}; {_MADE}", "", engine, f"complete -c {root.words} -f"]
    for node in root.walk():
        here = f"complete -c {root.words} -n {_quoted(_fish_at(node, root, 0))}"
        lines += [f"{here} -a {child.path[-1]} -d {_quoted(child.summary)}" for child in node.children]
        lines += [
            _fish_place(node, index, root) for index, place in enumerate(node.places) if place.kinds or place.words
        ]
        lines += [_fish_option(node, option, root) for option in node.options if node is root or not option.shared]
    return "\n".join([*lines, ""])


def _fish_at(node: Node, root: Node, place: int | None = None, *, repeats: bool = False) -> str:
    """True where the words so far lead to this node, and so many further words stand there."""
    count = "" if place is None else f" {place}{'+' if repeats else ''}"
    return f"_{_function(root)}_at {_fish_quoted(' '.join(node.path[1:]))}{count}"


def _fish_place(node: Node, index: int, root: Node) -> str:
    place = node.places[index]
    where = f"complete -c {root.words} -n {_quoted(_fish_at(node, root, index, repeats=place.repeats))}"
    if "file" in place.kinds:
        return f"{where} -F"
    # fish adds no blank to what ends in `:`, `=` or `/`.
    return f"{where} -a {_quoted(' '.join(place.words)) if place.words else _fish_names(place.kinds, root)}"


def _fish_names(kinds: tuple[str, ...], root: Node) -> str:
    return _quoted(f"(_{_function(root)}_names {' '.join(kinds)})")


def _fish_option(node: Node, option: Option, root: Node) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    named = f" -x -a {_fish_names(option.kinds, root)}" if option.kinds else " -x"
    if option.words:
        named = f" -x -a {_quoted(' '.join(option.words))}"
    values = {
        "nothing": "",
        "choice": f" -x -a {_quoted(' '.join(option.choices))}",
        "file": " -r -F",
        "folder": " -x -a '(__fish_complete_directories)'",
        "text": named,
    }[option.takes]
    where = "" if option.shared else f" -n {_quoted(_fish_at(node, root))}"
    return f"complete -c {root.words}{where} {names}{values} -d {_quoted(option.help)}"


def _distinct(root: Node) -> list[Option]:
    """Every option once; the same name means the same everywhere, or the completion would lie."""
    found: dict[tuple[str, ...], Option] = {}
    for node in root.walk():
        for option in node.options:
            known = found.setdefault(option.names, option)
            if known.takes != option.takes:
                raise ValueError(f"{option.names} takes {known.takes} in one command and {option.takes} in another")
    return list(found.values())


def _engine(name: str, root: Node) -> str:
    """The part that is the same whatever the commands are, with the program's name in it."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return text.replace("_PROGRAM", _function(root)).replace("PROGRAM", root.words)


def _function(root: Node) -> str:
    return "_" + root.words.replace("-", "_")


def _fish_quoted(text: str) -> str:
    return f'"{text}"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
