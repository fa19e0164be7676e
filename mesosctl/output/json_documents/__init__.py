"""The JSON of -o json, as models, one module a noun, on which scripts can rely."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mesosctl.output.json_documents.document import Document


def models() -> "dict[str, type[Document]]":
    """Return the model of every document by its kind; an error has the kind "error"."""
    # Imported late: a command that writes one document should not load them all.
    import importlib
    import pkgutil

    from mesosctl.output.json_documents.document import Document

    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    found = {}
    for model in Document.__subclasses__():
        kind = model.model_fields.get("kind")
        found["error" if kind is None else str(kind.default)] = model
    return dict(sorted(found.items()))


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema (draft 2020-12) of every document by its kind."""
    return {
        kind: {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **model.model_json_schema(mode="serialization"),
        }
        for kind, model in models().items()
    }
