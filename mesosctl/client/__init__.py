"""One master over httpx: where it is, who leads, what is sent, what came back, what went wrong.

The only package of the tool that imports httpx.  Addresses, credentials and settings need none of it.
"""

import sys

if "httpx" not in sys.modules:
    # Where click happens to be installed httpx imports its own command line, with click, rich and pygments: 40 ms for
    # nothing.  An import that is None fails, which httpx expects of an environment without click.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
