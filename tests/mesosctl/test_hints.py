"""The kernel knows no command line; what it leaves to a hint is said in the words of the command line."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.files.desired_state import load
from mesosctl.hints import HINTS, OF_ADDRESS, hint_of, in_our_words
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.amounts.resource import Disk, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.desired.reservation_plan import AgentReservations
from mesosctl.mesos.errors import BadInput, MesosctlError, RuleViolation, Violations
from mesosctl.mesos.messages.agent_operations import read_create, read_reserve, read_unreserve
from mesosctl.mesos.messages.offers import read_offer
from mesosctl.mesos.messages.quota.calls import read_quota_request
from mesosctl.mesos.messages.snapshots import snapshot
from mesosctl.mesos.rules.maintenance import check_schedule
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange, guarantees_of, no_quota, plan_quotas
from mesosctl.mesos.rules.quota.rules import GivenFacts, check_limits_fit_request
from mesosctl.mesos.rules.version_profile import MESOS_1_11
from mesosctl.program.reference.command_tree import commands
from mesosctl.suggestion import on_cluster
from tests import ROOT

KERNEL = (
    "mesosctl.mesos",
    "mesosctl.files",
    "mesosctl.history.records",
    "mesosctl.history.interface",
    "mesosctl.history.setting_values",
)
"""What Mesos means, how files are read and written, and the rows of recordings."""


def sources() -> Iterator[Path]:
    """The files of the kernel."""
    for name in KERNEL:
        place = ROOT.joinpath(*name.split("."))
        yield from place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]


def kernel() -> dict[str, ast.Module]:
    """The modules of the kernel by name, parsed."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): ast.parse(path.read_text(encoding="utf-8"))
        for path in sources()
    }


def texts(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Every string of a module with its line, docstrings included."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_no_string_of_the_kernel_has_a_command_or_an_option():
    verbs = "|".join(sorted({node.path[1] for node in commands().walk() if len(node.path) > 1}, key=len, reverse=True))
    of_program = re.compile(rf"\bmesosctl (?:{verbs})\b|^--")
    modules = kernel()
    assert len(modules) > 100, "the folders have moved"
    found = [
        f"{name}:{line}: {text[:60]}"
        for name, module in modules.items()
        for line, text in texts(module)
        if of_program.search(text)
    ]
    assert found == []


def test_the_kernel_imports_nothing_that_suggests_commands():
    for name, module in kernel().items():
        imported = {node.module for node in ast.walk(module) if isinstance(node, ast.ImportFrom)}
        assert not imported & {"mesosctl.suggestion", "mesosctl.hints"}, name


def advice_in(module: ast.Module) -> Iterator[tuple[int, str, set[str]]]:
    """The line, the rule and the names of the values of every error that leaves its hint to a program."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        values = given.get("values")
        if isinstance(values, ast.IfExp):
            values = values.body if isinstance(values.body, ast.Dict) else values.orelse
        if isinstance(values, ast.Dict):
            rule = ast.literal_eval(given["rule"]) if "rule" in given else "file.fields"  # those of `refused`
            yield node.lineno, rule, {ast.literal_eval(key) for key in values.keys if key is not None}


ADVICE = [
    (f"{name}:{line}", rule, names) for name, module in kernel().items() for line, rule, names in advice_in(module)
]


@pytest.mark.parametrize(("where", "rule", "names"), ADVICE)
def test_what_an_error_leaves_to_a_hint_is_what_the_hint_takes(where, rule, names):
    parameters = list(inspect.signature(HINTS[rule]).parameters)
    assert set(parameters[1:]) == names, where


def test_every_hint_belongs_to_an_error_of_the_kernel_or_of_the_way_to_a_master():
    assert set(HINTS) == {*OF_ADDRESS, "master.proxy", *(rule for _, rule, _ in ADVICE)}


def refused(act: Callable[[], object]) -> MesosctlError:
    with pytest.raises(MesosctlError) as raised:
        act()
    return raised.value


def in_volumes() -> None:
    """Disk of role db that a desired state no longer names, in a volume."""
    owner = (Reservation("DYNAMIC", "db", "p"),)
    volume = Resource("disk", 4_000, reservations=owner, disk=Disk("v 1", principal="p", container_path="data"))
    agent = RegisteredAgent("S0", "h0", "slave(1)@h0:5051", Resources([volume]))
    AgentReservations(agent, [], prune=True).steps()


def read_from(answer: httpx.Response | Exception) -> None:
    """Read the quotas of a master that answers this."""

    def answers(_: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    with LeadingMaster(parse_address("http://m:1"), transport=httpx.MockTransport(answers)) as master:
        master.get_once("/quota")


def read_request() -> None:
    read_quota_request(
        '{"guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]}', "f", needs_role=True
    )


CPU = Quota(Quantities({"cpus": 1000}))
SAID: list[tuple[str, Callable[[], object], str]] = [
    (
        "resource.number",
        lambda: parse_entries("cpus:50%"),
        "for example, cpus:12; mesosctl quota room --master M shows the capacity that this is a part of",
    ),
    (
        "quota.above-zero",
        lambda: guarantees_of(parse_entries("cpus:0")),
        "leave cpus out; from Mesos 1.9 on, --limit cpus:0 forbids it",
    ),
    (
        "quota.limits-need-update",
        lambda: check_limits_fit_request(CPU, MESOS_1_11),
        "leave out --api v0: UPDATE_QUOTA sets every limit",
    ),
    (
        "quota.empty",
        lambda: plan_quotas([("web", DesiredQuotaChange(Quantities()))], {"web": CPU}, GivenFacts(MESOS_1_11)),
        "use mesosctl quota remove web --master M",
    ),
    (
        "quota.exists",
        lambda: raised(no_quota(["wev"], ["web"])),
        "did you mean web? mesosctl quota list --master M shows which roles have one",
    ),
    (
        "maintenance.down",
        lambda: check_schedule([], {("h 1", ""): "down"}),
        "bring it up first: mesosctl maintenance up 'h 1' --master M",
    ),
    (
        "unreserve.no-volume",
        in_volumes,
        "volumes use it; destroy them first: mesosctl volumes destroy h0 'v 1' --master M --role db",
    ),
    ("file.snapshot", lambda: snapshot.load("{}"), "mesosctl snapshot --master M -f FILE writes one"),
    (
        "wanted.no-cluster",
        lambda: load("[[agents]]", "a b.toml"),
        "mesosctl export --master 'fake:a b.toml' -f wanted.toml writes the desired state of that cluster",
    ),
    (
        "wanted.no-cluster",
        lambda: load("[[agents]]", "standard input"),
        "leave out everything except quotas, weights and reservations",
    ),
    (
        "wanted.no-amounts",
        lambda: load("[quotas.web]", "f.toml"),
        "leave the role out, and use --prune to remove its quota",
    ),
    (
        "file.fields",
        lambda: read_reserve('{"unreserve": {}}', "f"),
        "mesosctl unreserve AGENT --master M -f FILE reads it",
    ),
    (
        "file.fields",
        lambda: read_unreserve('{"reserve": {}}', "f"),
        "mesosctl reserve AGENT --master M -f FILE reads it",
    ),
    (
        "file.fields",
        lambda: read_create('{"destroy": {}}', "f"),
        "mesosctl volumes destroy AGENT ID --master M destroys one",
    ),
    (
        "offer.one",
        lambda: read_offer('{"offers": []}', "f"),
        "give an Offer message, or choose an offer of an OFFERS event with --id",
    ),
    ("master.address", lambda: read_from(httpx.ConnectError("refused")), "check --master"),
    (
        "master.not-mesos",
        lambda: read_from(httpx.Response(200, headers={"content-type": "text/html"})),
        "check that --master names a Mesos master",
    ),
    (
        "master.proxy",
        lambda: read_from(httpx.ProxyError("403 Forbidden")),
        "check --proxy; --proxy URL names another proxy",
    ),
    ("role.syntax", read_request, 'add the key "role" to the file, or give ROLE as an argument'),
]


def raised(error: MesosctlError) -> None:
    raise error


@pytest.mark.parametrize(
    ("rule", "act", "hint"), SAID, ids=[f"{rule}-{index}" for index, (rule, *_) in enumerate(SAID)]
)
def test_a_hint_names_the_command_for_the_cluster_that_was_named(rule, act, hint):
    error = refused(act)
    assert error.advice is not None
    assert error.advice.rule == rule
    with on_cluster(master="M"):
        assert hint_of(error) == hint
    assert not re.search("--|mesosctl", error.hint or ""), "the fake master prints it as it is"


def test_every_hint_is_tried():
    assert {rule for rule, _, _ in SAID} == set(HINTS)


def test_a_hint_is_made_once_and_a_command_can_say_it_better():
    def act(hint: str | None = None) -> None:
        with in_our_words(), in_our_words():
            try:
                guarantees_of(parse_entries("cpus:0"))
            except RuleViolation as error:
                if hint:
                    error.hint = hint
                raise

    assert (refused(act).hint or "").count("--limit") == 1
    assert refused(lambda: act("better")).hint == "better"


def test_errors_that_are_told_together_have_all_hints():
    broken = Violations()
    for word in ("cpus:50%", "mem:50%", "mem:x"):
        with broken.noted():
            parse_entries(word)
    error = refused(broken.refuse)
    assert error.hint == "for example, cpus:12; for example, mem:6GiB; for example, mem:6GiB"
    assert [part.partition(" shows")[0] for part in (hint_of(error) or "").split("; ")] == [
        "for example, cpus:12",
        "mesosctl quota room",
        "for example, mem:6GiB",
        "mesosctl quota room",
        "for example, mem:6GiB",
    ]


def test_a_mistake_that_is_retold_keeps_what_its_hint_needs():
    error = refused(lambda: parse_entries("cpus:50%")).retold(BadInput, "in the file", "quotas")
    assert (error.rule, error.field, error.message) == (None, "quotas", "in the file")
    assert "quota room" in (hint_of(error) or "")
