"""More rows of the table: words in the wrong place, addresses, missing files, and answers without a reason."""

from tests.mesosctl.cli.mistakes.mistake import BUSY, RACKS, Mistake

NOBODY_IN = "note: no framework is subscribed to role 'wbe'; did you mean web?"
MIXED = "a list of masters cannot contain a fake: address"
SCHEME = "'htp' is not a scheme of a master's address"
ZK = "zk://host1:2181,host2:2181/mesos, or zk://USER:SECRET@host1,host2/mesos"
RESERVED = "reserve agent-1 cpus:1 --role web"
NEWER = "fake:?version=1.11"
SIXTY_FOUR = '[quotas.ads]\nguarantee = "mem:64Gi"\n'
QUOTA_OF_NOBODY = '[quotas.wbe]\nguarantee = "cpus:1"\n'
CONTEXTS = {
    ".config/mesosctl/config.toml": '[contexts.prod]\nmaster = "fake:"\n[contexts.lab]\nmaster = "fake:lab.toml"\n',
    "lab.toml": '[[agents]]\nresources = "cpus:4;mem:4096"\n',
}
TWICE = "duplicate resource name 'cpus'\n  at: argument cpus:2"

WORDS = (
    # --- Options and commands in the wrong place --------------------------------------------------------------
    Mistake("quota set --role web cpus:1", 2, "No such option: --role\n", "ROLE is an argument: mesosctl quota set"),
    Mistake("quota remove --role web", 2, "No such option: --role\n", "ROLE is an argument: mesosctl quota remove"),
    Mistake("apply --role web -f a.toml", 2, "No such option: --role\n", "hint: see mesosctl apply --help"),
    Mistake("quota --limit cpus:4 set web", 2, "No such option: --limit\n", "write --limit after 'quota set'"),
    Mistake("quota --limit=cpus:4 set web", 2, "No such option: --limit\n", "write --limit after 'quota set'"),
    Mistake("--role ads reservations", 2, "No such option: --role\n", "write --role after 'reservations'"),
    Mistake("quota list --princ me", 2, "No such option: --princ. Did you mean '--principal'?"),
    Mistake("list quota", 2, "No such command 'list'. Did you mean 'quota list'?"),
    Mistake("set -o json quota web cpus:1", 2, "No such command 'set'. Did you mean 'quota set'?"),
    Mistake("can-i", 2, "no command is given", "quota set web, or --list"),
    Mistake("can-i --list reserve", 2, "--list asks about every command", "leave out --list"),
    Mistake("can-i quote set web", 2, "can-i knows nothing about 'quote set'", "did you mean quota set?"),
    Mistake("can-i set web", 2, "'set web' is not one command", "write one of: quota set, weights set"),
    Mistake("can-i agents kill", 2, "'agents kill' is not one command", "agents deactivate, agents drain"),
    Mistake("can-i agents drain agent-1", 2, "after agents drain, can-i takes no name", "mesosctl can-i agents drain"),
    Mistake("can-i reserve agent-1 --role web", 2, "after reserve, can-i takes one role", "mesosctl can-i reserve web"),
    Mistake("can-i quota set web cpus:4", 2, "after quota set, can-i takes one role", "mesosctl can-i quota set web"),
    Mistake("can-i quota set dev/", 3, "Role 'dev/' cannot end with a slash"),
    Mistake("can-i quota set *", 3, "the default role '*' cannot have a quota"),
    Mistake("can-i reserve --role=", 3, "Role names cannot be the empty string"),
    Mistake("can-i --list --role=", 3, "Role names cannot be the empty string"),
    Mistake("can-i reserve --as=", 2, "'' is not a principal", "name one; without it"),
    Mistake("can-i apply", 2, "apply is judged by its steps", "can-i --list"),
    Mistake("can-i unreserve --role web", 2, "unreserve is about a principal", "leave out --role"),
    Mistake("options web ads", 2, "Got unexpected extra arguments (web ads)"),
    Mistake("quota set cpus:2 payments", 3, "'payments' is not NAME:VALUE", "write payments first: payments cpus:2"),
    Mistake("quota update cpus:2 mem:1GiB web", 3, "'web' is not NAME", "write web first: web cpus:2 mem:1GiB"),
    Mistake("quota check cpus:2 web", 3, "'web' is not NAME:VALUE", "write web first: web cpus:2"),
    Mistake("reserve cpus:1 agent-1 --role web", 3, "'agent-1' is not NAME:VALUE", "write agent-1 first"),
    # --- Roles that nothing uses ----------------------------------------------------------------------------------
    Mistake("quota check wbe cpus:1", 0, NOBODY_IN, on=BUSY),
    Mistake("quota check webs cpus:1", 0, NOBODY_IN.replace("wbe", "webs"), on=BUSY, before="quota set wbes cpus:1"),
    Mistake("quota set wbe cpus:1 --dry-run", 0, NOBODY_IN, on=BUSY),
    Mistake("reserve agent-1 cpus:1 --role wbe --dry-run", 0, NOBODY_IN, on=BUSY),
    Mistake("weights set wbe=2 --dry-run", 0, NOBODY_IN, on=BUSY),
    Mistake("whatif quota:wbe=cpus:1", 0, NOBODY_IN, on=BUSY),
    Mistake("apply -f a.toml --dry-run", 0, NOBODY_IN, on=BUSY, files={"a.toml": QUOTA_OF_NOBODY}),
    Mistake("diff -f a.toml", 1, NOBODY_IN, on=BUSY, files={"a.toml": QUOTA_OF_NOBODY}),
    Mistake(
        "quota check web cpus:2",
        1,
        "note: mesosctl quota update web cpus:2 --dry-run checks a change of the quota that it has",
        before="quota set web cpus:1",
    ),
    # --- Agents -----------------------------------------------------------------------------------------------------
    Mistake(
        "reserve --any cpus:1 --role web --attribute rak=1",
        6,
        "no agent has an attribute 'rak'",
        "did you mean rack? the attributes are rack",
        on=RACKS,
    ),
    Mistake(
        "reserve --any cpus:1 --role web --attribute rack=r9",
        6,
        "no agent has the attribute rack=r9",
        "the values of rack are r1, r2",
        on=RACKS,
    ),
    Mistake(
        "reserve --count 2 agent-7 cpus:1 --role ads",
        3,
        "'agent-7' is not NAME:VALUE",
        "leave AGENT out: with --any or --count, mesosctl chooses the agents",
    ),
    Mistake("reserve agent-1 agent-2 cpus:1 --role ads", 3, "'agent-2' is not NAME", "name one agent for each command"),
    Mistake("reserve agent-1 50% --role ads", 3, "'50%' is not NAME:VALUE", "name each resource: cpus:50% mem:50%"),
    # --- Several mistakes in one command --------------------------------------------------------------------------
    Mistake(
        "quota set web/a cpu:12",
        3,
        "quota on nested role 'web/a' is not supported yet; no agent in the cluster has a resource 'cpu'",
        "set it for 'web', which covers the roles below it; did you mean cpus?",
        on=NEWER,
    ),
    Mistake("quota set web/a cpus:x", 3, "'x' is not a number; quota on nested role 'web/a'", "set it for 'web'"),
    Mistake("quota set web cpus:x mem:y", 3, "cpus: 'x' is not a number; mem: 'y' is not a number", "mem:6GiB"),
    Mistake("quota update web cpus:x --limit mem:y", 3, "cpus: 'x' is not a number; mem: 'y'", "example, mem:6GiB"),
    Mistake("quota set web cpu:1 meem:64", 3, "resource 'cpu'; no agent", "did you mean cpus? did you mean mem?"),
    Mistake("reserve agent-1 cpus:x mem:y --role web", 3, "cpus: 'x' is not a number; mem: 'y'", "mem:6GiB"),
    # --- Sizes without a unit -------------------------------------------------------------------------------------
    Mistake("quota check web cpus:900 mem:6", 1, "note: mem:6 means 6 MiB", "for 6 GiB, write mem:6GiB"),
    Mistake("quota set web 'cpus:900;mem:6'", 6, "note: mem:6 means 6 MiB", "for 6 GiB, write mem:6GiB"),
    Mistake("whatif 'quota:web=cpus:900;disk:20'", 1, "note: disk:20 means 20 MiB", "for 20 GiB, write disk:20GiB"),
    Mistake("reserve agent-1 mem:4 cpus:900 --role web", 6, "note: mem:4 means 4 MiB", "write mem:4GiB"),
    # --- Amounts -------------------------------------------------------------------------------------------------
    Mistake("quota set web cpus:1e400", 3, "1e400 is out of range", "and is at most 9223372036854775"),
    Mistake(
        "quota set web cpus:1,mem:2",
        3,
        "'cpus:1,mem:2' has commas between resources",
        "separate them with semicolons, in quotes: 'cpus:1;mem:2'",
    ),
    Mistake("quota set web cpus:1, mem:2", 3, "'cpus:1,' has commas", "write cpus:1, without a comma"),
    Mistake("whatif --add-agent cpus:1,mem:2", 3, "'cpus:1,mem:2' has commas between", "quotes: 'cpus:1;mem:2'"),
    Mistake("quota set web --limit cpus:1,mem:2", 3, "has commas between", "quotes: 'cpus:1;mem:2'", on=NEWER),
    Mistake("whatif --add-agent cpus:8 mem:16GiB", 2, "'mem:16GiB' is not a", "write --add-agent 'cpus:8;mem:16GiB'"),
    Mistake("whatif --add-agent cpus:8, mem:16GiB disk:1GB", 2, "not a change", "'cpus:8;mem:16GiB;disk:1GB'"),
    Mistake("whatif quota:ads=cpus:1 mem:1GiB", 2, "'mem:1GiB' is not a change", "write 'quota:ads=cpus:1;mem:1GiB'"),
    Mistake("whatif quota:a=cpus:1 mem:2GiB quota:b=cpus:1 disk:1GiB", 2, "is not", "write 'quota:a=cpus:1;mem:2GiB':"),
    Mistake("whatif failover:80% mem:4GiB", 2, "'mem:4GiB' is not a change", "for example, 'quota:web="),
    Mistake("whatif --find-largest quota:ads=cpus:? mem:1GiB", 2, "not a change", "'quota:ads=cpus:?;mem:1GiB'"),
    Mistake("whatif --add-framework 'role=db;task=cpus:1' mem:64", 2, "not a change", "'role=db;task=cpus:1,mem:64'"),
    Mistake("reserve agent-1 'cpus:1,ports:[1-2,5-6]' --role ads", 3, "has commas", "'cpus:1;ports:[1-2,5-6]'"),
    Mistake("quota set web cpus:1,5", 3, "cpus: '1,5' is not a number", "for example, cpus:12"),
    Mistake(
        "weights set 'a=1;b=2'", 2, "'a=1;b=2' is several weights in one word", "separate them with spaces: a=1 b=2"
    ),
    Mistake("weights set a=1,b=2", 2, "'a=1,b=2' is several weights in one word", "separate them with spaces: a=1 b=2"),
    Mistake("quota set web cpus:1 cpus:2", 3, TWICE, "give cpus once"),
    Mistake("quota set web 'cpus:1;cpus:2'", 3, TWICE, "give cpus once"),
    Mistake("quota update web cpus:1 cpus:2", 3, TWICE, "give cpus once"),
    Mistake("quota set web cpus:3 --limit 'cpus:4;cpus:5'", 3, "at: argument --limit cpus:5", "give cpus once"),
    Mistake(
        "quota set web cpus:-1", 3, "cpus: -1 is below zero", "write an amount without a minus sign, such as cpus:1"
    ),
    Mistake(
        "unreserve agent-3 cpus:3 --role ads",
        5,
        "agent agent-3 does not have 3 cpus dynamically reserved for 'ads'",
        "agent agent-3 has 2 cpus and 1GiB mem statically reserved for 'ads'; a static reservation is part of",
    ),
    Mistake(
        "unreserve agent-1 cpus:3 --role ads", 5, "does not have 3 cpus", "agent agent-1 has nothing reserved for 'ads'"
    ),
    Mistake(
        "unreserve agent-1 cpus:3 --role web",
        6,
        "does not have 3 cpus in a single entry reserved for 'web'",
        "agent agent-1 has 1 cpu dynamically reserved for 'web'; mesosctl reservations",
        before=RESERVED,
    ),
    Mistake(
        "reserve agent-1 cpus:9 --role web/db --under web",
        5,
        "agent agent-1 does not have 9 cpus reserved for web\n",
        "has 1 cpu dynamically reserved for 'web'; reserve for 'web' first: mesosctl reserve agent-1 cpus:8 --role web",
        before=RESERVED,
    ),
    Mistake(
        "reserve agent-1 cpus:1 --role web/db --under web",
        5,
        "agent agent-1 does not have 1 cpu reserved for web",
        "has nothing reserved for 'web'; reserve for 'web' first: mesosctl reserve agent-1 cpus:1 --role web",
    ),
    Mistake(
        "unreserve agent-1 cpus:1 --role web/db --under web",
        5,
        "agent agent-1 does not have 1 cpu dynamically reserved for 'web/db' with the given stack",
        "agent agent-1 has nothing reserved for 'web/db'",
        before=RESERVED,
    ),
    # --- Units of other programs: 64Gi is 64GiB wherever an amount stands ----------------------------------------
    Mistake("quota set ads mem:64Gi", 6, "guarantees add up to 64GiB mem"),
    Mistake("quota check ads mem:64Gi", 1, "NO: 64GiB mem for ads would be refused"),
    Mistake(
        "quota set web mem:64Gi --limit mem:32Gi",
        3,
        "the guarantee of mem (64GiB) is above its limit (32GiB)",
        on=NEWER,
    ),
    Mistake("whatif quota:ads=mem:64Gi", 1, "guarantees add up to 64GiB mem"),
    Mistake("apply -f a.toml --yes", 6, "guarantees add up to 64GiB mem", files={"a.toml": SIXTY_FOUR}),
    Mistake("reserve agent-1 mem:64Gi --role ads", 6, "agent agent-1 does not have 64GiB mem"),
    Mistake("reserve --any mem:64Gi --role ads", 6, "64GiB mem fits on none of 3 agents"),
    Mistake("unreserve agent-1 mem:64Gi --role ads", 5, "agent agent-1 does not have 64GiB mem"),
    Mistake("volumes create agent-1 v disk:64Gi --role ads", 5, "agent agent-1 does not have 64GiB disk"),
    Mistake("agents --columns hostnam", 2, "there is no column 'hostnam'", "the columns are agent, status"),
    Mistake("roles --columns wieght", 2, "there is no column 'wieght'", "did you mean weight?"),
    Mistake("roles --columns ,", 2, "--columns names no column", "for example, --columns role"),
    Mistake("roles --columns role -o json", 2, "-o json has no columns", "leave it out, or use a table or -o csv"),
    Mistake("quota set ads cpus:1 --columns role", 2, "this command makes a change", "leave it out"),
    Mistake("audit list --since yesterday", 2, "'yesterday' is not a span of time", "for example, 500ms"),
    Mistake("audit list --since 2026-13-01", 2, "'2026-13-01' is not a time", "write 2026-03-01"),
    Mistake("quota room web --task ''", 2, "a task needs resources", "for example, --task cpus:2,mem:8GiB"),
    Mistake("quota room web --task cpus:0", 2, "each once and above zero", "for example, --task cpus:2,mem:8GiB"),
    Mistake("quota room web --task cpus:1,cpus:2", 2, "each once and above zero"),
    Mistake("quota room web --task cpu", 3, "'cpu'", "cpus:12"),
    Mistake("quota set web cpus:50%", 3, "'50%' is not a number", "quota room shows the capacity"),
    Mistake("reserve agent-1 cpus:150% --role web", 6, "agent agent-1 does not have 18 cpus"),
    Mistake("reserve agent-1 ports:50% --role web", 3, "ports: '50%' is not a number", "for example, ports:["),
    Mistake("reserve agent-1 cpus:0% --role web", 3, "cpus is zero, but must be above zero"),
    Mistake(
        "reserve --any cpus:50% --role web", 2, "--any and --count choose among agents of any size", "name an agent"
    ),
    Mistake(
        "reserve --any cpus:1 --role web",
        6,
        "no agent is in service",
        "mesosctl agents shows the status of each",
        on="fake:off.toml",
        files={"off.toml": '[[agents]]\nresources = "cpus:4"\nactive = false\n'},
    ),
    Mistake(
        "agents",
        3,
        "leaves_after is not a number of seconds",
        "write leaves_after = 90",
        on="fake:a.toml",
        files={"a.toml": '[[agents]]\nresources = "cpus:4"\nleaves_after = "90s"\n'},
    ),
    # --- Words of a choice ----------------------------------------------------------------------------------------
    Mistake("quota list -o tabel", 2, "'tabel' is not one of 'table', 'wide'", "see mesosctl quota list --help"),
    Mistake("-o tabel quota list", 2, "'name'. Did you mean 'table'?"),
    Mistake("whatif --assume hol quota:web=cpus:1", 2, "'hold', 'accept'. Did you mean 'hold'?"),
    Mistake("context set prod output=tabel", 3, "output must be one of table, wide", "did you mean table?"),
    # --- Which master --------------------------------------------------------------------------------------------
    Mistake("quota list --master htp://x", 2, SCHEME, "did you mean http://? write http://host:5050"),
    Mistake("quota list", 2, SCHEME, "the address comes from MESOSCTL_MASTER", on="htp://x"),
    Mistake("quota list", 2, "must end with the path", ZK, on="zk://a:1"),
    Mistake("quota list --master fake:a.toml,http://x:1", 3, MIXED, "give the fake: address alone"),
    Mistake("quota list --master http://x:1,fake:", 3, MIXED, "only the addresses of real masters"),
    # --- Files -----------------------------------------------------------------------------------------------------
    Mistake("apply -f a.toml", 3, "a.toml cannot be read: No such file", "mesosctl export -f a.toml writes one"),
    Mistake("diff -f 'a b.toml'", 3, "a b.toml cannot be read", "mesosctl export -f 'a b.toml' writes one"),
    Mistake("diff -f nope.toml", 3, "nope.toml cannot be read", "it was looked for in /"),
    Mistake("apply --plan p.json", 3, "p.json cannot be read", "it was looked for in /"),
    Mistake("diff -f a.toml", 1, "note: a.toml names no quota, weight or reservation", files={"a.toml": ""}),
    Mistake("apply -f a.toml", 1, "note: a.toml names no quota, weight or reservation", files={"a.toml": "[quotas]"}),
    Mistake("quota set -f a.json", 3, "a.json cannot be read: No such file", "it was looked for in /"),
    Mistake("quota list", 3, "no-such.toml cannot be read", "it was looked for in /", on="fake:no-such.toml"),
    Mistake(
        "quota set -f a.json", 3, "a.json: the key 'role' is missing", 'add the key "role"', files={"a.json": "{}"}
    ),
    Mistake(
        "diff -f a.toml",
        3,
        "a.toml, line 1: qoutas: there is no such key",
        "did you mean quotas? known: quotas, reservations",
        files={"a.toml": '[qoutas.web]\nguarantee = "cpus:1"\n'},
    ),
    # --- Words of other tools ------------------------------------------------------------------------------------
    Mistake("quota ls", 2, "No such command 'ls'. Did you mean 'list'?"),
    Mistake("quota get", 2, "No such command 'get'. Did you mean 'list', 'show'?"),
    Mistake("get quota", 2, "No such command 'get'. Did you mean 'quota list', 'quota show'?"),
    Mistake("get agents", 2, "No such command 'get'. Did you mean 'agents list'?"),
    Mistake("get", 2, "No such command 'get'.\n", "see mesosctl --help"),
    Mistake("quota delete web", 2, "No such command 'delete'. Did you mean 'remove'?"),
    Mistake("rm quota web", 2, "No such command 'rm'. Did you mean 'quota remove'?"),
    Mistake("version", 2, "No such command 'version'. Did you mean '--version'?"),
    Mistake("help quota", 2, "No such command 'help'. Did you mean '--help'?"),
    Mistake("quota help", 2, "No such command 'help'. Did you mean '--help'?"),
    Mistake("status", 2, "No such command 'status'. Did you mean 'top'?"),
    Mistake("ls agents", 2, "No such command 'ls'. Did you mean 'agents list'?"),
    Mistake("reservations list", 2, "unexpected extra argument (list)", "mesosctl reservations alone is enough"),
    Mistake("frameworks teardown spark ''", 2, "unexpected extra argument"),
    Mistake("frameworks ls", 5, "no framework is named 'ls'", "did you mean the verb 'list'?"),
    Mistake("tasks ls", 5, "no task is named 'ls'", "did you mean the verb 'list'?"),
    Mistake("get tasks", 2, "No such command 'get'. Did you mean 'tasks list'?"),
    Mistake("quota list wbe", 5, "no quota is set for 'wbe'", "did you mean web?", before="quota set web cpus:1"),
    Mistake("whatif --lose-agent rack=r9", 5, "no agent has the attribute rack=r9", "rack are r1, r2", on=RACKS),
    Mistake("agents --columns agent,AGENT", 2, "--columns names 'AGENT' twice", "name each column once"),
    Mistake("agents --sort agnt", 2, "'agnt' is not a column to sort by", "did you mean agent?"),
    Mistake(
        "whatif --history h.sqlite --wait 'role=a;task=cpus:1' --wait 'role=b;task=cpus:1'",
        2,
        "--wait is given twice, and takes one value",
        "see mesosctl whatif --help",
    ),
    Mistake("quota list --sort role --sort cpus", 2, "--sort is given twice", "see mesosctl quota list --help"),
    # --- Several contexts -----------------------------------------------------------------------------------------
    Mistake("agents --context prod,", 2, "'prod,' has an empty name", "write --context NAME,NAME", "", files=CONTEXTS),
    Mistake("agents --context prod,lb", 5, "there is no context 'lb'", "did you mean lab?", "", files=CONTEXTS),
    Mistake(
        "agents --context prod,lab", 2, "MESOSCTL_MASTER names one master", "leave one of them out", files=CONTEXTS
    ),
    Mistake("agents --all-contexts --context lab", 2, "both name contexts", "give one of them", "", files=CONTEXTS),
    Mistake("agents --all-contexts", 5, "no context names a master", "mesosctl context set NAME --master ADDRESS", ""),
    Mistake("agents --all-contexts --watch", 2, "--watch is for one cluster", "name one context", "", files=CONTEXTS),
    Mistake("top --all-contexts", 2, "top does not work on several contexts", "name one context", "", files=CONTEXTS),
    Mistake("quota show web --all-contexts", 5, "prod, lab: no quota is set for 'web'", on="", files=CONTEXTS),
    # --- What if -----------------------------------------------------------------------------------------------------
    Mistake(
        "whatif 'quota:ads=cpus:4;mem:1GiB;limit=none'",
        2,
        "a guarantee cannot contain a limit",
        "give the limit as a separate change: limit:ads=none",
    ),
    Mistake("whatif 'quota:ads=cpus:4;limit:none'", 2, "a guarantee cannot contain a limit", "change: limit:ads=none"),
    Mistake("whatif 'quota:ads=cpus:4;limits=cpus:9'", 2, "cannot contain a limit", "change: limit:ads=cpus:9"),
    Mistake(
        "whatif 'quota:ads=cpus:{1,2}'", 2, "lists alternatives in braces", "give it with --each: --each 'quota:ads="
    ),
    Mistake("whatif --lose-agent agent-1,agent-2", 2, "--lose-agent is one agent", "repeat the option for each"),
    Mistake("whatif --lose-framework mar", 5, "no framework is named 'mar'", "the frameworks are marathon", on=BUSY),
    Mistake("whatif quota:ads=cpus:1000 -o csv", 1, "note: refused: quota:ads=cpus:1000", "note: NO: it would"),
    Mistake("whatif quota:ads=cpus:1000 -o name", 1, "not enough capacity", "mesosctl: note: NO: it would be refused"),
    Mistake("whatif --find-largest limit:web=cpus:?", 2, "finds the largest quota or reservation", "'quota:web=cpus:?"),
    Mistake("whatif --find-largest quota:web=cpus:4", 2, "does not leave exactly one amount open", "a question mark"),
    Mistake("whatif --find-largest quota:web=gpus:? -o name", 1, "note: no agent has gpus, so no amount"),
)
