"""The program.  `--version` and `--help` alone are answered before anything is imported: they are typed most."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mesosctl.cli.environment import Environment


def main(argv: Sequence[str] | None = None, environment: "Environment | None" = None) -> int:
    """Run the command line and return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    from mesosctl.cli.environment import Environment
    from mesosctl.cli.run import run

    return run(arguments, environment or Environment())


if __name__ == "__main__":
    sys.exit(main())
