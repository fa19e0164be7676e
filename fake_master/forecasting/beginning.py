"""Where a rehearsal begins: a picture, a snapshot file, or a cluster file."""

from io import BufferedIOBase

from fake_master.forecasting.rehearsal import Rehearsal
from fake_master.master.clocks import VirtualClock
from fake_master.pictured import Pictured
from fake_master.sources import read_opened
from mesosctl.core.forecast import Terms
from mesosctl.core.picture import ClusterPicture


def of_picture(picture: ClusterPicture, terms: Terms) -> Rehearsal:
    """A master as the picture says, at the moment when it was taken.  Raises BadInput."""
    return _of_pictured(Pictured(picture), terms)


def of_file(file: BufferedIOBase, where: str, terms: Terms) -> Rehearsal:
    """A snapshot, or a cluster file whose frameworks do what it says of them.  Raises BadInput, and OSError."""
    spec = read_opened(file, where)
    if isinstance(spec, Pictured):
        return _of_pictured(spec, terms)
    clock = VirtualClock()
    master = spec.start(clock=clock)
    picture = ClusterPicture(master.profile.version, clock(), flags=master.flags.shown)
    return Rehearsal(master, clock, picture, terms, wants="what the cluster file says of them")


def _of_pictured(pictured: Pictured, terms: Terms) -> Rehearsal:
    clock = VirtualClock(pictured.picture.taken_at)
    return Rehearsal(pictured.start(clock=clock), clock, pictured.picture, terms)
