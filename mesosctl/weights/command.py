"""`mesosctl weights`: its verbs."""

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Annotated

import typer

from mesosctl.cli.arguments import (
    Every,
    PayloadFile,
    RoleAndBelow,
    names_argument,
    nothing_found,
    read_payload,
)
from mesosctl.cli.command import REMOVE, ChangeCommand, Command, ListGroup, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.quantities import format_double, parse_double
from mesosctl.mesos.errors import RuleViolation, UsageError
from mesosctl.mesos.messages.weights import read_weight_infos
from mesosctl.reading.list_options import Count, Watch, show_list, sort_option
from mesosctl.reading.notes import sums_for_signs
from mesosctl.reading.selection import Selection
from mesosctl.show.report import Report
from mesosctl.suggestion import command
from mesosctl.weights.report import NO_WEIGHTS, weight_changes, weight_list
from mesosctl.weights.work import WEIGHT_KEYS, check_weights, list_weights, read_weights, set_weights


class _Weights(ListGroup):
    """The verbs of weights: none removes a weight, because a master has no request for that."""

    def instead(self, word: str) -> str | None:
        """The weight that is the same as none."""
        if word not in REMOVE:
            return None
        return f"a weight cannot be removed; {command('weights set', 'ROLE=1')} gives back the default"


app = typer.Typer(cls=_Weights, rich_markup_mode=None)

Pairs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ROLE=WEIGHT...",
        autocompletion=completing.weights,
        help="A role and its weight, a number above zero, or Infinity.",
        show_default=False,
    ),
]


RoleNames = Annotated[list[str] | None, names_argument("ROLE", completing.roles, "Show only these roles.")]
SortWeights = Annotated[str | None, sort_option(WEIGHT_KEYS, resources=False)]


@app.callback()
def weights() -> None:
    """Show and set the weights of roles.

    A role with weight 2 gets twice the share of a role with weight 1, which is the weight of roles without one of
    their own.
    """


@app.command(
    "list",
    cls=Command,
    epilog=examples(
        ("weights", "every weight that was set"),
        ("weights list -o json", "the same as JSON"),
        ("weights --sort weight", "the largest first"),
    ),
)
def list_(
    ctx: typer.Context,
    names: RoleNames = None,
    *,
    role: RoleAndBelow = None,
    sort: SortWeights = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """List the weights that were set. Other roles have weight 1."""
    session: Session = ctx.obj
    wanted = Selection(names or (), role, (), sort)

    def read(master: LeadingMaster) -> Report:
        found = list_weights(master, wanted)
        empty = NO_WEIGHTS if role is None else nothing_found("no weight is set", {"--role": role})
        return weight_list(found, empty=empty, sort=sort)

    show_list(session, read, watch=watch, every=every, count=count)


_WEIGHT = re.compile(r"[^=]+=[0-9.]+")


def parse_weights(words: Sequence[str]) -> dict[str, float]:
    """Weights by role from words such as `web=2`.  Raises UsageError, RuleViolation, also for a sign."""
    found: dict[str, float] = {}
    for word in words:
        role, equals, number = word.rpartition("=")
        several = [part.strip() for part in re.split("[,;]", word)]
        if len(several) > 1 and all(_WEIGHT.fullmatch(part) for part in several):
            raise UsageError(
                f"'{word}' is several weights in one word",
                field="ROLE=WEIGHT",
                hint=f"separate them with spaces: {' '.join(several)}",
            )
        try:
            weight = parse_double(number)
        except ValueError:
            equals = ""
        except RuleViolation as error:
            error.reword(f"role '{role}': {error.message}")
            error.field = role
            raise
        if not equals or not role:
            raise UsageError(f"'{word}' is not a weight", field="ROLE=WEIGHT", hint="for example, web=2")
        if role in found:
            raise UsageError(f"role '{role}' has two weights", field="ROLE=WEIGHT", hint="leave one out")
        found[role] = weight
    return found


def _in_sum(master: LeadingMaster, pairs: Sequence[str]) -> str:
    """A hint about weights with a sign, such as `web=+2`: the command that sets the sums."""
    now = read_weights(master)
    return f"for the sum, use {command('weights set', *(_summed(pair, now) for pair in pairs))}"


def _summed(pair: str, now: Mapping[str, float]) -> str:
    """ROLE=WEIGHT without a sign: if web has 3, `web=+2` becomes `web=5`.  Raises UsageError, RuleViolation."""
    role, _, number = pair.rpartition("=")
    sign = number[:1]
    if sign not in ("+", "-"):
        return pair
    (change,) = parse_weights([f"{role}={number[1:]}"]).values()
    weight = now.get(role, 1.0) + (change if sign == "+" else -change)
    check_weights({role: weight})
    return f"{role}={format_double(weight)}"


@app.command(
    "set",
    cls=ChangeCommand,
    epilog=examples(
        ("weights set web=2", "give web twice the share of a role with weight 1"),
        ("weights set web=2 batch=0.5 --dry-run", "what would change, and for whom"),
        ("weights set -f weights.json", "from the JSON of PUT /weights"),
    ),
)
def set_(ctx: typer.Context, pairs: Pairs = None, file: PayloadFile = None) -> None:
    """Set the weights of roles, all of them or none.

    The weights are read back. A weight that the role already has is not sent. A master never removes a weight; set it
    to 1 instead. If a framework is in one of the roles, every outstanding offer of the cluster is rescinded.

    With -f, the weights are the documented JSON of PUT /weights or UPDATE_WEIGHTS.
    """
    session: Session = ctx.obj
    written = None
    if file is not None:
        if pairs:
            raise UsageError("ROLE=WEIGHT and --file cannot be used together", field="--file", hint="give one of them")

        written = read_payload(session, file)
        with written.refusals():
            target = read_weight_infos(written.text, named(file))
    elif not pairs:
        raise UsageError("a role and its weight are needed", hint=f"for example, {command('weights set', 'web=2')}")
    else:
        with sums_for_signs(session, lambda master: _in_sum(master, pairs)):
            target = parse_weights(pairs)
    with session.open_master() as master, written.refusals(*target) if written else nullcontext():
        changes = set_weights(master, target, v1=session.options.api == "v1", wait=session.waits)
        session.emit(weight_changes(changes))
