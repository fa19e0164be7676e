"""The documents of -o json of every noun, on which scripts can rely: their models, and the schemas made of them."""

from importlib import import_module
from typing import Any

from mesosctl.show.document import Document

_OF = (
    "acls",
    "agents",
    "apply",
    "audit",
    "can_i",
    "cleanup",
    "context",
    "frameworks",
    "history",
    "maintenance",
    "offers",
    "quota",
    "ratelimit",
    "replay",
    "reservations",
    "roles",
    "show",
    "snapshot",
    "tasks",
    "top",
    "tune",
    "usage",
    "wait",
    "weights",
    "whatif",
)


def models() -> dict[str, type[Document]]:
    """Return the model of every document by its kind; an error has the kind "error"."""
    for noun in _OF:
        import_module(f"mesosctl.{noun}.{'by_context_documents' if noun == 'show' else 'documents'}")
    for module in ("usage.cost_documents", "whatif.played_demand_documents"):
        import_module(f"mesosctl.{module}")
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
