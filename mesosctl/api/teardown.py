"""The v1 call that removes a framework (Mesos documentation, "Operator HTTP API", "TEARDOWN")."""

from typing import Literal, Self

from mesosctl.api.base_model import MesosModel
from mesosctl.api.offers import FrameworkId


class Teardown(MesosModel):
    """`teardown` of the v1 call."""

    framework_id: FrameworkId


class TeardownFrameworkCall(MesosModel):
    """The v1 call TEARDOWN of an operator; a framework's own is `TeardownCall`."""

    type: Literal["TEARDOWN"] = "TEARDOWN"
    teardown: Teardown

    @classmethod
    def of(cls, framework_id: str) -> Self:
        """The call that removes a framework."""
        return cls(teardown=Teardown(framework_id=FrameworkId(value=framework_id)))
