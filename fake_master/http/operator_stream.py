"""The first event of an operator's subscription: the whole state, written once for all who see the same."""

from weakref import WeakKeyDictionary

from fake_master.http.exchange import Written, written
from fake_master.master.master import Master
from fake_master.master.tell import HEARTBEAT_SECONDS
from mesosctl.wire import recordio

_LAST: WeakKeyDictionary[Master, tuple[Written, bytes]] = WeakKeyDictionary()


def subscribed(master: Master, state: Written) -> bytes:
    """SUBSCRIBED with this state, as a record.

    As long as the state is the same it is the same object: of 10,000 agents it has 20 MB, and hundreds may listen.
    """
    known = _LAST.get(master)
    if known is None or known[0] != state:
        content = written({"get_state": state, "heartbeat_interval_seconds": HEARTBEAT_SECONDS})
        known = (state, recordio.encode(b"".join(written({"type": "SUBSCRIBED", "subscribed": content}))))
        _LAST[master] = known
    return known[1]
