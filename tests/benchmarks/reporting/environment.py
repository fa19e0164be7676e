"""On what a benchmark ran: the machine, and the versions of everything that takes part."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

from mesosctl import __version__
from tests.fake_master.allocator.real.real_master import RUNNER, RealMaster

LIBRARIES = ("aiohttp", "httpx", "pydantic", "rich", "typer")
NO_REAL_MASTER = "none (MESOS_RUNNER is not set); only the fake master was measured"


def environment() -> dict[str, str]:
    """What stands at the head of the page."""
    return {
        "CPU": _cpu(),
        "cores": str(os.cpu_count()),
        "memory": f"{_memory_gib():.0f} GiB",
        "kernel": f"{platform.system()} {platform.release().partition('-')[0]}, {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "mesosctl": __version__,
        "Mesos": _mesos(),
        "libraries": ", ".join(f"{name} {version(name)}" for name in LIBRARIES),
    }


def _mesos() -> str:
    if not RUNNER:
        return NO_REAL_MASTER
    with RealMaster() as master:
        return master.version()


def _cpu() -> str:
    """The model's name, where the system tells it."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def _memory_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
