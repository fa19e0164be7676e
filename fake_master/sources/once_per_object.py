"""Functions of resources that thousands of agents and offers share: called once for each object."""

from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class OncePerObject(Generic[_Arguments, _Result]):
    """A function of names and resources that is called once for the same names and the same objects of resources."""

    def __init__(self, function: Callable[_Arguments, _Result]) -> None:
        self._function = function
        # The arguments are kept with the result, so that their ids are not reused.
        self._known: dict[tuple[str | int, ...], tuple[object, _Result]] = {}

    def __call__(self, *arguments: _Arguments.args, **none: _Arguments.kwargs) -> _Result:
        """Return the result, the same object for the same arguments."""
        key = tuple([one if isinstance(one, str) else id(one) for one in arguments])
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = (arguments, self._function(*arguments, **none))
        return found[1]
