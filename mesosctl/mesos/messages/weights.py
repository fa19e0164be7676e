"""The documented JSON of weights (Mesos documentation, "Weights", "Operator HTTP Endpoint").

Requests are built from these models, and files that an operator wrote are read by them.
"""

from collections.abc import Mapping

from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.base_model import MesosModel
from mesosctl.mesos.messages.table_models import MASTER_CALL, body_of, call_model, master_call, model_of


def weights_body(weights: Mapping[str, float]) -> bytes:
    """The body of PUT /weights that sets these weights, all or none."""
    return body_of(weights_call(weights).content()["update_weights"]["weight_infos"])


def weights_call(weights: Mapping[str, float]) -> MesosModel:
    """The v1 call that sets these weights, all or none."""
    infos = [{"role": role, "weight": weight} for role, weight in weights.items()]
    return master_call("UPDATE_WEIGHTS", {"weight_infos": infos})


def read_weight_infos(text: str, where: str) -> dict[str, float]:
    """The weights in a file: the body of PUT /weights, or the call UPDATE_WEIGHTS.

    Raises BadInput with the place, also for a role that appears twice.
    """
    from mesosctl.mesos.messages.strict.reading import read_json  # imported late: most requests come from arguments

    value = read_json(text, where)
    if isinstance(value, list):
        read, place = model_of(f"{MASTER_CALL}.UpdateWeights").read({"weight_infos": value}, where).content(), ""
    else:
        call = call_model(MASTER_CALL, "UPDATE_WEIGHTS").read(value, where).content()
        read, place = call["update_weights"], "update_weights."
    found: dict[str, float] = {}
    for index, info in enumerate(read["weight_infos"]):
        role = info["role"]
        if role in found:
            field = f"{place}weight_infos[{index}].role"
            sentence = f"role '{role}' has two weights"
            error = BadInput(f"{where}: {sentence}", field=field)
            error.in_file = where, sentence
            raise error
        found[role] = float(info["weight"])
    return found
