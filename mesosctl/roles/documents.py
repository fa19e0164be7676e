"""The JSON of `roles -o json`, as models; see `show.document`."""

from typing import Annotated, Literal

from pydantic import Field

from mesosctl.mesos.cluster.role_status import Standing
from mesosctl.quota.documents import OfGuarantee, Usage
from mesosctl.show.document import Amounts, Document, Mirrored, named


class Role(Mirrored):
    """A role that the master knows; `usage` is null if this principal may not see it."""

    role: str
    standing: Standing
    weight: float | None
    guarantee: Annotated[Amounts, named("quota.guarantees")]
    limit: Annotated[Amounts, named("quota.limits")]
    missing: Amounts = Field(
        description="The part of the guarantee that is neither `consumed` (`allocated` before Mesos 1.9) nor `offered`."
    )
    guarantee_state: OfGuarantee = None
    kept: Amounts | None = Field(
        default=None, description="The part of `missing` that lies free for it; null if that is unknown."
    )
    unmet: Amounts | None = Field(default=None, description="The rest of `missing`; null if that is unknown.")
    usage: Usage | None


class RoleList(Document):
    """`roles`; jsonl writes one of `roles` per line, or with --watch one document per change."""

    kind: Literal["roles.list"] = "roles.list"
    roles: list[Role]
