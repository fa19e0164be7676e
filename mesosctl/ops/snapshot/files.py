"""Pictures in files."""

from pathlib import Path

from mesosctl.core.errors import BadInput
from mesosctl.core.picture import ClusterPicture
from mesosctl.core.reading import why_unreadable
from mesosctl.ops.files import write_pieces
from mesosctl.wire import snapshot


def read_file(path: Path) -> ClusterPicture:
    """The picture in a file.  Raises BadInput."""
    try:
        file = path.open("rb")
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {why_unreadable(error)}") from None
    with file:
        try:
            return snapshot.read(file, str(path))
        except OSError as error:
            raise BadInput(f"{path} cannot be read: {why_unreadable(error)}") from None


def write_file(path: Path, picture: ClusterPicture) -> None:
    """Write a file whole, or leave what was there.  Raises BadInput."""
    write_pieces(path, snapshot.lines(picture))
