"""The generated files: completions, man pages, and the reference pages of the documentation."""

import dataclasses
import inspect
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import fake_master
import mesosctl
from mesosctl.mesos.exit_status import MEANINGS
from mesosctl.program.documents import models, schemas
from mesosctl.program.reference.command_tree import (
    Argument,
    Node,
    Option,
    cluster_file,
    commands,
    example_tasks,
    serving,
)
from mesosctl.program.reference.man import environment, man_page
from mesosctl.shells.scripts import script

_FOLDER = "docs/reference"


@cache
def files() -> Mapping[str, str]:
    """Return the text of every generated file by its path in the repository."""
    programs = (commands(), serving())
    made = {
        f"{_FOLDER}/commands.md": _page(_commands(*programs)),
        f"{_FOLDER}/exit-statuses.md": _page(_exit_statuses()),
        f"{_FOLDER}/environment.md": _page(_environment()),
        f"{_FOLDER}/cluster-file.md": _page(_cluster_file()),
        f"{_FOLDER}/json.md": _page(_json()),
        f"{_FOLDER}/python.md": public_names(),
    }
    for kind, schema in schemas().items():
        made[f"{_FOLDER}/schemas/{kind}.json"] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    for root in programs:
        made[f"completions/{root.words}.bash"] = script(root.words, "bash")
        made[f"completions/_{root.words}"] = script(root.words, "zsh")
        made[f"completions/{root.words}.fish"] = script(root.words, "fish")
        made |= {f"man/{'-'.join(node.path)}.1": man_page(node) for node in root.walk()}
    return made


def _page(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _commands(*programs: Node) -> Iterator[str]:
    yield from ("# Commands", "", "Every command with its arguments, options and examples, as in `--help`.")
    yield from ("Each command also takes the [global options](#global-options).", "")
    yield "| command | what it does |"
    yield "| --- | --- |"
    nodes = [node for root in programs for node in root.walk()]
    for node in nodes:
        if len(node.path) > 1 or not node.children:
            yield f"| [`{node.words}`](#{'-'.join(node.path)}) | {_cell(node.summary)} |"
    yield from _global_options(programs[0])
    for node in nodes:
        yield from _command(node)


def _global_options(root: Node) -> Iterator[str]:
    yield from ("", "## Global options", "")
    yield "Write them before or after the command. Each of them except `--yes` has an environment"
    yield "[variable](environment.md), `MESOSCTL_` followed by its name: `MESOSCTL_NO_WAIT` for `--no-wait`. A context"
    yield "can set all of them except `--yes` and `--context`."
    yield from _options(option for option in root.options if option.shared)


def _command(node: Node) -> Iterator[str]:
    yield from ("", f"## {node.words}", "", _words(node.summary))
    yield from ("", "```text", f"{' '.join(node.path[:-1])} {node.usage}".strip(), "```")
    for paragraph in node.text.split("\n\n") if node.text else ():
        yield from ("", _words(" ".join(paragraph.split())))
    if node.arguments:
        yield from ("", "| argument | meaning |", "| --- | --- |")
        yield from (_argument(argument) for argument in node.arguments)
    yield from _options(option for option in node.options if not option.shared)
    if node.examples:
        yield from ("", "```sh")
        for words, meaning in node.examples:
            yield from (f"# {meaning}", f"{node.path[0]} {words}")
        yield "```"


def _argument(argument: Argument) -> str:
    return f"| `{_code(argument.name)}` | {_cell(argument.help)} |"


def _options(options: Iterable[Option]) -> Iterator[str]:
    rows = [f"| {_names(option)} | {_cell(option.meaning)} |" for option in options if option.names != ("-h", "--help")]
    if rows:
        yield from ("", "| option | meaning |", "| --- | --- |", *rows)


def _names(option: Option) -> str:
    value = f" {option.value}" if option.value else ""
    return ", ".join(f"`{_code(name + value)}`" for name in option.names)


def _code(text: str) -> str:
    """Text between backticks in a cell of a table."""
    return text.replace("|", "\\|")


def _words(text: str) -> str:
    """Text escaped for Markdown."""
    for char in "\\`*_[]<>":
        text = text.replace(char, "\\" + char)
    return text


def _cell(text: str) -> str:
    return _words(text).replace("|", "\\|")


def _exit_statuses() -> Iterator[str]:
    yield from ("# Exit statuses", "")
    yield from ("Scripts can rely on the exit statuses. Every change to them is in the changelog.", "")
    yield from ("| status | meaning |", "| --- | --- |")
    for status, meaning in MEANINGS.items():
        yield f"| {int(status)} | {meaning} |"
    yield ""
    yield _EXIT_STATUSES


_EXIT_STATUSES = """With `-o json`, an error is one JSON object on standard error ([`error`](json.md)).

If the answer to a change does not arrive, mesosctl checks whether the master made the change. If it did, the command
ends with 0 and a note. If not, the message says that the master does not show the change *so far*, because something
between you and the master may still deliver the request. The message says "no change was sent" only if no request can
have arrived. With `-o json` this text is in `error.message`. A script can use it to tell the two meanings of status 9
apart: if no change was sent, you can run the command again.

If you interrupt a command, its last message says one of the following:

- No change was sent.
- A change was sent or accepted. The message usually names the command that shows the result.
- Some steps of an `apply` are done. The message says how many, and that the same `apply` continues with the rest.
- The command is done, but its output may be incomplete.

If mesosctl has to restore something, it does so before it ends. It continues to ignore signals that were ignored when
it started, as with `nohup`."""


def _environment() -> Iterator[str]:
    yield from ("# Environment", "", "An option overrides a variable, and a variable overrides a context.", "")
    yield from ("| variable | meaning |", "| --- | --- |")
    for variable, meaning in environment():
        yield f"| `{variable}` | {_cell(meaning)} |"


_SEPARATE_DISK = '''
[[agents]]
resources = """[
  {"name": "cpus", "type": "SCALAR", "scalar": {"value": 4}},
  {"name": "mem", "type": "SCALAR", "scalar": {"value": 4096}},
  {"name": "disk", "type": "SCALAR", "scalar": {"value": 500},
   "disk": {"source": {"type": "MOUNT", "mount": {"root": "/mnt/data"}}}}
]"""
'''.lstrip()


def _cluster_file() -> Iterator[str]:
    yield "# Cluster file"
    yield ""
    yield "A cluster file describes the cluster of a fake master. The address `fake:cluster.toml` runs it inside the"
    yield "command, `mesos-fake-master --cluster cluster.toml` serves it, and `mesosctl offers simulate cluster.toml`"
    yield "simulates it. [Describe a cluster in one file](../how-to/cluster-file.md) builds one step by step."
    yield from ("", "```toml", cluster_file().rstrip(), "```", "")
    yield "The framework `recorded` reads its tasks from `example_tasks.csv`, next to the cluster file. To try the file"
    yield "as it is printed here, save these tasks under that name, or leave the framework out:"
    yield from ("", "```csv", example_tasks().rstrip(), "```", "")
    yield "`asked` is the time since the framework subscribed, and `lasts` how long the task runs: seconds, or a span"
    yield "such as `45m`. Each resource has a column, or the column `task` has all of them."
    yield "`lasts`, `name`, `role` and `agent` may be left out; see [the guide](../how-to/cluster-file.md)."
    yield ""
    yield "With `fake:cluster.toml`, time stands still between commands. `--master 'fake:cluster.toml?advance=10m'`"
    yield "lets ten minutes pass, after which a framework with `after = 600` has subscribed."
    yield ""
    yield "The resources of an agent, a reservation and running tasks, and the size of a volume, can also be JSON, in a"
    yield "string: an array of Resource messages, as `--resources` of an agent takes them. Only JSON can describe"
    yield "separate disks (PATH, MOUNT, BLOCK and RAW):"
    yield from ("", "```toml", _SEPARATE_DISK.rstrip(), "```")


def _json() -> Iterator[str]:
    yield from ("# JSON", "", _JSON, "")
    yield from ("| kind | written by | fields |", "| --- | --- | --- |")
    for kind, document in models().items():
        fields = ", ".join(f"`{name}`" for name in document.model_fields)
        yield f"| [`{kind}`](schemas/{kind}.json) | {' '.join((document.__doc__ or '').split())} | {fields} |"
    yield from ("", "## Versions after the first", "")
    yield from ("| kind | version | what is different |", "| --- | --- | --- |")
    for kinds, change in _SECOND_VERSIONS.items():
        names = ", ".join(f"`{kind}`" for kind in kinds)
        yield f"| {names} | 2 | {change} |"


_JSON = """With `-o json` a command writes one object with `schema_version` and `kind` to standard output. With `-o
jsonl` it writes one line for each row. Amounts are numbers; `mem` and `disk` are in MiB, and their hours are
hours of one MiB. A shape changes only with a new `schema_version`. Each kind in the table links to its JSON
Schema (draft 2020-12). The package contains the schemas too:
`importlib.resources.files("mesosctl") / "schemas" / "quota.list.json"`.

Amounts have one shape everywhere, and so have resources:

| what | shape |
| --- | --- |
| amounts, such as a guarantee, or the size of a task | `{"cpus": 2.0, "mem": 1024.0}` |
| resources, such as those of an agent or an offer | `{"amounts": {"ports": 2.0}, "text": "ports:[80-81]"}` |

In `amounts`, ports and sets are counted, and revocable resources are apart, as `cpus_revocable`. `text` is what
commands accept. Where nothing beside it names the owners of reserved resources, it does: `cpus:4; cpus(ads):2`. A
setting in words, such as `before` and `after` of a step, has its amounts in `before_values` and `after_values`."""

_OF_OFFERS = "`resources` has `amounts` and `text`; before, these were `amounts` and the text `resources`."
_OF_TEXTS = "`resources` has `amounts` and `text`; before, it was a text."
_SECOND_VERSIONS: Mapping[tuple[str, ...], str] = {
    ("cleanup", "replay.task"): _OF_TEXTS,
    ("expected-wait",): "`task` has amounts; before, it was a text.",
    ("forecast", "alternatives", "largest-change", "wanted.saved-plan"): "In `rescinded` and `evicted` of a forecast, "
    + _OF_OFFERS,
    ("offers.explain",): "`lines` account for all resources; before, there was a list of reasons.",
    ("offers.list", "offers.change"): _OF_OFFERS,
    ("offers.taken",): "`resources`, and those of `offer`, have `amounts` and `text`; before, they were texts.",
    ("top",): "In an entry of `offers`, `amounts` was called `resources`.",
    ("tuning", "wanted.state"): "`guarantee` and `limit` are amounts; before, they were texts. " + _OF_TEXTS,
}
"""By kind, what scripts that read version 1 have to change."""


_OPENING = """# Public names

You can rely on these names, which you import with `from mesosctl import …` and `from fake_master import …`. Everything
else in the packages may change. [Use mesosctl from Python](../how-to/python.md) and
[Test your scheduler without a cluster](../how-to/test-your-scheduler.md) have examples.
`python -m mesosctl.program.reference --write` writes this page."""
_PYTEST = """
## pytest

| name | what it is |
| --- | --- |
| fixture `fake_master` | A `FakeMaster` with the cluster that the marker describes, or with one agent. |
| fixture `fake_master_factory` | A function that creates more masters. It takes the arguments of `FakeMaster`. |
| marker `fake_master(agents, **options)` | The cluster of the fixture. It takes the arguments of `FakeMaster`. |
"""


def public_names() -> str:
    """Return docs/reference/python.md."""
    lines = [_OPENING, *_package(mesosctl, mesosctl.Master), *_errors(), *_package(fake_master, fake_master.FakeMaster)]
    return "\n".join(lines) + "\n" + _PYTEST


def _package(package: Any, main: type) -> Iterator[str]:
    name = package.__name__
    yield from ("", f"## {name}", "")
    yield f"`{main.__name__}{_parameters(main)}`"
    yield from ("", *inspect.cleandoc(main.__doc__ or "").splitlines())
    yield from ("", f"| `{main.__name__}` | what it does |", "| --- | --- |")
    for member, value in sorted(vars(main).items()):
        if not member.startswith("_"):
            call = "" if isinstance(value, property) else _parameters(value)
            yield f"| `{member}{call}` | {_sentence(value)} |"
    public = [getattr(package, name) for name in package.__all__]
    functions = [value for value in public if inspect.isfunction(value)]
    if functions:
        yield from ("", "| function | what it does |", "| --- | --- |")
    for function in functions:
        yield f"| `{function.__name__}{_parameters(function)}` | {_sentence(function)} |"
    yield from ("", "| value | what it is | fields |", "| --- | --- | --- |")
    for value in public:
        if value is not main and value not in functions and not issubclass(value, BaseException):
            yield f"| `{value.__name__}` | {_sentence(value)} | {', '.join(f'`{field}`' for field in _fields(value))} |"


def _errors() -> Iterator[str]:
    yield from ("", "| error | what it means | exit status |", "| --- | --- | --- |")
    errors = [value for value in (getattr(mesosctl, name) for name in mesosctl.__all__) if _is_error(value)]
    for error in sorted(errors, key=lambda error: [kind.__name__ for kind in reversed(error.__mro__)]):
        below = " → ".join(kind.__name__ for kind in reversed(error.__mro__) if _is_error(kind))
        status = "" if error is mesosctl.MesosctlError else int(error.exit_status)
        yield f"| `{below}` | {_sentence(error)} | {status} |"


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, mesosctl.MesosctlError)


def _sentence(value: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(inspect.cleandoc(value.__doc__ or "").partition("\n\n")[0].split()).replace("|", "\\|")


def _parameters(function: Any) -> str:
    """The parameters of a call, with their defaults and without types."""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self"
    ]
    return str(inspect.Signature(parameters))


def _fields(value: type) -> list[str]:
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    return list(getattr(value, "model_fields", None) or getattr(value, "__annotations__", {}))
