"""Pictures in files."""

from pathlib import Path

from mesosctl.core.errors import BadInput
from mesosctl.core.picture import ClusterPicture
from mesosctl.core.reading import why_unreadable
from mesosctl.ops.files import write_atomically
from mesosctl.wire import snapshot


def read_file(path: Path) -> ClusterPicture:
    """The picture in a file.  Raises BadInput."""
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {why_unreadable(error)}") from None
    return snapshot.load(content, str(path))


def write_file(path: Path, picture: ClusterPicture) -> None:
    """Write a file whole, or leave what was there.  Raises BadInput."""
    write_atomically(path, snapshot.dump(picture))
