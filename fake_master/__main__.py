"""`mesos-fake-master`, and `python -m fake_master`: a fake master on a socket."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl import __version__
from mesosctl.core.errors import BadInput, ExitStatus, MesosctlError
from mesosctl.core.printable import printable
from mesosctl.core.reading import why_unreadable

if TYPE_CHECKING:
    import ssl

    from fake_master.master.flags import MasterFlags

EXAMPLES = (
    ("--agent 'cpus:12;mem:6144'", "one agent, on http://127.0.0.1:5050"),
    ("--port 0 --cluster cluster.toml", "the agents, frameworks and flags of a file, on a free port, which is printed"),
    ("--mesos-version 1.11 --registry sqlite --work-dir state --agent 'cpus:4;mem:8GiB'", "one that remembers"),
)

_MOST_FILES = 20_000
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
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Take agents and flags from a cluster file (TOML), or a whole cluster from a snapshot (JSON).",
        ),
    ] = None,
    mesos_version: Annotated[
        str | None, typer.Option(metavar="1.4|1.11", help="The master to be. [default: 1.4]")
    ] = None,
    ip: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="The address to listen on; this machine alone reaches it, unless another is given.",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="PORT", help="The port; 0 takes a free one.")] = 5050,
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
    authenticate_http_frameworks: Annotated[
        bool, typer.Option("--authenticate-http-frameworks", help="Ask frameworks for credentials.")
    ] = False,
    max_operator_event_stream_subscribers: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER", help="Operators that may listen at once; the oldest makes room. [default: 1000]"
        ),
    ] = None,
    allocation_interval: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Time between allocations. [default: 1secs]")
    ] = None,
    allocator_agent_recovery_factor: Annotated[
        str | None,
        typer.Option(
            metavar="FRACTION", help="With quota, a restarted master offers nothing until so many agents are back."
        ),
    ] = None,
    allocator_recovery_timeout: Annotated[
        str | None, typer.Option(metavar="DURATION", help="…or until so much time has passed. [default: 10mins]")
    ] = None,
    agent_reregister_timeout: Annotated[
        str | None, typer.Option(metavar="DURATION", help="After it, agents not back are unreachable.")
    ] = None,
    ssl_cert_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Speak https, with this certificate in PEM.")
    ] = None,
    ssl_key_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its key; without one it is in the same file.")
    ] = None,
    ssl_ca_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Authorities whose client certificates are taken.")
    ] = None,
    ssl_require_client_cert: Annotated[
        bool, typer.Option("--ssl-require-client-cert", help="Turn away who has no such certificate.")
    ] = False,
    allocator: Annotated[
        str | None,
        typer.Option(metavar="hierarchical|strict-priority", help="Who is offered what. [default: hierarchical]"),
    ] = None,
    priorities: Annotated[
        str | None, typer.Option(metavar="ROLE=NUMBER,…", help="Strict priority: the higher is served first.")
    ] = None,
    preemption: Annotated[
        bool,
        typer.Option("--preemption", help="Strict priority: revoke tasks of lower priority where they are asked for."),
    ] = False,
    revocation_grace_period: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="How long a revoked task may take to end. [default: 5secs]"),
    ] = None,
    oversubscribe_reservations: Annotated[
        bool,
        typer.Option(
            "--oversubscribe-reservations", help="Lend idle reservations to others, as revocable. No Mesos does."
        ),
    ] = False,
    lendable_names: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="What of them is lent. [default: cpus,mem]")
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
        "authenticate_http_frameworks": "true" if authenticate_http_frameworks else None,
        "max_operator_event_stream_subscribers": max_operator_event_stream_subscribers,
        "allocation_interval": allocation_interval,
        "allocator_agent_recovery_factor": allocator_agent_recovery_factor,
        "allocator_recovery_timeout": allocator_recovery_timeout,
        "agent_reregister_timeout": agent_reregister_timeout,
        "allocator": allocator,
        "priorities": priorities,
        "preemption": "true" if preemption else None,
        "revocation_grace_period": revocation_grace_period,
        "oversubscribe_reservations": "true" if oversubscribe_reservations else None,
        "lendable_names": lendable_names,
        "cluster": cluster_name,
        "registry": registry,
        "work_dir": str(work_dir) if work_dir else None,
        "port": str(port),
    }
    flags = {name: value for name, value in given.items() if value is not None}
    tls = _tls(ssl_cert_file, ssl_key_file, ssl_ca_file, required=ssl_require_client_cert)
    _run(agent or [], cluster, mesos_version, flags, (ip, port), tls)


def _tls(cert: Path | None, key: Path | None, ca: Path | None, *, required: bool) -> "ssl.SSLContext | None":
    """As LIBPROCESS_SSL_CERT_FILE, _KEY_FILE, _CA_FILE and _REQUIRE_CLIENT_CERT of Mesos.  Raises BadInput."""
    if cert is None:
        if key is not None or ca is not None or required:
            raise BadInput("TLS needs a certificate", field="ssl_cert_file", hint="give --ssl-cert-file")
        return None
    if required and ca is None:
        raise BadInput("client certificates need an authority", field="ssl_ca_file", hint="give --ssl-ca-file")
    import ssl

    for field, path in (("ssl_cert_file", cert), ("ssl_key_file", key), ("ssl_ca_file", ca)):
        try:
            if path is not None:
                Path(path).open("rb").close()  # ssl does not tell which file it was
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} cannot be read: {why_unreadable(error)}", field=field) from None
    try:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=ca)
        context.load_cert_chain(cert, key)
    except ssl.SSLError:
        raise BadInput(
            "the TLS files cannot be used: they should be a certificate and its key, in PEM and without a pass phrase",
            field="ssl_cert_file",
        ) from None
    if ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL
    return context


def _run(  # what `serve` was given
    agents: list[str],
    cluster: Path | None,
    version: str | None,
    flags: dict[str, str],
    address: tuple[str, int],
    tls: "ssl.SSLContext | None",
) -> None:
    # Late: --help and --version need none of it.
    from dataclasses import replace

    from fake_master.carriers.server import Server
    from fake_master.cluster import ClusterSpec, read_cluster_file
    from fake_master.master.registries import open_registry
    from fake_master.master.registry import RegistryFailure
    from fake_master.pictured import Pictured, is_snapshot, read_snapshot

    spec: ClusterSpec | Pictured
    if cluster is not None and is_snapshot(cluster):
        if agents:
            raise BadInput("a snapshot has its own agents", field="agent", hint="leave out --agent")
        spec = replace(read_snapshot(cluster, version), flags=flags)
    else:
        file = read_cluster_file(cluster) if cluster is not None else ClusterSpec()
        spec = replace(
            file,
            agents=(*file.agents, *agents),
            mesos_version=version or file.mesos_version,
            flags={**file.flags, **flags},
        )
    try:
        registry = open_registry(spec.flags)
        if isinstance(spec, ClusterSpec):
            # Whoever starts upon a registry takes over from the master that wrote it.
            master = spec.start(registry, address=address, takes_over=True)
        else:
            master = spec.start(registry, address=address)  # a snapshot is the same master every time
    except RegistryFailure as failure:
        raise BadInput(str(failure), field="work_dir", hint=failure.hint) from failure
    _warn_of_openness(address[0], master.flags)
    _allow_many_files()
    try:
        asyncio.run(Server(master, tls).run(*address, ready=lambda url: print(url, flush=True)))  # noqa: T201
    except OSError as error:
        raise BadInput(f"cannot listen on {address[0]}:{address[1]}: {error.strerror}", field="port") from error


def _warn_of_openness(ip: str, flags: "MasterFlags") -> None:
    """Say loudly that strangers are let in."""
    import ipaddress

    try:
        if ip == "localhost" or ipaddress.ip_address(ip).is_loopback:
            return
    except ValueError:
        pass  # a name: wherever it leads
    names = [f"authenticate_http_{kind}" for kind in ("readonly", "readwrite", "frameworks")]
    missing = [f"--{name.replace('_', '-')}" for name in names if not flags.is_true(name)]
    if missing:
        _complain(
            f"WARNING: it listens on {ip}, and whoever reaches this machine may use it without credentials",
            f"give --credentials and {', '.join(missing)}, or leave --ip out",
        )


def _allow_many_files() -> None:
    """As many connections as the system lets this process have, which by default is few."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _complain(sentence: str, hint: str | None) -> None:
    text = f"{sentence} ({hint})" if hint else sentence
    print(f"mesos-fake-master: {printable(text)}", file=sys.stderr)  # noqa: T201


def main() -> None:
    """The entry point: an error of the tree ends in its own exit status."""
    try:
        app()
    except MesosctlError as error:
        _complain(error.message, error.hint)
        raise SystemExit(error.exit_status) from None
    except KeyboardInterrupt:
        raise SystemExit(ExitStatus.INTERRUPTED) from None


if __name__ == "__main__":
    main()
