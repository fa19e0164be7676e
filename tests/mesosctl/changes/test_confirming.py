"""`confirm` by itself: what it returns, raises and advises, by what a master answered and shows then."""

import pytest

from mesosctl.changes.confirm import GRACE, confirm
from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.errors import (
    Conflict,
    DeadlinePassed,
    Forbidden,
    MasterFailed,
    MesosctlError,
    NotConfirmed,
    Rejected,
)

WHAT, SHOWN_BY = "the new quota of dev", "mesosctl quota list dev"


class Watched(LeadingMaster):
    """A master that shows flags, and counts what is sent to it and how much more time it is given."""

    def __init__(self, whitelist: str | None = None) -> None:
        super().__init__(parse_address("fake:"))
        self.noted: list[str] = []
        self.more: list[float] = []
        self.whitelist = whitelist
        self.deadline.extend_to = self.more.append  # type: ignore[method-assign, assignment]
        self.notice = self.noted.append  # type: ignore[method-assign, assignment]

    def get(self, path):
        assert path == "/flags"
        if self.whitelist is None:
            raise Forbidden("not for you")
        return {"flags": {"roles": self.whitelist}}


def failing(error: BaseException):
    def act():
        raise error

    return act


def lost() -> MesosctlError:
    return MasterFailed("the connection was cut")


def outcome(send, shown=None, *, master=None, **options):
    """The result of `confirm`, or its error; `shown` is what the master shows, or the error of reading it."""
    reading = failing(shown) if isinstance(shown, BaseException) else lambda: shown
    try:
        return confirm(master or Watched(), send, reading, what=WHAT, shown_by=SHOWN_BY, **options)
    except MesosctlError as error:
        return error


def nothing() -> None:
    """An accepted change."""


def test_an_accepted_change_is_read_back_unless_that_is_not_wanted():
    assert outcome(nothing, True) is True
    assert outcome(nothing, MasterFailed("down"), wait=False) is False


@pytest.mark.parametrize("shown", [False, None])
def test_an_accepted_change_that_is_not_shown_is_not_confirmed(shown):
    error = outcome(nothing, shown)
    assert isinstance(error, NotConfirmed)
    assert error.message.startswith(f"{WHAT} was accepted")
    assert "may not see it" in (error.hint or "")


def test_an_accepted_change_that_cannot_be_read_back_is_not_confirmed():
    error = outcome(nothing, MasterFailed("down"))
    assert isinstance(error, NotConfirmed)
    assert WHAT in error.message
    assert error.message.endswith("down")


@pytest.mark.parametrize(
    ("shown", "kind", "hint"),
    [
        (False, MasterFailed, f"again with {SHOWN_BY}"),
        (None, NotConfirmed, f"check with {SHOWN_BY}, as"),
        (MasterFailed("down"), NotConfirmed, f"check with {SHOWN_BY} when"),
    ],
)
def test_a_change_without_an_answer_that_is_not_shown(shown, kind, hint):
    master = Watched()
    error = outcome(failing(lost()), shown, master=master)
    assert type(error) is kind
    assert error.message.startswith("the connection was cut; ")
    assert WHAT in error.message
    assert hint in (error.hint or "")
    assert master.more == [GRACE]
    assert not master.noted


def test_a_change_after_the_deadline_may_still_happen():
    error = outcome(failing(DeadlinePassed("no answer in 30s", may_have_happened=True)), False)
    assert type(error) is NotConfirmed
    assert (WHAT in error.message, SHOWN_BY in (error.hint or "")) == (True, True)


@pytest.mark.parametrize("wait", [True, False])
@pytest.mark.parametrize("error", [lost(), Rejected("already has quota"), Conflict("too much")])
def test_a_change_that_is_shown_all_the_same_is_done_with_a_notice(error, wait):
    master = Watched()
    assert outcome(failing(error), True, master=master, wait=wait) is True
    (note,) = master.noted
    assert note.startswith(error.message)
    assert WHAT in note
    assert master.more == [GRACE]


@pytest.mark.parametrize("shown", [False, None, Forbidden("not for you")])
def test_a_refusal_that_is_not_shown_is_the_refusal(shown):
    refused = Conflict("too much")
    assert outcome(failing(refused), shown) is refused


def test_a_refusal_whose_effect_cannot_be_read_is_not_confirmed():
    error = outcome(failing(Conflict("too much")), MasterFailed("down"))
    assert type(error) is NotConfirmed
    assert error.message.startswith("too much; ")
    assert WHAT in error.message
    assert f"check with {SHOWN_BY}" in (error.hint or "")


@pytest.mark.parametrize(
    ("error", "options"),
    [(Forbidden("no"), {}), (Conflict("too much"), {"seen_before": False})],
)
def test_a_refusal_that_changed_nothing_is_not_read(error, options):
    assert outcome(failing(error), AssertionError("it is not read"), **options) is error


@pytest.mark.parametrize(
    ("whitelist", "message", "hint"),
    [
        ("web,dev", "Unknown role 'dve'", "did you mean dev?"),
        ("web,dev", "role 'dve' is not on the roles whitelist", "did you mean dev?"),
        ("web,dev", "Unknown role 'other'", "--roles"),
        (None, "Unknown role 'dve'", "--roles"),
        ("web,dev", "something else", None),
    ],
)
def test_a_role_that_the_master_does_not_list_is_refused_with_a_similar_one(whitelist, message, hint):
    error = outcome(failing(Rejected(message)), False, master=Watched(whitelist))
    assert isinstance(error, Rejected)
    assert error.hint is None if hint is None else hint in (error.hint or "")


def test_a_hint_of_the_refusal_stays():
    error = outcome(failing(Rejected("Unknown role 'dve'", hint="ask somebody")), False, master=Watched("dev"))
    assert isinstance(error, Rejected)
    assert error.hint == "ask somebody"


@pytest.mark.parametrize(
    ("sent", "when", "known"),
    [(0, "send", None), (1, "send", "is unknown"), (1, "read", "accepted, but not read back")],
)
@pytest.mark.parametrize("before", [0, 2])
def test_a_stop_says_what_is_known_of_a_change_that_was_sent(monkeypatch, before, sent, when, known):
    """Those that were sent before it have had their answers."""
    master = Watched()
    count = before

    def send():
        nonlocal count
        count += sent
        if when == "send":
            raise KeyboardInterrupt

    monkeypatch.setattr(Watched, "changes_sent", property(lambda _: count), raising=False)
    with pytest.raises(KeyboardInterrupt) as stopped:
        confirm(master, send, failing(KeyboardInterrupt()), what=WHAT, shown_by=SHOWN_BY)
    notes = getattr(stopped.value, "__notes__", [])
    if known is None:
        assert not notes
    else:
        (note,) = notes
        assert note.startswith(WHAT)
        assert known in note
        assert note.endswith(SHOWN_BY)
