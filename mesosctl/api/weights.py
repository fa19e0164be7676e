"""The documented JSON of weights (Mesos documentation, "Weights", "Operator HTTP Endpoint").

Requests are built from these models, and files that an operator wrote are read by them.
"""

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import RootModel

from mesosctl.api.base_model import DoubleOrInfinity, MesosModel
from mesosctl.model.errors import BadInput


class WeightInfo(MesosModel):
    """The weight of a role."""

    role: str
    weight: DoubleOrInfinity


class WeightInfos(RootModel[list[WeightInfo]]):
    """The body of PUT /weights."""

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Self:
        """The body that sets these weights, all or none."""
        return cls([WeightInfo.read({"role": role, "weight": weight}, "weights") for role, weight in weights.items()])

    def body(self) -> bytes:
        """The message as it is sent."""
        return self.model_dump_json().encode()


class UpdateWeights(MesosModel):
    """`update_weights` of the v1 call."""

    weight_infos: list[WeightInfo]


class UpdateWeightsCall(MesosModel):
    """The v1 call UPDATE_WEIGHTS."""

    type: Literal["UPDATE_WEIGHTS"] = "UPDATE_WEIGHTS"
    update_weights: UpdateWeights

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Self:
        """The call that sets these weights, all or none."""
        return cls(update_weights=UpdateWeights(weight_infos=WeightInfos.of(weights).root))


def read_weight_infos(text: str, where: str) -> dict[str, float]:
    """The weights in a file: the body of PUT /weights, or the call UPDATE_WEIGHTS.

    Raises BadInput with the place, also for a role that appears twice.
    """
    from mesosctl.api.files.reading import read_json  # imported late: most requests come from arguments

    value = read_json(text, where)
    if isinstance(value, list):
        infos, place = UpdateWeights.read({"weight_infos": value}, where).weight_infos, ""
    else:
        infos, place = UpdateWeightsCall.read(value, where).update_weights.weight_infos, "update_weights."
    found: dict[str, float] = {}
    for index, info in enumerate(infos):
        if info.role in found:
            field = f"{place}weight_infos[{index}].role"
            raise BadInput(f"{where}: role '{info.role}' has two weights", field=field)
        found[info.role] = info.weight
    return found
