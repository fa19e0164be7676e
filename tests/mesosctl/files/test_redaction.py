"""A secret is found in every spelling in which it may come back, and nothing else is hidden."""

import base64
import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mesosctl.files.redaction import SHORTEST, SHORTEST_IN_DATA, Secrets

SECRETS = (
    'hun"ter\\2',
    "plain-secret",
    "s/l@sh:é€😀 'q' <&>",
    "\\\\\\\\",
    '""""',
    "tab\there",
    "a+b/c=d%41",
    "12345678",
    "domain\\\\user",
    "tell me why???",
    "yes&",
    "100%",
)


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON in UTF-8": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "JSON thrice": lambda text: json.dumps(json.dumps(json.dumps(text))),
    "JSON with slashes": lambda text: json.dumps(text).replace("/", "\\/"),
    "percent": lambda text: quote(text, safe=""),
    "percent in part": quote,
    "percent in small": lambda text: quote(text, safe="").lower() if text == text.lower() else quote(text, safe=""),
    "form": quote_plus,
    "HTML": html.escape,
    "JSON in HTML": lambda text: html.escape(json.dumps(text)),
    "base64": base64_of,
    "base64 without padding": lambda text: base64_of(text).rstrip("="),
    "base64 for URLs": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "basic": lambda text: base64_of(f"ops:{text}"),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("secret", SECRETS)
def test_every_spelling_is_struck_out(secret: str, spelling: str) -> None:
    secrets = Secrets()
    secrets.add_pair("ops", secret)
    written = SPELLINGS[spelling](secret)
    for before, after in (("before ", " after"), ("<", ">"), ("", "")):
        shown = secrets.redact(f"{before}{written}{after}")
        # JSON has quotes around it, which a secret of quotes may begin or end with.
        assert re.sub(r'\\|"|&quot;', "", shown).replace("******", "***") == f"{before}***{after}"


@given(st.text(min_size=SHORTEST, max_size=24), st.sampled_from([str, json.dumps, lambda text: quote(text, safe="")]))
@settings(max_examples=200)
def test_whatever_a_secret_is_made_of(secret: str, spell) -> None:
    secrets = Secrets()
    secrets.add(secret)
    try:
        written = spell(secret)
    except UnicodeEncodeError:  # half a character, in no URL
        return
    assert secrets.redact(f"<{written}>").replace('"', "") in ("<***>", "<******>") or "***" in secrets.redact(written)


@given(
    st.lists(st.sampled_from("hunterHUNTER0123456789é€😀/+?"), unique=True, min_size=SHORTEST).map("".join),
    st.text("x:", max_size=7),
    st.text("xy", min_size=1, max_size=7),
)
@example("hunter", "", "x")
def test_of_base64_every_character_that_depends_on_the_secret_alone_is_struck_out(secret, before, after) -> None:
    # A character that is the same between zeros and between ones has no bit from elsewhere.
    zeros, ones = (
        base64.b64encode(fill * len(before) + secret.encode() + fill * len(after)) for fill in (b"\0", b"\xff")
    )
    own = [place for place, (one, other) in enumerate(zip(zeros, ones, strict=True)) if one == other != ord("=")]
    secrets = Secrets()
    secrets.add(secret)
    written = base64_of(before + secret + after)
    is_long = len(own) >= 8
    assert secrets.redact(written) == (f"{written[: own[0]]}***{written[own[-1] + 1 :]}" if is_long else written)


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_secrets_the_longer_is_struck_out_first(order: int) -> None:
    secrets = Secrets()
    for secret in ("hunter2!", "hunter2!and-more", "hunter2!and-more-still")[::order]:
        secrets.add(secret)
    assert secrets.redact("a hunter2!and-more-still b hunter2!and-more c hunter2! d") == "a *** b *** c *** d"


def test_of_two_secrets_that_begin_alike_in_base64_the_longer_is_struck_out_first() -> None:
    secrets = Secrets()
    secrets.add("abcdefgh")
    secrets.add("abcdefga-and-more")
    assert secrets.redact(base64_of("abcdefga-and-more")) == "***"


@pytest.mark.parametrize("nothing", [None, ""])
def test_no_secret_hides_nothing(nothing: str | None) -> None:
    secrets = Secrets()
    secrets.add(nothing)
    assert secrets.redact("a text") == secrets.redact_data("a text") == "a text"


def test_one_that_becomes_known_late_is_struck_out_from_then_on() -> None:
    secrets = Secrets()
    secrets.add("hunter2!")
    text = "hunter2! and open-sesame"
    assert secrets.redact(text) == secrets.redact_data(text) == "*** and open-sesame"
    secrets.add("open-sesame")
    assert secrets.redact(text) == secrets.redact_data(text) == "*** and ***"


def test_nothing_is_struck_out_without_a_reason() -> None:
    secrets = Secrets()
    text = 'http://host:5050/slaves?x=a@b {"pid": "slave(1)@127.0.0.1:5051", "master": "http://h", "mail": "x@y"}'
    assert secrets.redact(text) == secrets.redact_data(text) == secrets.redact_json(text) == text
    secrets.add("hunter2hunter2")
    assert secrets.redact(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("zk://user:SECRET@a,b:2181/mesos", "zk://***@a,b:2181/mesos"),
        ("--zk=zk://user:SEC@RET@a/mesos", "--zk=zk://***@a/mesos"),
        ('{"zk":"zk://user:SE\\"CRET@a/m","x":"y@z"}', '{"zk":"zk://***@a/m","x":"y@z"}'),
        ('{"zk":"zk:\\/\\/user:SECRET@a\\/m"}', '{"zk":"zk:\\/\\/***@a\\/m"}'),
        ("http://a:1,https://user:SECRET@b:2", "http://a:1,https://***@b:2"),
    ],
)
def test_what_stands_before_the_host_of_a_url(text: str, shown: str) -> None:
    assert Secrets().redact(text) == Secrets().redact_data(text) == shown


def test_what_a_master_shows_of_itself_is_known_from_then_on() -> None:
    secrets = Secrets()
    flags = {"zk": 'zk://mesos:top"secret@zk1/mesos', "modules": json.dumps([{"key": "password", "value": "module's"}])}
    shown = secrets.redact_body(json.dumps({"flags": {**flags, "secret_key": "a\\b", "credentials": "inline"}}))
    for secret in ("top", "module's", "a\\\\b", "inline"):
        assert secret not in shown
    assert secrets.redact('zookeeper said top"secret') == "zookeeper said ***"


def test_of_a_body_with_many_urls_only_the_first_secrets_are_remembered() -> None:
    """Each makes the next search longer, and anybody can send such a body."""
    secrets = Secrets()
    words = [f"password-{number}" for number in range(1000, 1100)]
    shown = secrets.redact_body(" ".join(f"http://ops:{word}@host" for word in words))
    assert "password" not in shown
    remembered = [word for word in words if secrets.redact(word) == "***"]
    assert remembered == words[: len(remembered)]
    assert 0 < len(remembered) < len(words)


def test_short_ones_are_left_where_data_must_stay_what_it_is() -> None:
    secrets = Secrets()
    secrets.add("web1")
    secrets.add("abc")
    assert secrets.redact("web1 abc") == "*** abc"
    assert secrets.redact_data("web1 abc") == "web1 abc"
    assert len("web1") == SHORTEST < SHORTEST_IN_DATA


def test_json_stays_json() -> None:
    secrets = Secrets()
    secrets.add("12345678")
    secrets.add('quo"te,d')
    text = json.dumps({"a": 12345678, "b": "12345678", "12345678": ['quo"te,d', 1]})
    assert json.loads(secrets.redact_json(text)) == {"a": 12345678, "b": "***", "***": ["***", 1]}


@pytest.mark.parametrize(
    "text",
    ["\\" * 50_000 + "@", "a" * 500_000 + "@", '"\\' * 50_000, "a://" + "\\" * 50_000 + "@", '"secret":"' * 20_000,
     '"' + "secret" * 50_000, "a://" + "b:" * 50_000, '"\\"key\\":\\"' * 10_000, "http://x:y@" * 20_000],
)  # fmt: skip
def test_no_text_is_made_to_be_searched_for_ever(text: str) -> None:
    secrets = Secrets()
    secrets.add('"\\"\\hunter2')
    assert len(secrets.redact_body(text)) <= 2 * len(text)
    assert len(secrets.redact_json(text)) <= len(text)


def test_it_is_no_part_of_its_own_text() -> None:
    secrets = Secrets()
    secrets.add("hunter2hunter2")
    assert "hunter2" not in repr(secrets) + str(secrets)


def test_the_example_in_a_hint_stays_but_a_secret_of_the_same_form_does_not():
    secrets = Secrets()
    hint = "write zk://USER:SECRET@host1,host2/mesos"
    assert secrets.redact(hint) == hint
    assert secrets.redact("zk://USER:SECRET@zk1,zk2/mesos") == "zk://***@zk1,zk2/mesos"
    assert secrets.redact("zk://ops:hunter2@host1,host2/mesos") == "zk://***@host1,host2/mesos"


@pytest.mark.parametrize(
    ("address", "struck", "left"),
    [
        (
            "zk://ops:hunter2hunter2@zk1,zk2/mesos",
            ["hunter2hunter2", base64_of("ops:hunter2hunter2")],
            ["zk1", "mesos"],
        ),
        ("http://ops:hunter:two@host:5050", ["hunter:two"], ["host", "5050"]),
        ("http://ops:hunt@er-two@host:5050", ["hunt@er-two"], ["host"]),
        ("http://ops:hunter/two@host:5050", ["hunter/two"], ["host"]),
        ("http://ops:first-one@a:5050,https://ops:second-one@b/x", ["first-one", "second-one"], ["a:5050", "b/x"]),
        ("http://token-alone@host", ["token-alone"], ["host"]),
        ("http://ops:secret-word@host/a@b", ["secret-word"], ["host"]),
        ("http://ops:secret-word@host/a@b/c", ["secret-word"], ["host"]),
        ("http://host:5050", [], ["http", "host", "5050"]),
        ("", [], ["http"]),
        (None, [], ["http"]),
    ],
)
def test_the_secrets_of_an_address_are_known_from_then_on(address: str | None, struck, left) -> None:
    secrets = Secrets()
    secrets.add_address(address)
    for secret in struck:
        assert secrets.redact(f"<{secret}>") == "<***>"
    for text in left:
        assert secrets.redact(text) == text


def test_each_text_of_a_value_is_struck_out_and_each_name_stays() -> None:
    secrets = Secrets()
    secrets.add("hunter2hunter2")
    value = {"a": ["x hunter2hunter2", ("hunter2hunter2", 1, None)], "hunter2hunter2": {"b": "fine", "c": 2.5}}
    assert secrets.redact_all(value) == {"a": ["x ***", ["***", 1, None]], "hunter2hunter2": {"b": "fine", "c": 2.5}}


def test_a_secret_that_is_no_text_in_utf_8_is_struck_out_too() -> None:
    secrets = Secrets()
    secrets.add("p\udcffssword-of-8")
    assert secrets.redact("<p\udcffssword-of-8> <p%FFssword-of-8> <p%ffssword-of-8>") == "<***> <***> <***>"
