"""The process of a served master: its logs, its ready file, its parent, and its TLS files."""

import asyncio
import gc
import json
import logging
import os
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from mesosctl.files.reading import check_size, unreadable_hint, why_unreadable
from mesosctl.files.writing import write_atomically
from mesosctl.mesos.errors import BadInput, printable, printable_json

LogFormat = Literal["text", "json"]
_SECONDS_BETWEEN_LOOKS = 0.25
_OBJECTS_BETWEEN_COLLECTIONS = (10_000, 10, 100)
"""Of the young, of the middle and of the old generation: new objects, and collections of the generation before."""


class _TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        mark = "WARNING: " if record.levelno == logging.WARNING else ""
        return f"mesos-fake-master: {mark}{printable(record.getMessage())}{_traceback(self, record)}"


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage() + _traceback(self, record),
            **getattr(record, "fields", {}),
        }
        return _one_line(line)


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    return f"\n{formatter.formatException(record.exc_info)}" if record.exc_info else ""


def _one_line(value: object) -> str:
    return printable_json(json.dumps(value, ensure_ascii=False)).encode(errors="backslashreplace").decode()


def set_up_logs(form: LogFormat, *, requests: bool = False) -> None:
    """Write messages to standard error, a line each; with `requests` every request is one."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if form == "json" else _TextFormatter())
    root = logging.getLogger()
    root.handlers = [handler]
    logging.getLogger("fake_master.requests").setLevel(logging.INFO if requests else logging.CRITICAL)


@contextmanager
def loading() -> Iterator[None]:
    """Create objects that live as long as the process, which the garbage collector then ignores."""
    # A large cluster is millions of objects without a cycle.  To look through them again and again took a third of the
    # start, and every later look through all of them keeps requests waiting for seconds.
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        # Offers and the texts of answers come after the start.  By Python's own thresholds a look through all of them
        # falls into nearly every first answer, and takes as long as the answer.
        gc.set_threshold(*_OBJECTS_BETWEEN_COLLECTIONS)
        gc.enable()


def check_ready_file(path: Path | None) -> None:
    """Remove the file of an earlier master. Raises BadInput if there can be no such file."""
    if path is None:
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}", field="ready_file") from error
    if not path.parent.is_dir():
        raise BadInput(f"{path} cannot be written: there is no such folder", field="ready_file")


def announce(url: str, form: LogFormat, ready_file: Path | None) -> None:
    """Say on standard output, and in a file, that requests are taken at `url`.  Raises BadInput."""
    parts = urlsplit(url)
    ready = _one_line({"url": url, "ip": parts.hostname, "port": parts.port, "pid": os.getpid()})
    if ready_file is not None:
        write_atomically(ready_file, f"{ready}\n", field="ready_file")
    print(ready if form == "json" else url, flush=True)  # noqa: T201


def withdraw(ready_file: Path | None) -> None:
    """Remove the file, because no more requests are accepted."""
    if ready_file is not None:
        with suppress(OSError):
            ready_file.unlink()


async def end_with_parent(end: Callable[[], None]) -> None:
    """Call `end` once the process that started this one has ended: it has another parent from then on."""
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110  # no system tells of it in a way that all have
        await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
    end()


def server_context(cert: Path | None, key: Path | None, ca: Path | None, *, required: bool) -> ssl.SSLContext | None:
    """Return the TLS context of these files, or None without a certificate.  Raises BadInput.

    The arguments are LIBPROCESS_SSL_CERT_FILE, _KEY_FILE, _CA_FILE and _REQUIRE_CLIENT_CERT of Mesos.
    """
    if cert is None:
        if key is not None or ca is not None or required:
            raise BadInput("TLS needs a certificate", field="ssl_cert_file", hint="give --ssl-cert-file")
        return None
    if required and ca is None:
        raise BadInput("client certificates need an authority", field="ssl_ca_file", hint="give --ssl-ca-file")
    for field, path in (("ssl_cert_file", cert), ("ssl_key_file", key), ("ssl_ca_file", ca)):
        if path is None:
            continue
        try:
            check_size(path)  # ssl does not tell which file it was, and waits for a FIFO
        except (OSError, ValueError) as error:
            raise BadInput(
                f"{path} cannot be read: {why_unreadable(error)}", field=field, hint=unreadable_hint(path, error)
            ) from None
    try:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=ca)
        context.load_cert_chain(cert, key)
    except ssl.SSLError:
        raise BadInput(
            "the TLS files cannot be used: they should be a certificate and its key, in PEM and without a passphrase",
            field="ssl_cert_file",
        ) from None
    if ca is not None:
        context.verify_mode = ssl.CERT_REQUIRED if required else ssl.CERT_OPTIONAL
    return context
