"""The import of a custom allocator from the current directory: for it alone, that directory is on the path."""

import sys
from pathlib import Path

import pytest

from fake_master.allocator.custom import import_from_current_directory
from mesosctl.mesos.errors import BadInput


@pytest.mark.parametrize("is_there", [True, False])
def test_the_path_is_afterwards_as_before(is_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = f"imported_{is_there}".lower()
    if is_there:
        (tmp_path / f"{name}.py").write_text(
            "from fake_master.allocator.custom_base import SharingAllocator\n"
            "class Mine(SharingAllocator):\n    def share(self, run):\n        pass\n"
        )
    before = list(sys.path)
    try:
        if is_there:
            import_from_current_directory(f"{name}:Mine")
        else:
            with pytest.raises(BadInput, match=name):
                import_from_current_directory(f"{name}:Mine")
        assert sys.path == before
    finally:
        sys.path[:] = before
        sys.modules.pop(name, None)
