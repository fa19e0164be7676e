"""Updates that want to be acknowledged: what they are known by, and how often they are told again."""

import base64
from uuid import uuid4

FIRST_RETRY_SECONDS = 10.0
_LONGEST_RETRY_SECONDS = 600.0


def next_retry(seconds: float) -> float:
    """Ever less often: how long to wait for an acknowledgement after having waited so long."""
    return min(2 * seconds, _LONGEST_RETRY_SECONDS)


def new_uuid() -> str:
    """Sixteen bytes, as JSON has them."""
    return base64.b64encode(uuid4().bytes).decode()
