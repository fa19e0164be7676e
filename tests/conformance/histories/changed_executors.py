"""An ExecutorInfo with every field, and the same with one thing changed, for each thing that the tables know."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from mesosctl.mesos.messages.protobuf_json.message_tables import (
    Enumeration,
    Field,
    Message,
    default_of,
    mesos_message,
)
from tests.conformance.scenarios.scenario import scalars

Document = Any
EXECUTOR = "mesos.v1.ExecutorInfo"
SECRET = {"type": "VALUE", "value": {"data": "eA=="}}
LABELS = {"labels": [{"key": "k", "value": "v"}, {"key": "l", "value": "w"}, {"key": "m"}]}
CAPABILITIES = {"capabilities": ["CHOWN", "KILL"]}
IMAGE = {
    "type": "DOCKER",
    "docker": {"name": "i", "config": SECRET, "credential": {"principal": "p", "secret": "s"}},
    "appc": {"name": "a", "id": "x", "labels": LABELS},
    "cached": False,
}
VOLUME_ON_CSI = {
    "plugin_name": "p",
    "static_provisioning": {
        "volume_id": "v",
        "volume_capability": {"block": {}, "access_mode": {"mode": "SINGLE_NODE_WRITER"}},
        "volume_context": {"a": "b"},
        "node_stage_secrets": {"n": SECRET},
        "node_publish_secrets": {"n": SECRET},
    },
}
SOURCES: dict[str, Document] = {
    "docker_volume": {
        "driver": "d",
        "name": "n",
        "driver_options": {"parameter": [{"key": "a", "value": "b"}, {"key": "c", "value": "d"}]},
    },
    "host_path": {"path": "/x", "mount_propagation": {"mode": "BIDIRECTIONAL"}},
    "sandbox_path": {"type": "PARENT", "path": "x"},
    "secret": SECRET,
    "csi_volume": VOLUME_ON_CSI,
}
COMMAND: Document = {
    "uris": [
        {"value": "a", "executable": True, "extract": False, "cache": True, "output_file": "o"},
        {"value": "b"},
    ],
    "environment": {
        "variables": [
            {"name": "A", "value": "1", "type": "VALUE"},
            {"name": "B", "value": "2"},
            {"name": "C", "type": "SECRET", "secret": SECRET},
        ]
    },
    "shell": False,
    "value": "true",
    "arguments": ["x", "y"],
    "user": "root",
}
CONTAINER = {
    "type": "MESOS",
    "hostname": "h",
    "volumes": [
        {"mode": "RW", "container_path": "p", "host_path": "/h"},
        {"mode": "RO", "container_path": "q", "image": IMAGE},
        *(
            {"mode": "RW", "container_path": name, "source": {"type": name.upper(), name: source}}
            for name, source in SOURCES.items()
        ),
    ],
    "docker": {
        "image": "i",
        "network": "BRIDGE",
        "port_mappings": [
            {"host_port": 1, "container_port": 2, "protocol": "tcp"},
            {"host_port": 3, "container_port": 2},
        ],
        "privileged": True,
        "parameters": [{"key": "a", "value": "b"}, {"key": "c", "value": "d"}],
        "force_pull_image": True,
        "volume_driver": "v",
    },
    "mesos": {"image": IMAGE},
    "network_infos": [
        {
            "ip_addresses": [{"protocol": "IPv6", "ip_address": "1.2.3.4"}, {"ip_address": "1.2.3.5"}],
            "name": "n",
            "groups": ["g", "h"],
            "labels": LABELS,
            "port_mappings": [{"host_port": 1, "container_port": 2, "protocol": "tcp"}],
        }
    ],
    "linux_info": {
        "capability_info": CAPABILITIES,
        "bounding_capabilities": CAPABILITIES,
        "effective_capabilities": CAPABILITIES,
        "share_pid_namespace": True,
        "seccomp": {"profile_name": "p", "unconfined": False},
        "ipc_mode": "PRIVATE",
        "shm_size": 4,
        "share_cgroups": False,
    },
    "rlimit_info": {"rlimits": [{"type": "RLMT_CORE", "soft": 1, "hard": 2}]},
    "tty_info": {"window_size": {"rows": 1, "columns": 2}},
}
DISCOVERY = {
    "visibility": "CLUSTER",
    "name": "n",
    "environment": "e",
    "location": "l",
    "version": "v",
    "ports": {
        "ports": [
            {"number": 1, "name": "a", "protocol": "tcp", "visibility": "CLUSTER", "labels": LABELS},
            {"number": 2, "name": "b"},
        ]
    },
    "labels": LABELS,
}
FULL: Document = {
    "type": "CUSTOM",
    "executor_id": {"value": "e"},
    "framework_id": {"value": "$FRAMEWORK"},
    "command": COMMAND,
    "container": CONTAINER,
    "resources": scalars(cpus=0.01, mem=1, disk=1),
    "name": "n",
    "source": "s",
    "data": "eA==",
    "discovery": DISCOVERY,
    "shutdown_grace_period": {"nanoseconds": 5},
    "labels": LABELS,
}
SMALL: Document = {"executor_id": {"value": "e"}, "command": {"value": "true"}}


class Change(NamedTuple):
    """The name of a change, such as `container.volumes.0.mode: changed`, and the executor with it."""

    name: str
    executor: Document


Path = tuple[str | int, ...]


class _Unknown(Exception):
    """A value that a release does not know."""


def known(executor: Document, release: str | None) -> Document:
    """The executor without the fields and values that a release lacks; a list loses each entry that has one."""
    return _known(mesos_message(EXECUTOR, release), executor)


def _known(message: Message, document: Document) -> Document:
    return {name: _known_field(message.fields[name], part) for name, part in document.items() if name in message.fields}


def _known_field(field: Field, part: Any) -> Any:
    kind = field.type
    if isinstance(kind, Enumeration) and isinstance(part, str) and part not in kind.values:
        raise _Unknown
    if not isinstance(kind, Message):
        return part
    if field.label == "map":
        return {key: _known(kind, value) for key, value in part.items()}
    if field.label != "repeated":
        return _known(kind, part)
    found = []
    for one in part:
        with suppress(_Unknown):
            found.append(_known(kind, one))
    return found


def changes(base: Document, release: str | None = None) -> Iterator[Change]:
    """Every field changed, left out or added, at any depth, but for ids and resources; lists also in other orders.

    Only what a release has is in any of them.
    """
    base = known(base, release)
    for path, what, value in _of_message(mesos_message(EXECUTOR, release), base, ()):
        if path[0] in ("executor_id", "framework_id", "resources"):
            continue
        changed = json.loads(json.dumps(base))  # parts that are one object here become several
        holder = changed
        for part in path[:-1]:
            holder = holder[part]
        if what == "left out":
            del holder[path[-1]]
        else:
            holder[path[-1]] = value
        yield Change(f"{'.'.join(map(str, path))}: {what}", changed)


Found = Iterator[tuple[Path, str, Any]]


def _of_message(message: Message, document: Document, path: Path) -> Found:
    for name, field in message.fields.items():
        here = (*path, name)
        if name not in document:
            yield from _added(field, here)
            continue
        if field.label != "required":
            yield here, "left out", None
        value = document[name]
        if field.label == "repeated":
            yield from _of_list(field, value, here)
        elif field.label == "map":
            yield here, "longer", {**value, "more": next(iter(value.values()))}
            for key, part in value.items():
                yield from _of_value(field, part, (*here, key))
        else:
            yield from _of_value(field, value, here)


def _of_list(field: Field, values: list[Any], path: Path) -> Found:
    yield path, "longer", [*values, values[-1]]
    if len(values) > 1:
        yield path, "shorter", values[:-1]
        yield path, "in another order", values[::-1]
        yield path, "the first alone, as often", [values[0]] * len(values)
    for index, value in enumerate(values):
        yield from _of_value(field, value, (*path, index))


def _of_value(field: Field, value: Any, path: Path) -> Found:
    kind = field.type
    if isinstance(kind, Message):
        yield from _of_message(kind, value, path)
    elif isinstance(kind, Enumeration):
        yield path, "changed", next(name for name in kind.values if name not in (value, "UNKNOWN"))
    elif kind == "bytes":
        yield path, "changed", "eQ=="
    else:
        yield path, "changed", (not value if kind == "bool" else f"{value}z" if kind == "string" else value + 1)


def _added(field: Field, path: Path) -> Found:
    """A field with what it stands for while it is absent."""
    if isinstance(field.type, Message):
        if field.label != "map" and not field.type.required:
            yield path, "empty", [] if field.label == "repeated" else {}
    else:
        yield path, "its default", [] if field.label == "repeated" else default_of(field)
