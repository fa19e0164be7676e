"""The v1 calls SET_QUOTA, REMOVE_QUOTA and UPDATE_QUOTA, and files with them or with the body of POST /quota."""

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.messages.base_model import Bool, MesosModel, Scalar
from mesosctl.mesos.messages.quota.request import QuotaRequest, scalars, thousandths
from mesosctl.mesos.rules.quota.desired import DesiredQuotaChange


class SetQuota(MesosModel):
    """`set_quota` of the v1 call."""

    quota_request: QuotaRequest


class SetQuotaCall(MesosModel):
    """The v1 call SET_QUOTA."""

    type: Literal["SET_QUOTA"] = "SET_QUOTA"
    set_quota: SetQuota


class QuotaConfig(MesosModel):
    """The guarantees and limits of a role; a name without an entry has neither.

    A part that is left out stays as it is (`DesiredQuotaChange`), and an empty one is none.
    """

    role: str
    guarantees: dict[str, Scalar] | None = None
    limits: dict[str, Scalar] | None = None

    @classmethod
    def of(cls, role: str, quota: Quota) -> Self:
        """The configuration that makes a quota."""
        return cls(role=role, guarantees=scalars(quota.guarantees), limits=scalars(quota.limits))

    def to_model(self) -> DesiredQuotaChange:
        """The quota that is desired.  Raises RuleViolation; nothing is rounded."""
        try:
            return DesiredQuotaChange(
                None if self.guarantees is None else Quantities(_exact(self.guarantees, "guarantees")),
                None if self.limits is None else Limits(_exact(self.limits, "limits")),
            )
        except RuleViolation as error:
            error.role = self.role
            raise


class UpdateQuota(MesosModel):
    """`update_quota` of the v1 call; all configurations are taken, or none."""

    force: Bool = False
    quota_configs: list[QuotaConfig] = Field(default=[])


class UpdateQuotaCall(MesosModel):
    """The v1 call UPDATE_QUOTA."""

    type: Literal["UPDATE_QUOTA"] = "UPDATE_QUOTA"
    update_quota: UpdateQuota

    @classmethod
    def of(cls, quotas: Mapping[str, Quota], *, force: bool) -> Self:
        """The call that makes all of these quotas or none."""
        configs = [QuotaConfig.of(role, quota) for role, quota in quotas.items()]
        return cls(update_quota=UpdateQuota(force=force, quota_configs=configs))


def _exact(amounts: dict[str, Scalar], field: str) -> dict[str, int]:
    return {name: thousandths(name, scalar, f"{field}.{name}.value") for name, scalar in amounts.items()}


def _read_json(text: str, where: str) -> Any:
    from mesosctl.mesos.messages.strict.reading import read_json  # imported late: most requests come from arguments

    return read_json(text, where)


def read_quota_request(text: str, where: str, *, needs_role: bool = False) -> QuotaRequest:
    """The request in a file: the body of POST /quota, or the call SET_QUOTA.

    Raises BadInput with the place, and with `needs_role` RuleViolation if it has no role.
    """
    value = _read_json(text, where)
    if _has(value, "set_quota"):
        request = SetQuotaCall.read(value, where).set_quota.quota_request
    else:
        request = QuotaRequest.read(value, where)
    if needs_role and not request.role:
        hint = 'add the key "role" to the file'
        raise RuleViolation("the key 'role' is missing", field="role", rule="role.syntax", hint=hint, values={})
    return request


def read_update_quota(text: str, where: str) -> UpdateQuota:
    """The update in a file: the call UPDATE_QUOTA, its `update_quota`, or one configuration.

    Raises BadInput with the place.
    """
    value = _read_json(text, where)
    if _has(value, "update_quota"):
        return UpdateQuotaCall.read(value, where).update_quota
    if _has(value, "quota_configs"):
        return UpdateQuota.read(value, where)
    return UpdateQuota(quota_configs=[QuotaConfig.read(value, where)])


def _has(value: Any, key: str) -> bool:
    return isinstance(value, dict) and key in value
