"""Every file that a person writes is read with one strictness: the fault and its place are named, with status 3."""

import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from fake_master.sources.cluster_file import ClusterSpec
from fake_master.transports.in_process import InProcessTransport
from mesosctl.__main__ import main
from tests.helpers.surroundings import InMemory, Ran

QUOTA = """{
  "role": "web",
  "guarantee": [
    {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.5}}
  ]
}
"""
UPDATE = """{
  "type": "UPDATE_QUOTA",
  "update_quota": {
    "quota_configs": [
      {"role": "web", "guarantees": {"cpus": {"value": 1.5}}}
    ]
  }
}
"""
RESERVE = """{
  "type": "RESERVE_RESOURCES",
  "reserve_resources": {
    "resources": [
      {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.5},
       "reservations": [{"type": "DYNAMIC", "role": "web"}]}
    ]
  }
}
"""
OFFER = """{
  "id": {"value": "O1"},
  "framework_id": {"value": "F1"},
  "agent_id": {"value": "S1"},
  "resources": [
    {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.5}}
  ]
}
"""
LIMITS = """{
  "limits": [
    {"principal": "batch", "qps": 1.5, "capacity": 10}
  ],
  "aggregate_default_qps": 100
}
"""
SNAPSHOT = """{
  "schema_version": 1,
  "kind": "snapshot",
  "master": {"version": "1.11.0", "flags": {}},
  "agents": [
    {"id": "S1", "hostname": "one",
     "resources": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.5}}]}
  ]
}
"""


@dataclass(frozen=True)
class Document:
    """A valid file in which a number is written as 1.5, and the paths of what the table below breaks."""

    text: str
    number: str
    """The place of 1.5."""
    name: str
    """The key of a text, which is required."""
    holder: str
    """The place of the object that has it."""
    checks_keys: bool = True
    """Whether a key that it does not know is refused, or left to a later version."""

    def named(self, text: str, write: Callable[[str], str] = str) -> str:
        """A place or a sentence of the tables, of this document."""
        for word, path in (("NUMBER", self.number), ("HOLDER", self.holder), ("KEY", self.name)):
            text = text.replace(word, write(path))
        return text


DOCUMENTS = {
    "quota set": Document(QUOTA, "guarantee[0].scalar.value", "name", "guarantee[0]"),
    "quota update": Document(
        UPDATE,
        "update_quota.quota_configs[0].guarantees.cpus.value",
        "role",
        "update_quota.quota_configs[0]",
    ),
    "reserve": Document(
        RESERVE, "reserve_resources.resources[0].scalar.value", "name", "reserve_resources.resources[0]"
    ),
    "unreserve": Document(
        RESERVE.replace("RESERVE", "UNRESERVE").replace("reserve_res", "unreserve_res"),
        "unreserve_resources.resources[0].scalar.value",
        "name",
        "unreserve_resources.resources[0]",
    ),
    "offer": Document(OFFER, "resources[0].scalar.value", "name", "resources[0]"),
    "rate limits": Document(LIMITS, "limits[0].qps", "principal", "limits[0]"),
    "snapshot": Document(
        SNAPSHOT, "agents[0].resources[0].scalar.value", "name", "agents[0].resources[0]", checks_keys=False
    ),
}

VERBS = [
    ("quota set", "quota set -f FILE"),
    ("quota set", "quota set web -f FILE --force"),
    ("quota update", "quota update -f FILE --create"),
    ("quota update", "quota update web -f FILE --api v0"),
    ("reserve", "reserve agent-1 -f FILE"),
    ("reserve", "reserve agent-1 -f FILE --api v1"),
    ("unreserve", "unreserve agent-1 -f FILE"),
    ("offer", "offers reserve --offer FILE cpus:1 --for web"),
    ("offer", "offers unreserve --offer FILE cpus:1"),
    ("rate limits", "ratelimit validate FILE"),
    ("rate limits", "ratelimit plan FILE --memory 1GiB"),
    ("rate limits", "ratelimit simulate FILE --traffic batch=1"),
    ("rate limits", "ratelimit set other --qps 1 -f FILE"),
    ("rate limits", "ratelimit unset batch -f FILE"),
    ("rate limits", "ratelimit default --qps 1 -f FILE"),
    ("snapshot", "snapshot --from FILE"),
    ("snapshot", "snapshot --compare FILE"),
    ("snapshot", "whatif --from FILE --lose-agent one"),
    ("snapshot", "--master fake:FILE quota list"),
]

Break = Callable[[Document], str]


def number(text: str) -> Break:
    """Another text where 1.5 stands."""
    return lambda document: document.text.replace("1.5", text)


def key(text: str) -> Break:
    """Another text where the key `name` stands."""
    return lambda document: document.text.replace(f'"{document.name}"', text.replace("KEY", document.name), 1)


def whole(change: Callable[[str], str]) -> Break:
    """Another text altogether."""
    return lambda document: change(document.text.strip())


LINE = r"line \d+, column \d+"
# What is broken, how, the place (a pattern), and words of the sentence, where a snapshot may have others.
BROKEN: list[tuple[str, Break, str, str]] = [
    ("nothing", whole(lambda _: ""), "line 1, column 1", "expected a value, found the end"),
    ("blank lines", whole(lambda _: " \n\n"), "line 3, column 1", "expected a value, found the end"),
    ("a word", whole(lambda _: "{web"), "line 1, column 2", "a name in double quotes"),
    ("no end", whole(lambda text: text[:-1]), LINE, "expected '}', found the end"),
    ("text after the end", whole(lambda text: f"{text} x"), LINE, "there is more after the end"),
    ("a second document", whole(lambda text: f"{text}\n{text}"), LINE, "there is more after the end"),
    ("a comma too many", whole(lambda text: f"{text[:-1]},}}"), LINE, "there is a comma too many before '}'"),
    ("a comma too few", number('1.5 "x": 2'), LINE, "expected ',' or '}'"),
    ("a remark", whole(lambda text: f"// why\n{text}"), "line 1, column 1", "found '// why'"),
    ("a key in single quotes", key("'KEY'"), LINE, "a name in double quotes"),
    ("a key without quotes", key("KEY"), LINE, "a name in double quotes"),
    ("a line break in a text", key('"KEY": "\n", "x"'), LINE, "an escape, such as \\n"),
    ("an order mark", whole(lambda text: f"\ufeff{text}"), "line 1, column 1", "a byte order mark"),
    ("not a number", number("NaN"), "NUMBER", "it should be a finite number"),
    ("an infinity", number("-Infinity"), "NUMBER", "it should be a finite number"),
    ("a number too large", number("1e999"), "NUMBER", "it should be a finite number"),
    ("half a character", key('"KEY": "\\ud800", "x"'), "HOLDER.KEY", "the text contains half of a surrogate pair"),
    ("a key twice", key('"KEY": "a", "KEY"'), "HOLDER.KEY", "appears twice in one object"),
    (
        "a key twice at the top",
        whole(lambda text: f'{text[:-1]}, "x": 1, "x": 1}}'),
        "x",
        "appears twice in one object",
    ),
    ("a text for a number", number('"many"'), "NUMBER", "it should be a number"),
    ("a boolean for a number", number("true"), "NUMBER", "it should be a number"),
    ("an object for a number", number("{}"), "NUMBER", "it should be a number"),
    ("a number for a text", key('"KEY": 1, "x"'), "HOLDER.(KEY|x)", "it should be a string|there is no key 'x' here"),
    ("a key missing", key('"x"'), "HOLDER.(KEY|x)", "there is no key 'x' here"),
]
# What a snapshot of a later version may have.
UNKNOWN: list[tuple[str, Break, str, str]] = [
    ("a misspelt key", key('"KEYY": 1, "KEY"'), "HOLDER.KEYY", "there is no key 'KEYY' here"),
    ("a key at the top", whole(lambda text: f'{text[:-1]}, "x": 1}}'), "x", "there is no key 'x' here"),
]


@pytest.fixture(scope="module")
def cluster_of_a_file() -> InProcessTransport:
    return InProcessTransport(ClusterSpec(agents=("cpus:4;mem:2048",), mesos_version="1.11").start())


@pytest.fixture
def type_words(cluster_of_a_file):
    def type_them(words: str, file: object, **variables: str) -> Ran:
        environment = InMemory(
            stdin=io.StringIO(),
            variables={"MESOSCTL_MASTER": "http://127.0.0.1:5050"} | variables,
            sleep=lambda _: None,
            transport=None if "fake:" in words else cluster_of_a_file,
        )
        typed = [word.replace("FILE", str(file)) for word in words.split()]
        return Ran(main([*typed, "-o", "json"], environment), environment.out, environment.err)

    return type_them


@pytest.mark.parametrize(("document", "words"), VERBS, ids=[words for _, words in VERBS])
def test_every_broken_file_is_refused_by_every_verb(type_words, tmp_path, document, words):
    right = DOCUMENTS[document]
    file = tmp_path / "file.json"
    for what, broken, place, sentence in BROKEN + UNKNOWN * right.checks_keys:
        text = broken(right)
        assert text != right.text, what
        file.write_text(text, encoding="utf-8")
        ran = type_words(words, file)
        assert (ran.status, ran.out) == (3, ""), (what, ran)
        error = json.loads(ran.err.splitlines()[-1])["error"]
        assert error["message"].startswith(str(file)), what
        assert re.fullmatch(right.named(place, re.escape), error["field"]), (what, error)
        if right.checks_keys:
            assert any(said in error["message"] for said in right.named(sentence).split("|")), (what, error)
        assert file.read_text(encoding="utf-8") == text, what


@pytest.mark.parametrize(("document", "words"), VERBS, ids=[words for _, words in VERBS])
def test_the_file_that_is_not_broken_is_read(type_words, tmp_path, document, words):
    file = tmp_path / "file.json"
    file.write_text(DOCUMENTS[document].text, encoding="utf-8")
    ran = type_words(words, file)
    if ran.status == 3:  # refused for what the cluster is like
        error = json.loads(ran.err.splitlines()[-1])["error"]
        assert not error["rule"].startswith("file."), ran


@pytest.mark.parametrize("text", ["null", "3", '"web"', "[[]]", "true"])
@pytest.mark.parametrize(("document", "words"), VERBS, ids=[words for _, words in VERBS])
def test_another_kind_of_value_is_refused(type_words, tmp_path, document, words, text):
    file = tmp_path / "file.json"
    file.write_text(text, encoding="utf-8")
    ran = type_words(words, file)
    assert (ran.status, ran.out) == (3, ""), ran
    assert str(file) in ran.err


# --- TOML -----------------------------------------------------------------------------------------------------

WANTED = """\
[weights]
web = 1.5

[[reservations]]
agent = "one"
role = "web"
resources = "cpus:1"
"""
CLUSTER = """\
mesos_version = "1.11"

[[agents]]
resources = "cpus:4"
delay = 1.5

[[frameworks]]
role = "web"
task = "cpus:1"
after = 1
"""
CONTEXTS = """\
current = "prod"

[contexts.prod]
timeout = 1.5
master = "http://127.0.0.1:5050"
"""
TABLES = {
    "wanted": Document(WANTED, "weights.web", "resources", "reservations[0]"),
    "cluster": Document(CLUSTER, "agents[0].delay", "resources", "agents[0]"),
    "contexts": Document(CONTEXTS, "timeout", "master", "line 5"),
}
TABLE_VERBS = [
    ("wanted", "diff -f FILE"),
    ("wanted", "apply -f FILE --yes"),
    ("wanted", "apply -f FILE --dry-run"),
    ("cluster", "offers simulate FILE"),
    ("cluster", "--master fake:FILE quota list"),
    ("cluster", "whatif --from FILE --lose-fraction 0.5"),
    ("contexts", "quota list"),
    ("contexts", "context list"),
    ("contexts", "context set prod principal=ops"),
]


def line(text: str) -> Break:
    """Another text for the line of `name`."""
    return lambda document: re.sub(
        rf"(?m)^{document.name} = .*$", lambda found: text.replace("LINE", found[0]), document.text, count=1
    ).replace("KEY", document.name)


AT = r"at line \d+, column \d+|at the end, line \d+"
BROKEN_TABLES: list[tuple[str, Break, str]] = [
    # What is broken, how, and a pattern of the place.
    ("a word", whole(lambda _: "web"), AT),
    ("JSON", whole(lambda _: '{"web": 1}'), AT + "|is not a snapshot"),
    ("no value", line("KEY ="), AT),
    ("no key", line('= "x"'), AT),
    ("no equals", line('KEY "x"'), AT),
    ("two values", line('LINE "x"'), AT),
    ("a text without quotes", line("KEY = web"), AT),
    ("a text without end", line('KEY = "web'), AT),
    ("an unknown escape", line(r'KEY = "\q"'), AT),
    ("half a character", line(r'KEY = "\ud800"'), AT),
    ("a table without end", whole(lambda text: f"{text}\n[table"), AT),
    ("a key twice", line("LINE\nLINE"), AT),
    ("a table twice", whole(lambda text: f"{text}\n[x]\n[x]"), AT),
    ("a remark as JSON has none", line("// why\nLINE"), AT),
    ("not a number", number("nan"), "NUMBER"),
    ("an infinity", number("-inf"), "NUMBER"),
    ("a number too large", number("1e999"), "NUMBER"),
    ("a text for a number", number('"many"'), "NUMBER"),
    ("a boolean for a number", number("true"), "NUMBER"),
    ("a list for a number", number("[1.5]"), "NUMBER"),
    ("a date for a number", number("1979-05-27"), "NUMBER"),
    ("a number for a text", line("KEY = 1"), "HOLDER.*KEY"),
    ("a misspelt key", line("LINE\nKEYY = 1"), "KEYY"),
    ("a key at the top", whole(lambda text: f"zzz = 1\n{text}"), "zzz"),
    ("a table at the top", whole(lambda text: f"{text}\n[zzz]"), "zzz"),
]


@pytest.mark.parametrize(("document", "words"), TABLE_VERBS, ids=[words for _, words in TABLE_VERBS])
def test_every_broken_table_is_refused_by_every_verb(type_words, tmp_path, document, words):
    right = TABLES[document]
    file = tmp_path / "file.toml"
    for what, broken, place in BROKEN_TABLES:
        text = broken(right)
        assert text != right.text, what
        file.write_text(text, encoding="utf-8")
        file.chmod(0o600)
        ran = type_words(words, file, **{"MESOSCTL_CONFIG": str(file)} if document == "contexts" else {})
        assert (ran.status, ran.out) == (3, ""), (what, ran)
        error = json.loads(ran.err.splitlines()[-1])["error"]
        assert error["message"].startswith(str(file)), (what, error)
        said = f"{error['field']} {error['message']} {error['field']}"
        assert re.search(right.named(place, re.escape), said), (what, error)
        assert file.read_text(encoding="utf-8") == text, what


@pytest.mark.parametrize(("document", "words"), TABLE_VERBS, ids=[words for _, words in TABLE_VERBS])
def test_the_table_that_is_not_broken_is_read(type_words, tmp_path, document, words):
    file = tmp_path / "file.toml"
    file.write_text(TABLES[document].text, encoding="utf-8")
    file.chmod(0o600)
    ran = type_words(words, file, **{"MESOSCTL_CONFIG": str(file)} if document == "contexts" else {})
    assert "file.toml: " not in ran.err, ran
