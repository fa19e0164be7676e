"""`mesosctl export`."""

from pathlib import Path
from typing import Annotated

import typer

from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError

_FORMS = ("table", "json", "jsonl")
"""The first, which holds unless another is said, is TOML."""
File = Annotated[
    Path | None,
    typer.Option("--file", "-f", metavar="FILE", help="Write it here; standard output unless given, and for -."),
]
EXAMPLES = (
    ("export -f cluster.toml", "what is set now, as a file to edit"),
    ("diff -f cluster.toml", "what is not as the file says"),
    ("apply -f cluster.toml", "make it so"),
)


@verb(EXAMPLES)
def command(session: Session, *, file: File = None) -> None:
    """Write the quotas, weights and dynamic reservations of a cluster as TOML, for diff and apply.

    A quota is a table [quotas.ROLE] with guarantee = "cpus:12;mem:6GiB" and limit = "cpus:24"; a resource that
    limit does not name is not limited, and "none" limits none.  A weight is ROLE = NUMBER below [weights].
    A reservation is an entry of [[reservations]] with agent (host name or id), role and
    resources = "cpus:2;ports:[31000-31009]"; under = ["dept"] names the roles that it refines, from the bottom
    up; principal and labels = { why = "batch" } tell it from others.  What cannot be
    written so is named in a note.  Nothing is changed.

    A FILE that is there already and says something else may have been edited: you are asked before it is
    replaced, and a script says --yes.  A FILE is not written through a link that somebody else made.

    On standard output -o json and -o jsonl say the same as JSON; other forms, and a FILE, are always TOML.
    """
    from mesosctl.ops.apply.state import exported, read_actual
    from mesosctl.ops.files import holds_another_text, write_atomically
    from mesosctl.render.wanted import wanted_state
    from mesosctl.wire.wanted import content, dump

    writes_file = file is not None and str(file) != "-"
    # Said here, it is meant for this; a setting is meant for every command.
    if session.said.output is not None and (writes_file or session.form not in _FORMS):
        raise UsageError(
            f"export writes {'its file in TOML' if writes_file else 'TOML or JSON'}, and no {session.form}",
            field="--output",
            hint="leave out -o, or say -o json without -f" if writes_file else "leave out -o, or say -o json",
        )
    with session.open_master() as master:
        wanted, left_out = exported(read_actual(master))
    for sentence in left_out:
        session.note(f"not written: {sentence}")
    if file is not None and writes_file:
        text = _plain(session, dump(wanted), str(file))
        if holds_another_text(file, text):
            session.confirm_destructive(
                "Replace it?",
                f"{file} holds something else, which would be lost",
                "name another file, or in a script say --yes",
            )
        write_atomically(file, text)
        session.note(f"{file} is written")
    elif session.form in ("json", "jsonl"):
        session.emit(wanted_state(content(wanted)))
    else:
        session.emit_text(_plain(session, dump(wanted), "the document"))


def _plain(session: Session, text: str, what: str) -> str:
    """The text without any secret; said so, as it is not what the cluster has."""
    plain = session.environment.secrets.redact_data(text)
    if plain != text:
        session.warn(f"{what} is not what was read: a secret of this command stood in it, and is struck out")
    return plain
