"""A fake master in the same process, as a transport for clients of httpx."""

import time

from fake_master.carriers.direct import Direct, Sleep
from fake_master.carriers.transport import CarrierTransport
from fake_master.master.master import Master


class InProcessTransport(CarrierTransport):
    """Carries each request of an httpx client straight to a master; see `Direct`."""

    def __init__(self, master: Master, sleep: Sleep = time.sleep) -> None:
        super().__init__(Direct(master, sleep))
