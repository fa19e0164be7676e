"""Every verb of mesosctl on the real master of each release, and the same on a fake one of it: status, output, errors.

One agent is real, and another holds tasks, which no real agent of these masters runs.  In which order a master lists
agents and resources is its own affair, so that the words of an output count, and how often each is there.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from mesosctl.can_i.command_permissions import VERBS
from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.command_line import run_command
from tests.conformance.callers.joining import Join, joining, quick
from tests.conformance.callers.tasks import joined, launch, task
from tests.conformance.masters import fakes
from tests.conformance.masters.carriers import REAL, Carrier, Pool, judged
from tests.conformance.masters.cluster import Cluster
from tests.conformance.masters.judges import JUDGES
from tests.conformance.masters.simulated import agents_of
from tests.helpers.needs import needs

FREE = "cpus:8;mem:4096;disk:1000;cpus(dept):2;mem(dept):256;ports:[31000-31009]"
FULL = "cpus:1.5;mem:64"
SETUP = quick(FREE, flags={"agent_ping_timeout": "15mins"})
FAKE = f"""
mesos_version = "{{}}"
flags = {{{{ allocation_interval = "200ms", agent_ping_timeout = "15mins" }}}}
[[agents]]
hostname = "127.0.0.1"
resources = "{FREE}"
[[agents]]
hostname = "agent00000"
resources = "{FULL}"
launch_delay = 1000000
"""
WANTED = '[quotas.db]\nguarantee = "cpus:1"\n[weights]\nweb = 2.5\n[[reservations]]\nagent = "{}"\nrole = "db"\n'
FILES = {
    "wanted": WANTED + 'resources = "cpus:1;mem:128"\n',
    "limits": '[quotas.db]\nlimit = "cpus:2"\n',
    "nothing": '{"windows": []}',
}
LINES = """
BATCH
offers take --role take --reserve cpus:1
unreserve @A1 --role take --all --yes
quota list
quota room web --task cpus:1,mem:256
quota check web cpus:2
quota set web cpus:2 mem:256
quota set web cpus:2 mem:256
quota set web cpus:2 mem:256 --if-different --yes
quota set * cpus:1
quota set lim cpus:1 --limit cpus:2
quota check lim cpus:1 --limit cpus:2
quota update web cpus:3 --yes
quota update web --limit cpus:4 --yes
quota update web cpus:2 --api v0 --yes
quota set ops cpus:1 --api v1
quota set ops/a cpus:1
quota set big cpus:2000000000000 --force
quota show web -o json
quota list -o json
quota remove ops --api v1 --yes
quota remove nobody --yes
weights set dept=3 --api v1
weights set web=2 ads=1.5 --api v0
weights list -o json
ratelimit show -o json
ratelimit watch --count 1 --interval 1s -o jsonl
ratelimit suggest --for 1s --interval 1s
reserve @A1 cpus:1 disk:100 --role ads
reserve @A1 cpus:0.5 --role ads/x --under ads --api v1
reserve @A1 cpus:1 --role dept/x --under dept
reserve @A1 cpus:1 cpus:0 --role zero
reservations -o json
volumes create @A1 v1 disk:40 --role ads
volumes create @A1 v2 disk:40 --role ads --api v1
volumes list -o json
unreserve @A1 disk:100 --role ads
volumes destroy @A1 v2 --yes
cleanup --role dept --yes
SHOP
offers list -o json
offers watch --changes 1 -o jsonl
offers explain ads
offers explain web
agents list -o json
agents list @A1
frameworks list -o json
tasks list -o json
tasks list t-1
roles list -o json
quota show web
quota room web --task cpus:1,mem:256
top --once -o json
metrics
snapshot -f @D/snapshot.json
snapshot --compare @D/snapshot.json
export
whatif quota:db=cpus:2;mem:256 remove-quota:web
whatif limit:ads=cpus:1
whatif --lose-agent @A1
capacity spare
can-i quota set dev cpus:1
can-i quota set *
can-i agents drain @A1
can-i agents gone @A1
can-i --list --role web -o json
who-can quota set web
diff -f @D/wanted.toml
plan -f @D/wanted.toml
apply -f @D/limits.toml --dry-run
apply -f @D/limits.toml --yes
maintenance plan host:127.0.0.1 --at 2030-12-01T02:00+01:00 --duration 2h
maintenance list -o json
maintenance cancel host:127.0.0.1
maintenance down host:127.0.0.1 --yes
maintenance schedule -f @D/nothing.toml --yes
wait master=recovered agent/@A1=active
wait role/web=met --timeout 1s
wait reserved/@A1/db=none
wait agent/@A1=deactivated --timeout 1s
1.5.3| history record --history @D/history.sqlite --duration 1s
agents deactivate @A1
agents reactivate @A1
agents drain @A1 --max-grace-period 5s --yes
agents reactivate @A1
frameworks teardown nobody --yes
frameworks teardown @F --yes --api v1
frameworks teardown @F --yes
frameworks list --all
apply -f @D/wanted.toml --yes
apply -f @D/wanted.toml --yes
cleanup --role db --yes
unreserve @A1 --role ads/x --all --yes
quota remove web db --yes
agents gone @A2 --yes
agents list -o json
maintenance plan host:127.0.0.1 --at 2030-12-01T02:00+01:00
maintenance down host:127.0.0.1 --yes
maintenance up host:127.0.0.1 --yes
audit list
"""
"""Typed one after the other; at BATCH and SHOP, a framework joins.  `1.5.3|` is for masters from this release on."""
UNTYPED = {"offers reserve", "offers unreserve"}
"""Verbs that build a call, and send nothing."""
_ITS_OWN = {
    r"mesosctl: note: the master's clock differs .*": "",
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}": "ID",
    r"-O\d+": "-O",
    r"slave\(\d\)@([0-9.]+:\d+|MASTER)": "PID",
    r"\d{4}-\d\d-\d\d[T ][0-9:.+]+Z?( UTC)?": "TIME",
    r"\b1[0-9]{9}\.[0-9]+\b": "STAMP",
    r"\b[0-9.]+ ?(s|ms)\b": "SPAN",
    r"; MASTER\S* did not answer within SPAN": "",
    r"sha256:[0-9a-f]+": "SUM",
    r"\band\b|-{2,}": " ",
}
"""Words that differ from run to run, or that depend on the order of a list."""


class Said(NamedTuple):
    """How a command ended, and the words that it wrote."""

    words: str
    status: int
    out: Counter[str]
    err: Counter[str]


@contextmanager
def real_master(carrier: Carrier, pool: Pool) -> Iterator[Cluster]:
    master = pool.start(carrier, SETUP)
    with agents_of(master, [FULL]):
        yield master
        master.stop()


@contextmanager
def fake_master(release: str, folder: Path) -> Iterator[Cluster]:
    master = fakes.start_from_file(FAKE.format(release), folder, SETUP, socket=False)
    yield master
    master.stop()


def batch_joins(join: Join, agent: str) -> None:
    """A framework whose tasks fill an agent, and that wants no more."""
    batch = joined(join, "batch", name="batch")
    offers = batch.offers(agents=2)
    (offer,) = (one for one in offers if one["agent_id"]["value"] == agent)
    batch.ask("SUPPRESS")
    batch.accept([offer], launch(task(offer, "t-1"), task(offer, "t-2", cpus=0.5)))
    batch.decline([one for one in offers if one is not offer])


def shop_joins(join: Join) -> str:
    """A framework that holds what it is offered; its id."""
    shop = joined(join, "ads", name="shop")
    shop.offers()
    assert shop.id is not None
    return shop.id


def played(release: str, master: Cluster, folder: Path) -> list[Said]:
    """The words of each command."""
    agents = {one["hostname"]: one["id"] for one in master.read("/slaves")["slaves"]}
    names = {"@A1": agents["127.0.0.1"], "@A2": agents["agent00000"], "@D": str(folder)}
    for name, text in FILES.items():
        (folder / f"{name}.toml").write_text(text.replace("{}", names["@A1"]), encoding="utf-8")

    def plain(text: str) -> Counter[str]:
        for name, value in names.items():
            text = text.replace(value, name)
        text = text.replace(master.address, "MASTER").replace(master.address.removeprefix("http://"), "MASTER")
        for pattern, word in _ITS_OWN.items():
            text = re.sub(pattern, word, text)
        return Counter(re.findall(r"[^\s,;\"]+", text))

    said = []
    with joining(master) as join:
        for typed in LINES.strip().splitlines():
            first, _, line = typed.rpartition("| ")
            if first and not has(release, first):
                continue
            if line == "BATCH":
                batch_joins(join, names["@A2"])
                continue
            if line == "SHOP":
                names["@F"] = shop_joins(join)
                continue
            words = re.sub("@[A-Z][0-9]?", lambda found: names[found[0]], line).split(" ")
            ran = run_command(master, *words, XDG_STATE_HOME=str(folder))
            said.append(Said(line, ran.status, plain(ran.out), plain(ran.err)))
    return said


@pytest.mark.parametrize(("real", "_"), judged(*JUDGES), ids=str)
@needs(*REAL.needs)
def test_each_verb_says_the_same_of_a_fake_master(real: Carrier, _: Carrier, pool: Pool, tmp_path: Path) -> None:
    release = real.profile.version
    folders = tmp_path / "real", tmp_path / "fake"
    for folder in folders:
        folder.mkdir()
    with real_master(real, pool) as master:
        seen = played(release, master, folders[0])
    with fake_master(release, folders[1]) as master:
        said = played(release, master, folders[1])
    different = [(judge, ours) for judge, ours in zip(seen, said, strict=True) if judge != ours]
    assert different == []


def test_every_verb_is_typed() -> None:
    lines = [f"{line.rpartition('| ')[2]} " for line in LINES.splitlines()]
    typed = {verb for verb in VERBS for line in lines if line.startswith(f"{verb} ")}
    assert set(VERBS) - typed == UNTYPED
