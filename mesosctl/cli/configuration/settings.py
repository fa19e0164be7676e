"""The settings in effect: flags, then the environment, then a context, then defaults.

Credentials are made for one master.  A context that names its master keeps them for that one, and a
context that names none has credentials for any master.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mesosctl.cli.global_options import DEFAULTS, ONLY_SAID, GlobalOptions, Setting, Value, known_settings
from mesosctl.client.address import parse_address
from mesosctl.files.user_folders import own_folder
from mesosctl.mesos.errors import MesosctlError, UsageError

if TYPE_CHECKING:
    from mesosctl.cli.configuration.file import Configuration


OF_A_MASTER = frozenset(
    {
        "principal",
        "secret",
        "secret_file",
        "secret_from",
        "token",
        "token_file",
        "token_scheme",
        "cacert",
        "cert",
        "key",
        "proxy",
    }
)
"""Credentials, trust and the way there: used only for the context's own master."""

_BELONGS_TO = {"key": "cert", "secret": "principal", "secret_file": "principal", "secret_from": "principal"}
"""A context's setting on the left applies only together with its setting on the right."""


class Overruled(NamedTuple):
    """The master of a context, if a flag or a variable names another one."""

    master: str
    left_out: tuple[str, ...]
    """The keys that the context keeps for that master, and that are ignored here."""


def conflicting(kept: Mapping[str, Any], stronger: Mapping[str, Any]) -> Overruled | None:
    """The conflict if `stronger`, by names of settings, names another master than the context with `kept`, by keys."""
    own, named = kept.get("master"), stronger.get("master")
    if own is None or named is None or is_its_own(str(named), str(own)):
        return None
    left_out = (key for key in kept if key.replace("-", "_") in OF_A_MASTER - set(stronger))
    return Overruled(str(own), tuple(left_out))


def is_of_another(name: str, kept: Mapping[str, Any], stronger: Mapping[str, Any]) -> bool:
    """Whether a setting with precedence replaces the one that this belongs to, or authenticates in another way."""
    owner = _BELONGS_TO.get(name)
    if owner is not None and owner in stronger and stronger[owner] != kept.get(owner):
        return True
    return proves(name) and any(proves(other) for other in stronger)


def proves(name: str) -> bool:
    """Whether a setting is a way to authenticate: a secret, a token, or the file or place that has it."""
    stem, _, rest = name.partition("_")
    return stem in ("secret", "token") and rest in ("", "file", "from")


def is_its_own(named: str, own: str) -> bool:
    """Whether an address leads only to masters that another one names, whatever their spelling."""
    if named.strip() == own.strip():
        return True
    try:
        address, other = parse_address(named), parse_address(own)
    except MesosctlError:  # the client that uses it reports what is wrong
        return False
    return (address.fake, address.zookeeper) == (other.fake, other.zookeeper) and all(map(other.names, address.bases))


class SettingOrigin(NamedTuple):
    """The origin of a value: `name` is the flag, the variable or the context."""

    kind: Literal["flag", "environment", "context", "default"]
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


DEFAULT = SettingOrigin("default")


@dataclass(frozen=True, slots=True)
class Settings:
    """The options in effect, the secrets that were given, and the origin of each, by name."""

    options: GlobalOptions
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    origins: Mapping[str, SettingOrigin] = field(default_factory=dict)
    context: str | None = None
    conflicting: Overruled | None = None
    """The master of the context, if another one is used."""

    @property
    def context_of_master(self) -> str | None:
        """The context that names the master that is asked; None if a flag or a variable names another one."""
        return self.context if self.origin("master").kind == "context" else None

    def origin(self, name: str) -> SettingOrigin:
        """The origin of the value of that name."""
        return self.origins.get(name, DEFAULT)

    def reminder(self, name: str) -> str | None:
        """The sentence that says where a value comes from, for a user who did not just type it."""
        origin = self.origin(name)
        if origin.kind in ("context", "environment"):
            kind = "variable" if origin.kind == "environment" else origin.kind
            return f"it comes from {kind} {origin.name}; see mesosctl context show --origin"
        return None


def resolve(said: GlobalOptions, variables: Mapping[str, str], *, obeys_context: bool = True) -> Settings:
    """Return the settings in effect, from the flags `said` and the sources that they override.

    Raises BadInput for an invalid variable or configuration file, UsageError for a flag, NotFound for a context that
    does not exist.
    """
    everything = known_settings()
    values: dict[str, Value] = {}
    origins: dict[str, SettingOrigin] = {}
    for setting in everything:
        _say(setting, said, variables, values, origins)
    if any(proves(name) and origin.kind == "flag" for name, origin in origins.items()):
        for name in [name for name, origin in origins.items() if proves(name) and origin.kind == "environment"]:
            del values[name], origins[name]
    context = str(values["context"]) if "context" in values else None
    other = None
    if obeys_context:
        context, other = _add_context(everything, context, variables, values, origins)
    secrets = {
        setting.name: str(values.pop(setting.name))
        for setting in everything
        if setting.name in values and setting.is_secret
    }
    for name, value in DEFAULTS.items():
        values.setdefault(name, value)
    options = said._replace(**{name: value for name, value in values.items() if name not in ONLY_SAID})  # type: ignore[arg-type]
    return Settings(options, secrets, origins, context, other)


def _say(
    setting: Setting,
    said: GlobalOptions,
    variables: Mapping[str, str],
    values: dict[str, Value],
    origins: dict[str, SettingOrigin],
) -> None:
    """Add the value of one setting, from its flag or else from the environment."""
    flag = getattr(said, setting.name, None)
    if flag is not None and flag != 0:  # a switch that was not given is None, and verbosity counts from 0
        if setting.is_file and flag == "-":
            raise UsageError(f"{setting.option} {setting.check(flag)}", field=setting.option)
        values[setting.name], origins[setting.name] = flag, SettingOrigin("flag", setting.option or "")
        return
    text = variables.get(setting.variable, "")
    if setting.name not in ONLY_SAID and (text if setting.is_secret else text.strip()):
        values[setting.name] = text if setting.is_secret else setting.parse(text, setting.variable)
        origins[setting.name] = SettingOrigin("environment", setting.variable)


def _add_context(
    everything: tuple[Setting, ...],
    name: str | None,
    variables: Mapping[str, str],
    values: dict[str, Value],
    origins: dict[str, SettingOrigin],
) -> tuple[str | None, Overruled | None]:
    """Add the settings of the context; return its name, by default the current one, and whether its master is used."""
    configuration = _read(variables)
    name = name or (configuration.current if configuration else None)
    if name is None:
        return None, None
    kept = configuration.of(name) if configuration else None
    if configuration is None or kept is None:
        from mesosctl.cli.configuration.file import no_context

        error = no_context(name, configuration.contexts if configuration else ())
        if configuration is not None and "context" not in values:
            error.reword(f"{configuration.place_of('current')}: {error.message}")
        raise error
    stronger = dict(values)
    other = conflicting(kept, stronger)
    for setting in everything:
        if setting.key not in kept or setting.name in stronger or is_of_another(setting.name, kept, stronger):
            continue
        if other is not None and setting.name in OF_A_MASTER:
            continue
        value = kept[setting.key]
        values[setting.name] = configuration.place(str(value), variables) if setting.is_file else value
        origins[setting.name] = SettingOrigin("context", name)
    return name, other


def _read(variables: Mapping[str, str]) -> "Configuration | None":
    """The configuration file, if there is one."""
    path = existing_configuration(variables)
    if path is None:
        return None
    from mesosctl.cli.configuration.file import read

    return read(path)


def existing_configuration(variables: Mapping[str, str]) -> Path | None:
    """The path of the file, or None; a home that cannot be entered, as after sudo, has none."""
    path = configuration_path(variables)
    return path if path is not None and os.path.exists(path) else None  # noqa: PTH110  # Path.exists raises there


def configuration_path(variables: Mapping[str, str]) -> Path | None:
    """The path of the file, which may not exist; None without a home. MESOSCTL_CONFIG names another one."""
    if variables.get("MESOSCTL_CONFIG"):
        return Path(variables["MESOSCTL_CONFIG"])
    folder = own_folder("XDG_CONFIG_HOME", variables)
    return None if folder is None else folder / "config.toml"
