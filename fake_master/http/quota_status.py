"""The answer of GET /quota, made from what a registry holds, without a master: `quota list` on `fake:` starts none."""

from collections.abc import Mapping
from typing import Any

from mesosctl.model.version_profile import Profile

Amounts = Mapping[str, float]


def quota_status(stored: Mapping[str, tuple[Amounts, Amounts]], profile: Profile) -> dict[str, Any]:
    """The QuotaStatus message of guarantees and limits by role; nothing at all where nothing is set."""
    if not stored:
        return {}
    answer: dict[str, Any] = {"infos": [_info(role, guarantees, profile) for role, (guarantees, _) in stored.items()]}
    if profile.configs_always_shown or any(limits for _, limits in stored.values()):
        answer["configs"] = [_config(role, *amounts) for role, amounts in stored.items()]
    return answer


def _info(role: str, guarantees: Amounts, profile: Profile) -> dict[str, Any]:
    extra = {"role": "*"} if profile.guarantee_shows_role else {}
    guarantee = [
        {"name": name, "type": "SCALAR", "scalar": {"value": value}, **extra} for name, value in guarantees.items()
    ]
    return {"role": role, "guarantee": guarantee} if guarantee else {"role": role}


def _config(role: str, guarantees: Amounts, limits: Amounts) -> dict[str, Any]:
    config: dict[str, Any] = {"role": role}
    for key, amounts in (("guarantees", guarantees), ("limits", limits)):
        if amounts:
            config[key] = {name: {"value": value} for name, value in amounts.items()}
    return config
