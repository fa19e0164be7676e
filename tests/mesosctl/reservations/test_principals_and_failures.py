"""The principal of a reservation, and the errors where an answer is lost."""

import json

import httpx
import pytest

WHO = {"MESOSCTL_PRINCIPAL": "op", "MESOSCTL_SECRET": "s"}


@pytest.fixture
def guarded(make_lab, tmp_path):
    """op may reserve for everybody, dev for the role dev; both undo only what they made themselves."""
    credentials, acls = tmp_path / "credentials.json", tmp_path / "acls.json"
    pairs = [{"principal": name, "secret": "s"} for name in ("op", "dev")]
    credentials.write_text(json.dumps({"credentials": pairs}))
    one = [{"principals": {"values": [name]}, "reserver_principals": {"values": [name]}} for name in ("op", "dev")]
    reserve = [
        {"principals": {"values": ["op"]}, "roles": {"type": "ANY"}},
        {"principals": {"values": ["dev"]}, "roles": {"values": ["dev"]}},
        {"principals": {"values": ["agents"]}, "roles": {"type": "ANY"}},
    ]
    # Whoever may not see a role is not shown its reservations, and could not tell that one was made.
    everybody = {"principals": {"type": "ANY"}}
    rules = {
        "register_agents": [everybody | {"agents": {"type": "ANY"}}],
        "view_roles": [everybody | {"roles": {"type": "ANY"}}],
        "reserve_resources": reserve,
        "unreserve_resources": one,
    }
    acls.write_text(json.dumps({"permissive": False, **rules}))
    return make_lab(authenticate_http_readwrite="true", credentials=str(credentials), acls=str(acls))


def test_the_authenticated_principal_is_filled_in(guarded):
    assert guarded.run("reserve", "one", "cpus:1", "--role", "ads", **WHO).status == 0
    assert guarded.reserved("one") == "cpus(reservations: [(DYNAMIC,ads,op)]):1"
    entry = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, "role": "ads", "reservation": {}}
    assert guarded.run("reserve", "one", "-f", "-", stdin=json.dumps([entry]), **WHO).status == 0
    assert guarded.reserved("one") == "cpus(reservations: [(DYNAMIC,ads,op)]):2"


def test_another_principal_is_refused_before_it_is_sent(guarded):
    ran = guarded.run("reserve", "one", "cpus:1", "--role", "ads", "--reserver", "dev", **WHO)
    assert ran.status == 3
    assert "reserve.principal" in ran.err
    assert guarded.changes == []


def test_what_the_master_does_not_allow_is_told(guarded):
    dev = WHO | {"MESOSCTL_PRINCIPAL": "dev"}
    assert guarded.run("reserve", "one", "cpus:1", "--role", "ads", **dev).status == 4
    assert guarded.run("reserve", "one", "cpus:1", "--role", "ads", **WHO).status == 0
    assert guarded.run("unreserve", "one", "cpus:1", "--role", "ads", **dev).status == 4
    assert guarded.run("reserve", "one", "cpus:1", "--role", "ads").status == 4


def test_unreserve_names_the_reservers_principal_by_itself(guarded):
    guarded.run("reserve", "one", "cpus:1", "--role", "ads", **WHO)
    assert guarded.run("unreserve", "one", "cpus:1", "--role", "ads", **WHO).status == 0
    assert guarded.reserved("one") == "{}"


def break_connection(lab, path, *, arrives):
    """The first answer of `path` is lost; the request itself may arrive."""
    usual = lab.handle_request
    broken: list[httpx.Request] = []

    def handle(request):
        if request.url.path == path and not broken:
            broken.append(request)
            if arrives:
                usual(request)
            raise httpx.ReadError("cut off", request=request)
        return usual(request)

    lab.handle_request = handle


def test_a_lost_answer_is_looked_up_and_found_done(lab):
    break_connection(lab, "/reserve", arrives=True)
    ran = lab.run("reserve", "one", "cpus:1", "--role", "ads")
    assert ran.status == 0
    assert "the master shows that" in ran.err
    assert lab.reserved("one") == "cpus(reservations: [(DYNAMIC,ads)]):1"


def test_a_lost_answer_is_looked_up_and_found_undone(lab):
    break_connection(lab, "/reserve", arrives=False)
    ran = lab.run("reserve", "one", "cpus:1", "--role", "ads")
    assert ran.status == 7
    assert "so far" in ran.err
    assert lab.changes == []


def test_of_several_agents_those_done_are_named_when_one_fails(lab):
    seen = []
    usual = lab.handle_request

    def handle(request):
        if request.method == "POST":
            seen.append(request)
            if len(seen) == 2:
                return httpx.Response(409, text="too late")
        return usual(request)

    lab.handle_request = handle
    ran = lab.run("reserve", "--count", "3", "cpus:1", "--role", "ads")
    assert ran.status == 6
    assert "accepted before that: " in ran.err
    assert "another client got there first" in ran.err
