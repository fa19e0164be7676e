"""What the three verbs that edit a file have in common."""

from mesosctl.cli.session import Session
from mesosctl.core.ratelimit_standing import FileEdit
from mesosctl.ops.ratelimit.editing import Change, edit
from mesosctl.render.ratelimit import file_edit


def edit_and_tell(session: Session, path: str, change: Change) -> FileEdit:
    """Edit a file, print the diff, and say when it will matter; with --dry-run the file is left alone."""
    made = edit(path, change, write=not session.options.dry_run)
    session.emit(file_edit(made))
    if made.written:
        session.note("a master reads its rate limits when it starts: restart it, or let another one lead")
    return made
