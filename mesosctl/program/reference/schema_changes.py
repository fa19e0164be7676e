"""Changes of a JSON schema that break scripts, unless the documents say another `schema_version`.

A document may get fields, and a field may get further values that it enumerates.  A field that goes, is no longer
always there, or holds something else breaks scripts that read it.
"""

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]


def breaking_changes(before: Schema, now: Schema) -> list[str]:
    """A sentence for each place of the document that scripts can no longer read as before; none for a new version."""
    if _version(before) != _version(now):
        return []
    return list(_Comparison(before, now).changes(before, now, "the document"))


def _version(schema: Schema) -> object:
    return schema.get("properties", {}).get("schema_version", {}).get("const")


class _Comparison:
    """Two schemas, each with its own definitions."""

    def __init__(self, before: Schema, now: Schema) -> None:
        self._before, self._now = before.get("$defs", {}), now.get("$defs", {})
        self._compared: set[tuple[str, str]] = set()

    def changes(self, before: Schema, now: Schema, where: str) -> Iterator[str]:
        """Yield the changes below a place."""
        if "$ref" in before and "$ref" in now:
            names = before["$ref"], now["$ref"]
            if names in self._compared:
                return
            self._compared.add(names)
        before, now = _resolved(before, self._before), _resolved(now, self._now)
        alternatives = _alternatives(before), _alternatives(now)
        if max(map(len, alternatives)) > 1:
            yield from self._of_alternatives(*alternatives, where)
        elif set(before.get("enum", ())) - set(now.get("enum", ())):
            yield f"{where} no longer enumerates {sorted(set(before['enum']) - set(now.get('enum', ())))}"
        elif _kind(before) != _kind(now):
            yield f"{where} is {_kind(now)}, no longer {_kind(before)}"
        else:
            yield from self._of_fields(before, now, where)
            for key, part in (("items", "each of"), ("additionalProperties", "each of")):
                if isinstance(before.get(key), dict) and isinstance(now.get(key), dict):
                    yield from self.changes(before[key], now[key], f"{part} {where}")

    def _of_fields(self, before: Schema, now: Schema, where: str) -> Iterator[str]:
        fields = now.get("properties", {})
        for name, field in before.get("properties", {}).items():
            place = f"'{name}' of {where}"
            if name not in fields:
                yield f"{place} is gone"
                continue
            if name in before.get("required", ()) and name not in now.get("required", ()):
                yield f"{place} is no longer always there"
            yield from self.changes(field, fields[name], place)

    def _of_alternatives(self, before: list[Schema], now: list[Schema], where: str) -> Iterator[str]:
        """Compare those of the same kind: a script that reads a value knows all kinds that it may have."""
        left = [(_kind(_resolved(part, self._before)), part) for part in before]
        for part in now:
            kind = _kind(_resolved(part, self._now))
            same = next((pair for pair in left if pair[0] == kind), None)
            if same is None:
                yield f"{where} may be {kind} now"
            else:
                left.remove(same)
                yield from self.changes(same[1], part, where)
        yield from (f"{where} is never {kind} now" for kind, _ in left)


def _resolved(schema: Schema, definitions: Schema) -> Schema:
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    return schema


def _alternatives(schema: Schema) -> list[Schema]:
    return schema.get("anyOf") or schema.get("oneOf") or [schema]


def _kind(schema: Schema) -> str:
    """Its type, or the one value that it has."""
    return repr(schema["const"]) if "const" in schema else str(schema.get("type", "anything"))
