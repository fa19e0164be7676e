"""The documents of -o json, and their errors.

Their schemas are in docs/reference/schemas; `python -m mesosctl.program.reference --write` refuses what breaks scripts.
"""

import pytest

from mesosctl.mesos import errors
from mesosctl.program.documents import models
from mesosctl.show.document import ErrorDocument


@pytest.mark.parametrize("kind", models())
def test_a_document_has_no_fields_but_those_of_its_schema(kind):
    schema = models()[kind].model_json_schema()
    parts = [part for part in (schema, *schema.get("$defs", {}).values()) if "properties" in part]
    assert all(part["additionalProperties"] is False for part in parts)


@pytest.mark.parametrize("words", [["quota", "set", "a/b", "cpus:1"], ["quota", "show", "nobody"], ["bogus"]])
@pytest.mark.parametrize("form", [["-o", "json"], ["-ojson"], ["--output=json"], ["--output", "jsonl"]])
def test_every_error_is_such_a_document(run, words, form):
    ran = run(*words, *form)
    error = ErrorDocument.model_validate_json(ran.err).error
    assert error.exit_status == ran.status
    assert issubclass(getattr(errors, error.kind), errors.MesosctlError)
