"""Everything that a master shows, for comparisons of two masters."""

import json
import re
from typing import Any

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.master import Master

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_READ = ("/state", "/state-summary", "/tasks", "/frameworks", "/roles", "/slaves")


def shown(master: Master) -> dict[str, Any]:
    """Everything that a master shows: ids are numbered as they come."""
    application = Application(master)
    found: dict[str, Any] = {}
    for path in _READ:
        found[path] = json.loads(_numbered(application.handle(Request("GET", path)).body))
    for call in ("GET_TASKS", "GET_AGENTS", "GET_FRAMEWORKS", "GET_ROLES"):
        body = json.dumps({"type": call}).encode()
        headers = {"content-type": "application/json", "accept": "application/json"}
        found[call] = json.loads(_numbered(application.handle(Request("POST", "/api/v1", headers, body)).body))
    metrics = json.loads(_numbered(application.handle(Request("GET", "/metrics/snapshot")).body))
    found["metrics"] = {
        name: value for name, value in metrics.items() if not name.startswith("system/") and "_ms" not in name
    }
    return found


def _numbered(body: bytes) -> str:
    known: dict[str, str] = {}
    text = _UUID.sub(lambda found: known.setdefault(found[0], f"id{len(known)}"), body.decode())
    return re.sub(r'"(?:status_update_)?uuid":"[^"]*"', '"uuid":""', text)
