"""`mesosctl weights`: its verbs."""

import re
import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.arguments import (
    Every,
    PayloadFile,
    RoleAndBelow,
    names_argument,
    nothing_found,
    read_by_option,
    read_payload,
)
from mesosctl.cli.command import REMOVE, ChangeCommand, Command, ListGroup, examples
from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.environment import named
from mesosctl.cli.list_options import Count, Watch, show, sort_option
from mesosctl.cli.session import Session
from mesosctl.model.errors import RuleViolation, UsageError
from mesosctl.model.quantities import parse_double
from mesosctl.model.suggestion import command
from mesosctl.operations.list_selection import Selection
from mesosctl.operations.weights import WEIGHT_KEYS, list_weights
from mesosctl.output.cluster import NO_WEIGHTS, weight_changes, weight_list
from mesosctl.output.formats.report import Report

if TYPE_CHECKING:
    from mesosctl.client.leading_master import Master


class _Weights(ListGroup):
    """The verbs of weights: none removes a weight, because a master has no request for that."""

    def instead(self, word: str, following: Sequence[str]) -> str | None:
        """The weight that is the same as none."""
        if word not in REMOVE:
            return None
        ones = command("weights set", *(f"{role}=1" for role in following or ("ROLE",)))
        return f"a weight cannot be removed; {ones} gives back the default"


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
    wanted = Selection(names or (), role, {}, sort)

    def read(master: "Master") -> Report:
        found = list_weights(master, wanted)
        known = () if found or role is None else [one for one, _ in list_weights(master, Selection())]
        empty = NO_WEIGHTS if role is None else nothing_found("no weight is set", {"--role": role}, known)
        return weight_list(found, empty=empty, sort=sort)

    show(session, read, watch=watch, every=every, count=count)


_WEIGHT = re.compile(r"[^=]+=[0-9.]+")


def parse_weights(words: Sequence[str]) -> dict[str, float]:
    """Weights by role from words such as `web=2`.  Raises UsageError, RuleViolation."""
    found: dict[str, float] = {}
    for place, word in enumerate(words):
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
            error.reword(f"weight {number} of '{role}' is not a finite number")
            raise
        if not equals or not role:
            raise UsageError(
                f"'{word}' is not a weight",
                field="ROLE=WEIGHT",
                hint=read_by_option(word, _likely_weight(place, words)),
            )
        if role in found:
            raise UsageError(f"role '{role}' has two weights", field="ROLE=WEIGHT", hint="leave one out")
        found[role] = weight
    return found


def _likely_weight(place: int, words: Sequence[str]) -> str:
    """A hint: the probable meaning of a word that is no weight, such as web:2, or web with a number after it."""
    role, colon, number = words[place].rpartition(":")
    if not colon:
        role, number = words[place], next(iter(words[place + 1 :]), "")
    meant = f"{role}={number}"
    is_likely = role and "=" not in role and _WEIGHT.fullmatch(meant) and number.strip("0.")
    return f"write {shlex.quote(meant)}" if is_likely else "for example, web=2"


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
    from mesosctl.operations.weights import set_weights

    session: Session = ctx.obj
    written = None
    if file is not None:
        if pairs:
            raise UsageError("ROLE=WEIGHT and --file cannot be used together", field="--file", hint="give one of them")
        from mesosctl.api.weights import read_weight_infos

        written = read_payload(session, file)
        with written.refusals():
            target = read_weight_infos(written.text, named(file))
    elif not pairs:
        raise UsageError("a role and its weight are needed", hint=f"for example, {command('weights set', 'web=2')}")
    else:
        target = parse_weights(pairs)
    with session.open_master() as master, written.refusals(*target) if written else nullcontext():
        changes = set_weights(master, target, v1=session.options.api == "v1", wait=session.waits)
        session.emit(weight_changes(changes))
