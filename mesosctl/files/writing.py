"""Text files, replaced completely or not at all.

If a kill or a full disk interrupts a write, either the old file or the new one is there. The new content is written to
a file next to the old one, synced to the disk, and renamed.
"""

import errno
import fcntl
import itertools
import os
import stat
import struct
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mesosctl.mesos.errors import BadInput

NEW_FILE_MODE = 0o644
"""Before the user's umask."""
_WHILE_IT_IS_WRITTEN = _OF_ITS_USER = 0o600
_PIECE = 1 << 18
"""Bytes that are written at once."""
_ENDING = ".tmp"
_LEFT_BEHIND_AFTER = 60.0
"""Seconds after which a file without a lock counts as left by a killed program."""
_MOST_OF_A_NAME = 48
_MOST_LINKS = 40
"""The most links on one path, as in Linux."""
_NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)


def make_private_folder(path: Path) -> None:
    """Make a folder of the user, and the missing ones above it: 0700 each, whatever the umask.  Raises OSError."""
    missing = []
    for folder in (path, *path.parents):
        if folder.is_dir():
            break
        missing.append(folder)
    for folder in reversed(missing):
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            if not folder.is_dir():  # else another program has just made it
                raise
        else:
            folder.chmod(0o700)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a folder, or a file that is made if needed, once no other program does; some file systems have no locks.

    Raises OSError.
    """
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    descriptor = os.open(path, flags | os.O_CLOEXEC, _OF_ITS_USER)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def lock_at_once(path: Path) -> int | None:
    """Return the descriptor of a lock file, which is held until it is closed; its holder may remove it before that.

    None if it was removed meanwhile.  Raises BlockingIOError if another program holds it, and OSError.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, _OF_ITS_USER)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


_FLOCK = "hhqqi4x"
"""The layout of `struct flock` of Linux."""
_LOCKED_BYTE = 1 << 62
"""The place of the lock of `lock_itself`: far behind every byte of a file, and behind those that SQLite locks."""


def lock_itself(path: Path) -> int:
    """Return the descriptor of a lock on a file, whatever name it was opened by; held until the descriptor is closed.

    It is a lock of an open file description, which closing another descriptor of the file does not lose; only Linux has
    one, and elsewhere there is none.  Raises BlockingIOError if another process holds it, and OSError.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if sys.platform == "linux":
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _lock_of_itself())
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_itself_locked(path: Path) -> bool:
    """Whether somebody holds the lock of `lock_itself` on a file, as far as the system knows.  Raises OSError."""
    if sys.platform != "linux":
        return False
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, _lock_of_itself())
    finally:
        os.close(descriptor)
    return bool(struct.unpack(_FLOCK, found)[0] != fcntl.F_UNLCK)


def _lock_of_itself() -> bytes:
    return struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, _LOCKED_BYTE, 1, 0)


def write_atomically(path: Path, text: str, *, field: str | None = None, new_mode: int = NEW_FILE_MODE) -> None:
    """Replace a file, or the target of the user's own link, and keep owner and permissions; a new one gets `new_mode`.

    A link of another user is not followed.  It is on the disk when this returns.  Raises BadInput naming `field`,
    the option that named the file; what was there is unchanged then.
    """
    write_pieces(path, (text,), field=field, new_mode=new_mode)


def holds_another_text(path: Path, text: str) -> bool:
    """Whether a file exists with different content, which writing `text` would replace; a pipe has none."""
    try:
        if not path.is_file() or not (size := path.stat().st_size):
            return False
        wanted = text.encode(errors="surrogateescape")
        return size != len(wanted) or path.read_bytes() != wanted
    except OSError:  # it cannot be read, so its content may differ
        return True


def write_pieces(path: Path, pieces: Iterable[str], *, field: str | None = None, new_mode: int = NEW_FILE_MODE) -> None:
    """The same for a text that comes in pieces and is never complete in memory."""
    try:
        # A name from bytes that are not UTF-8 becomes the same bytes.
        encoded = (piece.encode(errors="surrogateescape") for piece in pieces)
        _replace_file(path, encoded, new_mode=new_mode)
    except UnicodeEncodeError as error:
        raise BadInput(f"{path} cannot be written: the text is not Unicode ({error.reason})", field=field) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}", field=field) from None


def replace_file(path: Path, content: bytes, *, new_mode: int = NEW_FILE_MODE, settled: bool = True) -> None:
    """The same for bytes.  Raises OSError.

    Without `settled` it is complete too, but after a power failure the old file may be back, which is enough for a
    cache.
    """
    _replace_file(path, (content,), new_mode=new_mode, settled=settled)


def _replace_file(path: Path, pieces: Iterable[bytes], *, new_mode: int, settled: bool = True) -> None:
    """The same for pieces.

    A pipe or the like is written to directly, if it belongs to the user or the system. A file without write permission
    is left alone, even if its folder is writable.
    """
    target = without_links(path)
    before = _state(target)
    if before is not None and not stat.S_ISREG(before.st_mode):
        if before.st_uid not in _trusted():
            raise PermissionError(errno.EACCES, "it is not a regular file, and belongs to another user", str(target))
        with _open_stream(target) as there:
            there.writelines(pieces)
        return
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    _remove_what_was_left(target)
    with _beside(target, new_mode if before is None else _WHILE_IT_IS_WRITTEN) as (descriptor, temporary):
        with open(descriptor, "wb", _PIECE, closefd=False) as there:
            there.writelines(pieces)
        if before is not None:
            _make_alike(descriptor, target, before)
        if settled:
            os.fsync(descriptor)
        temporary.replace(target)
    if settled:
        sync_folder(target.parent)


def _open_stream(target: Path) -> BinaryIO:
    """Open a stream for writing without waiting: a FIFO without a reader might block forever."""
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO and target.is_fifo():
            raise OSError(errno.ENXIO, "it is a FIFO that no program reads") from None
        raise
    os.set_blocking(descriptor, True)
    return open(descriptor, "wb", _PIECE)  # noqa: PTH123  # it is no path any more


def without_links(path: Path) -> Path:
    """The target of a path, following links of the user and the system.

    Raises PermissionError for a link of another user, who could choose what is overwritten, for example in /tmp.
    """
    found, left, followed = Path("/"), [*reversed(Path.cwd().joinpath(path).parts[1:])], 0
    while left:
        name = left.pop()
        if name == "..":
            found = found.parent
            continue
        found = found / name
        try:
            state = found.lstat()
        except FileNotFoundError:
            continue  # it is new, or its folder is missing, which is reported when it is opened
        if not stat.S_ISLNK(state.st_mode):
            continue
        if state.st_uid not in _trusted():
            raise PermissionError(errno.EACCES, f"{found} is a link that belongs to another user; name the file itself")
        if found.parent.parts[:2] == ("/", "proc") and found.parent.name == "fd":
            return found if not left and not found.is_file() else Path(os.path.realpath(found))
        followed += 1
        if followed > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        target = found.readlink()
        found = Path("/") if target.is_absolute() else found.parent
        left += reversed(target.parts[1:] if target.is_absolute() else target.parts)
    return found


def _trusted() -> tuple[int, int]:
    """The users whose links are followed: this one and root."""
    return os.geteuid(), 0


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that files made, renamed or removed in it survive a crash, if the system can do so."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # a folder may be writable but not readable
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def _state(target: Path) -> os.stat_result | None:
    try:
        return target.stat()
    except FileNotFoundError:
        return None


@contextmanager
def _beside(target: Path, mode: int) -> Iterator[tuple[int, Path]]:
    """A new file in the same folder, locked; removed at the end unless it was renamed."""
    for number in itertools.count():
        temporary = target.with_name(f"{_beginning(target)}{os.getpid()}-{number}{_ENDING}")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        except FileExistsError:
            continue
        break
    try:
        with suppress(OSError):  # some file systems have no locks, and then nothing is ever removed
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield descriptor, temporary
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def _beginning(target: Path) -> str:
    return f".{target.name[:_MOST_OF_A_NAME]}."


def _remove_what_was_left(target: Path) -> None:
    """Remove the files that killed programs left next to the file. Running programs hold locks on theirs."""
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if entry.name.startswith(_beginning(target)) and entry.name.endswith(_ENDING):
                _remove_if_left(Path(entry.path))


def _remove_if_left(path: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            if time.time() - os.fstat(descriptor).st_mtime > _LEFT_BEHIND_AFTER:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
        finally:
            os.close(descriptor)


def _make_alike(descriptor: int, target: Path, before: os.stat_result) -> None:
    """Copy owner, group, permissions and access lists of the replaced file, as far as allowed."""
    mode = stat.S_IMODE(before.st_mode)
    for owner in (before.st_uid, -1):
        try:
            os.fchown(descriptor, owner, before.st_gid)
            break
        except PermissionError:
            continue
    else:
        # A different group must not get the permissions of the old one.
        mode = mode & ~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3
    os.fchmod(descriptor, mode)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in os.listxattr(target):
                with suppress(OSError):
                    os.setxattr(descriptor, name, os.getxattr(target, name))
