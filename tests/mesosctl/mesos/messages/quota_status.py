"""The answer of GET /quota as a model, to compare the reader with."""

from pydantic import BaseModel, Field

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.messages.quota.calls import QuotaConfig
from mesosctl.mesos.messages.resource_model import RESOURCE_MODEL, resources_of


class QuotaInfo(BaseModel):
    """One entry of `infos`; a role without guarantees has only its name."""

    role: str
    guarantee: list[RESOURCE_MODEL] = Field(default_factory=list)  # type: ignore[valid-type]  # it is made when this runs


class QuotaStatus(BaseModel):
    """The answer of GET /quota; `{}` where no role has quota."""

    infos: list[QuotaInfo] = Field(default_factory=list)
    configs: list[QuotaConfig] = Field(default_factory=list)

    def to_model(self) -> dict[str, Quota]:
        """Every role that has an entry, sorted."""
        found = {config.role: config.to_model().applied_to(None) for config in self.configs}
        for info in self.infos:
            amounts = {r.name: r.value for r in resources_of(info.guarantee, "guarantee") if isinstance(r.value, int)}
            limits = found[info.role].limits if info.role in found else Limits()
            found[info.role] = Quota(Quantities(amounts), limits)
        return dict(sorted(found.items()))
