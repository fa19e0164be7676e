"""The command line of a desired state, on which a cleanup is run too."""

from tests.mesosctl.apply.conftest import run

__all__ = ["run"]
