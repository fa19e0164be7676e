"""The interface of a registry: records of (kind, key) → JSON that outlive a master.

One transaction is one accepted change: `begin`, any number of `write`, `commit`.  Two keepers:
memory, which forgets with the process, and SQLite (`registry.sqlite`), which does not.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar

from mesosctl.mesos.errors import MesosctlError


class RegistryFailure(Exception):
    """The registry could not be read or written; its old content is unchanged.  `hint` says what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UnreadableRegistry(RegistryFailure):
    """The file is not a registry of this version: it is damaged, or something else."""


class HeldRegistry(RegistryFailure):
    """Another process holds it; nothing was done, and the caller may try again.

    Raised only if a transaction cannot begin, or by reading outside of a transaction. A later delay, such as that of a
    commit by readers of an SQLite file without WAL, is a RegistryFailure, because the caller has already done
    something.
    """


Transaction = Callable[[], AbstractContextManager[None]]
"""Begins one change, which is kept when the block ends, or undone entirely.  Raises RegistryFailure."""
SECONDS_TO_WAIT = 10.0
"""For another process that holds it, if nothing else is said."""


@contextmanager
def reading_records() -> Iterator[None]:
    """Raise UnreadableRegistry for an error that a record causes which this program did not write."""
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, MesosctlError) as error:
        raise UnreadableRegistry(f"the registry holds a record that cannot be read ({error!r})") from error


class Registry(ABC):
    """Durable records.  Values are anything JSON can hold."""

    outlives_process: ClassVar[bool] = True
    """Whether the content is used after this process has ended."""

    @abstractmethod
    def records(self, kind: str) -> dict[str, Any]:
        """Every record of a kind, by key, oldest first."""

    @abstractmethod
    def record(self, kind: str, key: str) -> Any:
        """One record, or None."""

    @abstractmethod
    def write(self, kind: str, key: str, value: Any) -> None:
        """Set a record, or remove it if `value` is None.  Only inside a transaction."""

    @abstractmethod
    def changed_elsewhere(self) -> bool:
        """Return whether another process has committed since this was last asked."""

    @abstractmethod
    def _begin(self) -> None: ...

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _rollback(self) -> None: ...

    @property
    @abstractmethod
    def was_written(self) -> bool:
        """Whether the transaction that is under way, or the last one, wrote anything."""

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

    def wait_at_most(self, seconds: float) -> None:  # noqa: B027  # nobody else holds what is in memory
        """The time that a transaction waits while another process holds the registry, before it raises HeldRegistry."""

    def close(self) -> None:  # noqa: B027  # memory has nothing to close
        """Close the files; the registry is not used afterwards."""


class MemoryRegistry(Registry):
    """Lasts as long as the process, like `--registry=in_memory`."""

    outlives_process = False

    def __init__(self) -> None:
        self._records: dict[str, dict[str, Any]] = {}
        self._before: dict[str, dict[str, Any]] = {}
        self._written = False

    def copied(self) -> "MemoryRegistry":
        """Another registry with the same records.  Only outside a transaction."""
        other = MemoryRegistry()
        other._records = {kind: dict(records) for kind, records in self._records.items()}
        return other

    @property
    def was_written(self) -> bool:
        """See `Registry.was_written`."""
        return self._written

    def records(self, kind: str) -> dict[str, Any]:
        """See `Registry.records`."""
        return dict(self._records.get(kind, {}))

    def record(self, kind: str, key: str) -> Any:
        """See `Registry.record`."""
        return self._records.get(kind, {}).get(key)

    def write(self, kind: str, key: str, value: Any) -> None:
        """See `Registry.write`."""
        self._written = True
        # Copied on the first write of a transaction, and on no other: one may write tens of thousands.
        if kind not in self._before:
            self._before[kind] = dict(self._records.get(kind, {}))
        of_kind = self._records.setdefault(kind, {})
        if value is None:
            of_kind.pop(key, None)
        else:
            of_kind[key] = value

    def changed_elsewhere(self) -> bool:
        """Never: no other process can reach it."""
        return False

    def _begin(self) -> None:
        self._written = False

    def _commit(self) -> None:
        self._before = {}

    def _rollback(self) -> None:
        self._records |= self._before
        self._before = {}
