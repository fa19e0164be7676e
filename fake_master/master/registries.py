"""The registry that the flags ask for."""

from collections.abc import Mapping
from pathlib import Path

from fake_master.master.registry import MemoryRegistry, Registry
from mesosctl.core.errors import BadInput

FILE_NAME = "registry.sqlite"


def open_registry(flags: Mapping[str, str]) -> Registry:
    """`--registry` and `--work_dir`.  Raises BadInput for the flags, RegistryFailure for the file."""
    kind = flags.get("registry", "in_memory")
    if kind == "in_memory":
        return MemoryRegistry()
    if kind != "sqlite":
        raise BadInput(f"--registry={kind}: there are in_memory and sqlite", field="registry")
    if "work_dir" not in flags:
        raise BadInput("--registry=sqlite needs --work-dir", field="work_dir")
    # Late: most masters are started without.
    from fake_master.master.registry_sqlite import SqliteRegistry

    return SqliteRegistry(Path(flags["work_dir"]) / FILE_NAME)
