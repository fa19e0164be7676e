"""What the three verbs that edit a file have in common."""

from mesosctl.cli.files import STANDARD_INPUT
from mesosctl.cli.session import Session
from mesosctl.core.errors import UsageError
from mesosctl.core.ratelimit_standing import FileEdit
from mesosctl.ops.ratelimit.editing import Change, edit
from mesosctl.render.ratelimit import file_edit


def edit_and_tell(session: Session, path: str, change: Change) -> FileEdit:
    """Edit a file, print the diff, and say when it will matter; with --dry-run the file is left alone.

    Raises UsageError for standard input, and what `edit` raises.
    """
    if path == STANDARD_INPUT:
        raise UsageError("a file is edited where it is, and - is none", field="--file", hint="name a file")
    made = edit(path, change, write=not session.options.dry_run)
    session.emit(file_edit(made))
    if made.written:
        session.note("a master reads its rate limits when it starts: restart it, or let another one lead")
    return made
