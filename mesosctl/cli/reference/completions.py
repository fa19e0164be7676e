"""Completion files for bash, zsh and fish: static text, so that pressing Tab starts no Python."""

from mesosctl.cli.reference.walk import Node, Option


def bash(root: Node) -> str:
    """For bash, with or without the bash-completion package."""
    options = _distinct(root)
    valued = sorted(name for option in options if option.takes != "nothing" for name in option.names)
    lines = [
        "# bash completion for mesosctl; made from its commands by python -m mesosctl.cli.reference",
        "_mesosctl() {",
        '    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"',
        "    local path=mesosctl word skip= i",
        "    COMPREPLY=()",
        "    # bash makes three words of --output=json",
        '    if [[ $current == "=" ]]; then current=""',
        '    elif [[ $previous == "=" ]]; then previous="${COMP_WORDS[COMP_CWORD-2]}"; fi',
        "    for ((i = 1; i < COMP_CWORD; i++)); do",
        '        word="${COMP_WORDS[i]}"',
        '        if [[ $word == "=" ]]; then continue; fi',
        "        if [[ -n $skip ]]; then skip=; continue; fi",
        '        case "$word" in',
        f"            {'|'.join(valued)}) skip=1; continue ;;",
        "        esac",
        '        case "$path $word" in',
        f'            {"|".join(_quoted(n.words) for n in root.walk() if n is not root)}) path="$path $word" ;;',
        "        esac",
        "    done",
        '    case "$previous" in',
    ]
    lines += [f"        {'|'.join(o.names)}) {_bash_values(o)}return ;;" for o in options if o.takes != "nothing"]
    lines += ["    esac", '    case "$path" in']
    for node in root.walk():
        words = [child.path[-1] for child in node.children] + [name for o in node.options for name in o.names]
        lines.append(f'        {_quoted(node.words)}) COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$current")) ;;')
    return "\n".join([*lines, "    esac", "}", "complete -F _mesosctl mesosctl", ""])


def _bash_values(option: Option) -> str:
    if option.takes == "choice":
        return f'COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$current")); '
    return 'COMPREPLY=($(compgen -f -- "$current")); ' if option.takes == "file" else ""


def zsh(root: Node) -> str:
    """For zsh, as a file named _mesosctl on its fpath."""
    lines = ["#compdef mesosctl", "# made from its commands by python -m mesosctl.cli.reference", ""]
    for node in root.walk():
        lines += [*_zsh_function(node), ""]
    return "\n".join([*lines, '_mesosctl "$@"', ""])


def _zsh_function(node: Node) -> list[str]:
    name = "_" + "_".join(node.path)
    specs = [spec for option in node.options for spec in _zsh_specs(option)]
    if not node.children:
        return [
            f"{name}() {{",
            "  _arguments \\",
            *(f"    {spec} \\" for spec in specs),
            "    '*: :_message word'",
            "}",
        ]
    described = [f"    {_quoted(child.path[-1] + ':' + child.summary)}" for child in node.children]
    return [
        f"{name}() {{",
        "  local context state state_descr line",
        "  typeset -A opt_args",
        "  local -a commands=(",
        *described,
        "  )",
        "  _arguments -C \\",
        *(f"    {spec} \\" for spec in specs),
        "    '1: :->command' '*:: :->words'",
        "  case $state in",
        "    command) _describe command commands ;;",
        "    words)",
        "      case $line[1] in",
        *(f"        {child.path[-1]}) {'_' + '_'.join(child.path)} ;;" for child in node.children),
        "      esac ;;",
        "  esac",
        "}",
    ]


def _zsh_specs(option: Option) -> list[str]:
    text = option.help.replace("[", "(").replace("]", ")").replace(":", "\\:")
    after = {
        "nothing": "",
        "choice": f":value:({' '.join(option.choices)})",
        "file": ":file:_files",
        "text": f":{(option.value or '').lower()}: ",
    }[option.takes]
    return [_quoted(f"{name}[{text}]{after}") for name in option.names]


def fish(root: Node) -> str:
    """For fish."""
    lines = [
        "# fish completion for mesosctl; made from its commands by python -m mesosctl.cli.reference",
        "complete -c mesosctl -f",
    ]
    for node in root.walk():
        here = f"complete -c mesosctl -n {_quoted(_fish_at(node))}"
        lines += [f"{here} -a {child.path[-1]} -d {_quoted(child.summary)}" for child in node.children]
        lines += [_fish_option(node, option) for option in node.options if node is root or not option.shared]
    return "\n".join([*lines, ""])


def _fish_at(node: Node) -> str:
    """True where the words so far lead to this node and to none below it."""
    seen = [f"__fish_seen_subcommand_from {name}" for name in node.path[1:]]
    if node.children:
        seen.append("not __fish_seen_subcommand_from " + " ".join(child.path[-1] for child in node.children))
    return "; and ".join(seen)


def _fish_option(node: Node, option: Option) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    values = {
        "nothing": "",
        "choice": f" -x -a {_quoted(' '.join(option.choices))}",
        "file": " -r -F",
        "text": " -x",
    }[option.takes]
    where = "" if option.shared else f" -n {_quoted(_fish_at(node))}"
    return f"complete -c mesosctl{where} {names}{values} -d {_quoted(option.help)}"


def _distinct(root: Node) -> list[Option]:
    """Every option once; the same name means the same everywhere, or the completion would lie."""
    found: dict[tuple[str, ...], Option] = {}
    for node in root.walk():
        for option in node.options:
            known = found.setdefault(option.names, option)
            if known.takes != option.takes:
                raise ValueError(f"{option.names} takes {known.takes} in one command and {option.takes} in another")
    return list(found.values())


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
