"""The words of unfinished command lines: quotes are read as the shell reads them, and nothing is run."""

import re
import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesosctl.shells.typed import typed_in_bash, typed_in_fish, typed_in_zsh

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12) | st.text(
    "ab '\"\\$`()<>{}~=:!#\n", max_size=12
)


def in_double_quotes(text, special):
    return '"' + re.sub(special, r"\\\1", text) + '"'


def with_backslashes(text):
    return re.sub(r"([^\w\n])", r"\\\1", text, flags=re.ASCII).replace("\n", "'\n'")


def in_dollar_quotes(text):
    return "$'" + re.sub(r"(['\\])", r"\\\1", text) + "'"


SH = (shlex.quote, with_backslashes, in_dollar_quotes, lambda text: in_double_quotes(text, r'(["\\$`])'))
FISH = (
    lambda text: "'" + re.sub(r"(['\\])", r"\\\1", text) + "'",
    lambda text: re.sub(r"([^A-Za-z0-9])", r"\\\1", text).replace("\\\n", "'\n'"),
    lambda text: in_double_quotes(text, r'(["\\$])'),
)


@example([("it's", 0), ("a\\", 1), ("\\n", 2), ("$(x) `y`", 3)])
@example([("a\\", 0), ("a \\", 0), ("b\\", 3), ("c'", 2)])
@given(st.lists(st.tuples(TEXTS.filter(bool), st.sampled_from(range(4))), max_size=4))
def test_whole_words_are_read_as_the_shell_reads_them(words):
    line = "".join(f" {SH[how](word)}" for word, how in words)
    expected = tuple(word for word, _ in words)
    assert typed_in_bash(f"mesosctl{line} ", "").words == expected
    assert typed_in_zsh(f"mesosctl{line} ").words == expected
    fish = "".join(f" {FISH[how % 3](word)}" for word, how in words)
    assert typed_in_fish(f"mesosctl{fish} ", "mesosctl").words == expected


@given(TEXTS, st.sampled_from(range(4)))
def test_a_word_that_has_begun_may_have_a_quote_open(text, how):
    line = SH[how](text)
    opened = line.removesuffix("'") if line.startswith("'") and line.endswith("'") and "'" not in text else line
    typed = typed_in_bash(f"mesosctl a {opened}", opened)
    assert (typed.words, typed.begun) == (("a",), text)
    assert typed.quote == ("'" if opened != line else "")
    opened = FISH[how % 3](text)[:-1] if how % 3 != 1 else FISH[1](text)
    assert typed_in_fish(f"mesosctl a {opened}", "mesosctl").begun == text


@pytest.mark.parametrize(
    ("line", "replaced", "begun", "kept", "quote"),
    [
        ("", "", "", "", ""),
        ("we", "we", "we", "", ""),
        ("'we", "we", "we", "", "'"),
        ('"we', "we", "we", "", '"'),
        ("$'we", "we", "we", "", "$'"),
        ('$"we', "we", "we", "", '"'),
        ("--role=we", "we", "--role=we", "--role=", ""),
        ("--role='we", "we", "--role=we", "--role=", "'"),
        ("--role=we", "--role=we", "--role=we", "", ""),
        ("x:y", "y", "x:y", "x:", ""),
        ("x:", "", "x:", "x:", ""),
        ("'x:y", "x:y", "x:y", "", "'"),
        ("'it'\\''s", "s", "it's", "it'", "'"),
        ("'a b'c", "'a b'c", "a bc", "", ""),
        ('a="b c"d', '"b c"d', "a=b cd", "a=", ""),
        ("a@b", "@b", "a@b", "a", ""),
        ("a\\", "a\\", "a", "", ""),
        ("a\\ b", "a\\ b", "a b", "", ""),
        # Those who call the function for another command, such as sudo, name the whole word.
        ("'we", "'we", "we", "", "'"),
        ("a'we b", "a'we b", "awe b", "a", "'"),
        ('"a\\"b\\c', 'a\\"b\\c', 'a"b\\c', "", '"'),
    ],
)
def test_bash_says_what_it_replaces(line, replaced, begun, kept, quote):
    typed = typed_in_bash(f"mesosctl quota {line}", replaced)
    assert typed == (("quota",), begun, kept, quote)


@pytest.mark.parametrize(
    "word",
    [
        *("$(cat my file)", "`cat my file`", "<(cat 'a)' b)", "${x:-a b}", '"$(cat "a b")"', "$(a (b) `c d` ')')"),
        *("x$(a\\) b)y", "$(a {b c} d)"),
    ],
)
def test_a_substitution_is_a_part_of_its_word_and_stays_as_it_is(word):
    expected = word.removeprefix('"').removesuffix('"') if word.startswith('"') else word
    assert typed_in_bash(f"mesosctl --master {word} quota s", "s").words == ("--master", expected, "quota")
    assert typed_in_zsh(f"mesosctl --master {word} quota s").words == ("--master", expected, "quota")


@pytest.mark.parametrize("word", ["(cat my file)", "$(cat 'a)' b)", '"$(cat b c)"', "x(a (b c))y"])
def test_fish_has_substitutions_too(word):
    expected = word.strip('"')
    assert typed_in_fish(f"mesosctl --master {word} quota s", "mesosctl").words == ("--master", expected, "quota")


@pytest.mark.parametrize("open_word", ["$(cat my f", "`cat my f", "${x:-a", "<(a 'b c)"])
def test_one_that_is_not_finished_is_the_word_that_has_begun(open_word):
    assert typed_in_bash(f"mesosctl quota {open_word}", open_word)[:2] == (("quota",), open_word)


@pytest.mark.parametrize(
    "before", ["", "FOO=1 ", "command ", "not ", "FOO='a b' command /usr/bin/", "time ~/.local/bin/"]
)
def test_fish_shows_what_is_before_the_program(before):
    typed = typed_in_fish(f"{before}mesosctl quota remove we", "mesosctl")
    assert typed[:2] == (("quota", "remove"), "we")


def test_a_name_may_be_that_of_the_program():
    line = "mesosctl frameworks teardown mesosctl "
    assert typed_in_fish(line, "mesosctl").words == typed_in_zsh(line).words == ("frameworks", "teardown", "mesosctl")


@given(st.text("ab '\"\\$`(){}<>\n", max_size=30))
def test_no_line_is_too_odd(line):
    replaced = re.split(r"\s", line)[-1]
    for typed in (typed_in_bash(line, replaced), typed_in_zsh(line), typed_in_fish(line, "mesosctl")):
        assert typed.begun.startswith(typed.kept)


@pytest.mark.parametrize(
    ("word", "history", "begun"),
    [
        ('"o\\!l', "!", "o!l"),
        ('o"\\!l', "!", "o!l"),
        ('a"b\\!c"d"\\!e', "!", "ab!cd!e"),
        ("o$'\\!l", "!", "o!l"),
        ("o\\!l", "!", "o!l"),
        ("o'\\!l", "!", "o\\!l"),
        ('o"\\!l', "", "o\\!l"),
        ('o"\\^l', "^", "o^l"),
    ],
)
def test_zsh_reads_a_backslash_before_its_history_character_in_double_quotes(word, history, begun):
    assert typed_in_zsh(f"mesosctl quota {word}", history).begun == begun
