"""The commands as data, from which every generated file is made."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import typer
from typer.core import TyperGroup

from mesosctl.cli.command import SHARED_NAMES, metavar
from mesosctl.program.main import app

WIDTH = 80
Example = tuple[str, str]
"""An example command, and its meaning."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its names, short ones first, and what follows it."""

    names: tuple[str, ...]
    value: str | None
    """The metavariable of its value; None for a flag."""
    help: str
    default: str
    """As --help shows it; empty if it does not."""
    shared: bool
    """Whether every command takes it."""

    @property
    def meaning(self) -> str:
        """Its help, with the default."""
        return f"{self.help} [default: {self.default}]" if self.default else self.help


@dataclass(frozen=True, slots=True)
class Argument:
    """One positional argument."""

    name: str
    required: bool
    help: str


@dataclass(frozen=True, slots=True)
class Node:
    """A command or a group of commands."""

    path: tuple[str, ...]
    summary: str
    """The first sentence of its help."""
    text: str
    """The rest of it."""
    usage: str
    page: str
    """The text that --help prints."""
    options: tuple[Option, ...]
    arguments: tuple[Argument, ...]
    examples: tuple[Example, ...]
    children: tuple["Node", ...]

    @property
    def words(self) -> str:
        """Its words."""
        return " ".join(self.path)

    def walk(self) -> Iterator["Node"]:
        """This node and everything below it."""
        yield self
        for child in self.children:
            yield from child.walk()


@cache
def commands() -> Node:
    """The whole tree, from the commands that `mesosctl` runs."""
    command: Any = typer.main.get_command(app)
    return _node(command, None, ("mesosctl",))


def serving() -> Node:
    """The command `mesos-fake-master`."""
    import fake_master

    serving_app, examples = fake_master.command()
    command: Any = typer.main.get_command(serving_app)
    node = _node(command, None, ("mesos-fake-master",))
    return replace(node, examples=examples, options=tuple(replace(option, shared=False) for option in node.options))


def cluster_file() -> str:
    """A cluster file with every key."""
    import fake_master

    return fake_master.example_cluster()


def example_tasks() -> str:
    """The csv file of tasks that `cluster_file` names."""
    import fake_master

    return fake_master.example_tasks()


def _node(command: Any, parent: Any, path: tuple[str, ...]) -> Node:
    ctx = command.make_context(path[-1], [], parent=parent, resilient_parsing=True, terminal_width=WIDTH)
    summary, _, text = (command.help or "").partition("\n\n")
    children = tuple(_node(child, ctx, (*path, name)) for name, child in _children(command, ctx))
    parameters = command.get_params(ctx)
    return Node(
        path=path,
        summary=" ".join(summary.split()),
        text=text.strip(),
        usage=" ".join([path[-1], *command.collect_usage_pieces(ctx)]),
        page=command.get_help(ctx),
        options=tuple(_option(parameter) for parameter in parameters if parameter.param_type_name == "option"),
        arguments=tuple(_argument(parameter) for parameter in parameters if parameter.param_type_name == "argument"),
        examples=_examples(command.epilog or ""),
        children=tuple(sorted(children, key=lambda child: child.path)),
    )


def _examples(epilog: str) -> tuple[Example, ...]:
    """The examples in an epilog of `command.examples`."""
    lines = [line.strip() for line in epilog.splitlines()]
    return tuple(
        (words.removeprefix("mesosctl "), meaning) for words, meaning in zip(lines[::2], lines[1::2], strict=True)
    )


def _children(command: Any, ctx: Any) -> list[tuple[str, Any]]:
    if not isinstance(command, TyperGroup):
        return []
    found: list[tuple[str, Any]] = [(name, command.get_command(ctx, name)) for name in command.list_commands(ctx)]
    return [(name, child) for name, child in found if not child.hidden]


def _option(parameter: Any) -> Option:
    takes_value = not (parameter.is_flag or parameter.count)
    choices = "|".join(parameter.type_descriptor.choices or ())
    return Option(
        names=(*sorted(parameter.opts, key=len), *parameter.secondary_opts),
        value=(parameter.metavar or choices or "TEXT") if takes_value else None,
        help=parameter.help or "",
        default=str(parameter.default) if takes_value and parameter.show_default and parameter.default else "",
        shared=parameter.name in SHARED_NAMES,
    )


def _argument(parameter: Any) -> Argument:
    return Argument(metavar(parameter), parameter.required, parameter.help or "")
