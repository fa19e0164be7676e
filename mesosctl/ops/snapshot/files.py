"""Pictures in files."""

from collections.abc import Callable, Iterable
from pathlib import Path

from mesosctl.core.picture import ClusterPicture
from mesosctl.ops.files import write_pieces
from mesosctl.wire import snapshot


def write_file(path: Path, picture: ClusterPicture, redact: Callable[[Iterable[str]], Iterable[str]] = iter) -> None:
    """Write a file whole, or leave what was there; `redact` takes out what must not be kept.  Raises BadInput."""
    write_pieces(path, redact(snapshot.lines(picture)))
