"""The scripts that complete words in bash, zsh and fish.

A script asks the program by a variable whose value begins with `words_`; `mesosctl.shells.answer` describes the lines
of the answer.  They are data: no script evaluates them.  Earlier scripts did, which asked by `complete_`.
"""

from collections.abc import Mapping
from typing import Literal, get_args

Shell = Literal["bash", "zsh", "fish"]
SHELLS: tuple[Shell, ...] = get_args(Shell)
ASKS_FOR_WORDS = "words_"
LINE, REPLACED, HISTORY = "_MESOSCTL_LINE", "_MESOSCTL_REPLACED", "_MESOSCTL_HISTORY"
"""The variables for the line up to the cursor, for the end of it that bash will replace, and for the character with
which zsh begins an expansion of its history, empty if it expands none.
"""

GOES_ON = "\x1f"
"""The end of a word of a callback that goes on: no space follows it."""


def variable_of(program: str) -> str:
    """The variable in which a shell asks a program; typer reads the same one."""
    return f"_{program}_COMPLETE".replace("-", "_").upper()


def is_asked(program: str, variables: Mapping[str, str]) -> bool:
    """Whether a shell has started the program to complete a word."""
    return bool(variables.get(variable_of(program)))


def script(program: str, shell: Shell) -> str:
    """The script for a shell, as a separate file."""
    text = _SCRIPTS[shell]
    for place, word in (
        ("@asks@", f"{variable_of(program)}={ASKS_FOR_WORDS}{shell}"),
        ("@line@", LINE),
        ("@replaced@", REPLACED),
        ("@history@", HISTORY),
        ("@program@", program),
        ("@function@", f"_{program.replace('-', '_')}_completion"),
    ):
        text = text.replace(place, word)
    return text


# bash inserts a word as it is, so the script quotes it for its place: outside of quotes, or after one that is open.
# printf %q leaves alone a tilde after = and :, which bash expands there. Readline closes the quote, unless a word ends
# with one.
_BASH = r"""@function@() {
    local line=${COMP_LINE:0:COMP_POINT} quote word
    local -a answer
    mapfile -t answer < <(@asks@ @line@=$line @replaced@=${2-} "$1" </dev/null 2>/dev/null)
    quote=${answer[0]-}
    COMPREPLY=()
    for line in "${answer[@]:1}"; do
        word=${line:1}
        case $quote in
            "'")
                word=${word//\'/\'\\\'\'}
                ;;
            "$'")
                word=${word//\\/\\\\}
                word=${word//\'/\\\'}
                ;;
            '"')
                word=${word//\\/\\\\}
                word=${word//\"/\\\"}
                word=${word//\$/\\\$}
                word=${word//\`/\\\`}
                word=${word//!/\"\\!\"}
                ;;
            *)
                if [[ -n $word ]]; then
                    printf -v word %q "$word"
                fi
                if [[ $word != "$'"* ]]; then
                    word=${word//=\~/=\\\~}
                    word=${word//:\~/:\\\~}
                fi
                ;;
        esac
        if [[ -n $quote && $word == *"${quote: -1}" ]]; then
            word+=${quote: -1}
        fi
        COMPREPLY+=("$word")
    done
    if [[ ${#COMPREPLY[@]} == 1 && ${answer[1]} == +* ]]; then
        compopt -o nospace
    fi
    return 0
}

complete -o default -F @function@ @program@
"""

# zsh quotes what it adds, but for a dollar before ' in double quotes: it does not find it by the \$ that a user types,
# and expands it at the next Tab. So the script quotes there, and adds as it is what the program has matched (-U), but
# not at a cursor inside a word, whose end the program does not see. The program gets the word as it was typed: in
# $PREFIX, zsh leaves the backslash before a history character in a quote. On fpath, the file is read at the first Tab,
# which must be answered too.
_ZSH = r"""#compdef @program@

@function@() {
  setopt localoptions extendedglob NO_rcquotes
  local line word history MATCH MBEGIN MEND
  local -a answer plain explained shown goes_on taken
  local -i width=0
  word=$words[CURRENT]
  if [[ -n $SUFFIX ]]; then
    word=$IPREFIX$QIPREFIX$PREFIX
  fi
  if [[ -o banghist ]]; then
    history=$histchars[1]
  fi
  line="${(j: :)${(@qq)${(@Q)words[1,CURRENT-1]}}} $word"
  answer=("${(@f)$(@asks@ @line@=$line @history@=$history @program@ </dev/null 2>/dev/null)}")
  for line in "${(@)answer}"; do
    word=${${line%%$'\t'*}#?}
    if [[ $compstate[quote] == '"' ]]; then
      word=${word//(#m)[\\\"\$\`]/\\$MATCH}
      [[ -o banghist ]] && word=${word//\!/\\!}
    fi
    if [[ $line == +* ]]; then
      goes_on+=("$word")
    elif [[ $line == *$'\t'?* ]]; then
      explained+=("$word")
      shown+=("${line#*$'\t'}")
      (( width = $#word > width ? $#word : width ))
    elif [[ -n $line ]]; then
      plain+=("$word")
    fi
  done
  if (( $#plain + $#explained + $#goes_on == 0 )); then
    _files
    return
  fi
  if [[ $PREFIX == --*=* ]]; then
    compset -P 1 '*='
  fi
  for (( line = 1; line <= $#shown; line++ )); do
    shown[line]="${${(r:width:)explained[line]}} -- $shown[line]"
    shown[line]=${shown[line][1,COLUMNS-1]}
  done
  if [[ -z $SUFFIX ]]; then
    taken=(-U -i "$IPREFIX")
  fi
  if [[ $compstate[quote] == '"' ]]; then
    taken+=(-Q)
  fi
  compadd "${(@)taken}" -a plain
  compadd "${(@)taken}" -l -d shown -a explained
  compadd "${(@)taken}" -S '' -a goes_on
  (( compstate[nmatches] ))
}

compdef @function@ @program@

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  @function@ "$@"
fi
"""

# fish quotes what it inserts. Without an answer, it completes names of files.
_FISH = r"""function _@function@
    set --local line (commandline --cut-at-cursor --current-process | string collect)
    set --global _@function@_words (env @asks@ "@line@=$line" @program@ </dev/null 2>/dev/null)
    test (count $_@function@_words) -gt 0
end

complete --command @program@ --no-files --condition _@function@ --arguments '$_@function@_words'
"""

_SCRIPTS: dict[Shell, str] = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
