"""The descriptors of messages that lie, serialized, in the library of a real Mesos."""

import re
from collections.abc import Iterator
from pathlib import Path

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

_NAME = re.compile(rb"\n([\x05-\x7f])([A-Za-z0-9_./]+\.proto)")
_LAST_FIELD = 12  # of FileDescriptorProto


def of_process(pid: int) -> Path:
    """The library of Mesos that a process has loaded."""
    found = {line.split()[-1] for line in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()}
    return Path(next(path for path in sorted(found) if Path(path).name.startswith("libmesos")))


def descriptors(library: Path) -> dict[str, descriptor_pb2.FileDescriptorProto]:
    """Every file that the library describes, by its name (`mesos/v1/mesos.proto`)."""
    data = library.read_bytes()
    found: dict[str, descriptor_pb2.FileDescriptorProto] = {}
    for start in _starts(data):
        file = descriptor_pb2.FileDescriptorProto()
        try:
            file.ParseFromString(data[start : _end(data, start)])
        except DecodeError:
            continue
        if file.message_type:
            found.setdefault(file.name, file)
    return found


def _starts(data: bytes) -> Iterator[int]:
    for match in _NAME.finditer(data):
        size = match[1][0]
        if match[2][:size].endswith(b".proto") and len(match[2]) >= size:
            yield match.start()


def _end(data: bytes, at: int) -> int:
    """Where the fields end that can be of a file."""
    while True:
        tag = data[at]
        number, wire = tag >> 3, tag & 7
        if tag > 0x7F or not 1 <= number <= _LAST_FIELD or wire not in (0, 2):
            return at
        value, after = _varint(data, at + 1)
        at = after + (value if wire == 2 else 0)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at
