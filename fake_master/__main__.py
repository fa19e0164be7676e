"""`mesos-fake-master`, and `python -m fake_master`: a fake master on a socket."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl import __version__
from mesosctl.core.errors import BadInput, ExitStatus, MesosctlError

if TYPE_CHECKING:
    from fake_master.master.registry import Registry

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mesos-fake-master {__version__}")
        raise typer.Exit


@app.command()
def serve(  # noqa: PLR0913  # one parameter an option
    *,
    agent: Annotated[
        list[str] | None, typer.Option(metavar="RESOURCES", help="Register an agent, as 'cpus:12;mem:6144'. Repeat.")
    ] = None,
    cluster: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take agents and flags from a cluster file (TOML).")
    ] = None,
    mesos_version: Annotated[
        str | None, typer.Option(metavar="1.4|1.11", help="The master to be. [default: 1.4]")
    ] = None,
    ip: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = 5050,
    registry: Annotated[
        str | None,
        typer.Option(metavar="in_memory|sqlite", help="Where quotas and weights are kept. [default: in_memory]"),
    ] = None,
    work_dir: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where a sqlite registry lives.")] = None,
    roles: Annotated[str | None, typer.Option(metavar="ROLE,…", help="The only roles that exist beside '*'.")] = None,
    weights: Annotated[str | None, typer.Option(metavar="ROLE=WEIGHT,…", help="Weights until some are set.")] = None,
    credentials: Annotated[str | None, typer.Option(metavar="FILE", help="Principals and secrets.")] = None,
    acls: Annotated[str | None, typer.Option(metavar="FILE|JSON", help="Who may do what.")] = None,
    rate_limits: Annotated[
        str | None, typer.Option(metavar="FILE|JSON", help="How fast calls of frameworks are processed.")
    ] = None,
    rate_limit_http: Annotated[
        bool, typer.Option(help="Whether rate limits act on HTTP frameworks; on a real master they do not.")
    ] = True,
    authenticate_http_readonly: Annotated[
        bool, typer.Option("--authenticate-http-readonly", help="Ask for credentials where one only reads.")
    ] = False,
    authenticate_http_readwrite: Annotated[
        bool, typer.Option("--authenticate-http-readwrite", help="Ask for credentials where one changes.")
    ] = False,
    allocation_interval: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Time between allocations. [default: 1secs]")
    ] = None,
    cluster_name: Annotated[str | None, typer.Option(metavar="NAME", help="The name that /state shows.")] = None,
    _show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Serve a fake Mesos master.

    Prints its URL on standard output once it takes requests, and ends on SIGTERM or Ctrl-C.
    """
    given = {
        "roles": roles,
        "weights": weights,
        "credentials": credentials,
        "acls": acls,
        "rate_limits": rate_limits,
        "rate_limit_http": None if rate_limit_http else "false",
        "authenticate_http_readonly": "true" if authenticate_http_readonly else None,
        "authenticate_http_readwrite": "true" if authenticate_http_readwrite else None,
        "allocation_interval": allocation_interval,
        "cluster": cluster_name,
        "registry": registry,
        "work_dir": str(work_dir) if work_dir else None,
        "port": str(port),
    }
    flags = {name: value for name, value in given.items() if value is not None}
    _run(agent or [], cluster, mesos_version, flags, (ip, port))


def _run(
    agents: list[str], cluster: Path | None, version: str | None, flags: dict[str, str], address: tuple[str, int]
) -> None:
    # Late: --help and --version need none of it.
    from dataclasses import replace

    from fake_master.carriers.server import Server
    from fake_master.cluster import ClusterSpec, read_cluster_file

    spec = read_cluster_file(cluster) if cluster is not None else ClusterSpec()
    spec = replace(
        spec,
        agents=(*spec.agents, *agents),
        mesos_version=version or spec.mesos_version,
        flags={**spec.flags, **flags},
    )
    master = spec.start(_open_registry(spec.flags), address=address)
    try:
        asyncio.run(Server(master).run(*address, ready=lambda url: print(url, flush=True)))  # noqa: T201
    except OSError as error:
        raise BadInput(f"cannot listen on {address[0]}:{address[1]}: {error.strerror}", field="port") from error


def _open_registry(flags: Mapping[str, str]) -> "Registry":
    from fake_master.master.registry import MemoryRegistry, RegistryFailure

    kind = flags.get("registry", "in_memory")
    if kind == "in_memory":
        return MemoryRegistry()
    if kind != "sqlite":
        raise BadInput(f"--registry={kind}: there are in_memory and sqlite", field="registry")
    if "work_dir" not in flags:
        raise BadInput("--registry=sqlite needs --work-dir", field="work_dir")
    from fake_master.master.registry_sqlite import SqliteRegistry

    try:
        return SqliteRegistry(Path(flags["work_dir"]) / "registry.sqlite")
    except RegistryFailure as failure:
        raise BadInput(str(failure), field="work_dir") from failure


def main() -> None:
    """The entry point: an error of the tree ends in its own exit status."""
    try:
        app()
    except MesosctlError as error:
        hint = f" ({error.hint})" if error.hint else ""
        print(f"mesos-fake-master: {error.message}{hint}", file=sys.stderr)  # noqa: T201
        raise SystemExit(error.exit_status) from None
    except KeyboardInterrupt:
        raise SystemExit(ExitStatus.INTERRUPTED) from None


if __name__ == "__main__":
    main()
