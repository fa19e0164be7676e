"""Names that shells would run or expand, completed at the Tab key of real shells, wherever names are completed.

A word that a shell completes is the name, once the shell has read it; and no name is ever run.
"""

import contextlib
import inspect
import re
import shlex

import pytest

from mesosctl.can_i import completion as can_i_completion
from mesosctl.cli.completion import callbacks
from mesosctl.mesos.names import agent_names, framework_names, spelled, with_kind
from mesosctl.wait import completion as wait_completion
from mesosctl.whatif import completion as whatif_completion
from tests.helpers.interactive_shell import SHELLS
from tests.mesosctl.shells.conftest import UNFIT
from tests.mesosctl.shells.hostile_names import BY_KIND, beginnings

pytestmark = [
    pytest.mark.shell,
    pytest.mark.terminal,
    pytest.mark.process,
    pytest.mark.socket,
    pytest.mark.slow,
]


def both(kind):
    """Names and ids as they have to be typed: with their kind where they could mean something else."""
    known = {f"id of {name}": name for name in (*BY_KIND[kind], *UNFIT)}
    spell = (agent_names(known) if kind == "agents" else framework_names(known)).speller()
    named_by = [spell("host" if kind == "agents" else "name", name) for name in BY_KIND[kind]]
    return [*named_by, *(spell("id", f"id of {name}") for name in BY_KIND[kind])]


def named(kind):
    return BY_KIND[kind]


def as_ids(kind):
    """Words that are ids, as they are read: one that begins as a kind does has its own in front."""
    return [spelled("id", word) for word in BY_KIND[kind]]


def roles_too(kind):
    """The same beside roles, some of which are called like one of them, or begin as a kind does."""
    words = both(kind)
    shared = set(words).intersection(BY_KIND["roles"])
    of_roles = [with_kind("role", one) if one in shared else spelled("role", one) for one in BY_KIND["roles"]]
    return [*of_roles, *(with_kind("name", one) if one in shared else one for one in words)]


PLACES = {
    # What is typed before the name, the words that come of it, and what is around each name that is offered.
    "frameworks": ("frameworks teardown -- ", "frameworks", both, ("", "")),
    "--framework": ("tasks list --framework ", "frameworks", both, ("", "")),
    "--framework=": ("tasks list --framework=", "frameworks", both, ("--framework=", "")),
    "agents": ("agents gone -- ", "agents", both, ("", "")),
    "first_agent": ("reserve -- ", "agents", both, ("", "")),
    "roles": ("quota remove ", "roles", named, ("", "")),
    "--role=": ("reserve x --role=", "roles", named, ("--role=", "")),
    "weights": ("weights set ", "roles", named, ("", "=")),
    "changes": ("whatif remove-quota:", "roles", named, ("remove-quota:", "")),
    "changes of agents": ("whatif reserve:", "agents", both, ("reserve:", "=")),
    "replayed_changes": ("replay h.sqlite quota:", "roles", named, ("quota:", "=")),
    "conditions": ("wait offers/", "roles", named, ("offers/", "")),
    "permissions": ("can-i quota set ", "roles", named, ("", "")),
    "roles_and_frameworks": ("offers explain -- ", "frameworks", roles_too, ("", "")),
    "tasks": ("tasks list -- ", "tasks", as_ids, ("", "")),
}
OF_CONTEXTS = {"contexts", "several_contexts"}
"""Contexts have names that no shell quotes."""
OF_ATTRIBUTES = {"attributes", "agents_or_attributes"}
"""Attributes are completed as far as a word is typed (tests/mesosctl/program/reference/test_completions.py)."""


def test_every_callback_with_names_has_a_place():
    asks = {
        name: one
        for module in (callbacks, can_i_completion, wait_completion, whatif_completion)
        for name, one in vars(module).items()
        if inspect.isfunction(one) and one.__module__ == module.__name__ and not name.startswith("_")
    }
    of_names = {name for name, one in asks.items() if "ctx" in inspect.signature(one).parameters}
    assert (
        of_names == set(PLACES) - {place for place in PLACES if not place.isidentifier()} | OF_CONTEXTS | OF_ATTRIBUTES
    )


def offered(kind, words, shell):
    """The names of a place, as they are completed: the role `%self` is a process for fish, which cannot quote it."""
    return [name for name in words(kind) if not (shell == "fish" and name == "%self")]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("shell", SHELLS)
class TestNames:
    def test_all_are_listed(self, opened, shell, place):
        typed, kind, words, (before, after) = PLACES[place]
        before = KEPT[shell].sub("", before)
        expected = {f"{before}{name}{after}" for name in offered(kind, words, shell)}
        with opened(shell, columns=100) as terminal:
            terminal.press(f"mesosctl {typed}\t")
            if shell == "fish":  # which writes columns, and leaves out most of what all words begin with
                terminal.read_until(lambda seen: all(word.removeprefix(before) in seen for word in expected))
            else:
                terminal.read_until(lambda seen: expected <= listed(seen))

    def test_a_word_is_the_name(self, opened, shell, place):
        typed, kind, words, (before, after) = PLACES[place]
        # fish takes a star at the end for a pattern, even if it is quoted.
        unfit = "*" if shell == "fish" else ""
        chosen = beginnings(offered(kind, words, shell), 20, seed=sorted(PLACES).index(place), unfit=unfit)
        assert len(chosen) == 20
        already = shlex.split(typed)
        whole = already if typed.endswith(" ") else already[:-1]
        wrong = {}
        with opened(shell) as terminal:
            for number, (name, begun) in enumerate(chosen.items()):
                keys, quote = as_typed(begun, shell, number)
                word = f"{before}{name}{after}"
                begins = keys.startswith(quote)
                closes = quote[-1:] if keeps_quote_open(shell, word, typed, after, begins=begins) else ""
                got = terminal.run(f"mesosctl {typed}{keys}\t{closes}\r")
                if got != [*whole, word]:
                    wrong[keys] = got[-1], word
        assert wrong == {}


DOLLARS = {
    # Dollars before a ' in double quotes: there, zsh quotes none by itself, and expands it at the next Tab.
    "$\"$'6688(": '"\\$\\"\\$\t',
    "tt((\\\"$'": '"tt((\\\\\\"\\$\t',
    "+ssmm$'11uu": '"+ssmm\\$\t',
    "nndd?)$'": '"nndd?)\\$\t',
    "$'dd": "\"\\$'\td\t",
    "$'^eemm|": "\"\\$'\t^\t",
}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_dollar_before_a_quote_is_completed_in_double_quotes(opened, shell):
    with opened(shell) as terminal:
        got = [terminal.run(f"mesosctl quota remove {keys}\r")[-1] for keys in DOLLARS.values()]
    assert got == list(DOLLARS)


def test_fish_reads_what_it_would_replace_as_the_name(opened):
    with opened("fish") as terminal:
        for typed, word in {
            "frameworks teardown name:%s": "name:%self",
            "agents gone host:%s": "host:%self",
            'quota remove "%s': "%self",
        }.items():
            assert terminal.run(f"mesosctl {typed}\t\r")[-1] == word


KEPT = {"bash": re.compile(".*[=:]"), "zsh": re.compile("--.*="), "fish": re.compile("^$")}
"""What a shell keeps of a word, so that lists are without it."""


def listed(seen):
    """The words in a list of one column, which bash and zsh quote."""
    words = set()
    for line in seen.splitlines()[1:]:
        with contextlib.suppress(ValueError):  # a line that is not finished
            words |= set(shlex.split(line))
    return words


def keeps_quote_open(shell, word, typed, after, *, begins):
    """Whether the shell leaves the quote open that was typed, since the word may go on.

    A quote that does not begin the word is taken away by zsh.
    """
    goes_on = bool(after) and typed.endswith(" ")
    return {"bash": False, "zsh": goes_on and begins, "fish": word[-1] in "/=@:.,-"}[shell]


QUOTES = {"bash": ("'", '"', "$'"), "zsh": ("'", '"', "$'"), "fish": ("'", '"')}
ESCAPED = {
    # What a backslash has to precede in a quote of a shell.
    "bash": {"'": "", '"': r'["\\$`]', "$'": r"['\\]"},
    "zsh": {"'": "", '"': r'["\\$`!]', "$'": r"['\\!]"},
    "fish": {"'": r"['\\]", '"': r'["\\$]'},
}
UNSPEAKABLE = {"bash": {"'": "'", '"': "!", "$'": "!'"}, "zsh": {"'": "'"}, "fish": {}}
"""What cannot be typed in a quote; readline takes \\' for the end of a $' too."""


def as_typed(text, shell, number):
    """A beginning as a person types it: with backslashes, or with a quote that is still open; and that quote.

    It begins the word, or in zsh also opens after its first character.
    """
    places = (0, 1) if shell == "zsh" else (0,)
    ways = [("", 0), *((quote, before) for before in places for quote in QUOTES[shell])]
    quote, before = ways[number % len(ways)]
    if not quote or not set(UNSPEAKABLE[shell].get(quote, "")).isdisjoint(text[before:]):
        return with_backslashes(text), ""
    escaped = ESCAPED[shell][quote]
    quoted = re.sub(f"({escaped})", r"\\\1", text[before:]) if escaped else text[before:]
    return with_backslashes(text[:before]) + quote + quoted, quote


def with_backslashes(text):
    """The text without quotes; at its beginning, zsh and bash read = and % as something else."""
    first = "\\" if text[:1] in ("=", "%") else ""
    return first + re.sub(r"([^\w\u0080-\U0010ffff/.,:=@%+-])", r"\\\1", text)
