"""The options of `mesos-fake-master`, each declared once.

An option that has the name of a flag of the master is that flag.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mesosctl import __version__
from mesosctl.mesos.rules.version_profile import VERSIONS

_NO_FLAGS = frozenset(
    "agent cluster mesos_version ip ssl_cert_file ssl_key_file ssl_ca_file ssl_require_client_cert ready_file "
    "exit_with_parent allocator_timeout log_format log_requests driver zk allow_origin no_page version".split()
)
_FLAGS = {"cluster_name": "cluster"}
"""Flags under another name than their option's, which a file has taken."""


def _show_version(ctx: typer.Context, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        typer.echo(f"mesos-fake-master {__version__}")
        raise typer.Exit


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options as they were typed, in the order of the help."""

    agent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RESOURCES",
            help="Register an agent with resources such as 'cpus:12;mem:6144', or in JSON, which can describe separate "
            "disks. Repeat for several.",
        ),
    ] = None
    cluster: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Take agents, frameworks and flags from a cluster file (TOML; mesos-fake-master(1) shows every key), "
            "or a whole cluster from a snapshot (JSON); - is standard input.",
        ),
    ] = None
    mesos_version: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION",
            autocompletion=lambda: list(VERSIONS),
            help="The master to imitate: documents, that of the design documents, or a release of Mesos from 1.4 to "
            "1.11. [default: documents]",
        ),
    ] = None
    ip: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="The address to listen on. The default can be reached from this machine only.",
        ),
    ] = "127.0.0.1"
    hostname: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The name of this machine that the master shows, and under which it is reached."
        ),
    ] = None
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="Let web pages of this origin, such as http://localhost:3000, do what programs can do. Repeat for "
            "several.",
        ),
    ] = None
    no_page: Annotated[bool, typer.Option("--no-page", help="Do not show the cluster as a page at GET /.")] = False
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="PORT", help="The port. 0 chooses a free one.")] = 5050
    registry: Annotated[
        str | None,
        typer.Option(
            metavar="in_memory|sqlite",
            autocompletion=lambda: ["in_memory", "sqlite"],
            help="Where the master keeps its state. [default: in_memory]",
        ),
    ] = None
    work_dir: Annotated[Path | None, typer.Option(metavar="FOLDER", help="The folder of a sqlite registry.")] = None
    roles: Annotated[
        str | None, typer.Option(metavar="ROLE,…", help="The roles that are allowed, besides '*'. By default, all are.")
    ] = None
    weights: Annotated[str | None, typer.Option(metavar="ROLE=WEIGHT,…", help="Weights of roles at the start.")] = None
    credentials: Annotated[str | None, typer.Option(metavar="FILE", help="Principals and secrets.")] = None
    acls: Annotated[str | None, typer.Option(metavar="FILE|JSON", help="Access control lists: who may do what.")] = None
    rate_limits: Annotated[
        str | None, typer.Option(metavar="FILE|JSON", help="Rate limits for the calls of frameworks.")
    ] = None
    rate_limit_http: Annotated[
        bool, typer.Option(help="Whether rate limits apply to HTTP frameworks; on a real master they do not.")
    ] = True
    authenticate_http_readonly: Annotated[
        bool, typer.Option("--authenticate-http-readonly", help="Require credentials for reading.")
    ] = False
    authenticate_http_readwrite: Annotated[
        bool, typer.Option("--authenticate-http-readwrite", help="Require credentials for changes.")
    ] = False
    authenticate_http_frameworks: Annotated[
        bool, typer.Option("--authenticate-http-frameworks", help="Require credentials from HTTP frameworks.")
    ] = False
    max_operator_event_stream_subscribers: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER",
            help="How many operators can subscribe at once. Another subscription closes the oldest stream. [default: "
            "1000]",
        ),
    ] = None
    allocation_interval: Annotated[
        str | None, typer.Option(metavar="DURATION", help="The time between allocations. [default: 1secs]")
    ] = None
    offer_timeout: Annotated[
        str | None, typer.Option(metavar="DURATION", help="The time after which an unanswered offer is rescinded.")
    ] = None
    allocator_agent_recovery_factor: Annotated[
        str | None,
        typer.Option(
            metavar="FRACTION",
            help="If any role has quota, a restarted master makes no offers until this fraction of the agents is back.",
        ),
    ] = None
    allocator_recovery_timeout: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="The time after which a restarted master makes offers even "
            "if fewer agents are back. [default: 10mins]",
        ),
    ] = None
    agent_reregister_timeout: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION", help="The time after which agents that have not come back become unreachable."
        ),
    ] = None
    recovery_agent_removal_limit: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT",
            help="If more agents than this are still missing after --agent-reregister-timeout, the master exits.",
        ),
    ] = None
    authenticate_frameworks: Annotated[
        bool, typer.Option("--authenticate-frameworks", help="Require credentials from scheduler drivers.")
    ] = False
    driver: Annotated[
        bool,
        typer.Option(
            "--driver", help="Serve frameworks that use a scheduler driver (libmesos). Needs mesosctl[protobuf]."
        ),
    ] = False
    zk: Annotated[
        str | None,
        typer.Option(
            metavar="zk://HOST:PORT,…/PATH", help="Register in ZooKeeper, so that frameworks and tools find it."
        ),
    ] = None
    ssl_cert_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Serve https with this certificate, in PEM.")
    ] = None
    ssl_key_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The key of the certificate. By default, it is in the same file."),
    ] = None
    ssl_ca_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The certificate authorities whose client certificates are accepted."),
    ] = None
    ssl_require_client_cert: Annotated[
        bool, typer.Option("--ssl-require-client-cert", help="Refuse clients without such a certificate.")
    ] = False
    allocator: Annotated[
        str | None,
        typer.Option(
            metavar="hierarchical|strict-priority|MODULE:CLASS",
            help="The allocator. Name your own class as package.module:Class. [default: hierarchical]",
        ),
    ] = None
    allocator_timeout: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="Exit with status 1 if a call to your own allocator does not return for this long. "
            "By default, the call is only logged.",
        ),
    ] = None
    priorities: Annotated[
        str | None,
        typer.Option(
            metavar="ROLE=NUMBER,…", help="Strict priority: the role with the highest number is served first."
        ),
    ] = None
    preemption: Annotated[
        bool,
        typer.Option(
            "--preemption",
            help="Strict priority: revoke tasks of lower priority if a framework requests their resources.",
        ),
    ] = False
    revocation_grace_period: Annotated[
        str | None,
        typer.Option(metavar="DURATION", help="How long a revoked task may take to end. [default: 5secs]"),
    ] = None
    oversubscribe_reservations: Annotated[
        bool,
        typer.Option(
            "--oversubscribe-reservations",
            help="Lend idle reservations to others, as revocable resources. No release of Mesos does this.",
        ),
    ] = False
    lendable_names: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="The resources that are lent. [default: cpus,mem]")
    ] = None
    cluster_name: Annotated[str | None, typer.Option(metavar="NAME", help="The name that /state shows.")] = None
    ready_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the URL, port and process id to this file, as JSON, when the master is ready."
        ),
    ] = None
    exit_with_parent: Annotated[bool, typer.Option("--exit-with-parent", help="Exit when the parent process ends.")] = (
        False
    )
    log_format: Annotated[
        Literal["text", "json"],
        typer.Option(
            "--log-format", help="The format of log messages; with json, a JSON object is printed instead of the URL."
        ),
    ] = "text"
    log_requests: Annotated[bool, typer.Option("--log-requests", help="Log every request with its status.")] = False
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False

    def flags(self) -> dict[str, str]:
        """The flags of the master that were given, as texts; the port always is."""
        given = {
            _FLAGS.get(option.name, option.name): getattr(self, option.name)
            for option in fields(self)
            if option.name not in _NO_FLAGS and getattr(self, option.name) != option.default
        }
        texts = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in given.items()}
        return texts | {"port": str(self.port)}


def with_options(function: Callable[[ServeOptions], None]) -> Callable[..., None]:
    """Return the function that typer makes a command of, with a parameter for each option."""

    def run(**words: Any) -> None:
        function(ServeOptions(**words))

    parameters = [
        inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=option.type)
        for option in fields(ServeOptions)
    ]
    run.__doc__ = function.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer asks for it, mypy knows none
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
