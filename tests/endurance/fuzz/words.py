# ruff: noqa: E501  # lists of odd texts, several to a line
"""Command lines: made by walking the commands, so that a new one, and every option of it, is covered by being there.

An option's metavariable says what may stand after it (POOLS); a FILE is written with something of the
kinds that the tool reads (files.py).  Everything is mostly right and now and then odd, or the odd thing
would hide behind the first mistake.
"""

import re
import shlex
from dataclasses import dataclass, field

from hypothesis import strategies as st

from mesosctl.program.reference.command_tree import Node, Option, commands
from tests.endurance.fuzz.files import clusters, file_for

RESOURCES = [
    "cpus:1",
    "mem:64",
    "cpus:2;mem:128",
    "disk:10MiB",
    "cpus(web):1",
    "ports:[31000-31002]",
    "cpus:0.001",
    "mem:1GiB",
]
ODD_RESOURCES = [
    "", "cpus", "cpus:", "cpus:-1", "cpus:1e400", "cpus:NaN", "cpus:inf", "cpus:" + "9" * 400, "cpus:0x1", "cpus:1_000", "cpus:\u0661", "mem:1ZiB",
    "mem:9999999999TiB", "mem:1e308TiB", "ports:[1-2", "ports:[2-1]", "ports:[0-18446744073709551615]", "ports:[0-18446744073709551616]", "ports:[-1-5]",
    "ports:[" + ",".join(f"{n}-{n}" for n in range(0, 3000, 2)) + "]", "ports:[" + "9" * 400 + "-1]", "set:{a,b}", "set:{", "cpus(:1", "cpus(*):1",
    "cpus(a/b/):1", "cpus(" * 500, ";" * 500, ";;;", ":", "a:b:c", "cpus:1;cpus", "cpus(web,DYNAMIC):1", "none", "all",
]  # fmt: skip
ODD_WORDS = [
    "", " ", "-", "--", "---", "-x", "--nope", "-o", "--=", "=", "@", "\t", "\n", "a\nb", "\x1b[2J", "\x7f\x9b", "\u202e", "é", "\U0001f600", "e\u0301", "\ud800", "\udcff",
    "x" * 5000, "a/" * 2000 + "a", "../..", "/dev/null/x", ".", "..", "*", "0", "-1", "1e400", "nan", "inf", "-inf", "9" * 400, "\u0661\u0662", "1_0", "0x10", "1e-400",
    "1.5", "true", "a=b", "a=b=c", "=a", "a=", "$(id)", "%s%n", "{0.__class__}", "[red]x[/red]", "\\", "'", '"', "a,b,,c", "a;b", "?", "#", "%00", "%ff",
    "9" * 5000, "1e9", "1000000000000d", "99999999999999999999h",
]  # fmt: skip
ROLES = ["web", "ads", "dev", "*", "web/a", "ads/b"]
AGENTS = ["agent-1", "agent-2", "S0", "nobody"]
NUMBERS = ["1", "2", "10", "0.5", "100"]
SPANS = ["1s", "10s", "1m", "0.1s", "5"]
SIZES = ["1MiB", "4KiB", "1GiB", "4096", "disk:10MiB", "disk:10"]
ADDRESSES = ["http://master:5050"] * 30 + [
    "master", "master:5050", "a:1,b:2", "http://", "https://", "ftp://x", "http://a:b", "http://[::1]:5050", "http://[::1", "http://a@b:c@d", "http://u:p@h:5050",
    "http://h:99999", "http://h:-1", "http://h/path/../x", "http://h/?q#f", "http://\u202e", "http://" + "x" * 300, "http://" + "x." * 200, "http://xn--", "http://é",
    "http://a b", "http://%", "http://%00", "http://1.2.3.4.5", "http://0x7f.1", ",", ",,", "zk://", "zk:///mesos", "zk://@/", "file:", "file:///", "file:///nope",
    "fake:/nope", "fake:?x", "fake:?fresh=2", "fake:?version=9", "fake:?version=1.11", "fake:", "fake:?fresh", "fake:/", "fake:/dev/null", "fake:" + "x" * 5000, "FAKE:",
]  # fmt: skip
TRAFFIC = ["foo=200/s*10", "foo=50@2", "-=10/s*6", "foo=1/s*1@5"]
ODD_TRAFFIC = ["foo", "=", "foo=", "foo=1", "foo=" + "9" * 400 + "/s*1", "foo=1/s*" + "9" * 400, "foo=1e9/s*1", "foo=0/s*5", "foo=999999999@0", "foo=1@" + "9" * 400,
               "foo=4999999/s*1", "a=0." + "0" * 400 + "1/s*1", "foo=1/s*1@-1", "foo=-1"]  # fmt: skip
POOLS = {
    "ROLE": ROLES,
    "ROLE|FRAMEWORK": [*ROLES, "one", "@F1"],
    "ROLE...": ROLES,
    "RESOURCES": RESOURCES,
    "RESOURCES...": RESOURCES,
    "RESOURCES|none": [*RESOURCES, "none"],
    "[AGENT] RESOURCES...": [*AGENTS, *RESOURCES, *RESOURCES],
    "AGENT": AGENTS,
    "FRAMEWORK": ["one", "@F1"],
    "ID": ["v1", "volume"],
    "OFFER": ["@O1", "nope"],
    "SIZE": SIZES,
    "NUMBER": NUMBERS,
    "N": NUMBERS,
    "FACTOR": NUMBERS,
    "SECONDS": ["1", "0.5", "30"],
    "SPAN": SPANS,
    "PATTERN": TRAFFIC,
    "PRINCIPAL": ["foo", "operator"],
    "NAME": ["operator"],
    "KEY=VALUE": ["a=b", "k"],
    "NAME=VALUE": ["rack=r1"],
    "PATH": ["data"],
    "ADDRESS": ADDRESSES,
}
"""By metavariable; one that is not here gets odd words."""
ODD_POOLS = {
    "PATTERN": ODD_TRAFFIC,
    **dict.fromkeys(["RESOURCES", "RESOURCES...", "RESOURCES|none", "[AGENT] RESOURCES...", "SIZE"], ODD_RESOURCES),
}
VARIABLES = ["MESOSCTL_PRINCIPAL", "MESOSCTL_SECRET", "MESOSCTL_TOKEN", "MESOSCTL_TOKEN_SCHEME", "MESOSCTL_MASTER", "NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS"]  # fmt: skip
FILE = "\0file"
"""Stands for a file: "\0file0" for the first of a command line, and so on.  No word that is typed can hold a NUL."""


@dataclass(frozen=True)
class Typed:
    """What is typed, what stands in the files it names, and what surrounds it."""

    words: tuple[str, ...]
    files: tuple[bytes | None, ...] = ()
    """Contents; None for one that is not there."""
    stdin: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    terminal: bool = False


_FILE_NAME = re.compile(r"\.(json|jsonl|toml|svg|html|csv|txt|yaml)$")
LEAVES = tuple(node for node in commands().walk() if not node.children)
GROUPS = tuple(node for node in commands().walk() if node.children)


class _Files:
    """The files of one command line, as they come up."""

    def __init__(self, path: tuple[str, ...]) -> None:
        self.contents: list[bytes | None] = []
        self.content = file_for(path)

    def add(self, draw: st.DrawFn, content: st.SearchStrategy[bytes | None] | None = None) -> str:
        self.contents.append(draw(self.content if content is None else content))
        return f"{FILE}{len(self.contents) - 1}"


def lines_of(node: Node) -> st.SearchStrategy[Typed]:
    """A command line of this command: one of its examples with changes, or made up of its options."""
    lines = _made_up(node) | _examples(node) | _examples(node) if node.examples else _made_up(node)
    # A server would go on until it is stopped.
    return lines.filter(
        lambda typed: not any(word.startswith("--l") for word in typed.words if node.path[-1] == "metrics")
    )


@st.composite
def _examples(draw: st.DrawFn, node: Node) -> Typed:
    files = _Files(node.path)
    words: list[str] = []
    wordy = [
        word
        for word in shlex.split(draw(st.sampled_from(node.examples))[0], comments=True)
        if word not in ("&&", "mesosctl", "<")
    ]
    for place, word in enumerate(wordy):
        change = draw(st.integers(0, 17)) if place >= len(node.path) - 1 else 0
        if change != 5:
            words.append(_changed(draw, word, change, files))
    return _dressed(draw, node, words, files)


def _changed(draw: st.DrawFn, word: str, change: int, files: "_Files") -> str:
    """A word of an example, or something odd in its place."""
    if _FILE_NAME.search(word):
        return files.add(draw)
    if change in (7, 8):
        pool = next((kind for kind, pool in POOLS.items() if word in pool), "")
        return draw(st.sampled_from(ODD_POOLS.get(pool, ODD_RESOURCES if ":" in word else ODD_WORDS)))
    return draw(st.sampled_from(ODD_WORDS)) if change == 9 else word


@st.composite
def _made_up(draw: st.DrawFn, node: Node) -> Typed:
    files = _Files(node.path)
    words = list(node.path[1:])
    for argument in node.arguments:
        several = argument.name.endswith("...") or "..." in argument.name
        if argument.required or draw(st.integers(0, 3)) != 1:
            count = draw(st.integers(1, 3)) if several else 1
            words.extend(_word(draw, argument.name, files) for _ in range(count))
    own = [option for option in node.options if not option.shared]
    for option in draw(st.lists(st.sampled_from(own), max_size=3, unique_by=id)) if own else []:
        words += _option(draw, option, files)
    return _dressed(draw, node, words, files)


def _dressed(draw: st.DrawFn, node: Node, words: list[str], files: "_Files") -> Typed:
    """With global options, surroundings, and sometimes a word too many."""
    shared = [option for option in node.options if option.shared and "--help" not in option.names]
    for option in draw(st.lists(st.sampled_from(shared), max_size=2, unique_by=id)):
        words += _option(draw, option, files)
    if draw(st.integers(0, 12)) == 6:
        words.insert(draw(st.integers(0, len(words))), draw(st.sampled_from(ODD_WORDS)))
    variables = {}
    if draw(st.integers(0, 4)) == 2:
        # No environment holds a half of a character, but any byte (surrogateescape).
        values = st.sampled_from(["", "x", "operator", "bearer", *(word for word in ODD_WORDS if "\ud800" not in word)])
        variables = draw(st.dictionaries(st.sampled_from(VARIABLES), values, max_size=2))
    stdin = (draw(files.content) or b"").decode(errors="replace") if "-" in words else "y\n"
    return Typed(tuple(words), tuple(files.contents), stdin, variables, draw(st.integers(0, 3)) == 1)


def _option(draw: st.DrawFn, option: Option, files: _Files) -> list[str]:
    name = option.names[-1]
    if option.value is None:
        return [name]
    choices = option.value.split("|")
    if len(choices) > 1:
        value = draw(st.sampled_from(choices if draw(st.integers(0, 20)) != 7 else ODD_WORDS))
    else:
        value = _word(draw, option.value, files)
    return [f"{name}={value}"] if draw(st.booleans()) else [name, value]


def _word(draw: st.DrawFn, kind: str, files: _Files) -> str:
    odd = draw(st.integers(0, 11)) == 5
    if kind == "FILE" or (kind == "ADDRESS" and not odd and draw(st.integers(0, 10)) == 3):
        if odd:
            return draw(st.sampled_from([*ODD_WORDS[:50], "/", "/dev/null", "/proc/self/mem", "-"]))
        if kind == "ADDRESS":
            return draw(st.sampled_from(["fake:", "fake:", "file://"])) + files.add(draw, clusters())
        return files.add(draw)
    if odd:
        return draw(st.sampled_from(ODD_POOLS.get(kind, ODD_WORDS)) | st.sampled_from(ODD_WORDS))
    return draw(st.sampled_from(POOLS.get(kind, ODD_WORDS)))


any_line = st.sampled_from(LEAVES).flatmap(lines_of) | st.lists(
    st.sampled_from(
        [*ODD_WORDS, *(word for node in (*LEAVES, *GROUPS) for word in node.path[1:]), "--help", "--version", "-vv"]
    ),
    max_size=5,
).map(lambda words: Typed(tuple(words)))
