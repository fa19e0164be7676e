"""Names that a framework, a host or a master may choose, and that a shell would run or read as something else."""

import random
from collections.abc import Callable

from mesosctl.mesos.roles import id_error, role_error

MARK = "PWN"
"""The beginning of the names of files that they try to make."""
_WORST = (
    'kafka"<(touch PWNX)"',
    'kafka\\"<(touch PWNX)\\"',
    "a'$(touch PWNX)'",
    "a'; touch PWNX; '",
    'b"; touch PWNX; "',
    "c`touch PWNX`",
    "c\\`touch PWNX\\`",
    "$(touch PWNX)",
    "$(touch${IFS}PWNX)",
    "$(>PWNX)",
    "`>PWNX`",
    "<(>PWNX)",
    "=(>PWNX)",
    ">(tee PWNX)",
    ">PWNX",
    "d;>PWNX;",
    "d&&>PWNX",
    "d|tee<pyproject.toml>PWNX",
    "(touch PWNX)",
    "e(touch PWNX)",
    "{touch,PWNX}",
    "${x:=$(touch PWNX)}",
    "${(e):-\\$(touch PWNX)}",
    "*(e:touch PWNX:)",
    "p*(e'touch PWNX')",
    "f))' '$(touch PWNX)",
    "g)):h:$(touch PWNX)",
    "a[$(touch PWNX)]",
    "((x=a[$(touch PWNX)]))",
    "%`touch PWNX`",
    "h\\",
    "h\\\\",
    "h'",
    'h"',
    "h`",
    "h$",
    "h(",
    "pyproj*",
    "*",
    "?yproject.toml",
    "[p]yproject.toml",
    "{pyproject,x}.toml",
    "i{1..9}",
    "~",
    "~root",
    "~+",
    "j=~root",
    "j:~root",
    "k=a:~root:~",
    "=ls",
    "=",
    "l==ls",
    "m:n:o",
    ":",
    "id:nn oo",
    "host:pp'qq",
    "name:rr",
    "name:id:ss",
    "role:tt",
    "$HOME",
    "${HOME}",
    "$HOME/n",
    "!!",
    "!ls",
    "o!ls!",
    "^q^r^",
    "#s",
    "t #u",
    "  v  w  ",
    "v\u00a0w\u3000x",
    "\u00e9t\u00e9 $x",
    "\u65e5\u672c `y`",
    "--yes",
    "-rf",
    "- z",
    "--role=$(touch PWNX)",
    "%self",
    "%1",
    "@x",
    "aa,bb",
    "a&b",
    "a%b",
    "a^b",
    "a+b",
    "name\u2026",
)
_PIECES = (
    *"'\"\\`$()<>{}[]*?~=: !#-/;&|%^@+,\u2026\u00fc",
    *("$(touch PWNX)", "`touch PWNX`", "<(touch PWNX)", "$(>PWNX)", "${HOME}", "'$(touch PWNX)'", '"$(touch PWNX)"'),
    *("\\$", "\\`", "''", '""', "\\'", '\\"', "$'", '$"', "((", "))", "=~", ":~", "pyproj*"),
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def hostile_names(is_valid: Callable[[str], object], number: int = 300, seed: int = 59) -> list[str]:
    """Different names, the worst of all first; `is_valid` says whether Mesos takes one."""
    chance = random.Random(seed)
    names = {name: None for name in _WORST if is_valid(name)}
    while len(names) < number:
        parts = [chance.choice(_PIECES) if chance.random() < 0.6 else chance.choice(_LETTERS) * 2 for _ in range(6)]
        name = "".join(parts[: chance.randint(1, 6)]).replace("PWNX", f"PWN{len(names)}")
        if len(name) <= 60 and is_valid(name):
            names[name] = None
    return list(names)


def beginnings(names: list[str], number: int, seed: int, unfit: str = "") -> dict[str, str]:
    """Some names by the shortest beginning that no other has and that does not end with a character of `unfit`.

    A name with which another begins has none.
    """
    found: dict[str, str] = {}
    for name in random.Random(seed).sample(sorted(names), len(names)):
        others = [other for other in names if other != name]
        fit = (name[:end] for end in range(1, len(name)) if name[end - 1] not in unfit)
        begun = next((one for one in fit if not any(other.startswith(one) for other in others)), None)
        if begun is not None:
            found[name] = begun
        if len(found) == number:
            break
    return found


BY_KIND = {
    "roles": hostile_names(lambda role: role_error(role) is None),
    "agents": hostile_names(bool),
    "frameworks": hostile_names(bool, seed=60),
    "tasks": hostile_names(lambda name: id_error(name) is None),
}
