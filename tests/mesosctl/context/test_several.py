"""One command on several contexts: one question, one answer, the worst status."""

import io
import json
import shlex
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from mesosctl.__main__ import main
from mesosctl.cli import several_contexts
from mesosctl.mesos.errors import Interrupted, Interruption, UsageError
from mesosctl.program.documents import schemas
from mesosctl.program.reference.command_tree import commands
from tests.helpers.surroundings import InMemory, Ran, Terminal

AGENTS = '[[agents]]\nhostname = "{name}-1"\nresources = "cpus:{cpus};mem:4096"\n'


@pytest.fixture
def ctl(tmp_path, monkeypatch):
    """A command at home in `tmp_path`, with the contexts prod and lab, fake masters of 4 and 8 cpus, and gone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    for name, cpus in (("prod", 4), ("lab", 8)):
        (tmp_path / f"{name}.toml").write_text(AGENTS.format(name=name, cpus=cpus), encoding="utf-8")
    folder = tmp_path / "mesosctl"
    folder.mkdir()
    masters = {"prod": "fake:prod.toml", "lab": "fake:lab.toml", "gone": "fake:gone.toml"}
    text = "".join(f'[contexts.{name}]\nmaster = "{address}"\n' for name, address in masters.items())
    (folder / "config.toml").write_text(f'{text}[contexts.keys]\nprincipal = "ops"\n', encoding="utf-8")

    def run(*words: str, stdin: str = "", terminal: bool = False, **variables: str) -> Ran:
        stream = Terminal if terminal else io.StringIO
        environment = InMemory(stdin=stream(stdin), stderr=stream(), variables=home | variables)
        return Ran(main(words, environment), environment.out, environment.err)

    return run


BOTH = ("--context", "prod,lab")


def test_a_list_is_one_table_with_the_context_first(ctl):
    ran = ctl("agents", *BOTH)
    assert [line.split()[:2] for line in ran.out.splitlines()] == [
        ["CONTEXT", "AGENT"],
        ["prod", "prod-1"],
        ["lab", "lab-1"],
    ]
    assert (ran.status, ran.err) == (0, "")


@pytest.mark.parametrize(
    ("form", "out"),
    [
        ("csv", "context,role,guarantee\nprod,web,cpus:1\nlab,web,cpus:1\n"),
        ("name", "prod web\nlab web\n"),
    ],
)
def test_scripts_get_the_context_too(ctl, form, out):
    assert ctl("quota", "set", "web", "cpus:1", *BOTH).status == 0
    columns = ("--columns", "context,role,guarantee") if form == "csv" else ()
    assert ctl("quota", "list", *BOTH, "-o", form, *columns).out == out


def test_chosen_columns_come_after_the_context(ctl):
    shown = ctl("agents", *BOTH, "--columns", "agent").out
    assert [line.split() for line in shown.splitlines()] == [["CONTEXT", "AGENT"], ["prod", "prod-1"], ["lab", "lab-1"]]
    assert ctl("agents", *BOTH, "-o", "csv", "--columns", "agent,CONTEXT").out.splitlines()[1] == "prod-1,prod"
    assert ctl("agents", *BOTH, "--columns", ",").status == 2


def test_jsonl_has_the_context_in_each_line(ctl):
    lines = ctl("agents", *BOTH, "-o", "jsonl").lines
    assert [(line["context"], line["hostname"]) for line in lines] == [("prod", "prod-1"), ("lab", "lab-1")]


def test_the_others_answer_its_error_is_said_and_its_status_counts(ctl):
    ran = ctl("agents", "--all-contexts", "-o", "name")
    assert [line.split()[0] for line in ran.out.splitlines()] == ["prod", "lab"]
    assert ran.err.startswith("mesosctl: gone: gone.toml cannot be read: ")
    assert ran.status == 3


def test_json_is_one_document_that_has_its_error(ctl):
    ran = ctl("agents", "--all-contexts", "-o", "json")
    Draft202012Validator(schemas()["by-context"]).validate(ran.json)
    found = {one["context"]: one for one in ran.json["contexts"]}
    assert [one["exit_status"] for one in found.values()] == [0, 0, 3]
    assert found["prod"]["answer"]["kind"] == "agents.list"
    assert found["gone"]["answer"] is None
    assert found["gone"]["error"] is not None
    assert found["gone"]["error"]["kind"] == "BadInput"
    error = json.loads(ran.err)
    Draft202012Validator(schemas()["error"]).validate(error)
    assert error["contexts"] == ["gone"]


def test_a_change_is_made_on_the_others(ctl):
    ran = ctl("quota", "set", "web", "cpus:1", "--all-contexts", "-o", "name")
    assert (ran.status, ran.out) == (3, "prod web\nlab web\n")
    assert "mesosctl: gone: gone.toml cannot be read: " in ran.err


def test_an_error_that_all_have_is_said_once(ctl):
    ran = ctl("quota", "show", "web", *BOTH)
    assert (ran.status, ran.out) == (5, "")
    assert ran.err.count("mesosctl: ") == 1
    assert ran.err.startswith("mesosctl: prod, lab: no quota is set for 'web'")


def test_the_status_is_the_worst(ctl):
    ran = ctl("quota", "check", "web", "cpus:6", *BOTH)
    assert ran.status == 1
    assert "prod: NO" in ran.out
    assert "lab: YES" in ran.out


@pytest.fixture
def web(ctl):
    assert ctl("quota", "set", "web", "cpus:1", "mem:64", *BOTH, "--yes").status == 0


@pytest.mark.usefixtures("web")
def test_one_for_all(ctl):
    ran = ctl("quota", "update", "web", "cpus:2", *BOTH, stdin="y\nn\n", terminal=True)
    assert ran.status == 0
    assert ran.err.count("[y/N]") == 1
    assert "prod, lab: " in ran.err
    assert [row.split()[:2] for row in ran.out.splitlines()[1:]] == [["prod", "web"], ["lab", "web"]]


@pytest.mark.usefixtures("web")
def test_no_changes_nothing_anywhere(ctl):
    before = ctl("quota", "list", *BOTH, "-o", "json").json
    ran = ctl("quota", "update", "web", "cpus:2", *BOTH, stdin="n\n", terminal=True)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.endswith("nothing was done\n")
    assert ctl("quota", "list", *BOTH, "-o", "json").json == before


@pytest.mark.usefixtures("web")
def test_a_script_has_to_agree_if_one_would_lose_something(ctl):
    assert ctl("quota", "update", "web", "cpus:1", "--context", "lab", "--yes").status == 0
    before = ctl("quota", "list", *BOTH, "-o", "json").json
    ran = ctl("quota", "update", "web", "cpus:2", *BOTH)
    assert (ran.status, ran.out) == (2, "")
    assert "mesosctl: not done: prod: " in ran.err
    assert "or use --yes in a script" in ran.err
    assert ctl("quota", "list", *BOTH, "-o", "json").json == before
    assert ctl("quota", "update", "web", "cpus:2", *BOTH, "--yes").status == 0


def test_a_command_that_asks_nothing_asks_once_on_a_terminal(ctl):
    ran = ctl("quota", "set", "web", "cpus:1", *BOTH, stdin="n\n", terminal=True)
    assert "prod, lab: Make this change: mesosctl quota set web cpus:1 " in ran.err
    assert (ran.status, ran.out) == (2, "")
    assert ctl("quota", "list", *BOTH, "-o", "name").out == ""


def test_what_fails_is_said_before_the_question(ctl):
    ran = ctl("quota", "set", "web", "cpus:1", "--all-contexts", stdin="y\n", terminal=True)
    assert ran.status == 3
    assert ran.err.index("gone.toml cannot be read") < ran.err.index("prod, lab: Make this change: ")
    assert ran.err.count("cannot be read") == 1


def test_a_file_from_standard_input_is_for_every_context(ctl):
    ran = ctl("apply", "-f", "-", *BOTH, "--yes", stdin='[quotas.web]\nguarantee = "cpus:1"\n')
    assert ran.status == 0
    assert ctl("quota", "list", *BOTH, "-o", "name").out == "prod web\nlab web\n"


def test_apply_asks_once_and_leaves_no_journal_of_the_rehearsal(ctl):
    Path("wanted.toml").write_text('[quotas.web]\nguarantee = "cpus:1"\n', encoding="utf-8")
    ran = ctl("apply", "-f", "wanted.toml", *BOTH, stdin="y\n", terminal=True)
    assert ran.status == 0
    assert "interrupted" not in ran.err
    assert ran.err.count("[y/N]") == 1


def test_a_dry_run_forecasts_each_and_changes_nothing(ctl):
    ran = ctl("quota", "set", "web", "cpus:6", *BOTH, "--dry-run", "-o", "json")
    assert ran.status == 1
    assert [one["answer"]["accepted"] for one in ran.json["contexts"]] == [False, True]
    assert ctl("quota", "list", *BOTH, "-o", "name").out == ""


def test_the_audit_has_each_change_with_its_context(ctl):
    assert ctl("quota", "set", "web", "cpus:1", *BOTH).status == 0
    found = ctl("audit", "list", "-o", "json").json["commands"]
    assert [(one["context"], one["status"]) for one in found] == [("prod", 0), ("lab", 0)]


@pytest.mark.usefixtures("ctl")
def test_a_secret_is_typed_once_for_each_context(tmp_path):
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return "typed"

    with (tmp_path / "mesosctl" / "config.toml").open("a", encoding="utf-8") as file:
        file.write('[contexts.own]\nmaster = "fake:own.toml"\nprincipal = "ops"\n')
    Path("own.toml").write_text(AGENTS.format(name="own", cpus=1), encoding="utf-8")
    environment = InMemory(
        stdin=Terminal("y\n"),
        stderr=Terminal(),
        variables={"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)},
        ask_secret=ask,
    )
    assert main(("quota", "set", "web", "cpus:1", "--context", "own,lab"), environment) == 0, environment.err
    assert asked == ["own: Secret of ops: "]


@pytest.mark.parametrize(
    ("words", "status", "says", "hint"),
    [
        ("agents --context prod,", 2, "'prod,' has an empty name", "write --context NAME,NAME"),
        ("agents --context prod,lb", 5, "there is no context 'lb'", "did you mean lab?"),
        ("agents --all-contexts --context lab", 2, "both name contexts", "give one of them"),
        ("agents --context prod,lab --master fake:", 2, "--master names one master", "leave one of them out"),
        ("agents --context prod,lab --watch", 2, "--watch is for one cluster", "name one context"),
        ("top --all-contexts", 2, "mesosctl top does not work on several contexts", "name one context"),
        ("quota set web cpus:1 --all-contexts --report r.html", 2, "--report needs --dry-run", "give both"),
        ("quota set web cpus:1 --context prod,lab --dry-run --report r.html", 2, "--report is for one", "name one"),
        ("quota set web cpus:x --context prod,lab", 3, "'x' is not a number", "cpus:12"),
        ("plan -f prod.toml --save p.json --context prod,lab", 2, "--save is for one cluster", "name one context"),
        ("apply --plan p.json --context prod,lab", 2, "--plan is for one cluster", "name one context"),
        ("quota list --context prod,lab --columns x", 2, "there is no column 'x'", "the columns are context, role"),
    ],
)
def test_a_mistake_is_said_once(ctl, words, status, says, hint):
    ran = ctl(*words.split())
    assert (ran.status, ran.out) == (status, "")
    assert says in ran.err
    assert hint in ran.err
    assert ran.err.count("mesosctl: ") == 1


def test_a_variable_that_names_one_master(ctl):
    ran = ctl("agents", *BOTH, MESOSCTL_MASTER="fake:")
    assert (ran.status, ran.out) == (2, "")
    assert "MESOSCTL_MASTER names one master" in ran.err


def test_a_variable_can_name_several(ctl):
    assert ctl("agents", "-o", "name", MESOSCTL_CONTEXT="lab,prod").out.split()[::2] == ["lab", "prod"]


def test_what_ignores_contexts_ignores_a_variable_that_names_several(ctl):
    assert ctl("context", "list", MESOSCTL_CONTEXT="prod,lab").status == 0
    assert ctl("context", "list", *BOTH).status == 2


def test_an_interruption_is_told_of_the_context_where_it_came(ctl, tmp_path, monkeypatch):
    """The change of prod is done, that of lab ends in an error that hides the signal, and that of next never began."""
    (tmp_path / "next.toml").write_text(AGENTS.format(name="next", cpus=4), encoding="utf-8")
    with (tmp_path / "mesosctl" / "config.toml").open("a", encoding="utf-8") as file:
        file.write('[contexts.next]\nmaster = "fake:next.toml"\n')
    usual = several_contexts.ContextSession.emit

    def emit(session, report):
        usual(session, report)
        if session.environment.signals or session.options.master == "fake:lab.toml":
            session.environment.signals.append(Interruption(Interrupted))
            raise ValueError("this is no schema")

    monkeypatch.setattr(several_contexts.ContextSession, "emit", emit)
    ran = ctl("quota", "set", "web", "cpus:1", "--context", "prod,lab,next", "--yes", "-o", "json")
    assert ran.status == 130
    assert [(one["context"], one["exit_status"]) for one in ran.json["contexts"]] == [
        ("prod", 0),
        ("lab", 130),
        ("next", None),
    ]
    assert json.loads(ran.err)["error"]["message"].endswith("not begun: next")
    assert "this is a bug" not in ran.err


def test_one_cluster_under_two_names_is_not_changed_twice(ctl, tmp_path):
    with (tmp_path / "mesosctl" / "config.toml").open("a", encoding="utf-8") as file:
        file.write('[contexts.again]\nmaster = "fake:lab.toml"\n')
    for agreed in ([], ["--yes"]):
        ran = ctl("reserve", "lab-1", "cpus:1", "--role", "web", "--context", "lab,again", *agreed)
        assert (ran.status, ran.out) == (2, "")
        assert "contexts lab and again name the same master" in ran.err
        assert ctl("reservations", "--context", "lab", "-o", "name").out == ""
    assert ctl("agents", "--context", "lab,again", "-o", "name").status == 0


@pytest.mark.parametrize("agreed", [[], ["--yes"]])
def test_one_cluster_that_its_addresses_hide_is_not_changed_once(ctl, tmp_path, monkeypatch, agreed):
    """Only the masters say that they are the same one: they are asked before the first change."""
    monkeypatch.setattr(several_contexts, "_refuse_one_address_twice", lambda *_: None)
    with (tmp_path / "mesosctl" / "config.toml").open("a", encoding="utf-8") as file:
        file.write('[contexts.again]\nmaster = "fake:lab.toml"\n')
    ran = ctl("reserve", "lab-1", "cpus:1", "--role", "web", "--context", "lab,again", *agreed)
    assert (ran.status, ran.out) == (2, "")
    assert "contexts lab and again name the same master" in ran.err
    assert ctl("reservations", "--context", "lab", "-o", "name").out == ""


def test_no_context_names_a_master(ctl, tmp_path):
    (tmp_path / "mesosctl" / "config.toml").write_text("", encoding="utf-8")
    assert ctl("agents", "--all-contexts").status == 5


WORKS = [node for node in commands().walk() if node.examples]
FORKING = [("capacity", "spare")]


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(node, marks=[pytest.mark.process] * (node.path[1:] in FORKING), id=" ".join(node.path[1:]))
        for node in WORKS
    ],
)
def test_every_command_works_or_refuses_clearly(ctl, node):
    """The things that its first example names may not exist, but it ends without a bug, or refuses and says why."""
    ran = ctl(*shlex.split(node.examples[0][0]), *BOTH, "--timeout", "1s", "--yes")
    assert ran.status != 8, ran.err
    assert "Traceback" not in ran.err


def test_a_suggested_command_is_for_the_cluster_of_the_command(ctl):
    assert ctl("quota", "set", "web", "cpus:1", "--context", "lab").status == 0
    told = ctl("quota", "set", "web", "cpus:1", "--context", "lab").err
    assert "use mesosctl quota update web cpus:1 --context lab, or " in told
    told = ctl("quota", "set", "web", "cpus:1", "--master", "fake:lab.toml").err
    assert "mesosctl quota update web cpus:1 --master fake:lab.toml" in told
    told = ctl("quota", "set", "web", "cpus:1", "--context", "lab,keys", "--yes").err
    assert "--context lab" in told
    assert "lab,keys" not in told
    plain = ctl("quota", "set", "web", "cpus:1", MESOSCTL_CONTEXT="lab").err
    assert "--context" not in plain


def test_two_addresses_of_one_master_are_refused_before_anything_is_read():
    with pytest.raises(UsageError, match="asia"):
        several_contexts._refuse_one_address_twice(["europe", "asia"], ["http://10.0.0.1:5050", "http://10.0.0.1:5050"])


def test_an_export_is_a_file_for_each_context(ctl, tmp_path):
    for name, role in (("prod", "web"), ("lab", "ads")):
        assert ctl("quota", "set", role, "cpus:1", "--context", name).status == 0
    ran = ctl("export", *BOTH, "-f", "wanted-{context}.toml")
    assert (ran.status, ran.out) == (0, ""), ran.err
    assert "wanted-prod.toml" in ran.err
    texts = {name: (tmp_path / f"wanted-{name}.toml").read_text(encoding="utf-8") for name in ("prod", "lab")}
    assert [("quotas.web" in text, "quotas.ads" in text) for text in texts.values()] == [(True, False), (False, True)]
    for name in texts:
        assert ctl("diff", "-f", f"wanted-{name}.toml", "--context", name).status == 0
    assert ctl("diff", *BOTH, "-f", "wanted-{context}.toml").status == 0
    assert ctl("quota", "set", "dev", "cpus:1", "--context", "lab").status == 0
    ran = ctl("export", *BOTH, "-f", "wanted-{context}.toml")
    assert ran.status == 2  # the file of lab has other content now, and a script has to say --yes
    assert "wanted-lab.toml" in ran.err
    assert ctl("export", *BOTH, "-f", "wanted-{context}.toml", "--yes").status == 0
    assert "quotas.dev" in (tmp_path / "wanted-lab.toml").read_text(encoding="utf-8")
    assert ctl("export", *BOTH, "--cluster", "-f", "{context}/cluster.toml").status == 3  # there is no such folder
    assert ctl("export", *BOTH, "--cluster", "-f", "c-{context}.toml").status == 0
    assert 'hostname = "lab-1"' in (tmp_path / "c-lab.toml").read_text(encoding="utf-8")


def test_each_context_is_compared_with_its_own_file_and_gets_it(ctl, tmp_path):
    for name, role in (("prod", "web"), ("lab", "ads")):
        (tmp_path / f"wanted-{name}.toml").write_text(f'[quotas.{role}]\nguarantee = "cpus:1"\n', encoding="utf-8")
    files = "-f", "wanted-{context}.toml"
    ran = ctl("diff", *BOTH, *files, "-o", "csv")
    assert ran.status == 1, ran.err
    assert [line.split(",")[0] for line in ran.out.splitlines()[1:]] == ["prod", "lab"]
    assert ["web" in line for line in ran.out.splitlines()[1:]] == [True, False]
    assert ctl("plan", *BOTH, *files).status == 0
    assert ctl("apply", *BOTH, *files, "--yes").status == 0
    assert ctl("diff", *BOTH, *files).status == 0
    assert "ads" not in ctl("quota", "list", "--context", "prod", "-o", "name").out
    (tmp_path / "wanted-lab.toml").unlink()
    ran = ctl("diff", *BOTH, *files)
    assert ran.status == 3
    assert "wanted-lab.toml" in ran.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ((), "--file 'wanted-{context}.toml'"),
        (("-f", "all.toml"), "--file 'all-{context}.toml'"),
        (("-f", "all"), "--file 'all-{context}'"),
        (("-f", "-"), "--file 'wanted-{context}.toml'"),
        (("--cluster",), "--file 'wanted-{context}.toml'"),
    ],
)
def test_one_file_does_not_hold_the_export_of_several(ctl, tmp_path, words, hint):
    ran = ctl("export", *BOTH, *words)
    assert ran.status == 2
    assert hint in ran.err
    assert not (tmp_path / "all.toml").exists()
    assert ctl("export", *BOTH, "--from", "s.json", "-f", "{context}.toml").status == 2


def test_an_export_as_json_is_one_document_of_several(ctl):
    answers = json.loads(ctl("export", *BOTH, "-o", "json").out)["contexts"]
    assert [(entry["context"], entry["answer"]["kind"]) for entry in answers] == [
        ("prod", "wanted.state"),
        ("lab", "wanted.state"),
    ]
