"""What people mistype, what happens then, and what they are told: to be read from top to bottom.

Every sentence names what was wrong and where, every hint what to do.  What is refused changes nothing.
"""

import re
import socket
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from mesosctl.cli.reference.walk import commands
from tests.cli.mistakes import ONE_HOST, Mistake, make, typed

BUSY = {
    "busy.toml": 'mesos_version = "1.11"\n[[agents]]\nresources = "cpus:4;mem:4096"\n[[frameworks]]\n'
    'name = "marathon"\nroles = ["web"]\nanswer = "hold"\n'
}
LISTED = {"listed.toml": '[flags]\nroles = "web,ads"\n[[agents]]\nresources = "cpus:4;mem:4096"\n'}
LIMITS = {"limits.json": '{"limits": [{"principal": "marathon", "qps": 10, "capacity": 100}]}'}
VOLUME = "reserve agent-1 disk:100 --role db\nvolumes create agent-1 logs disk:60 --role db"
CONTEXTS = "context set prod --master fake:\ncontext set lab --master fake:"

MISTAKES = (
    # --- Commands and options ----------------------------------------------------------------------------------
    Mistake("qouta list", 2, "No such command 'qouta'. Did you mean 'quota'?", "see mesosctl --help"),
    Mistake("quota lst", 2, "No such command 'lst'. Did you mean 'list', 'set'?", "see mesosctl quota --help"),
    Mistake("qouta", 2, "No such command 'qouta'. Did you mean 'quota'?"),
    Mistake("reserve agent-1 cpus:1 --rol web", 2, "No such option: --rol", "see mesosctl reserve --help"),
    Mistake("quota remove", 2, "Missing argument 'ROLE...'", "see mesosctl quota remove --help"),
    Mistake("quota list web", 2, "Got unexpected extra argument(s) (web)", "see mesosctl quota list --help"),
    Mistake("quota list -o jsno", 2, "'jsno' is not one of 'table', 'wide', 'json'"),
    Mistake("completion bsh", 2, "'bsh' is not one of 'bash', 'zsh', 'fish'", "see mesosctl completion --help"),
    # --- Which master ------------------------------------------------------------------------------------------
    Mistake("quota list", 2, "which master? none was named", "set MESOSCTL_MASTER or keep a context", on=""),
    Mistake("quota list", 3, "no-such-file.toml cannot be read", on="fake:no-such-file.toml"),
    Mistake(
        "quota list --master http://127.0.0.1:1 --timeout 5s",
        7,
        "http://127.0.0.1:1 cannot be reached",
        "check --master",
    ),
    Mistake("quota list --master ftp://host", 2, "'ftp' is not a way to a master", "write http://host:5050"),
    # --- Time ----------------------------------------------------------------------------------------------------
    Mistake("quota list --timeout soon", 2, "'soon' is not a span of time", "500ms, 30s, 10m or 1h"),
    Mistake("quota list --timeout 5 s", 2, "Got unexpected extra argument(s) (s)"),
    Mistake("quota list --timeout 0", 2, "--timeout is 0: it has to be at least 0.001 seconds", "500ms, 5s or 2m"),
    Mistake("offers watch --every x", 2, "'x' is not a span of time", "500ms, 30s, 10m or 1h"),
    Mistake("context set prod timeout=1x", 3, "'1x' is not a span of time"),
    # --- Resources -----------------------------------------------------------------------------------------------
    Mistake("quota set web cpus=12", 3, "'cpus=12' is not NAME:VALUE", "write cpus:12"),
    Mistake("quota set web 12", 3, "'12' is not NAME:VALUE", "write for example cpus:12 or mem:6GiB"),
    Mistake("quota set web cpus:many", 3, "cpus: 'many' is not a number", "write for example cpus:12"),
    Mistake("quota set web mem:6Gig", 3, "mem: 'Gig' is not a unit", "KB to PB mean the same, as in Mesos"),
    Mistake("quota set web mem:-1GB", 3, "mem: -1GB is below zero"),
    Mistake("quota set web cpus:2GB", 3, "cpus: 'GB' is a unit, and only mem and disk have sizes", "a plain number"),
    Mistake("quota set web cpus:0.0001", 3, "cpus: 0.0001 is finer than the thousandth", "write cpus:0.001"),
    Mistake("quota set cpus:12", 2, "a role and resources are needed", "mesosctl quota set dev cpus:12 mem:6GiB"),
    Mistake("reserve agent-1 ports:31000-31005 --role web", 3, "ports: '31000-31005' is not", "ports:[31000-31005]"),
    Mistake("reserve agent-1 ports:[31000] --role web", 3, "'31000' is not BEGIN-END", "ports:[31000-31000] for one"),
    Mistake("reserve agent-1 ports:0.5 --role web", 3, "ports: 0.5 is no port", "ports:[31000-31000] for one"),
    Mistake(
        "reserve agent-1 ports:99 --role web", 6, "agent agent-1 does not have ports:[99-99]", "ports:[31000-32000]"
    ),
    # --- Roles ---------------------------------------------------------------------------------------------------
    Mistake(
        "quota show wbe", 5, "no quota is set for 'wbe'", "did you mean web?", before="quota set web cpus:1 mem:1GB"
    ),
    Mistake("quota remove WEB", 5, "no quota is set for 'WEB'", "did you mean web?", before="quota set web cpus:1"),
    Mistake("quota show web", 5, "no quota is set for 'web'", "mesosctl quota list shows which roles have one"),
    Mistake("quota set 'my role' cpus:1", 3, "Role component 'my role' contains backspace or whitespace"),
    Mistake(
        "unreserve --all --role wbe --yes",
        5,
        "nothing is dynamically reserved for 'wbe' there",
        "did you mean web?",
        before="reserve agent-1 cpus:1 --role web",
    ),
    Mistake(
        "reservations --role wbe",
        0,
        "nothing is reserved with --role wbe; did you mean web?",
        before="reserve agent-1 cpus:1 --role web",
    ),
    Mistake(
        "volumes list --role dbs --agent agent-1",
        0,
        "there are no volumes with --role dbs and --agent agent-1; did you mean db?",
        before=VOLUME,
    ),
    Mistake("offers list --role wbe", 0, "nothing is offered with --role wbe", on="fake:busy.toml", files=BUSY),
    Mistake(
        "offers explain wbe",
        5,
        "'wbe' is neither a framework nor a role with frameworks",
        "did you mean web?",
        on="fake:busy.toml",
        files=BUSY,
    ),
    Mistake("quota set wbe cpus:1", 3, "Unknown role 'wbe'", on="fake:listed.toml", files=LISTED),
    # --- Agents --------------------------------------------------------------------------------------------------
    Mistake("reserve agent1 cpus:1 --role web", 5, "no agent is called 'agent1'", "did you mean agent-1?"),
    Mistake("reserve x cpus:1 --role web", 5, "no agent is called 'x'", "there are agent-1, agent-2, agent-3"),
    Mistake("reservations --agent Agent-2", 5, "no agent is called 'Agent-2'", "did you mean agent-2?"),
    Mistake("volumes list --agent agnt-3", 5, "no agent is called 'agnt-3'", "did you mean agent-3?"),
    Mistake("reserve cpus:1 --role web", 2, "RESOURCES and --role are needed", "mesosctl reserve agent-1 cpus:8"),
    Mistake("reserve agent-1 cpus:1", 2, "RESOURCES and --role are needed", "mesosctl reserve agent-1 cpus:8"),
    Mistake("reserve", 2, "which agent?", "name one, or give --any or --count N"),
    Mistake(
        "reserve host-1 cpus:1 --role web",
        2,
        "'host-1' means several agents: S0, S1",
        "write one of these ids",
        on=ONE_HOST,
    ),
    Mistake(
        "reserve S1 cpus:9 --role web",
        6,
        "agent host-1 (S1) does not have cpus:9, or tasks use it",
        "host-1 (S1) has cpus:8",
        on=ONE_HOST,
    ),
    Mistake(
        "reserve S9 cpus:1 --role web",
        5,
        "no agent is called 'S9'",
        "there are host-1 (S0), host-1 (S1), host-2",
        on=ONE_HOST,
    ),
    Mistake(
        "offers take --role web --reserve cpus:1 --agent agent-11",
        5,
        "no agent is called 'agent-11'",
        "did you mean agent-",
    ),
    # --- Contexts ------------------------------------------------------------------------------------------------
    Mistake("quota list --context prod", 5, "there is no context 'prod'", "there is none at all"),
    Mistake("quota list --context prd", 5, "there is no context 'prd'", "did you mean prod?", before=CONTEXTS),
    Mistake("context use Prod", 5, "there is no context 'Prod'", "did you mean prod?", before=CONTEXTS),
    Mistake("context show x", 5, "there is no context 'x'", "mesosctl context list shows them", before=CONTEXTS),
    Mistake("context remove labs", 5, "there is no context 'labs'", "did you mean lab?", before=CONTEXTS),
    Mistake("context set prod tiemout=5", 2, "there is no setting 'tiemout'", "did you mean timeout?"),
    Mistake("context set prod secret_file=x", 2, "there is no setting 'secret_file'", "did you mean secret-file?"),
    Mistake(
        "context set prod --unset mastr",
        5,
        "context 'prod' says nothing of mastr",
        "did you mean master?",
        before=CONTEXTS,
    ),
    Mistake("context set prod", 2, "nothing to set was named", "mesosctl context set prod --master ADDRESS"),
    # --- Volumes -------------------------------------------------------------------------------------------------
    Mistake("volumes create agent-1 v1 10GB --role db", 2, "'10GB' does not say of what", "write disk:10GB"),
    Mistake("volumes create agent-1 v1 mem:1GB --role db", 2, "'mem:1GB' is not an amount of disk", "disk:10GiB"),
    Mistake(
        "volumes create agent-1 v1 disk:10 --role db",
        5,
        "agent agent-1 has no disk:10 dynamically reserved for 'db'",
        "reserve it first: mesosctl reserve agent-1 disk:10 --role db",
    ),
    Mistake(
        "volumes create agent-1 v2 disk:50 --role db",
        6,
        "agent agent-1 does not have disk:50 in one piece that is reserved for 'db' and free",
        "mesosctl reservations --agent agent-1 --role db shows what there is",
        before=VOLUME,
    ),
    Mistake(
        "volumes create agent-1 logs disk:10 --role db",
        3,
        "'db' has a volume 'logs' on agent agent-1 already",
        "mesosctl volumes list --agent agent-1 shows those that are taken",
        before=VOLUME,
    ),
    Mistake(
        "volumes destroy agent-1 log",
        5,
        "agent agent-1 has no volume 'log'",
        "did you mean logs?",
        before=VOLUME,
    ),
    Mistake(
        "volumes destroy agent-1 logs --role web",
        5,
        "agent agent-1 has no volume 'logs' of 'web'",
        "there is one of db",
        before=VOLUME,
    ),
    Mistake(
        "volumes destroy agent-1 logs",
        2,
        "not done: this takes something away",
        "in a script, say --yes",
        before=VOLUME,
    ),
    Mistake(
        "unreserve agent-1 disk:100 --role db",
        6,
        "agent agent-1 does not have disk:100 reserved for 'db' in one piece",
        "destroy them first: mesosctl volumes destroy agent-1 logs --role db",
        before=VOLUME,
    ),
    Mistake(
        "unreserve --all --role db --yes",
        6,
        "agent agent-1 has volumes of 'db': logs (disk:60)",
        "destroy them first: mesosctl volumes destroy agent-1 logs --role db",
        before=VOLUME,
    ),
    # --- What if -------------------------------------------------------------------------------------------------
    Mistake("whatif", 2, "no change was given, so there is nothing to forecast", "a change such as quota:web=cpus:12"),
    Mistake("whatif qouta:web=cpus:1", 2, "'qouta:web=cpus:1' is not a change", "did you mean quota:?"),
    Mistake("whatif weight", 2, "'weight' is not a change", "write for example"),
    Mistake("whatif quota:web", 2, "'quota:web': a role and a value are needed", "quota:web=cpus:12;mem:6GiB"),
    Mistake("whatif weight:web=heavy", 2, "'heavy' is not a weight", "write for example weight:web=2"),
    Mistake("whatif reserve:agent-1=cpus:2", 2, "cpus:2 names no owner", "reserve:agent-1=cpus(web):2"),
    Mistake("whatif create:agent-1=v1:disk:2", 2, "disk:2 names no owner", "create:agent-1=v1:disk(db):1GiB"),
    Mistake("whatif --lose-fraction 20", 2, "--lose-fraction is '20'", "write 0.2 or 20% for a fifth of the agents"),
    Mistake("whatif --lose-fraction 0", 2, "--lose-fraction is '0': it has to be above 0", "--lose-agent names single"),
    Mistake("whatif --lose-agent agent-9x", 5, "no agent is called 'agent-9x'", "did you mean agent-"),
    Mistake(
        "whatif --add-agent cpus:1 --attribute rack", 2, "'rack' is not NAME=VALUE", "write --attribute rack=VALUE"
    ),
    Mistake("whatif --count 3", 2, "--count is about agents that are added, and none is", "give --add-agent RESOURCES"),
    Mistake(
        "whatif --lose-framework marathn",
        5,
        "no framework is called 'marathn'",
        "did you mean marathon?",
        on="fake:busy.toml",
        files=BUSY,
    ),
    # --- Rate limits ---------------------------------------------------------------------------------------------
    Mistake(
        "ratelimit unset marathn -f limits.json",
        5,
        "the file has no entry for principal 'marathn'",
        "did you mean marathon?",
        files=LIMITS,
    ),
    Mistake("ratelimit watch -o json", 2, "-o json needs an end", "give --count, or use -o jsonl"),
    Mistake(
        "ratelimit watch --count 1 -o jsonl",
        0,
        "no framework with a principal is registered, so the master counts no messages and there is nothing to see",
    ),
    Mistake("ratelimit suggest --for 0s", 2, "'0s' is no time at all", "500ms, 30s, 10m or 1h"),
    Mistake("ratelimit watch --interval 5sec", 2, "'5sec' is not a span of time", "500ms, 30s, 10m or 1h"),
)


def _row(mistake: Mistake) -> ParameterSet:
    """A row by its words; a master that is named by its port is asked over a socket."""
    marks = [pytest.mark.socket] if "http://127" in mistake.words else []
    return pytest.param(mistake, id=f"{mistake.words} [{mistake.on}]", marks=marks)


@pytest.mark.parametrize("mistake", [_row(mistake) for mistake in MISTAKES])
def test_a_mistake_is_told(mistake: Mistake, folder: Path):
    ran = make(mistake, folder)
    assert (ran.status, mistake.says in ran.err, mistake.hint in ran.err) == (mistake.status, True, True), ran.err
    assert ran.out == "" or mistake.status < 2
    assert "Traceback" not in ran.err


def test_there_are_sixty_and_each_is_another():
    assert len({(mistake.words, mistake.on) for mistake in MISTAKES}) == len(MISTAKES) >= 60


_HINTING = [one for one in MISTAKES if one.status and "--" in one.hint and "-o json" not in one.words]


@pytest.mark.parametrize("mistake", [_row(mistake) for mistake in _HINTING])
def test_a_hint_names_options_that_exist_there(mistake: Mistake, folder: Path):
    """Options in a hint are options of the command that it names, or of the one that was typed."""
    (hint,) = [line for line in make(mistake, folder).err.splitlines() if line.startswith("  hint: ")]
    nodes = {" ".join(node.path): node for node in commands().walk()}
    for text, option in re.findall(r"((?:mesosctl [^;,]*)?)(--[a-z-]+)", hint):
        words = (text or f"mesosctl {mistake.words}").split()
        path = max((name for name in nodes if words[: len(name.split())] == name.split()), key=len)
        assert option in {name for one in nodes[path].options for name in one.names}, (hint, path)


@pytest.mark.socket
def test_a_master_that_does_not_answer_is_given_up_in_time(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ran = typed(f"quota list --master http://127.0.0.1:{silent.getsockname()[1]} --timeout 200ms", tmp_path)
    assert (ran.status, ran.out) == (9, "")
    assert "did not answer within 0.2 s" in ran.err
