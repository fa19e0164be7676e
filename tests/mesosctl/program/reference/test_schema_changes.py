"""Changes of the documents' schemas that break scripts, and those that do not."""

import copy
import json
from typing import Any

import pytest

from mesosctl.program.reference.__main__ import main, write
from mesosctl.program.reference.pages import files
from mesosctl.program.reference.schema_changes import breaking_changes

SCHEMAS = {path: json.loads(text) for path, text in files().items() if "/schemas/" in path}
BASE: dict[str, Any] = {
    "properties": {
        "schema_version": {"const": 1},
        "kind": {"const": "one"},
        "status": {"enum": ["met", "below"]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}},
        "amounts": {"type": "object", "additionalProperties": {"type": "number"}},
    },
    "required": ["rows", "status"],
    "type": "object",
    "$defs": {
        "Row": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "below": {"type": "array", "items": {"$ref": "#/$defs/Row"}}},
        }
    },
}


def changed(path, value):
    """`BASE` with another value at a path, or without it if that is None."""
    schema: Any = copy.deepcopy(BASE)
    *parents, last = path.split("/")
    place = schema
    for name in parents:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return schema


BREAKING = [
    ("properties/status", None, "'status'"),
    ("properties/kind", {"const": "two"}, "'two'"),
    ("properties/status", {"enum": ["met"]}, "below"),
    ("properties/note", {"type": "string"}, "never null"),
    ("properties/note", {"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "integer"}]}, "may be integer"),
    ("properties/rows", {"type": "object"}, "no longer array"),
    ("properties/rows/items", {"type": "string"}, "no longer object"),
    ("properties/amounts/additionalProperties", {"type": "string"}, "no longer number"),
    ("required", ["status"], "no longer always there"),
    ("$defs/Row/properties/name", None, "'name'"),
    ("$defs/Row/required", [], "no longer always there"),
]
HARMLESS = [
    ("properties/more", {"type": "string"}),
    ("properties/status", {"enum": ["met", "below", "unknown"]}),
    ("properties/note/description", "A sentence."),
    ("required", ["rows", "status", "note"]),
    ("$defs/Row/properties/more", {"type": "integer"}),
    ("properties/schema_version", {"const": 2}),
]


@pytest.mark.parametrize(("path", "value", "told"), BREAKING)
def test_what_breaks_scripts_is_told(path, value, told):
    (change,) = breaking_changes(BASE, changed(path, value))
    assert told in change


@pytest.mark.parametrize(("path", "value"), HARMLESS)
def test_what_breaks_no_script_is_not(path, value):
    assert breaking_changes(BASE, changed(path, value)) == []


def test_another_version_may_be_another_document():
    assert breaking_changes(BASE, {"properties": {"schema_version": {"const": 2}}}) == []


def test_another_name_of_a_definition_changes_nothing():
    renamed = json.loads(json.dumps(BASE).replace("Row", "Line"))
    assert breaking_changes(BASE, renamed) == []


@pytest.mark.parametrize("path", SCHEMAS)
def test_every_field_of_every_document_is_held(path):
    schema = SCHEMAS[path]
    assert breaking_changes(schema, schema) == []
    for name in set(schema["properties"]) - {"schema_version"}:
        without = {field: part for field, part in schema["properties"].items() if field != name}
        assert breaking_changes(schema, {**schema, "properties": without})


def test_nothing_is_written_over_a_document_that_scripts_read(tmp_path, capsys):
    write(tmp_path)
    page, man = tmp_path / "docs/reference/schemas/wait.json", tmp_path / "man/mesosctl.1"
    had = json.loads(page.read_text())
    had["properties"]["waited"] = {"type": "number"}
    page.write_text(json.dumps(had))
    man.write_text("old")
    assert main(["--write", str(tmp_path)]) == 1
    assert "docs/reference/schemas/wait.json: 'waited' of the document is gone" in capsys.readouterr().err
    assert man.read_text() == "old"
    page.unlink()
    assert main(["--write", str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0
