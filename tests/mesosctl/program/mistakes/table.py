"""The table of mistakes: each command, its exit status, a part of its message, and a part of its hint."""

from tests.mesosctl.program.mistakes.mistake import BUSY, LISTED, ONE_HOST, RACKS, Mistake

LIMITS = {"limits.json": '{"limits": [{"principal": "marathon", "qps": 10, "capacity": 100}]}'}
NEWER = "fake:?version=1.11"
OLD, AGENT = "fake:a.toml?version=documents", {"a.toml": '[[agents]]\nresources = "cpus:4"\n'}
CAPPED = "quota set web cpus:2 --limit cpus:2"
HELD = "reserve agent-1 cpus:3 --role web"
USES = "already consumes 3 cpus, more than its limits of 2 cpus"
NO_QUOTA = "no quota is set for 'ads'"
QUOTA = "quota set web cpus:2 mem:1GiB"
REFINED = "reserve agent-1 cpus:4 --role dept\nreserve agent-1 cpus:1 --role dept/x --under dept"
VOLUME = "reserve agent-1 disk:100 --role db\nvolumes create agent-1 logs disk:60 --role db"
ONLY_REFINED = f"{REFINED}\nunreserve agent-1 cpus:3 --role dept"
STACK = '"reservations": [{"type": "DYNAMIC", "role": "web"}]'
CONTEXTS = "context set prod --master fake:\ncontext set lab --master fake:"

NO_CPU = "no agent in the cluster has a resource 'cpu'"
ABOVE = "the guarantee of cpus (2) is above its limit (1)"
OLDER_LIMITS = "a limit needs Mesos 1.9 or newer; this master is 1.4.0 (the documents' master)"
V0_OF_CPU = '{"role": "web", "guarantee": [\n {"name": "cpu", "type": "SCALAR", "scalar": {"value": 1}}]}'
V1_OF_CPU = '{"quota_configs": [{"role": "web",\n "limits": {"cpu": {"value": 9}}}]}'
LIMIT_OF_CPU = '[quotas.web]\nguarantee = "cpus:2"\nlimit = "cpu:4"\n'
RESERVED_CPU = '[[reservations]]\nagent = "agent-1"\nrole = "web"\nresources = "cpu:1"\n'
CPU_RESERVED = {
    "a.json": f'{{"resources": [\n {{"name": "cpu", "type": "SCALAR", "scalar": {{"value": 1}}, {STACK}}}]}}'
}
OFFER = {
    "a.json": '{"id": "O", "framework_id": "F", "agent_id": "S", "allocation_info": {"role": "web"}, "resources": '
    '[{"name": "cpus", "type": "SCALAR", "scalar": {"value": 4}, "allocation_info": {"role": "web"}}]}'
}
LIMITED_TO_ONE = {"a.json": '{"quota_configs": [\n {"role": "web", "limits": {"cpus": {"value": 1}}}]}'}
TWO_ABOVE_ONE = '[quotas.web]\nguarantee = "cpus:2"\nlimit = "cpus:1"\n'
LIMITED = '[quotas.web]\nguarantee = "cpus:2"\nlimit = "cpus:9"\n'
MUCH = '[quotas.ops]\nguarantee = "cpus:1000"\n'
NOBODY = '[[reservations]]\nagent = "agent-9"\nrole = "web"\nresources = "cpus:1"\n'
EDITED = {"edited.toml": "# edited by hand\n"}

MISTAKES = (
    # --- Commands and options ----------------------------------------------------------------------------------
    Mistake("qouta list", 2, "No such command 'qouta'. Did you mean 'quota'?", "see mesosctl --help"),
    Mistake("quota lst", 2, "No such command 'lst'. Did you mean 'list', 'set'?", "see mesosctl quota --help"),
    Mistake("qouta", 2, "No such command 'qouta'. Did you mean 'quota'?"),
    Mistake("reserve agent-1 cpus:1 --rol web", 2, "No such option: --rol", "see mesosctl reserve --help"),
    Mistake("quota remove", 2, "Missing argument 'ROLE...'", "see mesosctl quota remove --help"),
    Mistake("options web", 2, "Got unexpected extra argument (web)", "see mesosctl options --help"),
    Mistake("quota list -o jsno", 2, "'jsno' is not one of 'table', 'wide', 'json'"),
    Mistake("completion bsh", 2, "'bsh' is not one of 'bash', 'zsh', 'fish'", "see mesosctl completion --help"),
    # --- Which master ------------------------------------------------------------------------------------------
    Mistake("quota list", 2, "no master is named", "set MESOSCTL_MASTER or create a context", on=""),
    Mistake("quota list", 3, "no-such-file.toml cannot be read", on="fake:no-such-file.toml"),
    Mistake(
        "quota list --master http://127.0.0.1:1 --timeout 5s",
        7,
        "http://127.0.0.1:1 cannot be reached",
        "check --master",
    ),
    Mistake(
        "quota list --master ftp://host", 2, "'ftp' is not a scheme of a master's address", "write http://host:5050"
    ),
    # --- Time ----------------------------------------------------------------------------------------------------
    Mistake("quota list --timeout soon", 2, "'soon' is not a span of time", "500ms, 30s, 10m or 1h"),
    Mistake("options --timeout 5 s", 2, "Got unexpected extra argument (s)"),
    Mistake("quota list --timeout 0", 2, "--timeout is 0: it must be at least 0.001 seconds", "500ms, 5s or 1h30m"),
    Mistake("offers watch --every x", 2, "'x' is not a span of time", "500ms, 30s, 10m or 1h"),
    Mistake("context set prod timeout=1x", 3, "'1x' is not a span of time"),
    # --- Resources -----------------------------------------------------------------------------------------------
    Mistake("quota set web cpus=12", 3, "'cpus=12' is not NAME:VALUE", "for example, cpus:12"),
    Mistake("quota set web 12", 3, "'12' is not NAME:VALUE", "for example, cpus:12 or mem:6GiB"),
    Mistake("quota set web cpus:many", 3, "cpus: 'many' is not a number", "for example, cpus:12"),
    Mistake("quota set web mem:6Gig", 3, "mem: 'Gig' is not a unit", "KB to PB and Ki to Pi mean the same"),
    Mistake("quota set web mem:-1GB", 3, "mem: -1GB has a sign"),
    Mistake(
        "quota set web cpus:+2", 3, "cpus: +2 has a sign", "role 'web' has no quota; use mesosctl quota set web cpus:2"
    ),
    Mistake("reserve agent-1 cpus:+2 --role web", 3, "cpus: +2 has a sign", "write the whole, without a sign"),
    Mistake("whatif weight:web=+2", 3, "weight: +2 has a sign", "write the whole"),
    Mistake("whatif --add-agent cpus:1 --count +2", 3, "--count: +2 has a sign", "write the whole"),
    Mistake("quota list --timeout +30", 2, "'+30' is not a span of time: it has a sign"),
    Mistake("quota set web cpus:2GB", 3, "cpus: 'GB' is a unit, but only mem and disk take one", "a plain number"),
    Mistake("quota set web cpus:0.0001", 3, "cpus: 0.0001 is finer than a thousandth", "write cpus:0.001"),
    Mistake(
        "quota update ads --limit cpus:4", 3, OLDER_LIMITS, "use --master 'fake:?version=1.11', a fake master with"
    ),
    Mistake("quota set cpus:12", 2, "give a role and RESOURCES or --limit", "mesosctl quota set dev cpus:12 mem:6GiB"),
    Mistake("reserve agent-1 ports:31000-31005 --role web", 3, "ports: '31000-31005' is not", "ports:[31000-31005]"),
    Mistake("reserve agent-1 ports:31007-31009 --role web", 3, "'31007-31009' is not", "write 'ports:[31007-31009]'"),
    Mistake("reserve agent-1 ports:[31000] --role web", 3, "'31000' is not BEGIN-END", "ports:[31000-31000] for one"),
    Mistake("reserve agent-1 ports:0.5 --role web", 3, "ports: 0.5 is not a port", "ports:[31000-31000] for one"),
    Mistake(
        "reserve agent-1 ports:99 --role web", 6, "agent agent-1 does not have ports [99-99]", "ports [31000-32000]"
    ),
    # --- Names of resources ------------------------------------------------------------------------------------
    Mistake("quota set ads cpu:12", 3, NO_CPU, "did you mean cpus? --allow-new-resource skips this check", on=NEWER),
    Mistake("quota set ads cpu:12 --force", 3, NO_CPU, "did you mean cpus? --allow-new-resource skips", on=NEWER),
    Mistake("quota set ads cpus:1 memory:1GB", 3, "'GB' is a unit", "did you mean mem?"),
    Mistake("quota set ads fpgas:33%", 3, "no agent has fpgas"),
    Mistake("quota set ads cpus:1 memory:64", 3, "has a resource 'memory'", "did you mean mem?", on=NEWER),
    Mistake("quota set ads bananas:1", 3, "has a resource 'bananas'", "known: cpus, mem, disk, gpus, ports", on=NEWER),
    Mistake("quota set ads cpus:1 --limit cpu:4", 3, NO_CPU, "did you mean cpus?", on=NEWER),
    Mistake("quota update web cpus:2 mem:1GiB --limit cpu:4", 3, NO_CPU, "cpus?", on=NEWER, before=QUOTA),
    Mistake("quota check ads cpu:12 -o wide", 1, NO_CPU, on=NEWER),
    Mistake("quota set -f a.json", 3, f"a.json, line 2: role 'web': {NO_CPU}", files={"a.json": V0_OF_CPU}),
    Mistake(
        "quota update -f a.json", 3, f"2: role 'web': {NO_CPU}", on=NEWER, before=QUOTA, files={"a.json": V1_OF_CPU}
    ),
    Mistake("diff -f a.toml", 3, f"a.toml, line 3: role 'web': {NO_CPU}", files={"a.toml": LIMIT_OF_CPU}),
    Mistake(
        "apply -f a.toml",
        3,
        NO_CPU,
        "cpus? --allow-new-resource skips this",
        on=NEWER,
        files={"a.toml": LIMIT_OF_CPU},
    ),
    Mistake("apply -f a.toml", 3, f"a.toml, line 4: {NO_CPU}", "did you mean cpus?", files={"a.toml": RESERVED_CPU}),
    Mistake("reserve agent-1 cpu:1 --role web", 3, NO_CPU, "did you mean cpus?"),
    Mistake("unreserve agent-1 cpu:1 --role dept", 3, NO_CPU, "did you mean cpus?", before=REFINED),
    Mistake("reserve agent-1 -f a.json", 3, f"a.json, line 2: {NO_CPU}", "did you mean cpus?", files=CPU_RESERVED),
    Mistake("unreserve agent-1 -f a.json", 3, f"a.json, line 2: {NO_CPU}", "did you mean cpus?", files=CPU_RESERVED),
    Mistake("offers take --role web --reserve cpu:1", 3, NO_CPU, "did you mean cpus?"),
    Mistake(
        "offers reserve --offer a.json cpu:1", 3, "the offer has no resource 'cpu'", "did you mean cpus?", files=OFFER
    ),
    Mistake("offers unreserve --offer a.json cpu:1", 3, "the offer has no resource 'cpu'", "cpus?", files=OFFER),
    Mistake("whatif quota:ads=cpu:1", 3, NO_CPU, "did you mean cpus? --allow-new-resource skips this check"),
    Mistake("whatif reserve:agent-1=cpu(ads):1", 3, NO_CPU, "cpus? --allow-new-resource skips this check"),
    Mistake(
        "whatif reserve:agent-1=cpu(ads):1 --allow-new-resource",
        1,
        "(a master would answer 409) [operation.contained]: agent agent-1 does not have 1 cpu",
    ),
    Mistake("whatif --add-agent cpu:24", 3, NO_CPU, "did you mean cpus? --allow-new-resource skips this check"),
    # --- Quota -----------------------------------------------------------------------------------------------------
    Mistake(
        "quota update web mem:1GiB",
        2,
        "role 'web' loses its guarantee of 2 cpus, so you must confirm it",
        "name that resource too, or use --yes in a script",
        before=QUOTA,
    ),
    Mistake("quota set ads cpus:4 --limit cpus:2", 3, "the guarantee of cpus (4) is above its limit (2)", on=NEWER),
    Mistake("quota update -f a.json", 3, f"line 2: role 'web': {ABOVE}", on=NEWER, before=QUOTA, files=LIMITED_TO_ONE),
    Mistake("apply -f a.toml", 3, f"a.toml, line 1: quotas.web: {ABOVE}", on=NEWER, files={"a.toml": TWO_ABOVE_ONE}),
    Mistake(
        "quota set ads cpus:4 --limit cpus:8 --api v0",
        3,
        "POST /quota makes the limit equal to the guarantee",
        "leave out --api v0: UPDATE_QUOTA sets every limit",
        on=NEWER,
    ),
    Mistake("quota set ads cpus:4 --limit cpus:8", 3, OLDER_LIMITS, "use --master 'fake:?version=1.11', a fake master"),
    Mistake("quota set ads --limit cpus:8", 3, OLDER_LIMITS, "with limits, or leave the limits out"),
    Mistake("quota check ads --limit cpus:8 -o wide", 1, OLDER_LIMITS, "use --master 'fake:?version=1.11'"),
    Mistake(
        "quota set web --limit cpus:8", 3, OLDER_LIMITS, "use --master 'fake:a.toml?version=1.11'", on=OLD, files=AGENT
    ),
    Mistake("quota update ads --limit cpus:4", 5, NO_QUOTA, "mesosctl quota set ads --limit cpus:4 sets", on=NEWER),
    Mistake("quota update ads cpus:1 --limit cpus:4", 5, NO_QUOTA, "set ads cpus:1 --limit cpus:4 sets", on=NEWER),
    Mistake("quota set ads", 2, "give a role and RESOURCES or --limit", "mesosctl quota set dev cpus:12"),
    Mistake("quota check ads", 2, "give RESOURCES or --limit", "mesosctl quota check dev cpus:12"),
    Mistake("quota set ads none", 3, "the guarantee is empty", "name at least one resource"),
    Mistake("quota set ads cpus:0", 3, "cpus is zero, which guarantees nothing", "from Mesos 1.9 on, --limit cpus:0"),
    Mistake(
        "quota set ads --limit cpus:4 mem:1GiB",
        2,
        "mem:1GiB after --limit is a guarantee, not a part of the limit",
        "write --limit 'cpus:4;mem:1GiB' to limit it too",
        on=NEWER,
    ),
    Mistake(
        "quota update web none --limit none", 3, "without a guarantee or a limit", "quota remove web", "fake:", QUOTA
    ),
    Mistake("quota update web cpus:3 --yes", 3, "(3) is above its limit (2)", "raise the limit", NEWER, CAPPED),
    Mistake("whatif quota:web=cpus:3", 1, "the guarantee of cpus (3) is above its limit (2)", "", NEWER, CAPPED),
    Mistake("quota set web --limit cpus:2", 3, USES, "--force skips this check", NEWER, HELD),
    Mistake("quota set web cpus:2 --api v0", 3, USES, "--force skips this check", NEWER, HELD),
    Mistake("quota check ads cpus:0", 1, "NO: it would be refused: cpus is zero"),
    Mistake("quota check web --limit cpus:2", 1, "NO: a limit of 2 cpus for web would be refused", "", NEWER, HELD),
    Mistake("quota check web --limit cpus:2 -o wide", 1, USES, "", NEWER, HELD),
    Mistake("whatif limit:web=cpus:2", 1, USES, "raise the limits", NEWER, HELD),
    Mistake(
        "apply -f a.toml",
        3,
        USES,
        "raise the limits, or free what the role holds",
        NEWER,
        HELD,
        files={"a.toml": '[quotas.web]\nlimit = "cpus:2"\n'},
    ),
    Mistake("quota check ads cpus:4 --limit cpus:8 -o wide", 1, OLDER_LIMITS),
    Mistake("apply -f a.toml", 3, f"a.toml, line 3: role 'web': {OLDER_LIMITS}", files={"a.toml": LIMITED}),
    Mistake(
        "quota set web cpus:4 mem:6GiB --limit cpus:8",
        3,
        "role 'web' already has quota",
        "use mesosctl quota update web cpus:4 mem:6GiB --limit cpus:8, or mesosctl quota remove web first",
        on=NEWER,
        before=QUOTA,
    ),
    Mistake("quota set web --limit cpus:8", 3, "already has", "quota update web none --limit cpus:8, or", NEWER, QUOTA),
    Mistake(
        "quota set ads cpus:1000",
        6,
        "would answer 409: not enough capacity",
        "wait until more agents have registered; --force skips this check",
    ),
    Mistake("quota check ads cpus:1000 -o wide", 1, "ask for less, or wait until more agents have registered"),
    Mistake(
        "quota update web cpus:1000 mem:1GiB",
        6,
        "would answer 400 to UPDATE_QUOTA (409 to POST /quota)",
        on=NEWER,
        before=QUOTA,
    ),
    Mistake("apply -f a.toml", 6, "a.toml: not enough capacity", files={"a.toml": MUCH}),
    Mistake("whatif quota:ads=cpus:1000", 1, "not enough capacity", "(ask for less, or wait until more agents"),
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
        "nothing is dynamically reserved for 'wbe' on any agent",
        "did you mean web?",
        before="reserve agent-1 cpus:1 --role web",
    ),
    Mistake(
        "reservations --role wbe",
        0,
        "nothing is reserved with --role wbe\n",
        before="reserve agent-1 cpus:1 --role web",
    ),
    Mistake(
        "volumes list --role dbs --agent agent-1",
        0,
        "there are no volumes with --role dbs and --agent agent-1\n",
        before=VOLUME,
    ),
    Mistake("offers list --role wbe", 0, "nothing is offered with --role wbe", on=BUSY),
    Mistake(
        "offers explain wbe",
        5,
        "'wbe' is neither a framework nor a role with frameworks",
        "did you mean web?",
        on=BUSY,
    ),
    Mistake(
        "offers explain ads",
        5,
        "no framework is subscribed to role 'ads', so nothing is offered to it",
        "mesosctl frameworks shows the roles of each framework",
        on=BUSY,
        before="quota set ads cpus:1",
    ),
    Mistake("quota set wbe cpus:1", 3, "Unknown role 'wbe'", "did you mean web?", on=LISTED),
    Mistake("quota update wbe cpus:1 --create", 3, "Unknown role 'wbe'", "web?", on=LISTED),
    Mistake(
        "apply -f weights.toml --yes",
        3,
        "Unknown role 'wbe'",
        "did you mean web?",
        on=LISTED,
        files={"weights.toml": "[weights]\nwbe = 2\n"},
    ),
    Mistake(
        "unreserve --all --role dept", 2, "still reserved: 1 cpu refined for 'dept/x' (dept > dept/x)", before=REFINED
    ),
    Mistake(
        "unreserve --all --role dept --yes",
        5,
        "nothing is dynamically reserved for 'dept' on any agent",
        "still reserved: 1 cpu refined for 'dept/x' (dept > dept/x); --role dept/x returns it to 'dept'; "
        "to undo both: mesosctl cleanup --role dept",
        before=ONLY_REFINED,
    ),
    Mistake("cleanup --reserver ''", 2, "'' is not a principal", "name one; without it, it may be any principal"),
    Mistake("cleanup --role web --reserver ' '", 2, "' ' is not a principal", "name one"),
    Mistake("reserve agent-1 cpus:1 --role web --reserver ''", 2, "'' is not a principal", "it is your own"),
    Mistake("unreserve --all --role web --reserver ''", 2, "'' is not a principal", "it may be any principal"),
    # --- Agents --------------------------------------------------------------------------------------------------
    Mistake("reserve agent1 cpus:1 --role web", 5, "no agent is named 'agent1'", "did you mean agent-1?"),
    Mistake("agents drian agent-1", 5, "no agent is named 'drian'", "the agents are agent-1, agent-2"),
    Mistake("agents drain", 2, "no agent is named", "name agents, or give --attribute NAME=VALUE"),
    Mistake("agents drain agnt-1", 5, "no agent is named 'agnt-1'", "did you mean agent-1?"),
    Mistake("agents drain --attribute rack=r3", 5, "no agent has the attribute rack=r3", "r1", on=RACKS),
    Mistake("agents drain agent-1 --max-grace-period x", 2, "'x' is not a span of time", "30s"),
    Mistake("agents gone agent-1", 2, "an agent that is gone can never come back", "in a script, use --yes"),
    Mistake(
        "agents reactivate host-1", 2, "'host-1' matches several agents: S0, S1", "one of these names", on=ONE_HOST
    ),
    Mistake("agents gone '' --yes", 2, "the name of an agent is empty", "agent-1"),
    Mistake("reserve '' cpus:1 --role web", 2, "the name of an agent is empty", "agent-1"),
    Mistake("maintenance plan agent-1 --at 2026-12-01T02:00", 2, "has no zone", "2026-12-01T02:00+01:00"),
    Mistake("maintenance plan agent-1 --at 2300-01-01T00:00Z", 2, "between the years 1970 and 2262", "--duration 2h"),
    Mistake("maintenance plan agent-1 --at 2262-01-01T00:00Z --duration 365d", 2, "between the years 1970", "2h"),
    Mistake("maintenance plan agent-1 --at soon", 2, "'soon' is not a time", "with its zone"),
    Mistake("maintenance plan --at 2026-12-01T02:00Z", 2, "no machine is named", "--attribute NAME=VALUE"),
    Mistake(
        "maintenance plan agnt-1 --at 2026-12-01T02:00Z", 5, "no machine is named 'agnt-1'", "did you mean agent-1?"
    ),
    Mistake(
        "maintenance down agent-1 --yes", 3, "is not in the maintenance schedule", "mesosctl maintenance plan agent-1"
    ),
    Mistake("maintenance schedule", 2, "no file is given", "mesosctl maintenance plan"),
    Mistake(
        "maintenance up agent-1",
        3,
        "machine 'agent-1' is scheduled, but not down",
        "mesosctl maintenance cancel agent-1",
        before="maintenance plan agent-1 --at 2026-12-01T02:00Z",
    ),
    Mistake(
        "maintenance schedule -f s.json",
        3,
        "a window names no machine",
        files={"s.json": '{"windows": [{"machine_ids": [], "unavailability": {"start": {"nanoseconds": 5}}}]}'},
    ),
    Mistake(
        "maintenance schedule -f s.json",
        3,
        "there is no key 'window' here",
        "did you mean windows?",
        files={"s.json": '{"window": []}'},
    ),
    Mistake("wait", 2, "no condition is given", "mesosctl wait master=recovered"),
    Mistake("wait agents/agent-1=drained", 2, "'agents/agent-1=drained' is not a condition", "did you mean agent?"),
    Mistake("wait agent/agent-1=drainde", 2, "'drainde' is not a status of an agent", "did you mean drained?"),
    Mistake("wait agent/agnt-1=drained", 5, "no agent is named 'agnt-1'", "did you mean agent-1?"),
    Mistake("wait role/web", 2, "'role/web' is not a condition", "write role/ROLE=met"),
    Mistake("wait role/wbe=met", 5, "no quota is set for 'wbe'", "did you mean web?", before="quota set web cpus:1"),
    Mistake("wait master", 2, "'master' is not a condition", "write master=recovered"),
    Mistake("wait offers/", 2, "'offers/' is not a condition", "write offers/ROLE"),
    Mistake("wait reserved/agent-1=cpus:1", 2, "is not a condition", "write reserved/AGENT/ROLE=RESOURCES|none"),
    Mistake("wait reserved/agent-1/ads=cpu:1", 3, "'cpu'", "did you mean cpus?"),
    Mistake("wait --for offers/-x", 3, "cannot start with a dash"),
    Mistake("frameworks teardown marathn --yes", 5, "no framework is named 'marathn'", "did you mean", on=BUSY),
    Mistake("frameworks teardown marathon", 2, "cannot subscribe again", "in a script, use --yes", on=BUSY),
    Mistake("tasks web-1", 5, "no task is named 'web-1'", "mesosctl tasks shows all of them"),
    Mistake("tasks --framework marathn", 5, "no framework is named 'marathn'", "did you mean marathon?", on=BUSY),
    Mistake("tasks --agent agnt-1", 5, "no agent is named 'agnt-1'", "did you mean agent-1?"),
    Mistake("tasks --state runing", 2, "'runing' is not a state of tasks", "did you mean running?"),
    Mistake("tasks --state all", 2, "'all' is not a state of tasks", "the states are staging, starting, running"),
    Mistake("tasks --sort cpsu", 2, "'cpsu' is not a column to sort by", "did you mean cpus?"),
    Mistake("reserve x cpus:1 --role web", 5, "no agent is named 'x'", "the agents are agent-1, agent-2, agent-3"),
    Mistake("reservations --agent Agent-2", 5, "no agent is named 'Agent-2'", "did you mean agent-2?"),
    Mistake("volumes list --agent agnt-3", 5, "no agent is named 'agnt-3'", "did you mean agent-3?"),
    Mistake("reserve cpus:1 --role web", 2, "no agent is named", "mesosctl reserve cpus:1 --any --role web"),
    Mistake("reserve --any cpus:900 --role web", 6, "fits on none of 3 agents", "ask for less; mesosctl agents"),
    Mistake("reserve agent-1 cpus:1", 2, "give RESOURCES and --role", "mesosctl reserve agent-1 cpus:8"),
    Mistake("reserve", 2, "no agent is named", "name an agent, or give --any or --count N"),
    Mistake(
        "reserve host-1 cpus:1 --role web",
        2,
        "'host-1' matches several agents: S0, S1",
        "write one of these names",
        on=ONE_HOST,
    ),
    Mistake(
        "reserve S1 cpus:9 --role web",
        6,
        "agent host-1 (S1) does not have 9 cpus, or tasks use it",
        "host-1 (S1) has 8 cpus",
        on=ONE_HOST,
    ),
    Mistake(
        "reserve S9 cpus:1 --role web",
        5,
        "no agent is named 'S9'",
        "the agents are host-1 (S0), host-1 (S1), host-2",
        on=ONE_HOST,
    ),
    Mistake(
        "offers take --role web --reserve cpus:1 --agent agent-11",
        5,
        "no agent is named 'agent-11'",
        "host name; the agents are agent-1, agent-2, agent-3",
    ),
    Mistake("apply -f a.toml", 5, "a.toml, line 2: no agent is named 'agent-9'", files={"a.toml": NOBODY}),
    # --- Files ---------------------------------------------------------------------------------------------------
    Mistake("export -f edited.toml", 2, "edited.toml has other content, which would be lost", files=EDITED),
    Mistake(
        "reserve agent-1 -f a.json",
        3,
        "a.json, line 2: resources[0].reservation: it should be an object",
        files={"a.json": '{"resources": [\n {"name": "cpus", "type": "SCALAR", "reservation": []}]}'},
    ),
    Mistake(
        "unreserve agent-1 -f a.json",
        3,
        "a.json, line 1: agent_di: there is no key 'agent_di' here",
        "did you mean agent_id?",
        files={"a.json": '{"agent_di": {"value": "S0"}, "resources": []}'},
    ),
    Mistake(
        "ratelimit unset a -f a.json",
        3,
        "a.json, line 1: limits[0].qps: the key 'qps' appears twice in one object",
        files={"a.json": '{"limits": [{"principal": "a", "qps": 1, "qps": 2}]}'},
    ),
    # --- Contexts ------------------------------------------------------------------------------------------------
    Mistake("quota list --context prod", 5, "there is no context 'prod'", "there are none yet"),
    Mistake("quota list --context prd", 5, "there is no context 'prd'", "did you mean prod?", before=CONTEXTS),
    Mistake("context use Prod", 5, "there is no context 'Prod'", "did you mean prod?", before=CONTEXTS),
    Mistake("context show x", 5, "there is no context 'x'", "mesosctl context list shows them", before=CONTEXTS),
    Mistake("context remove labs", 5, "there is no context 'labs'", "did you mean lab?", before=CONTEXTS),
    Mistake("context set prod tiemout=5", 2, "there is no setting 'tiemout'", "did you mean timeout?"),
    Mistake("context set prod secret_file=x", 2, "there is no setting 'secret_file'", "did you mean secret-file?"),
    Mistake(
        "context set prod --unset mastr",
        5,
        "context 'prod' has no setting mastr",
        "did you mean master?",
        before=CONTEXTS,
    ),
    Mistake("context set prod", 2, "no setting is given", "mesosctl context set prod --master ADDRESS"),
    # --- Volumes -------------------------------------------------------------------------------------------------
    Mistake("volumes create agent-1 v1 10GB --role db", 2, "'10GB' does not name the resource", "write disk:10GB"),
    Mistake("volumes create agent-1 v1 mem:1GB --role db", 2, "'mem:1GB' is not an amount of disk", "disk:10GiB"),
    Mistake(
        "volumes create agent-1 v1 disk:10 --role db",
        5,
        "agent agent-1 does not have 10MiB disk dynamically reserved for 'db'",
        "reserve it first: mesosctl reserve agent-1 disk:10 --role db",
    ),
    Mistake(
        "volumes create agent-1 v2 disk:50 --role db",
        6,
        "agent agent-1 has no single free entry of 50MiB disk that is reserved for 'db'",
        "mesosctl reservations --agent agent-1 --role db shows what there is",
        before=VOLUME,
    ),
    Mistake(
        "volumes create agent-1 logs disk:10 --role db",
        3,
        "role 'db' already has a volume 'logs' on agent agent-1",
        "mesosctl volumes list --agent agent-1 shows the ids in use",
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
        "this id belongs to db",
        before=VOLUME,
    ),
    Mistake(
        "volumes destroy agent-1 logs",
        2,
        "not done: this takes something away",
        "in a script, use --yes",
        before=VOLUME,
    ),
    Mistake(
        "unreserve agent-1 disk:100 --role db",
        6,
        "agent agent-1 does not have 100MiB disk of 'db' outside its volumes, logs (60MiB disk)",
        "destroy them first: mesosctl volumes destroy agent-1 logs --role db",
        before=VOLUME,
    ),
    Mistake(
        "unreserve --all --role db --yes",
        6,
        "agent agent-1 has volumes of 'db': logs (60MiB disk)",
        "destroy them first: mesosctl volumes destroy agent-1 logs --role db",
        before=VOLUME,
    ),
    # --- What if -------------------------------------------------------------------------------------------------
    Mistake(
        "whatif",
        2,
        "no change was given, so there is nothing to forecast",
        "such as 'quota:web=cpus:12;mem",
    ),
    Mistake("whatif qouta:web=cpus:1", 2, "'qouta:web=cpus:1' is not a change", "did you mean quota:?"),
    Mistake("whatif weight", 2, "'weight' is not a change", "for example,"),
    Mistake("whatif quota:web", 2, "'quota:web': a role and a value are needed", "quota:web=cpus:12;mem:6GiB"),
    Mistake("whatif weight:web=heavy", 2, "'heavy' is not a weight", "for example, weight:web=2"),
    Mistake("whatif reserve:agent-1=cpus:2", 2, "cpus:2 does not name an owner", "reserve:agent-1=cpus(web):2"),
    Mistake("whatif create:agent-1=v1:disk:2", 2, "disk:2 does not name an owner", "create:agent-1=v1:disk(db):1GiB"),
    Mistake("whatif --lose-rack r1", 2, "No such option: --lose-rack\n", "see mesosctl whatif --help"),
    Mistake("quota set web --limit", 2, "requires an argument", "see mesosctl quota set --help"),
    Mistake("reserve agent-1 cpus:1 --role", 2, "requires an argument", "see mesosctl reserve --help"),
    Mistake("roles", 2, "no master is named", "mesosctl context set NAME --master ADDRESS", on=""),
    Mistake("whatif --lose-fraction 20", 2, "--lose-fraction is '20'", "write 0.2 or 20% for a fifth of the agents"),
    Mistake("whatif --lose-fraction 0", 2, "--lose-fraction is '0': it must be above 0", "use --lose-agent"),
    Mistake("whatif --lose-agent agent-9x", 5, "no agent is named 'agent-9x'", "did you mean agent-"),
    Mistake(
        "whatif --add-agent cpus:1 --attribute rack", 2, "'rack' is not NAME=VALUE", "write --attribute NAME=VALUE"
    ),
    Mistake("agents list --attribute rack:r1", 2, "'rack:r1' does not select agents", "did you mean rack=r1?"),
    Mistake("whatif --add-agent cpus:1 --count 100001", 2, "Invalid value for '--count'", "see mesosctl whatif --help"),
    Mistake(
        "whatif --count 3", 2, "--count applies to added agents, but no agent is added", "give --add-agent RESOURCES"
    ),
    Mistake(
        "whatif --lose-framework marathn",
        5,
        "no framework is named 'marathn'",
        "did you mean marathon?",
        on=BUSY,
    ),
    # --- Rate limits ---------------------------------------------------------------------------------------------
    Mistake(
        "ratelimit unset marathn -f limits.json",
        5,
        "the file has no entry for principal 'marathn'",
        "did you mean marathon?",
        files=LIMITS,
    ),
    Mistake(
        "ratelimit watch -o json", 2, "-o json is written once, when the watch ends", "give --count, or use -o jsonl"
    ),
    Mistake(
        "ratelimit watch --count 1 -o jsonl",
        0,
        "no framework with a principal is registered, so the master counts no messages and there is nothing to watch",
    ),
    Mistake("ratelimit suggest --for 0s", 2, "'0s' is not above zero", "500ms, 30s, 10m or 1h"),
    Mistake("ratelimit watch --interval 5sec", 2, "'5sec' is not a span of time", "500ms, 30s, 10m or 1h"),
)
