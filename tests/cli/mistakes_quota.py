"""Mistakes about quota, reservations and wanted files: what is typed, how it ends, and what is said of it.

`FILES` stand in the folder in which the words are typed.
"""

FILES = {
    "cpu.json": '{"role": "web",\n "guarantee": [\n  {"name": "cpu", "type": "SCALAR", "scalar": {"value": 1}}]}\n',
    "above.json": '{"quota_configs": [\n {"role": "web", "limits": {"cpus": {"value": 1}}}]}\n',
    "cpu-limit.json": '{"quota_configs": [\n {"role": "web",\n  "limits": {"cpu": {"value": 9}}}]}\n',
    "cpu.toml": '[quotas.web]\nguarantee = "cpus:2"\nlimit = "cpu:4"\n',
    "cpu-reserved.toml": '[[reservations]]\nagent = "agent-1"\nrole = "web"\nresources = "cpu:1"\n',
    "above.toml": '[quotas.web]\nguarantee = "cpus:2"\nlimit = "cpus:1"\n',
    "nobody.toml": '[[reservations]]\nagent = "agent-9"\nrole = "web"\nresources = "cpus:1"\n',
    "much.toml": '[quotas.ops]\nguarantee = "cpus:1000"\n',
    "limited.toml": '[quotas.web]\nguarantee = "cpus:2"\nlimit = "cpus:9"\n',
    "edited.toml": "# edited by hand\n",
}

BEFORE = (
    "quota set web cpus:2 mem:1GiB",
    "reserve agent-1 cpus:4 --role dept",
    "reserve agent-1 cpus:1 --role dept/x --under dept",
)
"""What was done before, without a mistake."""

# Cluster: fake:?version=1.11, after BEFORE.
MISTAKES = [
    ("quota set ads cpu:12", 3, "no agent of the cluster has a resource 'cpu'"),
    ("quota set ads cpu:12 --force", 3, "did you mean cpus?; --allow-new-resource passes this check"),
    ("quota set ads cpus:1 memory:64", 3, "did you mean mem?"),
    ("quota set ads bananas:1", 3, "known are cpus, mem, disk, gpus, ports"),
    ("quota set ads cpus:1 --limit cpu:4", 3, "did you mean cpus?"),
    ("quota update web cpus:2 mem:1GiB --limit cpu:4", 3, "no agent of the cluster has a resource 'cpu'"),
    ("quota set -f cpu.json", 3, "cpu.json, line 3: role 'web': no agent of the cluster has a resource 'cpu'"),
    ("quota update -f cpu-limit.json", 3, "cpu-limit.json, line 3: role 'web': no agent of the cluster has"),
    ("quota check ads cpu:12", 1, "no agent of the cluster has a resource 'cpu'"),
    ("diff -f cpu.toml", 3, "cpu.toml, line 3: role 'web': no agent of the cluster has a resource 'cpu'"),
    ("apply -f cpu.toml", 3, "did you mean cpus?; --allow-new-resource passes this check"),
    ("apply -f cpu-reserved.toml", 3, "cpu-reserved.toml, line 4: no agent of the cluster has a resource 'cpu'"),
    ("apply -f above.toml", 3, "above.toml, line 1: quotas.web: the guarantee of cpus (2) is above its limit (1)"),
    ("apply -f nobody.toml", 5, "nobody.toml, line 2: no agent is called 'agent-9'"),
    ("apply -f much.toml", 6, "much.toml: not enough capacity"),
    ("reserve agent-1 cpu:1 --role web", 3, "did you mean cpus?"),
    ("unreserve agent-1 cpu:1 --role dept", 3, "did you mean cpus?"),
    ("whatif quota:ads=cpu:1", 3, "did you mean cpus?; --allow-new-resource passes this check"),
    ("whatif --add-agent cpu:24", 3, "no agent of the cluster has a resource 'cpu'"),
    ("quota update web mem:1GiB", 2, "role 'web' loses its guarantee of cpus:2, so a person is asked first"),
    (
        "quota update -f above.json",
        3,
        "above.json, line 2: role 'web': the guarantee of cpus (2) is above its limit (1)",
    ),
    ("export -f edited.toml", 2, "edited.toml holds something else, which would be lost"),
    ("unreserve --all --role dept", 2, "left: cpus:1 refined for 'dept/x' (dept > dept/x)"),
    ("quota set ads cpus:4 --limit cpus:2", 3, "the guarantee of cpus (4) is above its limit (2)"),
    ("quota set ads cpus:4 --limit cpus:8 --api v0", 3, "leave out --api v0: UPDATE_QUOTA sets every limit"),
    ("quota set web cpus:4 --limit cpus:8", 3, "role 'web' already has quota"),
    ("quota check ads cpus:1000", 1, "ask for less, or wait for agents that are on their way"),
    ("quota set ads cpus:1000", 6, "wait for agents that are on their way; --force passes this check"),
    ("quota update web cpus:1000 mem:1GiB", 6, "answers it with 400 to UPDATE_QUOTA, as with 409 to POST /quota"),
    ("quota list --context gone", 5, "there is no context 'gone'"),
    ("context use gone", 5, "there is no context 'gone'"),
    ("context show gone", 5, "there is no context 'gone'"),
]

# Cluster: fake: (Mesos 1.4), with nothing done before.
OLDER_MISTAKES = [
    ("quota set ads cpus:4 --limit cpus:8", 3, "this master knows no limits: they came with Mesos 1.9"),
    ("quota check ads cpus:4 --limit cpus:8", 1, "this master knows no limits: they came with Mesos 1.9"),
    ("apply -f limited.toml", 3, "limited.toml, line 3: role 'web': this master knows no limits"),
    ("quota set ads cpus:1000", 6, "answers it with 409: not enough capacity"),
]
