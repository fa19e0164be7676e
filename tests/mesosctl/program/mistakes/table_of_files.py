"""Mistakes in files that people write: the file, the line, what was wrong and what to do."""

from tests.mesosctl.program.mistakes.mistake import Mistake

_AGENT = '\n[[agents]]\nresources = "cpus:1"\n'
_RATES = '{"limits": [\n{"principal": "a", "qps": 1}],\n"aggregate_default_qps": -1}'
_FAULTY = '{"limits": [\n{"principal": "a", "qps": -1, "capacity": 1}\n],\n"x": 1}'
_SEVERAL_FAULTS = (
    "rates.json, line 4: x: there is no key 'x' here (known: limits, aggregate_default_qps, "
    "aggregate_default_capacity); rates.json, line 2: limits[0].qps: Invalid qps: -1. It must be a positive number "
    "(leave qps out for no limit)"
)
_READINGS = '{"at": 0, "principal": "a", "received": 1}\n{"at": TIME, "principal": "a", "received": 2}\n'


def _prices(key="cpu_hour", value="1", currency="EUR"):
    return f'currency = "{currency}"\n[[prices]]\n{key} = {value}\n'


def _goal(kind: str = "wait_p95", role: str = "web", low: int = 0, high: int = 4) -> str:
    """A file of goals."""
    return f'[goals.{role}]\n{kind} = "5m"\n[change.web]\nguarantee = {{ from = "cpus:{low}", to = "cpus:{high}" }}\n'


IN_FILES = (
    # --- Rate limits -------------------------------------------------------------------------------------------------
    Mistake("ratelimit plan rates.json --memory 1GiB", 3, "rates.json, line 3: Invalid", files={"rates.json": _RATES}),
    Mistake(
        "ratelimit simulate rates.json --traffic a=1/s*1",
        3,
        "rates.json, line 3: Invalid",
        files={"rates.json": _RATES},
    ),
    Mistake("ratelimit set a --qps 2 -f rates.json", 3, "rates.json, line 5: Invalid", files={"rates.json": _RATES}),
    Mistake(
        "ratelimit validate rates.json",
        3,
        "rates.json, line 2: limits[0].qps: it should be a number; rates.json, line 3: limits[1]: it should be",
        files={"rates.json": '{"limits": [\n{"principal": "a", "qps": "x"},\n1]}'},
    ),
    Mistake(
        "agents", 3, "e.json is not a snapshot", "snapshot --master ADDRESS", on="fake:e.json", files={"e.json": "{}"}
    ),
    Mistake("ratelimit validate rats.json", 3, "rats.json cannot be read", "did you mean", files={"rates.json": "{}"}),
    Mistake("ratelimit validate no/rates.json", 3, "no/rates.json cannot be read", "there is no folder no"),
    Mistake(
        "ratelimit simulate r.json --recorded watch.jsonl",
        3,
        "watch.jsonl, line 2, is not a reading",
        "ratelimit watch",
        files={"r.json": "{}", "watch.jsonl": _READINGS.replace("TIME", "NaN")},
    ),
    Mistake("ratelimit unset b -f rates.json", 5, "rates.json: the file has no entry", files={"rates.json": "{}"}),
    Mistake(
        "ratelimit validate -f rates.json",
        3,
        "line 2, column 30: expected a name in double quotes, or '}', found ', \"capacity\": 1}'\n",
        files={"rates.json": _FAULTY.replace("-1, ", "-1,, ")},
    ),
    Mistake(
        "ratelimit validate rates.json -o json",
        3,
        _SEVERAL_FAULTS,
        files={"rates.json": _FAULTY},
    ),
    Mistake(
        "roles",
        3,
        _SEVERAL_FAULTS,
        on="fake:c.toml",
        files={"c.toml": f'[flags]\nrate_limits = "rates.json"{_AGENT}', "rates.json": _FAULTY},
    ),
    Mistake("ratelimit plan rates.json -f rates.json --memory 1GiB", 2, "FILE and --file both name a file"),
    Mistake("ratelimit plan --memory 1GiB", 2, "no file is named", "give -f FILE"),
    # --- ACLs --------------------------------------------------------------------------------------------------------
    Mistake("acls check acl.json", 3, "acl.json cannot be read", "did you mean", files={"acls.json": "{}"}),
    Mistake("acls check", 2, "no file is named", "give -f FILE"),
    Mistake("acls check acls.json -f acls.json", 2, "FILE and --file both name a file"),
    Mistake(
        "can-i quota set web --acls acls.json --as ops",
        3,
        "acls.json: line 2, update_quota: there is no action 'update_quota', so a master ignores it",
        "mesosctl acls check acls.json shows every error",
        files={"acls.json": '{"permissive": false,\n"update_quota": []}'},
    ),
    Mistake(
        "can-i reserve ads --acls acls.json --as ops",
        3,
        "acls.json: line 1, column 16: not JSON: expected",
        "acls check acls.json",
        files={"acls.json": '{"permissive": fals}'},
    ),
    Mistake(
        "can-i reserve ads --acls acls.json --principal ops",
        2,
        "no secret for principal 'ops'",
        "--as ops instead of --principal",
        files={"acls.json": '{"permissive": false}'},
    ),
    Mistake("can-i reserve ads --as ops", 2, "--as needs --acls", "give both"),
    # --- Placeholders of documents -----------------------------------------------------------------------------------
    *(
        Mistake(
            "reserve agent-1 -f r.json",
            3,
            says,
            hint,
            files={
                "r.json": '[{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, "reservations": '
                f'[{{"type": "DYNAMIC", "role": "web", "principal": {end}'
            },
        )
        for end, says, hint in (
            ("<operator_principal>}]}]", "found '<operator_principal>}]}]'", "is a placeholder of a document"),
            ('"<operator_principal>"}]}]', "'<operator_principal>' is not a value", "is a placeholder of a document"),
            ('"ops"}]}, ...]', "found '...]'", "'...' stands for what a document leaves out"),
            ('"ops"}]},]', "there is a comma too many before ']'", "remove this comma"),
            ("None}]}]", "found 'None}]}]'", "JSON writes null"),
            ("'ops'}]}]", "found ''ops'}]}]'", "double quotes only"),
            ('"ops"} // mine\n]}]', "found '// mine'", "no comments"),
        )
    ),
    Mistake(
        "diff -f a.toml",
        3,
        "a.toml is not TOML",
        "<agent> is a placeholder",
        files={"a.toml": "[weights]\nweb = <agent>\n"},
    ),
    # --- FILE and -f FILE --------------------------------------------------------------------------------------------
    Mistake("quota set a.json", 2, "give a role", "for example, mesosctl quota set", files={"a.json": "{}"}),
    Mistake("weights set a.json", 2, "'a.json' is not a weight", "for example, web=2", files={"a.json": "{}"}),
    Mistake("export a.toml", 2, "unexpected extra argument (a.toml)", "see mesosctl export"),
    Mistake("apply no.toml", 3, "no.toml cannot be read", "mesosctl export -f no.toml writes one"),
    Mistake("diff", 2, "no file is named", "give -f FILE"),
    # --- Recordings --------------------------------------------------------------------------------------------------
    Mistake("history list --history no.sqlite", 3, "there is no recording no.sqlite", "history record"),
    Mistake("history list --history h.sqlite", 3, "h.sqlite is not a recording", files={"h.sqlite": "no database"}),
    Mistake("history list --history no/h.sqlite", 3, "there is no recording no/h.sqlite"),
    Mistake("history import no.csv --format csv --history h.sqlite", 3, "no.csv cannot be read", "it was looked for"),
    Mistake("history import l.csv --format csv --history no/h.sqlite", 3, "no/h.sqlite", files={"l.csv": ""}),
    Mistake(
        "history import l.csv --format csv --history h.sqlite",
        3,
        "l.csv has no column 'role'",
        "its columns (separated by ',') are team, from, to",
        files={"l.csv": "team,from,to\n"},
    ),
    Mistake(
        "history import l.swf --format swf --history h.sqlite --timezone Europe/Berlin",
        2,
        "--timezone is not for --format swf",
        "leave it out",
        files={"l.swf": ""},
    ),
    Mistake(
        "history import l.csv --format csv --history h.sqlite --timezone Berlin",
        2,
        "there is no time zone 'Berlin'",
        "for example",
        files={"l.csv": ""},
    ),
    Mistake(
        "history import l.csv --format csv --history h.sqlite --processor cpus:2",
        2,
        "--processor is for --format swf",
        files={"l.csv": "role,from,to,cpus\n"},
    ),
    Mistake(
        "history import l.swf --format swf --role-by team --history h.sqlite",
        2,
        "--role-by team",
        "user, group, queue",
        files={"l.swf": ""},
    ),
    Mistake(
        "history import l.csv --format csv --history h.sqlite",
        6,
        "1 row overlaps an earlier import",
        "--replace",
        before="history import l.csv --format csv --history h.sqlite",
        files={"l.csv": "role,from,to,cpus\nweb,1,2,3\n"},
    ),
    *(
        Mistake(f"history import l.csv {words}", status, says, hint, files={"l.csv": "task,asked\na,1\n"})
        for words, status, says, hint in (
            ("--format demand", 2, "no recording is named", "give --into RECORDING"),
            ("--format csv", 2, "no recording is named", "give --history FILE"),
            ("--format demand --history h.sqlite", 2, "--history is for logs", "--into names the recording"),
            ("--format demand --into h.sqlite --role-by task", 2, "--role-by is for logs", "leave it out"),
            ("--format csv --into h.sqlite", 2, "--into is for --format demand", "--history"),
            ("--format demand --into h.sqlite", 3, "there is no recording h.sqlite", "history record"),
        )
    ),
    Mistake(
        "history import l.csv --format demand --into h.sqlite",
        3,
        "l.csv, line 3, column asked",
        "correct that line",
        before="history import r.csv --format csv --history h.sqlite",
        files={"r.csv": "role,from,to,cpus\nweb,1,2,3\n", "l.csv": "task,asked\na,1\nb,soon\n"},
    ),
    *(
        Mistake(
            f"usage --history h.sqlite {words}",
            2,
            says,
            before="history import l.csv --format csv --history h.sqlite",
            files={"l.csv": "role,from,to,cpus\nweb,1,2,3\n", "p.toml": _prices()},
        )
        for words, says in (
            ("--since yesterday", "'yesterday' is not a span of time"),
            ("--since 2026-99-01", "'2026-99-01' is not a time"),
            ("--until 2020-01-01 --since 2021-01-01", "there is no time between --since and --until"),
            ("--step 1d --timezone Mars/Base", "there is no time zone 'Mars/Base'"),
            ("--timezone Europe/Berlin", "--timezone is for days and months"),
            ("--step 0mo", "'0mo' is not above zero"),
            ("--month November", "'November' is not a month"),
            ("--month 2026-13", "'2026-13' is not a month"),
            ("--month 2026-11", "nothing of 2026-11 is in the recording"),
            ("--month 2026-11 --since 1d", "--month is a span of its own"),
            ("--share idle", "--share is for --prices"),
            ("--prices p.toml --share use", "'use' is not idle=HOW"),
            ("--prices p.toml --share idle --by agent", "idle cost is shared among roles, not by agent"),
            ("--prices p.toml --step 1d", "cost has steps of whole months"),
            ("--prices p.toml --half-life 1d", "--half-life is not for cost"),
            ("--cluster-id other", "the recording has no cluster 'other'"),
            ("--step 1d --half-life 0s", "'0s' is not above zero"),
        )
    ),
    # --- Prices ------------------------------------------------------------------------------------------------------
    *(
        Mistake(
            "usage --history h.sqlite --prices p.toml",
            3,
            says,
            hint,
            before="history import l.csv --format csv --history h.sqlite",
            files={"l.csv": "role,from,to,cpus\nweb,1,2,3\n", "p.toml": prices},
        )
        for says, hint, prices in (
            ("p.toml: currency: it is missing", 'currency = "EUR"', "[[prices]]\ncpu_hour = 1\n"),
            ("p.toml: prices: it is missing", "[[prices]]", 'currency = "EUR"\n'),
            ("p.toml, line 2: prices: it is empty", "[[prices]]", 'currency = "EUR"\nprices = []\n'),
            ("p.toml, line 1: currency: 'Euro' is not three capital letters", "EUR", _prices(currency="Euro")),
            (
                "p.toml, line 3: prices[0].cpus_hour: there is no such key",
                "did you mean cpu_hour",
                _prices("cpus_hour"),
            ),
            ("p.toml, line 2: prices[0]: it names no price", "cpu_hour", _prices("from", "2026-11-01")),
            ("p.toml, line 3: prices[0].cpu_hour: 0.0000001 has more than 6 decimals", "", _prices(value="0.0000001")),
            ("p.toml, line 3: prices[0].cpu_hour: it is below zero", "= 0.03", _prices(value="-1")),
            ("p.toml, line 3: prices[0].cpu_hour: it is too large a number", "= 0.03", _prices(value="inf")),
            ("p.toml, line 3: prices[0].cpu_hour: it is too large a number", "= 0.03", _prices(value="2e9")),
            ("p.toml, line 3: prices[0].cpu_hour: it is not a number", "= 0.03", _prices(value="true")),
            ("p.toml, line 3: prices[0].from: it is not a day", "write from = 2026-11-15", _prices("from", "2026")),
            (
                "p.toml, line 3: prices[0].attributes.a: it is neither a string nor",
                "",
                _prices("attributes", "{a = [1]}"),
            ),
            ("p.toml, line 1: currency: it is not a string", "", "currency = 3\n[[prices]]\ncpu_hour = 1\n"),
            ("p.toml, line 2: schema_version: it is 2", "", 'currency = "EUR"\nschema_version = 2\nprices = []\n'),
            ("p.toml is not TOML", "", "[[prices"),
        )
    ),
    *(
        Mistake(f"metrics {words}", 2, f"{option} is for the cost of a month", "--history FILE and --prices FILE")
        for option, words in (
            ("--history", "--history h.sqlite"),
            ("--prices", "--prices p.toml"),
            ("--timezone", "--timezone Europe/Berlin"),
            ("--cluster-id", "--cluster-id lab"),
        )
    ),
    # --- Goals -------------------------------------------------------------------------------------------------------
    *(
        Mistake(
            f"tune goals.toml --replay h.sqlite {words}",
            status,
            says,
            hint,
            before="history import l.csv --format csv --agents nodes.csv --history h.sqlite",
            files={
                "l.csv": "role,from,to,cpus\nweb,1,2,3\n",
                "nodes.csv": "agent,resources\nn1,cpus:4\n",
                "goals.toml": goals,
            },
        )
        for words, status, says, hint, goals in (
            ("", 3, "goals.toml, line 2: goals.web.wait_p59: there is no such key", "did you mean", _goal("wait_p59")),
            ("", 3, "goals.toml, line 1: goals.wep: no task of role 'wep'", "did you mean web", _goal(role="wep")),
            (
                "",
                3,
                "line 4: change.web.guarantee: the bounds of cpus are upside down",
                "exchange",
                _goal(low=4, high=2),
            ),
            ("", 3, "change.web.guarantee.to: 9 cpus is more than the agents have: 4 cpus", "lower it", _goal(high=9)),
            ("", 3, "goals.toml is not TOML", "", "[goals"),
            ("--for soon", 2, "'soon' is not a span of time", "for example", _goal()),
            ("--tries 1", 2, "must be greater than or equal to 2", "", _goal()),
            ("--save h.sqlite", 2, "--save is the recording h.sqlite itself", "name another file", _goal()),
            ("--cluster-id other", 2, "the recording has no cluster 'other'", "", _goal()),
        )
    ),
    Mistake("tune goals.toml --replay h.sqlite", 3, "goals.toml cannot be read"),
    Mistake("tune goals.toml", 2, "--replay", files={"goals.toml": _goal()}),
    # --- One kind of file for another ---------------------------------------------------------------------------------
    *(
        Mistake(
            f"{verb} -f c.toml",
            3,
            "c.toml, line 2: this is a cluster file",
            "export --master fake:c.toml -f wanted.toml writes the desired state",
            files={"c.toml": _AGENT},
        )
        for verb in ("diff", "apply", "plan")
    ),
    Mistake(
        "quota list --master fake:q.toml",
        3,
        "q.toml, line 1: this is a desired-state file",
        "a cluster file has [[agents]]",
        files={"q.toml": 'schema_version = 1\n[quotas.web]\nguarantee = "cpus:1"\n'},
    ),
    # --- Payloads ----------------------------------------------------------------------------------------------------
    Mistake(
        "reserve agent-1 -f array.json",
        3,
        "array.json, line 3: resources[0].scalar.value: it should be a number",
        files={"array.json": '[\n{"name": "cpus", "type": "SCALAR",\n"scalar": {"value": "x"}, "role": "a"}]'},
    ),
    Mistake(
        "weights set -f weights.json",
        3,
        "weights.json, line 3: weight_infos[1].weight: it should be a number",
        files={"weights.json": '[\n{"role": "a", "weight": 2},\n{"role": "b", "weight": "x"}]'},
    ),
    Mistake(
        "weights set -f weights.json",
        3,
        "weights.json, line 3: role 'a' has two weights",
        files={"weights.json": '[\n{"role": "a", "weight": 2},\n{"role": "a", "weight": 3}]'},
    ),
    Mistake(
        "agents",
        3,
        "c.toml, line 3: agents[0].attributes: it is not a table of strings and numbers",
        'attributes = { rack = "r1" }',
        on="fake:c.toml",
        files={"c.toml": '[[agents]]\nresources = "cpus:4"\nattributes = "rack:r1"\n'},
    ),
    # --- Flags of a cluster file -------------------------------------------------------------------------------------
    Mistake(
        "roles",
        3,
        "c.toml, line 2: --quiet: 'maybe' is neither true nor false",
        on="fake:c.toml",
        files={"c.toml": f'[flags]\nquiet = "maybe"{_AGENT}'},
    ),
    Mistake(
        "roles",
        3,
        "--rate_limits: rates.json, line 3: ",
        on="fake:c.toml",
        files={"c.toml": f'[flags]\nrate_limits = "rates.json"{_AGENT}', "rates.json": _RATES},
    ),
    Mistake(
        "roles",
        3,
        "--acls: acls.json, line 2: ",
        on="fake:c.toml",
        files={"c.toml": f'[flags]\nacls = "acls.json"{_AGENT}', "acls.json": '{\n"permissive": 3}'},
    ),
    Mistake(
        "roles",
        3,
        "no.json cannot be read",
        "it was looked for in",
        on="fake:c.toml",
        files={"c.toml": f'[flags]\nacls = "no.json"{_AGENT}'},
    ),
    Mistake(
        "roles",
        3,
        "c.toml is not TOML: it starts with a byte order mark",
        "save it as UTF-8 without",
        on="fake:c.toml",
        files={"c.toml": f"\N{ZERO WIDTH NO-BREAK SPACE}{_AGENT}"},
    ),
    Mistake(
        "roles",
        3,
        "c.toml is not TOML: Cannot overwrite a value (at line 3",
        "name each key and each table once",
        on="fake:c.toml",
        files={"c.toml": '[[agents]]\nresources = "cpus:1"\nresources = "cpus:2"\n'},
    ),
    # --- Configuration -----------------------------------------------------------------------------------------------
    Mistake(
        "quota list",
        5,
        "config.toml, line 2: current: there is no context 'prod'",
        "context list",
        on="",
        files={".config/mesosctl/config.toml": '\ncurrent = "prod"\n[contexts.test]\nmaster = "fake:"\n'},
    ),
    Mistake(
        "quota list",
        2,
        "--timeout is 1e+25",
        "it comes from context prod",
        on="",
        files={".config/mesosctl/config.toml": 'current = "prod"\n[contexts.prod]\nmaster = "fake:"\ntimeout = 1e25\n'},
    ),
    Mistake(
        "quota list",
        2,
        "a principal cannot contain a colon",
        "it comes from context prod",
        on="",
        files={
            ".config/mesosctl/config.toml": 'current = "prod"\n[contexts.prod]\nmaster = "fake:"\nprincipal = "a:b"\n'
        },
    ),
    Mistake(
        "context set prod master=fake:",
        3,
        "config.toml, line 1: contexts: it must be a table of contexts",
        "write [contexts.prod]",
        files={".config/mesosctl/config.toml": "contexts = 3\n"},
    ),
    Mistake(
        "quota list",
        3,
        "config.toml, line 3: contexts.prod.timeout: it must be a number of seconds",
        "context set prod --unset timeout",
        on="",
        files={".config/mesosctl/config.toml": '[contexts.prod]\nmaster = "fake:"\ntimeout = "5"\n'},
    ),
    Mistake(
        "quota list --principal ops --secret-file secrets",
        3,
        "secrets cannot be read",
        "did you mean secret?",
        files={"secret": "x"},
    ),
)
