"""The releases of which real masters judge today: three always, one of the others by the day of the week, or all.

`MESOS_RELEASES=all` asks for all of them, as before a release of this project.
"""

import os
from datetime import datetime

from mesosctl.mesos.rules.version_profile import RELEASES

ALWAYS = ("1.4.3", "1.8.1", "1.11.0")
_ASKS_FOR_ALL = os.environ.get("MESOS_RELEASES") == "all"
_OTHERS = [release for release in RELEASES if release not in ALWAYS]
_WEEKDAY = datetime.now().astimezone().weekday()
JUDGES = tuple(
    release for release in RELEASES if _ASKS_FOR_ALL or release in (*ALWAYS, _OTHERS[_WEEKDAY % len(_OTHERS)])
)
"""The oldest first."""
JUDGES_OF_HISTORIES = RELEASES if _ASKS_FOR_ALL else ALWAYS
"""Of random histories, which take a minute or more each."""
