"""How much memory a process holds, and whether it grew."""

import gc
import os
import tracemalloc
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_mib(pid: int) -> float:
    """What a process holds in memory now, in MiB."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * _PAGE / 2**20


def python_mib() -> float:
    """What the objects of this process take, in MiB; tracemalloc has to be running."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 2**20
