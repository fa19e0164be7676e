"""The answer of GET /quota as a model, to compare the reader with."""

from pydantic import BaseModel, Field

from mesosctl.api.quota.calls import QuotaConfig
from mesosctl.api.resource_model import Resource
from mesosctl.model.quantities import Limits, Quantities, Quota


class QuotaInfo(BaseModel):
    """One entry of `infos`; a role without guarantees has only its name."""

    role: str
    guarantee: list[Resource] = Field(default_factory=list)


class QuotaStatus(BaseModel):
    """The answer of GET /quota; `{}` where no role has quota."""

    infos: list[QuotaInfo] = Field(default_factory=list)
    configs: list[QuotaConfig] = Field(default_factory=list)

    def to_model(self) -> dict[str, Quota]:
        """Every role that has an entry, sorted."""
        found = {config.role: config.to_model().applied_to(None) for config in self.configs}
        for info in self.infos:
            amounts = {
                r.name: r.value for r in (e.to_model("guarantee") for e in info.guarantee) if isinstance(r.value, int)
            }
            limits = found[info.role].limits if info.role in found else Limits()
            found[info.role] = Quota(Quantities(amounts), limits)
        return dict(sorted(found.items()))
