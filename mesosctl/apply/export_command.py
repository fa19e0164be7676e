"""`mesosctl export`: the desired state, or the whole cluster, as a file to edit."""

from pathlib import Path
from typing import Annotated

import typer

from mesosctl.apply.comparison import read_actual
from mesosctl.apply.report import wanted_state
from mesosctl.cli.arguments import SnapshotSource, WrittenFile
from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.session import Session
from mesosctl.files.desired_state import dump
from mesosctl.files.writing import holds_another_text, write_atomically
from mesosctl.mesos.desired.desired_state import Actual, exported, registered_agents
from mesosctl.mesos.errors import UsageError
from mesosctl.show.output_formats import DOCUMENTS
from mesosctl.snapshot.command import confirm_replacing, take_snapshot

app = typer.Typer(cls=Group, rich_markup_mode=None)

WholeCluster = Annotated[
    bool,
    typer.Option(
        "--cluster",
        help="Write a cluster file for the fake master, with agents and frameworks.",
        show_default=False,
    ),
]


@app.command(
    "export",
    cls=Command,
    epilog=examples(
        ("export -f wanted.toml", "write the current state to a file, to edit it"),
        ("diff -f wanted.toml", "show the differences"),
        ("apply -f wanted.toml", "apply the file"),
        (
            "export --cluster --from prod.json -f lab.toml",
            "write a snapshot as a cluster file, to edit and simulate it",
        ),
    ),
)
def export(
    ctx: typer.Context, *, file: WrittenFile = None, cluster: WholeCluster = False, source: SnapshotSource = None
) -> None:
    """Write the quotas, weights and dynamic reservations of a cluster as TOML, for diff and apply.

    A quota is a table [quotas.ROLE] with guarantee = "cpus:12;mem:6GiB" and limit = "cpus:24"; a resource that limit
    does not name is not limited, and limit = "none" limits nothing.  A weight is ROLE = NUMBER below [weights]. A
    reservation is an entry of [[reservations]] with agent (host name or id), role and resources =
    "cpus:2;ports:[31000-31009]"; under = ["dept"] names the roles that it refines, from the bottom up; principal and
    labels = { why = "batch" } distinguish it from others. A note names anything that cannot be written this way.
    Nothing is changed.

    With --cluster, the file describes the whole cluster: agents, frameworks and what they run, quotas, weights,
    reservations and volumes. --master fake:FILE, mesos-fake-master --cluster and offers simulate read it.

    With several contexts, FILE has {context} in its name, which stands for the name of each:
    --all-contexts -f 'wanted-{context}.toml'.

    If FILE exists with other content, you are asked before it is replaced; a script uses --yes. Nothing is written
    through a link that another user made.

    On standard output, -o json, jsonl and yaml write JSON or YAML instead of TOML. FILE and cluster files are always
    TOML.
    """
    session: Session = ctx.obj
    writes_file = file is not None and str(file) != "-"
    # The default, table, is TOML here.
    if session.names_output and (writes_file or cluster or session.form not in {"table", *DOCUMENTS}):
        what = "a cluster file in TOML" if cluster else "its file in TOML" if writes_file else "TOML, JSON or YAML"
        raise UsageError(
            f"export writes {what}, not {session.form}",
            field="--output",
            hint="leave out -o" if cluster else f"leave out -o, or use -o json{' without -f' * writes_file}",
        )
    if source is not None:
        session.check_one_cluster("--from")
    if writes_file or session.form not in DOCUMENTS or cluster:
        file = session.file_of_context(file if writes_file else None)
    if cluster:
        import fake_master

        text, left_out = fake_master.cluster_file(take_snapshot(session, source))
    else:
        wanted, left_out = exported(_actual(session, source))
        text = dump(wanted)
    for sentence in left_out:
        session.note(f"not written: {sentence}")
    if file is not None and writes_file:
        _write(session, file, _plain(session, text, str(file)))
    elif session.form in DOCUMENTS and not cluster:
        session.emit(wanted_state(wanted))
    else:
        session.emit_text(_plain(session, text, "the document"))


def _actual(session: Session, source: Path | None) -> Actual:
    """The state to write, of a master or of a snapshot file."""
    if source is None:
        with session.open_master() as master:
            return read_actual(master)

    snapshot = take_snapshot(session, source)
    return Actual(snapshot.quotas, snapshot.weights, registered_agents(snapshot.agents))


def _write(session: Session, file: Path, text: str) -> None:

    if holds_another_text(file, text):
        confirm_replacing(session, file)
    write_atomically(file, text, field="--file")
    session.note(f"written to {file}")


def _plain(session: Session, text: str, what: str) -> str:
    """The text without secrets; a warning says so, because it differs from the cluster."""
    plain = session.environment.secrets.redact_data(text)
    if plain != text:
        session.warn(f"{what} differs from what was read: it contained a secret of this command, which is hidden")
    return plain
