"""What the master must not forget, as records of (kind, key) → JSON.

One transaction is one accepted change: `begin`, any number of `write`, `commit`.  Two keepers:
memory, which forgets with the process, and SQLite (`registry_sqlite`), which does not.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class RegistryFailure(Exception):
    """The registry could not be read or written; what it held before still stands."""


class Registry(ABC):
    """Durable records.  Values are anything JSON can hold."""

    @abstractmethod
    def records(self, kind: str) -> dict[str, Any]:
        """Every record of a kind, by key, oldest first."""

    @abstractmethod
    def write(self, kind: str, key: str, value: Any) -> None:
        """Set a record, or remove it where `value` is None.  Only inside a transaction."""

    @abstractmethod
    def changed_elsewhere(self) -> bool:
        """Whether another process has committed since this was last asked."""

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _rollback(self) -> None: ...

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything written inside is kept, or nothing is.  Raises RegistryFailure."""
        self._begin()
        try:
            yield
            self._commit()
        except BaseException:
            self._rollback()
            raise

    def close(self) -> None:  # noqa: B027  # memory has nothing to let go of
        """Let go of files; the registry is not used afterwards."""


class MemoryRegistry(Registry):
    """Forgets with the process, as `--registry=in_memory` does."""

    def __init__(self) -> None:
        self._records: dict[str, dict[str, Any]] = {}
        self._before: dict[str, dict[str, Any]] = {}

    def records(self, kind: str) -> dict[str, Any]:
        """See `Registry.records`."""
        return dict(self._records.get(kind, {}))

    def write(self, kind: str, key: str, value: Any) -> None:
        """See `Registry.write`."""
        of_kind = self._records.setdefault(kind, {})
        if value is None:
            of_kind.pop(key, None)
        else:
            of_kind[key] = value

    def changed_elsewhere(self) -> bool:
        """Never: nobody else can reach it."""
        return False

    def _begin(self) -> None:
        self._before = {kind: dict(records) for kind, records in self._records.items()}

    def _commit(self) -> None:
        self._before = {}

    def _rollback(self) -> None:
        self._records = self._before
