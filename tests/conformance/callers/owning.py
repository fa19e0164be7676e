"""Operators who reserve on one agent while frameworks are there."""

import json
from typing import Any
from urllib.parse import urlencode

from tests.conformance.masters.cluster import Cluster, basic
from tests.conformance.scenarios.scenario import scalars


def owned(role: str, principal: str | None = None, /, **quantities: float) -> list[dict[str, Any]]:
    """Scalars that are dynamically reserved."""
    owner = {"type": "DYNAMIC", "role": role, **({} if principal is None else {"principal": principal})}
    return [entry | {"reservations": [owner]} for entry in scalars(**quantities)]


def reserve(master: Cluster, resources: list[dict[str, Any]], *, by: str | None = None) -> int:
    """POST /reserve on the first agent; the answer's status."""
    return _post(master, "/reserve", resources, by)


def unreserve(master: Cluster, resources: list[dict[str, Any]], *, by: str | None = None) -> int:
    """POST /unreserve on the first agent; the answer's status."""
    return _post(master, "/unreserve", resources, by)


def _post(master: Cluster, path: str, resources: list[dict[str, Any]], by: str | None) -> int:
    content = urlencode({"slaveId": master.agents()[0]["id"], "resources": json.dumps(resources)})
    headers = {} if by is None else basic(by)
    return master.request("POST", path, content=content, headers=headers).status
