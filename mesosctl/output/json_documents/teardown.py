"""The JSON of `frameworks teardown`, as a model; see `json_documents`."""

from typing import Annotated, Literal

from pydantic import Field

from mesosctl.output.json_documents.document import Amounts, Document, Mirrored, named


class TeardownDocument(Document, Mirrored):
    """`frameworks teardown`: the framework that was removed, with what it used until then."""

    kind: Literal["frameworks.teardown"] = "frameworks.teardown"
    id: Annotated[str, named("framework.id")]
    name: Annotated[str, named("framework.name")]
    tasks: int = Field(description="The tasks that it had, and that were killed.")
    used: Annotated[Amounts, named("framework.used")]
    confirmed: bool = Field(description="Whether it was read back.")
