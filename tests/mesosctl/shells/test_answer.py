"""The answers of both programs to the scripts: names are data, and nothing else is ever said."""

import io
import os

import pytest
import tomli_w

from fake_master.__main__ import app
from mesosctl.__main__ import main
from mesosctl.cli.completion.names import keep_contexts
from mesosctl.mesos.names import spelled
from mesosctl.program import completion
from mesosctl.shells.answer import answer
from mesosctl.shells.scripts import SHELLS, variable_of
from tests.helpers.surroundings import InMemory, Ran, Terminal
from tests.mesosctl.shells.hostile_names import BY_KIND

NAMES = BY_KIND["agents"]
UNFIT = ["we\nb", "we\rb", "we\tb", "we\x1b[31mb", "we\x7fb", "we\x85b", "we\u2028b", "we\u202eb"]


@pytest.fixture
def run(tmp_path):
    """A function that completes with these variables; `terminal` is about standard input and error."""

    def run_in(*, terminal=False, **variables):
        stream = Terminal if terminal else io.StringIO
        folders = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
        # Its clock stands still: a slow machine does not take the time that a completion has.
        environment = InMemory(stdin=stream(), stderr=stream(), variables=folders | variables, clock=lambda: 0.0)
        status = main((), environment)
        return Ran(status, environment.out, environment.err)

    return run_in


@pytest.fixture
def offers(run):
    """A function that returns the words that zsh is offered after a line."""

    def offers_of(line, **variables):
        ran = run(_MESOSCTL_COMPLETE="words_zsh", _MESOSCTL_LINE=f"mesosctl {line}", **variables)
        assert (ran.status, ran.err) == (0, "")
        lines = ran.out.removesuffix("\n").split("\n") if ran.out else []
        assert all(one[0] in " +" for one in lines)
        return [one[1:].partition("\t")[0] for one in lines]

    return offers_of


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The address of one fake cluster whose agents and frameworks have names that shells would run."""
    file = tmp_path_factory.mktemp("hostile") / "cluster.toml"
    agents = [{"resources": "cpus:1", "hostname": name} for name in NAMES]
    frameworks = [{"name": name, "role": "web", "suppressed": ["web"], "answer": "hold"} for name in (*NAMES, *UNFIT)]
    file.write_text(tomli_w.dumps({"agents": agents, "frameworks": frameworks}), encoding="utf-8")
    return f"fake:{file}"


def test_every_name_is_offered_as_it_is(offers, hostile):
    """One that begins as a kind does has its own kind in front."""
    found = offers("frameworks teardown -- ", MESOSCTL_MASTER=hostile)
    assert found[: len(NAMES)] == [spelled("name", name) for name in NAMES]
    assert not set(UNFIT) & set(found)
    found = offers("agents gone -- ", MESOSCTL_MASTER=hostile)
    assert found[: len(NAMES)] == [spelled("host", name) for name in NAMES]


def test_the_names_that_are_kept_are_the_same(offers, hostile, tmp_path):
    variables = {"MESOSCTL_MASTER": hostile, "XDG_CACHE_HOME": str(tmp_path)}
    asked = offers("frameworks teardown -- ", **variables)
    (kept,) = tmp_path.rglob("framework")
    assert kept.read_text(encoding="utf-8").removesuffix("\n").split("\n")[1:] == asked
    assert offers("frameworks teardown -- ", **variables) == asked


def test_a_name_that_is_an_option_is_offered_where_it_is_none(offers, hostile):
    """A framework that calls itself --yes must not answer a question."""
    dashes = {name for name in NAMES if name.startswith("-")}
    assert {"--yes", "-rf", "--role=$(touch PWNX)"} <= dashes

    def of_the_cluster(line):
        return set(offers(line, MESOSCTL_MASTER=hostile)) & dashes

    assert of_the_cluster("frameworks teardown ") == set()
    assert of_the_cluster("frameworks teardown -- ") == dashes
    assert of_the_cluster("frameworks teardown -- -") == dashes
    assert of_the_cluster("frameworks teardown -- --role=") == {"--role=$(touch PWNX)"}
    assert of_the_cluster("tasks list --framework ") == dashes
    assert of_the_cluster("tasks list --framework=-r") == {"-rf"}
    assert of_the_cluster("tasks list --framework -r") == {"-rf"}
    assert "--yes" in offers("frameworks teardown --y", MESOSCTL_MASTER="fake:")  # the option
    assert of_the_cluster("frameworks teardown --force-of-nothing ") == set()
    assert of_the_cluster("frameworks teardown --yes ") == set()


def test_the_three_shells_are_answered_in_their_ways(run):
    def lines(shell, line, **variables):
        ran = run(_MESOSCTL_COMPLETE=f"words_{shell}", _MESOSCTL_LINE=f"mesosctl {line}", **variables)
        return ran.out.splitlines()

    assert lines("bash", "quota list -o js", _MESOSCTL_REPLACED="js") == ["", " json", " jsonl"]
    assert lines("bash", "quota list --output=js", _MESOSCTL_REPLACED="js") == ["", " json", " jsonl"]
    assert lines("bash", "quota list '--output=js", _MESOSCTL_REPLACED="--output=js") == [
        "'",
        " --output=json",
        " --output=jsonl",
    ]
    assert lines("zsh", "quota list --output=js") == [" json\t", " jsonl\t"]
    assert lines("fish", "quota list --output=js") == ["--output=json\t", "--output=jsonl\t"]
    assert lines("bash", "whatif re", _MESOSCTL_REPLACED="re") == ["", "+remove-quota:", "+reserve:"]
    assert lines("zsh", "whatif re") == ["+remove-quota:\t", "+reserve:\t"]
    assert lines("fish", "whatif re") == ["remove-quota:\t", "reserve:\t"]
    assert lines("zsh", "whatif reserve:") == lines("zsh", "context set prod timeout=") == []
    (zsh,), (fish,) = lines("zsh", "qu"), lines("fish", "qu")
    assert zsh == f" {fish}"
    assert fish.startswith("quota\tGuarantee roles")


def test_what_fish_would_replace_is_offered_with_its_kind_or_in_quotes(run, hostile, tmp_path):
    def words(line, master=hostile):
        ran = run(_MESOSCTL_COMPLETE="words_fish", _MESOSCTL_LINE=f"mesosctl {line}", MESOSCTL_MASTER=master)
        return {found.partition("\t")[0] for found in ran.out.splitlines()}

    percent = {name for name in NAMES if name.startswith("%")}
    assert {"%self", "%1"} <= percent
    for place, kind in (("frameworks teardown ", "name"), ("agents gone ", "host")):
        assert words(f"{place}%") == percent - {"%self"}
        assert f"{kind}:%self" in words(f"{place}{kind}:")
        assert f"{kind}:%self" in words(place)
    # A role has no other kind of name.
    file = tmp_path / "roles.toml"
    file.write_text('[[frameworks]]\nname = "f"\nroles = ["%self", "%1"]\nanswer = "hold"\n', encoding="utf-8")
    of_roles = f"fake:{file}"
    assert words("quota remove %", of_roles) == {"%1"}
    assert words("quota remove '%", of_roles) == {"%1", "%self"}


def test_a_locale_that_cannot_write_a_name_gets_the_others():
    class Latin(io.StringIO):
        encoding = "latin-1"

    out = Latin()
    asked = {"_MESOS_FAKE_MASTER_COMPLETE": "words_zsh", "_MESOSCTL_LINE": "mesos-fake-master --reg"}
    assert answer(app, "mesos-fake-master", asked, out) == 0
    assert "--registry" in out.getvalue()


EARLIER = [
    {"": "complete_zsh", "_TYPER_COMPLETE_ARGS": "{} "},
    {"": "complete_zsh", "_TYPER_COMPLETE_ARGS": "{} frameworks teardown "},
    {"": "complete_bash", "COMP_WORDS": "{}\nframeworks\nteardown\n", "COMP_CWORD": "3"},
    {"": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args", "_TYPER_COMPLETE_ARGS": "{} frameworks teardown "},
    {"": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "is-args", "_TYPER_COMPLETE_ARGS": "{} --"},
    {"": "complete_powershell", "_TYPER_COMPLETE_ARGS": "{} frameworks teardown "},
    {"": "complete_pwsh", "_TYPER_COMPLETE_ARGS": "{} "},
    *({"": f"source_{shell}"} for shell in (*SHELLS, "powershell")),
    *(
        {"": request, "_MESOSCTL_LINE": "{} "}
        for request in ("words", "words_", "words_csh", "words_zsh ", "nonsense", "1")
    ),
]
"""The requests of scripts that evaluate the answer, and others that no script sends."""


@pytest.mark.parametrize("request_", EARLIER, ids=lambda one: one[""])
def test_earlier_scripts_get_an_answer_that_eval_cannot_run(run, hostile, request_, monkeypatch):
    for program in ("mesosctl", "mesos-fake-master"):
        asked = {name or variable_of(program): text.format(program) for name, text in request_.items()}
        for name, text in asked.items():  # typer reads those of the process
            monkeypatch.setenv(name, text)
        if program == "mesosctl":
            ran = run(MESOSCTL_MASTER=hostile, **asked)
            assert (ran.status, ran.out, ran.err) == (1, "", "")
        else:
            out = io.StringIO()
            assert (answer(app, program, asked, out), out.getvalue()) == (1, "")


def context_file(tmp_path, text, mode=0o600):
    folder = tmp_path / "config" / "mesosctl"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)
    (folder / "config.toml").chmod(mode)
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


SECRETIVE = (
    'current = "prod"\n[contexts.prod]\nmaster = "http://other:5050"\nprincipal = "ops"\nsecret = "s3cret-of-ops"\n'
)
SAYS = {
    "MESOSCTL_MASTER overrides a context": ("", {"MESOSCTL_MASTER": "fake:"}, SECRETIVE),
    "a context and an address": ("--master fake: ", {"MESOSCTL_CONTEXT": "prod"}, SECRETIVE),
    "two clusters": ("--context prod --master fake: ", {}, SECRETIVE),
    "a configuration with a secret that others may read": ("", {"MESOSCTL_MASTER": "fake:"}, SECRETIVE),
    "a file of a secret that others may read": ("--master fake: --principal ops --secret-file {tmp}/lax ", {}, ""),
    "a file of a token that others may read": ("--master fake: --token-file {tmp}/lax ", {}, ""),
    "a secret in the address": ("--master zk://ops:secret-of-ops@127.0.0.1:1/mesos ", {}, ""),
    "certificates without TLS": ("--master http://master:5050 --cacert /dev/null ", {}, ""),
    "nobody to ask for a secret": ("--master fake: --principal ops ", {}, ""),
    "a secret from a prompt": ("--master fake: --principal ops --secret-from prompt ", {}, ""),
    "a secret from a keyring that is not there": ("--master fake: --principal ops --secret-from keyring ", {}, ""),
    "a trace": ("-vv --master fake: ", {"MESOSCTL_VERBOSE": "2"}, ""),
    "a broken configuration": ("", {"MESOSCTL_MASTER": "fake:"}, "current = [\n"),
    "an unknown setting": ("", {"MESOSCTL_MASTER": "fake:"}, '[contexts.prod]\nmaste = "x"\n'),
    "an unknown context": ("--context lab ", {}, SECRETIVE),
    "several contexts": ("--context prod,lab ", {}, SECRETIVE),
    "an invalid variable": ("", {"MESOSCTL_TIMEOUT": "nonsense", "MESOSCTL_MASTER": "fake:"}, ""),
    "an invalid address": ("--master nonsense:// ", {}, ""),
    "no master": ("--master http://127.0.0.1:1 ", {}, ""),
    "no leader": ("--master zk://127.0.0.1:1/mesos ", {}, ""),
    "a missing file": ("--master fake:{tmp}/missing.toml ", {}, ""),
    "a broken file": ("--master fake:{tmp}/lax ", {}, ""),
    "an option that does not exist": ("--nonsense ", {}, ""),
    "an option without its value": ("--timeout x --count ", {}, ""),
    "JSON": ("-o json --master http://127.0.0.1:1 ", {}, ""),
    "the version": ("--version ", {"MESOSCTL_MASTER": "fake:"}, ""),
    "the help": ("--help ", {"MESOSCTL_MASTER": "fake:"}, ""),
    "the script": ("--show-completion ", {"MESOSCTL_MASTER": "fake:"}, ""),
    "an installation": ("--install-completion ", {"MESOSCTL_MASTER": "fake:"}, ""),
}


def needs_socket(why):
    before, variables, _ = SAYS[why]
    return "://" in before or "fake:" not in f"{before}{variables}"


@pytest.mark.parametrize("why", [pytest.param(why, marks=[pytest.mark.socket] * needs_socket(why)) for why in SAYS])
@pytest.mark.parametrize("terminal", [False, True])
def test_completion_says_nothing(run, tmp_path, why, terminal):
    before, variables, configuration = SAYS[why]
    (tmp_path / "lax").write_text("a-secret")
    (tmp_path / "lax").chmod(0o644)
    mode = 0o644 if "others may read" in why else 0o600
    settings = context_file(tmp_path, configuration, mode) if configuration else {}
    for shell in SHELLS:
        line = f"mesosctl {before.format(tmp=tmp_path)}agents drain "
        ran = run(
            terminal=terminal,
            **settings | variables,
            _MESOSCTL_COMPLETE=f"words_{shell}",
            _MESOSCTL_LINE=line,
        )
        words = [one.strip(" +").partition("\t")[0] for one in ran.out.splitlines()]
        assert ran.err == ""
        assert not any(" " in word or "mesosctl" in word for word in words), words
    assert not [
        name for name in (".bashrc", ".zshrc", ".zfunc", ".config", ".bash_completions") if (tmp_path / name).exists()
    ]


def test_notes_do_not_keep_names_back(offers, tmp_path):
    settings = context_file(tmp_path, SECRETIVE)
    assert "agent-1" in offers("agents drain ", MESOSCTL_MASTER="fake:", **settings)


def test_a_failure_in_the_middle_says_nothing_either(run, monkeypatch):
    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(completion, "kept_names", fail)
    ran = run(_MESOSCTL_COMPLETE="words_zsh", _MESOSCTL_LINE="mesosctl agents drain ", MESOSCTL_MASTER="fake:")
    assert (ran.status, ran.out, ran.err) == (1, "", "")


def test_the_variables_of_the_process_stay_as_they_are(run):
    before = dict(os.environ)
    run(_MESOSCTL_COMPLETE="words_bash", _MESOSCTL_LINE="mesosctl qu", _MESOSCTL_REPLACED="qu")
    run(_MESOSCTL_COMPLETE="words_fish", _MESOSCTL_LINE="mesosctl qu")
    assert dict(os.environ) == before


def test_contexts_are_offered_without_a_cluster(offers, tmp_path):
    keep_contexts(["prod", "lab"], {"XDG_CACHE_HOME": str(tmp_path)})
    assert offers("context use ", XDG_CACHE_HOME=str(tmp_path)) == ["prod", "lab"]
    assert offers("--context prod,", XDG_CACHE_HOME=str(tmp_path)) == ["prod,lab"]
