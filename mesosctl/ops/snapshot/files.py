"""Pictures in files."""

from pathlib import Path

from mesosctl.core.picture import ClusterPicture
from mesosctl.ops.files import write_pieces
from mesosctl.wire import snapshot


def write_file(path: Path, picture: ClusterPicture) -> None:
    """Write a file whole, or leave what was there.  Raises BadInput."""
    write_pieces(path, snapshot.lines(picture))
