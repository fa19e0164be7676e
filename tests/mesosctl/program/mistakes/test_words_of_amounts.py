"""No error has the notation of Mesos's own messages: amounts, roles and stacks stand in it as people write them."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.sources.agent_tables import AgentSpec
from tests.helpers.lab import CommandLine, Lab
from tests.helpers.profiles import examples

AGENTS = (
    AgentSpec("cpus:12;mem:6144;disk:1000;gpus:2;ports:[31000-32000];zones:{a,b}", "one", {"rack": "r1"}),
    AgentSpec("cpus:4;mem:2048;cpus(ads):8;mem(ads):4096;disk(ads):500", "two"),
)
BEFORE = (
    "reserve one cpus:4 mem:1GiB disk:500 ports:[31000-31009] --role web --label k=v",
    "reserve one cpus:1 --role web/shop --under web",
    "volumes create one logs disk:100 --role web",
    "quota set ads cpus:2",
)
INTERNAL = re.compile(r"\w\{|\w\((?:reservations|allocated|[A-Z_]+,)|\b[a-z]+\([a-z/]+\):|DYNAMIC|STATIC|\{REV\}")
amounts = st.sampled_from(
    "cpus:1 cpus:5 cpus:90 cpus:0 cpus:x mem:64 mem:9TiB disk:600 gpus:0.5 gpus:3 ports:[31005-31015] ports:31000 "
    "zones:{a} zones:{c} cpus:50% cpu:1 cpus(ads):1 cpus:1;cpus:2 cpus:1,mem:64".split()
)
roles = st.sampled_from(["web", "web/shop", "ads", "db", "*", "a//b", ""])
agents = st.sampled_from(["one", "two", "three"])
options = st.lists(
    st.sampled_from([("--under", "web"), ("--under", "ads"), ("--label", "k=v"), ("--reserver", "me")]), unique=True
)


@st.composite
def commands(draw: st.DrawFn) -> list[str]:
    words = draw(st.lists(amounts, min_size=1, max_size=3))
    role, chosen = draw(roles), [word for pair in draw(options) for word in pair]
    match draw(st.sampled_from(["reserve", "unreserve", "create", "destroy", "quota set", "quota update"])):
        case "create":
            return ["volumes", "create", draw(agents), "v", words[0], "--role", role, *chosen[:2]]
        case "destroy":
            return ["volumes", "destroy", draw(agents), draw(st.sampled_from(["logs", "v"])), "--role", role]
        case ("quota set" | "quota update") as verb:
            limit = ["--limit", words[-1]] if draw(st.booleans()) else []
            return [*verb.split(), role, *words, *limit, "--yes"]
        case verb:
            return [verb, draw(agents), *words, "--role", role, *chosen]


@settings(max_examples=examples(60))
@given(commands(), st.sampled_from(["documents", "1.11"]))
def test_no_error_has_the_notation_of_mesos(words: list[str], version: str) -> None:
    lab = CommandLine(Lab(*AGENTS, now=1_000_000.0, version=version))
    for line in BEFORE:
        assert lab.run(*line.split()).status == 0
    typed = " ".join(words)
    for line in lab.run(*words).err.splitlines():
        said = line
        for word in typed.replace(";", " ; ").split():  # a word is quoted as it was typed
            said = said.replace(word, "")
        assert line.startswith("  hint: ") or not INTERNAL.search(said), (words, line)
