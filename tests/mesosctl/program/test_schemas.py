"""The JSON Schemas that are shipped: what each command writes is valid by them."""

import copy
import csv
import io
import json
import re
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fake_master import FakeMaster, FrameworkConfig
from mesosctl.__main__ import main
from mesosctl.program.documents import models, schemas
from mesosctl.program.reference.command_tree import commands
from tests import EXAMPLES, ROOT
from tests.helpers.surroundings import InMemory
from tests.mesosctl.show.alike import assert_alike
from tests.mesosctl.show.shapes import in_notation, other_shapes

OFFER = {
    "id": {"value": "O1"},
    "framework_id": {"value": "F"},
    "agent_id": {"value": "S0"},
    "hostname": "agent-1",
    "resources": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 4}, "allocation_info": {"role": "web"}}],
    "allocation_info": {"role": "web"},
}
GOALS = '[goals.web]\nhours_served = "90%"\n[change.web]\nguarantee = { from = "cpus:0", to = "cpus:4", steps = 2 }\n'
AMOUNTS_SCHEMA = {"type": "object", "additionalProperties": {"type": "number"}}
PRICES = 'currency = "EUR"\n[[prices]]\ncpu_hour = 0.031\n'
WANTED = '[quotas.web]\nguarantee = "cpus:1"\n'

OTHER_COMMANDS = {
    "agents.changes": ["agents", "drain", "agent-1", "--yes"],
    "alternatives": ["whatif", "--each", "quota:ads=cpus:{1,2}"],
    "can-i.list": ["can-i", "--list", "--role", "web"],
    "cost": ["usage", "--history", "h.sqlite", "--prices", "prices.toml", "--share", "idle"],
    "cleanup": ["cleanup", "--role", "ads"],
    "context.changes": ["context", "set", "lab", "--master", "http://mesos:5050"],
    "expected-wait": ["replay", "h.sqlite", "--wait", "role=db;task=cpus:1"],
    "forecast": ["whatif", "quota:ads=cpus:100"],
    "frameworks.teardown": ["frameworks", "teardown", "holding", "--yes"],
    "history.import": ["history", "import", "log.csv", "--format", "csv", "--history", "new.sqlite"],
    "largest-replayed-change": ["replay", "h.sqlite", "--find-largest", "quota:web=cpus:?"],
    "largest-change": ["whatif", "--find-largest", "quota:ads=cpus:?"],
    "capacity.spare": ["capacity", "spare"],
    "losses": ["whatif", "--lose-each", "agent"],
    "maintenance.changes": ["maintenance", "plan", "agent-1", "--at", "2030-12-01T02:00+01:00"],
    "offers.call": ["offers", "reserve", "--offer", "offer.json", "cpus:1", "--principal", "web"],
    "offers.explain": ["offers", "explain", "holding"],
    "offers.simulation": ["offers", "simulate", str(EXAMPLES / "drf.toml")],
    "offers.taken": ["offers", "take", "--role", "taken", "--reserve", "cpus:1", "--timeout", "5"],
    "quota.changes": ["quota", "set", "ads", "cpus:1"],
    "quota.check": ["quota", "check", "ads", "cpus:100"],
    "quota.show": ["quota", "show", "web"],
    "ratelimit.edit": ["ratelimit", "set", "batch", "--qps", "50", "-f", "limits.json"],
    "ratelimit.suggest": ["ratelimit", "suggest", "--for", "2s"],
    "ratelimit.watch": ["ratelimit", "watch", "--count", "2", "--interval", "1s"],
    "replay": ["replay", "h.sqlite"],
    "replayed-alternatives": ["replay", "h.sqlite", "--each", "quota:web=cpus:{1,2}"],
    "reservations.changes": ["reserve", "agent-1", "cpus:1", "--role", "ads"],
    "reservations.tree": ["reservations", "--tree"],
    "snapshot.comparison": ["snapshot", "--compare", "before.json"],
    "snapshot.taken": ["snapshot", "-f", "taken.json"],
    "top": ["top"],
    "tuning": ["tune", "goals.toml", "--replay", "h.sqlite"],
    "usage": ["usage", "--history", "h.sqlite", "--step", "10m", "--half-life", "1h"],
    "wait": ["wait", "agent/agent-1=active"],
    "wanted.differences": ["diff", "-f", "wanted.toml"],
    "wanted.saved-plan": ["plan", "-f", "wanted.toml"],
    "wanted.plan": ["apply", "-f", "wanted.toml", "--yes"],
    "wanted.state": ["export"],
    "weights.changes": ["weights", "set", "web=2"],
}
"""Commands of kinds that no first example writes, or not for this cluster."""
BESIDE = {
    "error": ["quota", "show", "nobody"],
    "exchange": ["quota", "list", "-v"],
    "note": ["quota", "list", "--cacert", "offer.json"],
}
"""Commands that write these to standard error."""
ONE_A_LINE = {
    "offers.change": ["offers", "watch", "--changes", "1"],
    "replay.task": ["replay", "h.sqlite", "quota:web=cpus:1"],
}
"""Commands whose -o jsonl has no whole document."""
ON_SEVERAL_CONTEXTS = {"by-context"}
"""The kinds that `cli/context/test_several.py` checks, where there are contexts."""
IN_DRY_RUNS = {"agents.plan": ["agents", "drain", "agent-1", "--dry-run"]}
"""Commands whose dry run has these among the answers in `would`."""
IN_CSV = (
    *("agents.list", "frameworks.list", "quota.list", "quota.show", "roles.list", "weights.list", "quota.check"),
    *("reservations.list", "reservations.tree", "ratelimit.show", "ratelimit.simulate", "ratelimit.suggest"),
    *("snapshot.comparison", "history.list", "wait", "wanted.differences"),
)
"""Kinds of which several columns are fields of JSON too, and that are read twice without a change between."""
FORKING = (
    "alternatives",
    "capacity.spare",
    "largest-change",
    "largest-replayed-change",
    "losses",
    "replayed-alternatives",
    "tuning",
)


def first_examples() -> Iterator[tuple[str, list[str]]]:
    """The first example in the help of each command, beside the kind of the document that it writes."""
    kinds = models()
    for node in commands().walk():
        for kind in (".".join(node.path[1:]), ".".join([*node.path[1:], "list"])):
            if node.examples and kind in kinds:
                yield kind, shlex.split(node.examples[0][0])


COMMANDS = dict(first_examples()) | OTHER_COMMANDS
"""A command for each kind: a new command needs only its example."""


@cache
def validator(kind: str) -> Draft202012Validator:
    """The validator of a schema as it is shipped; values of strings are checked too."""
    schema = json.loads((ROOT / "docs" / "reference" / "schemas" / f"{kind}.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.fixture
def fake() -> Iterator[FakeMaster]:
    frameworks: list[FrameworkConfig] = [
        {"name": "holding", "answer": "hold", "principal": "web"},
        {"name": "busy", "task": "cpus:1;mem:100", "tasks": 2},
        # It declines every second: messages for `ratelimit suggest`.
        {"name": "busy", "answer": "decline", "refuse_seconds": 0, "principal": "web", "role": "batch"},
    ]
    flags = {"rate_limits": json.dumps({"limits": [{"principal": "web", "qps": 50, "capacity": 10}]})}
    agents = ["cpus:8;mem:4096;disk:100", "cpus(ads):2;cpus:2;mem:2048"]
    with FakeMaster(
        agents, frameworks=frameworks, flags=dict(flags), quotas={"web": "cpus:2", "taken": "cpus:1"}
    ) as started:
        started.settle()
        yield started


@pytest.fixture
def typed(fake: FakeMaster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., InMemory]:
    """Type a command where the files that commands name are at hand."""
    monkeypatch.chdir(tmp_path)
    Path("limits.json").write_text((EXAMPLES / "limits.json").read_text(encoding="utf-8"), encoding="utf-8")
    Path("acls.json").write_text("{}", encoding="utf-8")
    Path("offer.json").write_text(json.dumps(OFFER), encoding="utf-8")
    Path("wanted.toml").write_text(WANTED, encoding="utf-8")

    def run(*words: str) -> InMemory:
        environment = InMemory(
            variables={"MESOSCTL_MASTER": "http://mesos:5050", "HOME": str(tmp_path)},
            ask_secret=lambda _: "",
            clock=lambda: fake.now,
            sleep=fake.advance,
            transport=fake.transport,
        )
        main(words, environment)
        return environment

    Path("before.json").write_text(run("snapshot").out, encoding="utf-8")
    run("weights", "set", "batch=3")
    Path("log.csv").write_text("role,cpus,from,to\nweb,1,0,3600\nweb,1,9,3\n", encoding="utf-8")
    Path("nodes.csv").write_text("agent,resources\nn1,cpus:4\n", encoding="utf-8")
    Path("goals.toml").write_text(GOALS, encoding="utf-8")
    Path("prices.toml").write_text(PRICES, encoding="utf-8")
    words = "history import log.csv --format csv --agents nodes.csv --history h.sqlite --cluster-id log"
    run(*words.split())
    return run


def test_every_kind_has_its_command():
    shown = COMMANDS.keys() | BESIDE.keys() | ONE_A_LINE.keys() | IN_DRY_RUNS.keys()
    assert shown | ON_SEVERAL_CONTEXTS == models().keys()


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.process) if kind in FORKING else kind for kind in COMMANDS]
)
def test_what_a_command_writes_is_valid(typed, kind: str):
    ran = typed(*COMMANDS[kind], "-o", "json")
    document = json.loads(ran.out or ran.err)
    assert document.get("kind") == kind, document
    validator(kind).validate(document)
    assert list(in_notation(document)) == []


def test_amounts_and_resources_have_one_shape_each():
    assert other_shapes(schemas()) == set()


def test_the_page_says_what_changed_of_every_kind_that_has_a_later_version():
    versions = {kind: schema["properties"]["schema_version"]["const"] for kind, schema in schemas().items()}
    page = (ROOT / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.partition("## Versions")[2].splitlines() if line.startswith("| `")]
    told = {kind: int(version) for kinds, version, _ in rows for kind in re.findall("`(.+?)`", kinds)}
    assert told == {kind: version for kind, version in versions.items() if version != 1}


def changed(kind: str, place: str, value: Any) -> dict[str, Any]:
    """All schemas, with another value at a place of one of them."""
    found = copy.deepcopy(schemas())
    *parents, last = place.split("/")
    part: Any = found[kind]
    for name in parents:
        part = part[name]
    part[last] = value
    return found


@pytest.mark.parametrize(
    ("kind", "place", "value", "where"),
    [
        ("quota.list", "$defs/RoleQuota/properties/guarantee", {"type": "string"}, "RoleQuota.guarantee is a text"),
        ("tasks.list", "$defs/Task/properties/resources", {"type": "string"}, "Task.resources is a text"),
        ("offers.list", "$defs/Offer/properties/amounts", {"type": "object"}, "Offer has amounts and resources"),
        ("top", "$defs/Waiting/properties/resources", AMOUNTS_SCHEMA, "Waiting.resources is amounts by name"),
    ],
)
def test_another_shape_is_found(kind: str, place: str, value: Any, where: str):
    assert any(where in sentence for sentence in other_shapes(changed(kind, place, value)))


def test_amounts_as_a_text_are_found():
    texts = ["cpus:4", "cpus:4;mem:64", "cpus(ads):2; ports:[1-2, 4-4]", "cpus{REV}:0.5", "disk(a/b)[v1:data]:5"]
    assert [one.removeprefix("task: ") for one in in_notation({"task": texts})] == texts
    others = ["quota:web=cpus:1", "12 cpus and 6GiB mem", "10.0.0.1:5050", "a:b", "1:2", ""]
    assert list(in_notation({"text": "cpus:1", "words": others})) == []


@pytest.mark.parametrize("kind", IN_CSV)
def test_csv_says_what_json_says(typed, kind: str):
    rows = list(csv.DictReader(io.StringIO(typed(*COMMANDS[kind], "-o", "csv").out)))
    assert_alike(kind, rows, [json.loads(line) for line in typed(*COMMANDS[kind], "-o", "jsonl").out.splitlines()])


@pytest.mark.parametrize("kind", IN_DRY_RUNS)
def test_what_a_dry_run_says_would_be_written_is_valid(typed, kind: str):
    forecast = json.loads(typed(*IN_DRY_RUNS[kind], "-o", "json").out)
    validator("forecast").validate(forecast)
    kinds = [document["kind"] for document in forecast["would"]]
    assert kind in kinds
    for document in forecast["would"]:
        validator(document["kind"]).validate(document)


@pytest.mark.parametrize("kind", BESIDE)
def test_what_stands_on_standard_error_is_valid(typed, kind: str):
    ran = typed(*BESIDE[kind], "-o", "json")
    (document, *_) = [json.loads(line) for line in ran.err.splitlines()]
    assert document.get("kind", "error") == kind
    validator(kind).validate(document)


@pytest.mark.parametrize("kind", ONE_A_LINE)
def test_a_line_is_valid(typed, kind: str):
    (line,) = typed(*ONE_A_LINE[kind], "-o", "jsonl").out.splitlines()
    assert json.loads(line)["kind"] == kind
    validator(kind).validate(json.loads(line))


@pytest.mark.parametrize("kind", [*COMMANDS, *IN_DRY_RUNS])
def test_a_schema_refuses_what_is_not_the_document(kind: str):
    assert not validator(kind).is_valid({"schema_version": 1, "kind": kind, "unheard of": 1})
    assert not validator(kind).is_valid({"schema_version": 0, "kind": kind})


def test_values_are_checked_too():
    good: dict[str, Any] = {"schema_version": 1, "kind": "weights.list", "weights": []}
    assert validator("weights.list").is_valid(good)
    assert not validator("weights.list").is_valid({**good, "weights": [{"role": 1}]})
