"""`mesos-fake-master`, and `python -m fake_master`: a fake master on a socket."""

import asyncio
import logging
import os
import sys
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING

import typer

from fake_master.options import ServeOptions, with_options
from fake_master.process import (
    announce,
    check_ready_file,
    end_with_parent,
    loading,
    server_context,
    set_up_logs,
    withdraw,
)
from mesosctl.files.user_folders import edits_told
from mesosctl.mesos.amounts.notation import parse_duration
from mesosctl.mesos.errors import BadInput, MesosctlError, extra, too_little_memory
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.shells.installation import offer_scripts
from mesosctl.shells.scripts import is_asked

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator, Sequence

    from fake_master.master import Master
    from fake_master.sources.cluster_file import ClusterSpec
    from fake_master.sources.snapshot import RestoredCluster
    from fake_master.state.flags import MasterFlags
    from fake_master.transports.zookeeper import ZooKeeperPlace

EXAMPLES = (
    ("--agent 'cpus:12;mem:6144'", "one agent, on http://127.0.0.1:5050"),
    ("--port 0 --cluster cluster.toml", "the agents, frameworks and flags of a file, on a free port, which is printed"),
    (
        "--mesos-version 1.11 --registry sqlite --work-dir state --agent 'cpus:4;mem:8GiB'",
        "a master that keeps its state",
    ),
)

_NAME = "mesos-fake-master"
_LOG = logging.getLogger(__name__)
_FAILURE = 1
"""The exit status of a real master that gives up leadership."""

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(name="serve", context_settings={"help_option_names": ["-h", "--help"]})
@with_options
def serve(options: ServeOptions) -> None:
    """Serve a fake Mesos master.

    When it is ready, it prints its URL to standard output, and GET /health answers 200. It ends on SIGTERM or Ctrl-C.
    """
    # Imported late: --help and --version do not need them.
    from fake_master.transports.cross_origin import check_origins
    from fake_master.transports.zookeeper import parse_place

    set_up_logs(options.log_format, requests=options.log_requests)
    tls = server_context(
        options.ssl_cert_file, options.ssl_key_file, options.ssl_ca_file, required=options.ssl_require_client_cert
    )
    if options.driver:
        _check_driver(options)
    place = None if options.zk is None else parse_place(options.zk)
    check_origins(options.allow_origin or ())
    check_ready_file(options.ready_file)
    with loading():
        spec = _spec(options)
        _note_version(spec)
    with _watching_calls(options, spec):
        if options.allocator is not None and ":" in options.allocator:
            from fake_master.allocator import custom

            custom.import_from_current_directory(options.allocator)
        _serve(options, spec, tls, place)


def _serve(
    options: ServeOptions,
    spec: "ClusterSpec | RestoredCluster",
    tls: "ssl.SSLContext | None",
    place: "ZooKeeperPlace | None",
) -> None:
    """Start a master and serve it until it is stopped, or ends."""
    # Imported late: --help and --version do not need it.
    from fake_master.services.v1_messages import master_info
    from fake_master.transports.limits import allow_many_files
    from fake_master.transports.server import Server
    from fake_master.transports.zookeeper import Registration

    with loading():
        master = _start(options, spec)
    _warn_of_openness(options.ip, master.state.flags)
    _warn_of_refused(master.agent_registry.refused)
    _warn_of_ignored(master.state.flags.authorizer.ignored)
    allow_many_files()

    async def run() -> None:
        server = Server(
            master,
            tls,
            drivers=options.driver,
            allowed_origins=options.allow_origin or (),
            has_page=not options.no_page,
        )
        registered: list[Registration] = []

        def ready(url: str) -> None:
            if place is not None:
                registered.append(Registration(place, master_info(master.state)))
            announce(url, options.log_format, options.ready_file)

        watching = asyncio.create_task(end_with_parent(server.stop)) if options.exit_with_parent else None
        try:
            await server.run(options.ip, options.port, ready)
        finally:
            for registration in registered:
                registration.close()
            withdraw(options.ready_file)
            if watching is not None:
                watching.cancel()

    try:
        asyncio.run(run())
    except OSError as error:
        # asyncio puts the address into the reason; only its end is the reason.
        reason = str(error.strerror or error).rpartition(": ")[2].rstrip(")")
        raise BadInput(
            f"cannot listen on {options.ip}:{options.port}: {reason}", field="port", hint="--port 0 chooses a free port"
        ) from error
    if master.state.ended is not None:
        _log(logging.ERROR, master.state.ended, "start it with its agents, or raise the limit")
        raise SystemExit(_FAILURE)


@contextmanager
def _watching_calls(options: ServeOptions, spec: "ClusterSpec | RestoredCluster") -> "Iterator[None]":
    """Report calls of a custom allocator that do not return.  Raises BadInput for an invalid timeout."""
    from fake_master.state.flags import BUNDLED_ALLOCATORS

    timeout = options.allocator_timeout
    if spec.flags.get("allocator", BUNDLED_ALLOCATORS[0]) in BUNDLED_ALLOCATORS:
        if timeout is not None:
            hint = "name your own class with --allocator, or leave out --allocator-timeout"
            raise BadInput("the allocators of the fake master always return", field="allocator_timeout", hint=hint)
        yield
        return
    from fake_master.allocator.custom_watchdog import Watch

    def end() -> None:
        # The main thread is in the call, so the process ends at once. The registry is on disk, as after a kill.
        withdraw(options.ready_file)
        os._exit(_FAILURE)

    with Watch(None if timeout is None else _seconds(timeout), end).running():
        yield


def _seconds(timeout: str) -> float:
    """The seconds of `--allocator-timeout`.  Raises BadInput."""
    try:
        seconds = parse_duration(timeout)
    except ValueError as error:
        raise BadInput(f"--allocator-timeout: {error}", field="allocator_timeout") from None
    if not seconds > 0:
        raise BadInput(f"--allocator-timeout: '{timeout}' must be above 0", field="allocator_timeout")
    return seconds


def _check_driver(options: ServeOptions) -> None:
    """Raise BadInput if drivers cannot be served."""
    from fake_master.http.encodings import has_protobuf

    if not has_protobuf():
        raise BadInput("the package protobuf is not installed", field="driver", hint=extra("protobuf"))
    if options.ssl_cert_file is not None:
        raise BadInput("--driver does not work with TLS", field="driver", hint="leave out --ssl-cert-file")


def _start(options: ServeOptions, spec: "ClusterSpec | RestoredCluster") -> "Master":
    """The master of the options. Raises BadInput."""
    from fake_master.registry.interface import RegistryFailure
    from fake_master.registry.sqlite import open_registry
    from fake_master.sources.cluster_file import ClusterSpec

    address = options.ip, options.port
    try:
        registry = open_registry(spec.flags)
        if isinstance(spec, ClusterSpec):
            # A master that starts on a registry takes over from the one that wrote it.
            return spec.start(registry, address=address, takes_over=True)
        return spec.start(registry, address=address)  # a snapshot is the same master every time
    except RegistryFailure as failure:
        raise BadInput(str(failure), field="work_dir", hint=failure.hint) from failure


def _spec(options: ServeOptions) -> "ClusterSpec | RestoredCluster":
    from fake_master.sources.cluster_file import ClusterSpec
    from fake_master.sources.source_file import Source, read_opened, read_source
    from mesosctl.files.reading import read_within, refuse_empty_input, why_unreadable
    from mesosctl.mesos.messages.snapshots import LARGEST

    agents, flags = options.agent or [], options.flags()
    if options.cluster is None:
        file: Source = ClusterSpec()
        if options.mesos_version is not None:
            file = replace(file, mesos_version=options.mesos_version)
    elif str(options.cluster) == "-":
        try:
            with open(sys.stdin.fileno(), "rb", closefd=False) as given:
                content = read_within(given, LARGEST)
            refuse_empty_input(content, "cluster")
            file = read_opened(BytesIO(content), "standard input", options.mesos_version)
        except OSError as error:
            raise BadInput(f"standard input cannot be read: {why_unreadable(error)}", field="cluster") from None
    else:
        file = read_source(options.cluster, options.mesos_version)
    if not isinstance(file, ClusterSpec):
        if agents:
            raise BadInput("a snapshot has its own agents", field="agent", hint="leave out --agent")
        return replace(file, flags=flags)
    return replace(file, agents=(*file.agents, *agents), flags={**file.flags, **flags})


def _note_version(spec: "ClusterSpec | RestoredCluster") -> None:
    for note in spec.notes():
        _log(logging.WARNING, note, None)


def _warn_of_refused(hostnames: "Sequence[str]") -> None:
    """Log the agents that --acls keeps out; a real master does not report them either."""
    if hostnames:
        from mesosctl.mesos.amounts.notation import listed  # late: it is seldom needed

        _log(
            logging.WARNING,
            f"--acls does not let these agents register: {listed(hostnames, 3)}",
            "grant their principals register_agents; with static reservations, an agent also needs reserve_resources "
            "for their roles and for *, the role of its unreserved rest",
        )


def _warn_of_ignored(actions: "Sequence[str]") -> None:
    """Log the actions of --acls that nothing is asked about; a real master starts with them, too."""
    if actions:
        _log(
            logging.WARNING,
            f"--acls: this master ignores {', '.join(actions)}",
            "set_quotas and remove_quotas ended with Mesos 1.3: use update_quotas"
            if {"set_quotas", "remove_quotas"} & set(actions)
            else "nothing that it does asks about them",
        )


def _warn_of_openness(ip: str, flags: "MasterFlags") -> None:
    """Warn if others can use the master without credentials."""
    import ipaddress

    try:
        if ip == "localhost" or ipaddress.ip_address(ip).is_loopback:
            return
    except ValueError:
        pass  # a host name, which may be any address
    names = [f"authenticate_http_{kind}" for kind in ("readonly", "readwrite", "frameworks")]
    missing = [f"--{name.replace('_', '-')}" for name in names if not flags.is_true(name)]
    if missing:
        _log(
            logging.WARNING,
            f"it listens on {ip}, so everybody who can reach this machine can use it without credentials",
            f"give --credentials and {', '.join(missing)}, or leave --ip out",
        )


def _log(level: int, sentence: str, hint: str | None) -> None:
    _LOG.log(level, "%s", f"{sentence} ({hint})" if hint else sentence)


def main() -> None:
    """The entry point: an error of the tree ends in its own exit status."""
    if is_asked(_NAME, os.environ):
        from mesosctl.shells.answer import answer, be_silent

        be_silent()
        raise SystemExit(answer(app, _NAME, os.environ, sys.stdout))
    set_up_logs("text")
    command = typer.main.get_command(app)
    offer_scripts(command, _NAME)
    try:
        with edits_told(sys.argv[1:], "--install-completion", lambda said: typer.echo(f"{_NAME}: {said}", err=True)):
            ended = command.main(prog_name=_NAME, standalone_mode=False)
    except typer.TyperException as error:
        from mesosctl.shells.mistakes import sentence_of

        _log(logging.ERROR, sentence_of(error), f"see {_NAME} --help")
        raise SystemExit(ExitStatus.USAGE) from None
    except MesosctlError as error:
        _log(logging.ERROR, error.message, error.hint)
        raise SystemExit(error.exit_status) from None
    except (OSError, ImportError, RuntimeError, MemoryError) as error:
        told = too_little_memory(error)
        if told is None and isinstance(error, OSError) and isinstance(error.filename, str):
            told = BadInput(f"{error.filename} cannot be used: {error.strerror}")
        if told is None:
            raise
        _log(logging.ERROR, told.message, told.hint)
        raise SystemExit(told.exit_status) from None
    except (KeyboardInterrupt, typer.Abort):
        raise SystemExit(ExitStatus.INTERRUPTED) from None
    raise SystemExit(ended or ExitStatus.DONE)  # typer turns an interruption into its status


if __name__ == "__main__":
    main()
