"""Which master a registry belongs to: its id, and since when it is there."""

from uuid import uuid4

from fake_master.master.registry import Registry, UnreadableRegistry


def of_master(registry: Registry, now: float, *, anew: bool) -> tuple[str, float]:
    """Id and start time (seconds since the epoch), made at `now` where there are none or they are wanted anew.

    Raises UnreadableRegistry for a record that this master did not write.
    """
    known = registry.records("master")
    if anew or "identity" not in known:
        with registry.transaction():
            # Read again: two processes may start on one new file.
            if anew or "identity" not in registry.records("master"):
                registry.write("master", "identity", {"id": str(uuid4()), "start_time": now})
        known = registry.records("master")
    try:
        return str(known["identity"]["id"]), float(known["identity"]["start_time"])
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableRegistry(f"the registry does not say which master it belongs to ({error!r})") from error
