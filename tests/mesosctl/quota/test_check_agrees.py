"""`quota check` says of every quota what `quota set --dry-run` says: whether it would be accepted."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.mesos.amounts.notation import parse_resources
from tests.helpers.lab import CommandLine, Lab
from tests.helpers.profiles import examples

AGENTS = ("cpus:6;mem:4096", "cpus:4;cpus(web):2;mem:4096", "cpus:6;mem:4096;gpus:2")
AMOUNTS = (
    "cpus:1 cpus:4 cpus:12 cpus:13 cpus:0 mem:1GiB mem:99GiB cpus(ads):1 cpu:1 ports:[1-2] cpus:1;cpus:2 gpus:1 none"
).split()
likely = st.sampled_from([["cpus:1"], ["cpus:2", "mem:1GiB"], ["cpus:4"], ["mem:2GiB"], ["cpus:9"]])
amounts = st.one_of(likely, st.lists(st.sampled_from(AMOUNTS), max_size=2, unique=True))
limits = st.sampled_from([None, None, None, None, "cpus:2", "cpus:4", "cpus:20", "cpus:0", "cpus:1;mem:1", "none"])
roles = st.sampled_from([*["web"] * 6, "ads", "web/a", "*", "a b", "q?"])


@settings(max_examples=examples(60))
@given(
    st.lists(st.sampled_from(AGENTS), min_size=1, max_size=2),
    st.sampled_from(["documents", "1.11"]),
    st.sampled_from(["v0", "v1"]),
    st.integers(min_value=0, max_value=6),
    roles,
    amounts,
    limits,
)
def test_a_check_and_a_dry_run_give_one_answer(agents, version, api, tasks, role, words, limit):
    specs = [AgentSpec(text, f"host-{number}") for number, text in enumerate(agents)]
    runs = SimulatedFrameworkSpec("busy", ("web",), task=parse_resources("cpus:1;mem:64"), tasks=max(1, tasks))
    lab = Lab(*specs, version=version, frameworks=(runs,) if tasks else ())
    line = CommandLine(lab)
    assert line.run("quota", "set", "ads", "cpus:3").status in (0, 6)
    lab.wait(2.0)
    quota = [role, *words, *(["--limit", limit] if limit else []), "--api", api]
    checked, tried = line.run("quota", "check", *quota), line.run("quota", "set", *quota, "--dry-run", "-o", "json")
    if tried.status > 1:  # the words make no quota
        assert checked.status in (1, tried.status)
        return
    accepted = all(answer["accepted"] for answer in tried.json["answers"])
    assert (checked.status == 0) is accepted, (checked.out, tried.out)
