"""One master over httpx: its address, the leader, requests, answers and errors.

Only this package imports httpx, and addresses, credentials and settings do not need it.
"""

import sys

if "httpx" not in sys.modules:
    # Where click happens to be installed httpx imports its own command line, with click, rich and pygments: 40 ms for
    # nothing.  An import that is None fails, which httpx expects of an environment without click.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
