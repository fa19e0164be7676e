"""Hints in the words of the command line, for errors of the kernel, which knows none.

The kernel says what is wrong, and of a value how it is written. An error about which a command or an option helps has a
rule and the values that the hint needs; `HINTS` has the hint of each rule. A module of a command sets `error.hint`
itself if it knows more.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mesosctl.client.proxies import PROXY_VARIABLES
from mesosctl.mesos.errors import MesosctlError, linked
from mesosctl.suggestion import command, options_text

if TYPE_CHECKING:
    from mesosctl.mesos.amounts.resources import Resources
    from mesosctl.mesos.cluster.holdings import RegisteredAgent


@contextmanager
def in_our_words() -> Iterator[None]:
    """Give an error that is raised in this block the hint of the command line."""
    try:
        yield
    except MesosctlError as error:
        error.hint = hint_of(error)
        raise


def hint_of(error: MesosctlError) -> str | None:
    """The hint of an error, and of those that are told with it."""
    hint = error.own_hint
    if error.advice is not None and error.advice.rule in HINTS:
        hint = HINTS[error.advice.rule](hint or "", **error.advice.values)
    for other in error.joined:
        hint = linked(hint, hint_of(other))
    return hint


def _no_number(hint: str, part: str) -> str:
    del part
    return f"{hint}; {command('quota room')} shows the capacity that this is a part of"


def _zero_guaranteed(hint: str, resource: str) -> str:
    return f"{hint}; from Mesos 1.9 on, {options_text(limit=f'{resource}:0')} forbids it"


def _another_call(hint: str, other_call: str) -> str:
    del other_call
    return f"leave out {options_text(api='v0')}: {hint}"


def _emptied(hint: str, emptied: str) -> str:
    del hint
    return f"use {command('quota remove', emptied)}"


def _without_quota(hint: str, roles: Sequence[str], stored: Sequence[str]) -> str:
    from mesosctl.mesos.roles import did_you_mean  # imported late: few errors need it

    del hint
    return did_you_mean(roles, stored, f"{command('quota list')} shows which roles have one")


def _machine_down(hint: str, machine: str) -> str:
    return f"{hint}: {command('maintenance up', machine)}"


def _volumes_first(hint: str, agent: "RegisteredAgent", volumes: "Resources") -> str:
    from mesosctl.mesos.cluster.holdings import volume_id  # imported late: few errors need it
    from mesosctl.mesos.names import spelled

    commands = [
        command("volumes destroy", agent.typed_name, spelled("id", volume_id(entry)), role=entry.role)
        for entry in volumes
    ]
    return f"{hint}: {'; '.join(commands)}"


def destroy_first(agent: "RegisteredAgent", volumes: "Resources") -> str:
    """A hint: the commands that destroy the volumes which are in the way."""
    return _volumes_first("volumes use it; destroy them first", agent, volumes)


def _no_snapshot(hint: str) -> str:
    del hint
    return f"{command('snapshot', f='FILE')} writes one"


def _cluster_file(hint: str, file: str) -> str:
    if not file.endswith(".toml"):  # standard input has no address
        return hint
    return f"{command('export', master=f'fake:{file}', f='wanted.toml')} writes the desired state of that cluster"


def _no_amounts(hint: str, role: str) -> str:
    del role
    return f"{hint}, and use {options_text(prune=True)} to remove its quota"


def _another_operation(hint: str, operation: str) -> str:
    del hint
    if operation == "destroy":
        return f"{command('volumes destroy', 'AGENT', 'ID')} destroys one"
    verbs = {
        "reserve": command("reserve", "AGENT", f="FILE"),
        "unreserve": command("unreserve", "AGENT", f="FILE"),
    }
    return f"{verbs[operation]} reads it"


def _not_one_offer(hint: str) -> str:
    return f"{hint}, or choose an offer of an OFFERS event with --id"


def _check_address(hint: str, place: str = "--master", otherwise: str | None = None) -> str:
    """`place` is where the address of the master was written."""
    return (f"check {place}" if otherwise is None else f"check {place}, or {otherwise}") + (f"; {hint}" if hint else "")


def _check_proxy(hint: str, place: str) -> str:
    """`place` is where the URL of the proxy was written."""
    del hint
    return f"check {place}; {options_text(proxy='URL')} names another proxy" + (
        ", and a host in NO_PROXY is reached without one" if place.upper() in PROXY_VARIABLES else ""
    )


def _not_mesos(hint: str, place: str = "--master") -> str:
    del hint
    return f"check that {place} names a Mesos master"


def _no_role(hint: str) -> str:
    return f"{hint}, or give ROLE as an argument"


HINTS: Mapping[str, Callable[..., str]] = {
    "file.fields": _another_operation,
    "file.snapshot": _no_snapshot,
    "maintenance.down": _machine_down,
    "master.address": _check_address,
    "master.not-mesos": _not_mesos,
    "master.proxy": _check_proxy,
    "offer.one": _not_one_offer,
    "quota.above-zero": _zero_guaranteed,
    "quota.empty": _emptied,
    "quota.exists": _without_quota,
    "quota.limits-need-update": _another_call,
    "resource.number": _no_number,
    "role.syntax": _no_role,
    "unreserve.no-volume": _volumes_first,
    "wanted.no-amounts": _no_amounts,
    "wanted.no-cluster": _cluster_file,
}
"""By rule, the hint: a function of the kernel's own hint, if it has one, and of the values of the error, by name."""
OF_ADDRESS = ("master.address", "master.not-mesos")
"""The rules whose hints may name the `place` that the address of the master comes from."""
