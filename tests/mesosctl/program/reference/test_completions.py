"""The completion files, in the shells they are for.  A stand-in for mesosctl notes its words, and completes."""

import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time

import pytest

from mesosctl.cli.completion.names import keep_contexts, keep_names
from mesosctl.cli.configuration.settings import resolve
from mesosctl.cli.global_options import GlobalOptions
from mesosctl.files.redaction import Secrets
from tests import ROOT
from tests.helpers.needs import require

pytestmark = [pytest.mark.shell, pytest.mark.terminal, pytest.mark.process]

FILES = ROOT / "completions"
TRICKY = ["web", "web-old", "we $(touch owned)", "we'quoted", "x:y"]


class Home:
    """A home with a mesosctl that completes as ever, and otherwise notes its words and does nothing."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "bin").mkdir()
        program = folder / "bin" / "mesosctl"
        program.write_text(
            f'#!/bin/sh\nif [ -n "$_MESOSCTL_COMPLETE" ]; then exec "{sys.executable}" -m mesosctl; fi\n'
            f'printf "%s\\n" "$*" >>"{folder}/log"\n'
        )
        server = folder / "bin" / "mesos-fake-master"
        server.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from fake_master.__main__ import main; main()"\n')
        for made in (program, server):
            made.chmod(0o755)
        self.variables = {
            "HOME": str(folder),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "XDG_STATE_HOME": str(folder / "state"),
            "PYTHONPATH": str(FILES.parent),
        }

    @property
    def environment(self):
        left_out = {name for name in os.environ if name.startswith("MESOSCTL_")} | {"ZDOTDIR"}
        kept = {name: value for name, value in os.environ.items() if name not in left_out}
        return {
            **kept,
            **self.variables,
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "TERM": "xterm",
            "LC_ALL": "C.UTF-8",
        }

    @property
    def log(self):
        path = self.folder / "log"
        return path.read_text().splitlines() if path.exists() else []

    def keep(self, *names, kind="role", words=None, age=0, attributes=None, **variables):
        """Keep names as a command does that was told them."""
        at = {"role": "/roles", "agent": "/slaves", "task": "/tasks"}[kind]
        entries = [{"name": name, "hostname": name, "id": f"id-{name}", "state": "TASK_RUNNING"} for name in names]
        for entry in entries if attributes else ():
            entry["attributes"] = attributes
        settings = resolve(GlobalOptions(**(words or {})), {**self.variables, **variables})
        keep_names(at, {"roles": entries, "slaves": entries, "tasks": entries}, settings, self.variables, Secrets())
        for path in (self.folder / "cache").rglob(kind):
            until, _, rest = path.read_text().partition("\n")
            path.write_text(f"{int(until) - age}\n{rest}")

    def bash(self, *words, replaced=None, **variables):
        """What bash offers for the last of `words`, split as bash splits them, or for the text that it replaces."""
        require("bash")
        line = re.sub(" ([:=])(?: |$)", r"\1", " ".join(("mesosctl", *words)))
        replaced = re.split("[ :=]", line)[-1] if replaced is None else replaced
        script = (
            f"source '{FILES}/mesosctl.bash'; compopt() {{ :; }}; "
            f"COMP_LINE={shlex.quote(line)}; COMP_POINT={len(line)}; "
            f"_mesosctl_completion mesosctl {shlex.quote(replaced)}; "
            'printf "%s\\n" ${COMPREPLY[@]+"${COMPREPLY[@]}"}'
        )
        return self._run(["bash", "-euo", "pipefail", "-c", script], variables)

    def fish(self, line, **variables):
        require("fish")
        quoted = line.replace("\\", "\\\\").replace("'", "\\'")
        script = f"source '{FILES}/mesosctl.fish'; complete -C '{quoted}'"
        return {offered.partition("\t")[0] for offered in self._run(["fish", "--no-config", "-c", script], variables)}

    def _run(self, command, variables):
        environment = {**self.environment, **variables}
        ran = subprocess.run(
            command, capture_output=True, text=True, check=True, env=environment, cwd=self.folder, timeout=120
        )
        assert ran.stderr == ""
        return {line for line in ran.stdout.splitlines() if line}

    def typed(self, shell, *keys):
        """Type `keys` into an interactive shell, and return the words that mesosctl was run with in the end."""
        require(shell)
        command, setup = {
            "bash": (["bash", "--norc", "--noprofile", "-i"], f"source '{FILES}/mesosctl.bash'; PS1=REA''DY"),
            "zsh": (
                ["zsh", "-f", "-i"],
                f"fpath=('{FILES}' $fpath); autoload -Uz compinit; compinit -D -u; PS1=REA''DY",
            ),
        }[shell]
        master, slave = pty.openpty()
        with subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**self.environment, "PS1": "FIRST"},
            cwd=self.folder,
            start_new_session=True,
        ) as running:
            os.close(slave)
            try:
                wait_for(master, b"FIRST")
                os.write(master, f"{setup}\r".encode())
                wait_for(master, b"READY")
                os.write(master, "".join(keys).encode())
                wait_for(master, b"READY")
                os.write(master, b"exit\r")
                running.wait(60)
            finally:
                running.kill()
                os.close(master)
        return self.log[-1]


def wait_for(terminal, text):
    seen, end = b"", time.monotonic() + 60
    while text not in seen:
        assert select.select([terminal], [], [], max(0, end - time.monotonic()))[0], seen
        seen += os.read(terminal, 4096)


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


class TestBash:
    def test_commands(self, home):
        assert home.bash("qu") == {"quota"}
        assert home.bash("quota", "s") == {"set", "show"}
        assert home.bash("-o", "json", "quota", "re") == {"remove"}

    def test_the_options_of_the_command(self, home):
        assert {"--force", "--file", "--master", "--report"} <= home.bash("quota", "set", "dev", "-")
        assert "--force" not in home.bash("quota", "list", "-")

    def test_values(self, home):
        assert home.bash("quota", "list", "-o", "js") == {"json", "jsonl"}
        assert home.bash("quota", "list", "--output", "=", "js") == {"json", "jsonl"}
        assert home.bash("quota", "list", "--output", "=") == {
            *("table", "wide", "json", "jsonl", "yaml", "csv", "name")
        }
        assert home.bash("quota", "list", "--output=js", replaced="--output=js") == {"--output=json", "--output=jsonl"}
        assert home.bash("--principal", "") == set()

    def test_words_that_are_the_same_in_every_cluster(self, home):
        assert home.bash("--master", "f") == {"fake:", "file:///"}
        assert home.bash("quota", "list", "--master", "=", "f") == {"fake:", "file:///"}
        assert home.bash("whatif", "re") == {"remove-quota:", "reserve:"}
        assert home.bash("whatif", "quota:web=cpus:1", "li") == {"limit:"}
        assert home.bash("replay", "h.sqlite", "re") == {"remove-quota:", "reserve:"}
        assert home.bash("replay", "h.sqlite", "a") == {"at:"}
        assert home.bash("whatif", "fai") == {"failover:"}
        assert home.bash("replay", "h.sqlite", "fai") == set()
        assert home.bash("context", "set", "prod", "token-") == {*("token-file=", "token-scheme=")}
        assert home.bash("context", "set", "prod", "output=json", "tim") == {"timeout="}
        assert home.bash("context", "set", "prod", "--unset", "tim") == {"timeout"}
        assert home.bash("completion", "") == {"bash", "zsh", "fish"}
        assert home.bash("reserve", "agent-1", "--label", "") == set()

    def test_a_value_is_not_taken_for_a_command(self, home):
        assert home.bash("--principal", "quota", "") >= {"quota"}

    def test_an_address_is_one_word(self, home):
        assert home.bash("--master", "http", ":", "//quota", ":", "5050", "qu") == {"quota"}

    def test_names_come_from_the_file(self, home):
        home.keep("web", "web-old", "ads")
        assert home.bash("quota", "remove", "we") == {"web", "web-old"}
        assert home.bash("quota", "remove", "web", "a") == {"ads"}
        assert home.bash("reserve", "cpus:1", "--role", "ad") == {"ads"}

    def test_names_that_a_shell_would_run_are_quoted(self, home):
        home.keep(*TRICKY)
        assert home.bash("quota", "remove", "we") == {"web", "web-old", r"we\ \$\(touch\ owned\)", r"we\'quoted"}
        assert home.bash("quota", "remove", "x", ":") == {"y"}
        assert not (home.folder / "owned").exists()

    def test_after_a_noun_come_its_verbs_and_what_its_list_takes(self, home):
        home.keep("agent-1", "rack-7", "drawer", kind="agent")
        assert home.bash("agents", "") == {
            *("list", "drain", "deactivate", "reactivate", "gone"),
            *(f"{sort}{name}" for sort in ("", "id-") for name in ("agent-1", "rack-7", "drawer")),
        }
        assert home.bash("agents", "dr") == {"drain", "drawer"}
        assert home.bash("agents", "list", "dra") == {"drawer"}
        assert home.bash("agents", "drawer", "ra") == {"rack-7"}
        assert home.bash("agents", "drain", "r") == {"rack-7"}
        assert {"--attribute", "--sort"} <= home.bash("agents", "--")
        assert "--mark-gone" in home.bash("agents", "drain", "--m")

    def test_attributes_are_completed_by_name_and_then_by_value(self, home):
        home.keep("raven", kind="agent", attributes={"rack": "r1", "gpu": "yes", "slots": 2.0})
        assert home.bash("agents", "--attribute", "ra") == {"rack="}
        assert home.bash("agents", "--attribute", "rack", "=", "r") == {"r1"}
        assert home.bash("agents", "--attribute", "slots", "=", "") == {"2"}
        assert home.bash("agents", "--attribute", "gpu!", "=", "") == {"yes"}
        assert home.bash("agents", "--attribute", "!r") == {r"\!rack"}
        assert home.bash("whatif", "--lose-agent", "ra") == {"raven", "rack="}

    def test_tasks_are_named_by_their_ids(self, home):
        home.keep("web-1", "web-2", kind="task")
        assert home.bash("tasks", "id") == {"id-web-1", "id-web-2"}
        assert {"staging", "starting"} == home.bash("tasks", "--state", "sta")

    def test_machines_and_conditions_are_named_by_agents(self, home):
        home.keep("agent-1", "rack-7", kind="agent")
        for verb in ("plan", "down", "up", "cancel"):
            assert home.bash("maintenance", verb, "ra") == {"rack-7"}
        verbs = {"list", "plan", "schedule", "cancel", "down", "up"}
        assert home.bash("maintenance", "") == verbs | {"agent-1", "rack-7", "id-agent-1", "id-rack-7"}

    def test_old_names_are_asked_for_and_kept(self, home):
        home.keep("old", kind="agent", MESOSCTL_MASTER="fake:", age=3600)
        assert home.bash("reserve", "agent-", MESOSCTL_MASTER="fake:") == {"agent-1", "agent-2", "agent-3"}
        (kept,) = (home.folder / "cache").rglob("agent")
        assert "agent-1" in kept.read_text()
        assert home.bash("reserve", "agent-1", "", MESOSCTL_MASTER="fake:") == set()

    def test_a_broken_file_is_asked_anew_and_never_run(self, home):
        home.keep("web", MESOSCTL_MASTER="fake:")
        for path in (home.folder / "cache").rglob("role"):
            path.write_text("a[$(touch owned)]\nweb\n")
        assert "web" not in home.bash("quota", "remove", "", MESOSCTL_MASTER="fake:")
        assert not (home.folder / "owned").exists()

    def test_nothing_is_said_where_no_master_answers(self, home):
        assert home.bash("quota", "remove", "") == set()
        assert home.bash("quota", "remove", "", MESOSCTL_MASTER="http://127.0.0.1:1") == set()
        assert home.bash("quota", "remove", "", MESOSCTL_TIMEOUT="nonsense") == set()
        assert home.bash("quota", "--principal", "op", "--nonsense", "remove", "") is not None

    def test_names_belong_to_their_master(self, home):
        home.keep("one", words={"master": "http://one:5050"})
        home.keep("two", MESOSCTL_MASTER="zk://ops:pw@two:2181/mesos")
        home.keep("none")
        assert home.bash("--master", "http", ":", "//one", ":", "5050", "quota", "remove", "") == {"one"}
        assert home.bash("quota", "remove", "", MESOSCTL_MASTER="zk://ops:pw@two:2181/mesos") == {"two"}
        assert home.bash("quota", "remove", "") == {"none"}
        assert "pw" not in " ".join(map(str, (home.folder / "cache").rglob("*")))

    def test_contexts(self, home):
        keep_contexts(["prod", "lab"], home.variables)
        assert home.bash("context", "use", "p") == {"prod"}
        assert home.bash("--context", "l") == {"lab"}
        assert home.bash("--context", "=", "l") == {"lab"}

    def test_as_it_is_typed(self, home):
        home.keep("web-ops", "ads")
        home.keep("host-1.example", kind="agent")
        assert home.bash("weights", "set", "ad") == {"ads="}
        assert home.bash("weights", "set", "ads", "=") == set()
        assert home.bash("whatif", "limit", ":", "a") == {"ads="}
        assert home.bash("whatif", "limit", ":", "ads", "=") == set()
        assert home.bash("whatif", "remove-quota", ":", "w") == {"web-ops"}
        assert home.bash("whatif", "create", ":", "h") == {"host-1.example="}
        assert home.typed("bash", "mesosctl quo\trem\twe\t--yes\r") == "quota remove web-ops --yes"
        assert home.typed("bash", "mesosctl whatif lim\tweb=cpus:1 --mas\tfa\t\r") == (
            "whatif limit:web=cpus:1 --master fake:"
        )
        assert home.typed("bash", "mesosctl quota list --output=jsonl --mas\tfake: \r").endswith("--master fake:")
        assert (
            home.typed("bash", "mesosctl unreserve host-1.example\t--role=a\t--all\r")
            == "unreserve host-1.example --role=ads --all"
        )
        (home.folder / "payload.json").write_text("{}")
        assert home.typed("bash", "mesosctl quota set -f payl\t\r") == "quota set -f payload.json"


class TestZsh:
    @pytest.mark.parametrize("name", ["_mesosctl", "_mesos-fake-master"])
    def test_it_reads_the_file(self, name):
        require("zsh")
        subprocess.run(["zsh", "-fn", FILES / name], check=True)

    def test_as_it_is_typed(self, home):
        home.keep("web-ops", "ads")
        assert home.typed("zsh", "mesosctl quo\trem\twe\t--ye\t\r") == "quota remove web-ops --yes"
        assert home.log == ["quota remove web-ops --yes"]
        assert home.typed("zsh", "mesosctl unreserve --role=a\t--al\t\r") == "unreserve --role=ads --all"
        (home.folder / "payload.json").write_text("{}")
        assert home.typed("zsh", "mesosctl quota set -f payl\t\r") == "quota set -f payload.json"

    def test_words_that_are_the_same_in_every_cluster(self, home):
        line = home.typed("zsh", "mesosctl whatif lim\tweb=cpus:1 --master fak\t\r")
        assert line == "whatif limit:web=cpus:1 --master fake:"
        assert home.typed("zsh", "mesosctl context set prod timeo\t5s\r") == "context set prod timeout=5s"
        assert home.typed("zsh", "mesosctl context set prod --unset timeo\t\r") == "context set prod --unset timeout"
        assert home.typed("zsh", "mesosctl completion fi\t\r") == "completion fish"

    def test_names_belong_to_their_master(self, home):
        home.keep("one", words={"master": "http://one:5050"})
        home.keep("none")
        line = home.typed("zsh", "mesosctl --master http://one:5050 quota remove \t\r")
        assert line == "--master http://one:5050 quota remove one"
        keep_contexts(["prod"], home.variables)
        assert home.typed("zsh", "mesosctl context use p\t\r") == "context use prod"

    def test_names_that_a_shell_would_run_are_quoted(self, home):
        home.keep("we $(touch owned)")
        assert home.typed("zsh", "mesosctl quota remove we\t\r") == "quota remove we $(touch owned)"
        assert not (home.folder / "owned").exists()


class TestFish:
    def test_commands_options_and_values(self, home):
        assert home.fish("mesosctl qu") == {"quota"}
        assert home.fish("mesosctl quota s") == {"set", "show"}
        assert home.fish("mesosctl quota set --for") == {"--force"}
        assert home.fish("mesosctl quota list --for") == set()
        assert home.fish("mesosctl quota list -o js") == {"json", "jsonl"}
        assert home.fish("mesosctl --principal quota qu") == {"quota"}

    def test_words_that_are_the_same_in_every_cluster(self, home):
        assert home.fish("mesosctl --master f") == {"fake:", "file:///"}
        assert home.fish("mesosctl whatif re") == {"remove-quota:", "reserve:"}
        assert home.fish("mesosctl whatif quota:web=cpus:1 li") == {"limit:"}
        assert home.fish("mesosctl context set prod tim") == {"timeout="}
        assert home.fish("mesosctl context set prod --unset tim") == {"timeout"}
        assert home.fish("mesosctl completion ") == {"bash", "zsh", "fish"}

    def test_names(self, home):
        home.keep(*TRICKY, "ads")
        assert home.fish("mesosctl quota remove we") == {"web", "web-old", "we $(touch owned)", "we'quoted"}
        assert home.fish("mesosctl quota remove web a") == {"ads"}
        assert home.fish("mesosctl reserve cpus:1 --role=ad") == {"--role=ads"}

    def test_names_belong_to_their_master(self, home):
        home.keep("one", words={"master": "http://one:5050"})
        home.keep("two", MESOSCTL_MASTER="zk://ops:pw@two:2181/mesos")
        assert home.fish("mesosctl --master http://one:5050 quota remove ") == {"one"}
        assert home.fish("mesosctl quota remove ", MESOSCTL_MASTER="zk://ops:pw@two:2181/mesos") == {"two"}

    def test_contexts(self, home):
        keep_contexts(["prod", "lab"], home.variables)
        assert home.fish("mesosctl context use p") == {"prod"}
        assert home.fish("mesosctl --context l") == {"lab"}


def test_the_server_completes_too(home):
    require("bash")
    script = (
        f"source '{FILES}/mesos-fake-master.bash'; COMP_LINE='mesos-fake-master --registry '; COMP_POINT=29; "
        "_mesos_fake_master_completion mesos-fake-master ''; "
        'echo "${COMPREPLY[@]}"'
    )
    ran = subprocess.run(
        ["bash", "-euc", script], capture_output=True, text=True, check=True, env=home.environment, timeout=60
    )
    assert ran.stdout.split() == ["in_memory", "sqlite"]


@pytest.mark.parametrize("module", ["mesosctl", "fake_master"])
def test_a_home_that_cannot_be_written_is_named_when_a_completion_is_installed(module, tmp_path):
    home = tmp_path / "home"
    home.write_text("a file")
    ran = subprocess.run(
        [sys.executable, "-m", module, "--install-completion", "bash"],
        env={**os.environ, "HOME": str(home), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 3, ran.stderr
    assert f"{home} cannot be used: File exists" in ran.stderr


@pytest.mark.parametrize("module", ["mesosctl", "fake_master"])
def test_a_startup_file_that_is_edited_is_named(module, tmp_path):
    def install() -> str:
        return subprocess.run(
            [sys.executable, "-m", module, "--install-completion", "bash"],
            env={**os.environ, "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stderr

    assert f"{tmp_path / '.bashrc'} has a line for completion now" in install()
    assert "source" in (tmp_path / ".bashrc").read_text(encoding="utf-8")
