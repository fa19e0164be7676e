"""The vocabulary of the scenario tables.

A row is an id of the specification, a setup and steps played in order on a master without quota.  A step is
a request and what it gives, where the master of the documents differs, on both:

    Row("QH-16", STANDARD, post_quota("r1", cpus=17, mem=1).gives(200).old(409))
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from tests.conformance.masters.cluster import Setup, basic

NOT_COMPARED: Any = object()
TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Expect:
    """What an answer must be.

    Errors carry a text of the master's own choice and its content type; other answers carry nothing at all unless
    `json` (the whole value, or the `part` of it), `keys` (those of the outermost object) or `content_type` says
    otherwise.
    """

    status: int
    json: Any = NOT_COMPARED
    keys: str | None = None
    content_type: str | None = None
    headers: Headers = field(default_factory=dict)
    part: Callable[[Any], Any] = lambda value: value

    def expected_content_type(self) -> str | None:
        if self.content_type is not None:
            return self.content_type
        if self.json is not NOT_COMPARED or self.keys is not None:
            return JSON
        return TEXT if self.status >= 400 else None


@dataclass(frozen=True, slots=True)
class Step:
    """One request and what it gives; `before` is for the master of the documents where it differs."""

    method: str
    path: str
    content: str | bytes | None = None
    headers: Headers = field(default_factory=dict)
    now: Expect | None = None
    before: Expect | None = None

    def by(self, principal: str, secret: str | None = None) -> "Step":
        """The same request from a principal, by default with the right secret."""
        return self.with_headers(**basic(principal, secret))

    def with_headers(self, **headers: str) -> "Step":
        """The same request with more headers; an underscore in a name stands for a dash."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **named})

    def gives(self, status: int, json: Any = NOT_COMPARED, **more: Any) -> "Step":
        return replace(self, now=Expect(status, json, **more))

    def old(self, status: int, json: Any = NOT_COMPARED, **more: Any) -> "Step":
        return replace(self, before=Expect(status, json, **more))

    def expected(self, version: str) -> Expect:
        expect = self.before if version == "documents" and self.before is not None else self.now
        assert expect is not None, f"a step without an expectation: {self}"
        return expect


class Row:
    """Steps to play on one setup.

    `spoils` marks rows that leave something behind which cannot be removed; their master is not used again.
    `lethal` marks rows that end a real master: the fake refuses and lives, the real one is not asked. `ends` has the
    older releases that a row ends, each with the reason, and `unlike` those that the fake master is known to answer
    otherwise than: the test fails once it does not any more.
    `not_yet` says why the fake is known to fail the row; the test fails once it does not any more.
    """

    def __init__(
        self,
        name: str,
        setup: Setup,
        *steps: Step,
        spoils: bool = False,
        lethal: bool = False,
        ends: Mapping[str, str] | None = None,
        unlike: Mapping[str, str] | None = None,
        not_yet: str | None = None,
    ) -> None:
        self.name = name
        self.setup = setup
        self.steps = steps
        self.spoils = spoils
        self.lethal = lethal
        self.ends = ends or {}
        self.unlike = unlike or {}
        self.not_yet = not_yet


# Requests


def get(path: str) -> Step:
    return Step("GET", path)


def delete(path: str) -> Step:
    return Step("DELETE", path)


def send(method: str, path: str, body: Any = None) -> Step:
    """A request whose body is text as it is, or a value to be written as JSON."""
    return Step(method, path, body if body is None or isinstance(body, str) else json.dumps(body))


def scalars(**amounts: Any) -> list[dict[str, Any]]:
    """A list of Resource objects: scalars(cpus=12, mem=6144)."""
    return [scalar(name, amount) for name, amount in amounts.items()]


def scalar(name: str, amount: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "SCALAR", "scalar": {"value": amount}, **more}


def form(path: str, **fields: Any) -> Step:
    """A POST of a form; lists are written as JSON.  "@A1" stands for the id of the first agent."""
    text = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
    return send("POST", path, urlencode(text, safe="@"))


def quota_request(role: str, guarantee: Any = None, *, force: Any = None, **amounts: Any) -> dict[str, Any]:
    """The documented body of POST /quota."""
    forced = {} if force is None else {"force": force}
    return {"role": role, **forced, "guarantee": scalars(**amounts) if guarantee is None else guarantee}


def post_quota(role: str, guarantee: Any = None, *, force: Any = None, **amounts: Any) -> Step:
    return send("POST", "/quota", quota_request(role, guarantee, force=force, **amounts))


def api(kind: str, **body: Any) -> Step:
    """A v1 operator call."""
    return replace(send("POST", "/api/v1", {"type": kind, **body}), headers={"Content-Type": JSON})


def scheduler(kind: str, **body: Any) -> Step:
    """A call of the scheduler API."""
    return replace(send("POST", "/api/v1/scheduler", {"type": kind, **body}), headers={"Content-Type": JSON})


def update_quota(*configs: Mapping[str, Any], force: Any = None) -> Step:
    forced = {} if force is None else {"force": force}
    return api("UPDATE_QUOTA", update_quota={**forced, "quota_configs": list(configs)})


def config(
    role: str, guarantees: Mapping[str, Any] | None = None, limits: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A QuotaConfig, in requests and answers alike: empty maps are left out."""
    named = {"guarantees": guarantees, "limits": limits}
    maps = {key: {name: {"value": v} for name, v in amounts.items()} for key, amounts in named.items() if amounts}
    return {"role": role, **maps}


# Answers


def info(role: str, owner: str | None = None, /, **amounts: float) -> dict[str, Any]:
    """A QuotaInfo as it is shown; `owner` is what the documents' master writes into each resource."""
    marked = {} if owner is None else {"role": owner}
    shown = [scalar(name, amount, **marked) for name, amount in sorted(amounts.items())]
    return {"role": role, "guarantee": shown} if shown else {"role": role}


def status(**guarantees: Mapping[str, float]) -> dict[str, Any]:
    """GET /quota on 1.11 after v0 requests: each amount is guarantee and limit."""
    return {
        "infos": [info(role, **amounts) for role, amounts in guarantees.items()],
        "configs": [config(role, amounts, amounts) for role, amounts in guarantees.items()],
    }


def old_status(**guarantees: Mapping[str, float]) -> dict[str, Any]:
    """GET /quota on the documents' master after v0 requests."""
    return {"infos": [info(role, "*", **amounts) for role, amounts in guarantees.items()]}


def role_entry(name: str, weight: float = 1.0, /, **more: Mapping[str, float]) -> dict[str, Any]:
    """One entry of GET /roles; `more` are guarantee, limit, consumed and reserved."""
    quota = {key: more.get(key, {}) for key in ("guarantee", "limit", "consumed")}
    return {
        "name": name,
        "weight": weight,
        "quota": {"role": name, **quota},
        "resources": {},
        "allocated": {},
        "offered": {},
        "reserved": more.get("reserved", {}),
        "frameworks": [],
    }
