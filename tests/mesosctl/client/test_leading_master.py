"""The client of a master: its leader, credentials, refusals, repetitions and deadline."""

import base64
import ssl

import httpx
import pytest

from mesosctl.client.address import parse_address
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.client.response import Trace
from mesosctl.client.settings import ClientSettings, Credentials, Token
from mesosctl.mesos.errors import (
    DeadlinePassed,
    Denied,
    Forbidden,
    MasterFailed,
    NoLeader,
    Rejected,
    Unauthenticated,
    UnexpectedAnswer,
    Unreachable,
    UsageError,
)
from tests.mesosctl.client.one_master import ONE, THREE, TWO, redirect


class TestLeader:
    def test_a_redirect_keeps_scheme_method_and_body(self, net, open_master):
        net.post(f"{ONE}/quota").mock(return_value=redirect("//two:5050/master/quota"))
        leader = net.post(f"{TWO}/quota").mock(return_value=httpx.Response(200))
        open_master().post("/quota", b'{"role": "dev"}')
        assert leader.calls.last.request.content == b'{"role": "dev"}'

    def test_the_leader_is_asked_directly_afterwards(self, net, open_master):
        first = net.get(f"{ONE}/quota").mock(return_value=redirect("//two:5050/master/quota"))
        net.get(f"{TWO}/quota").mock(return_value=httpx.Response(200, json={}))
        master = open_master()
        master.get("/quota")
        master.get("/quota")
        assert first.call_count == 1

    @pytest.mark.parametrize("failure", [httpx.ConnectError("no route"), httpx.ConnectTimeout("")])
    def test_a_leader_out_of_reach_is_told_with_the_master_that_names_it(self, net, open_master, failure):
        net.get(f"{ONE}/quota").mock(return_value=redirect("//two:5050/master/quota"))
        net.get(f"{TWO}/quota").mock(side_effect=failure)
        with pytest.raises((Unreachable, DeadlinePassed)) as raised:
            open_master().get("/quota")
        assert (raised.value.hint or "").startswith(f"{ONE} names it as the leading master")

    def test_circles_end(self, net, open_master):
        net.get(f"{ONE}/quota").mock(return_value=redirect("//two:5050/master/quota"))
        net.get(f"{TWO}/quota").mock(return_value=redirect("//one:5050/master/quota"))
        with pytest.raises(NoLeader, match="redirect to each other"):
            open_master().get("/quota")

    @pytest.mark.parametrize(
        "location",
        ["//two:5050/login", "", "//[", "http://two:5050/", "ftp://two:5050/quota"],
    )
    def test_a_redirect_to_something_else_is_refused(self, net, open_master, location):
        net.get(f"{ONE}/quota").mock(return_value=redirect(location))
        with pytest.raises(UnexpectedAnswer, match="redirects to"):
            open_master().get("/quota")

    @pytest.mark.parametrize("place", ["127.0.0.1:99999", "[::1", "127.0.0.1:abc", "127.0.0.1:0", "", "\U0001f4a9"])
    def test_an_agent_that_is_at_no_place_is_not_asked(self, net, open_master, place):
        with pytest.raises(UnexpectedAnswer, match="not an address"):
            open_master().agent_state(f"slave(1)@{place}")
        assert not net.calls

    def test_a_redirect_never_leaves_https(self, net, open_master):
        net.get("https://one/quota").mock(return_value=redirect("http://two:5050/master/quota"))
        with pytest.raises(UnexpectedAnswer, match="https"):
            open_master("https://one").get("/quota")

    def test_the_next_of_a_list_is_asked(self, net, open_master):
        net.get(f"{ONE}/quota").mock(side_effect=httpx.ConnectError("refused"))
        net.get(f"{TWO}/quota").mock(return_value=httpx.Response(503, text="No leader elected"))
        net.get(f"{THREE}/quota").mock(return_value=httpx.Response(200, json={}))
        assert open_master(f"{ONE},{TWO},{THREE}").get("/quota") == {}

    def test_a_list_of_which_none_answers_names_all(self, net, open_master):
        net.get(f"{ONE}/quota").mock(side_effect=httpx.ConnectError("refused"))
        net.get(f"{TWO}/quota").mock(side_effect=httpx.ConnectError("no route"))
        with pytest.raises(Unreachable, match=r"none of the 2 masters.*refused.*no route"):
            open_master(f"{ONE},{TWO}").get("/quota")

    def test_a_list_with_a_master_without_leader_has_no_leader(self, net, open_master):
        net.get(f"{ONE}/quota").mock(side_effect=httpx.ConnectError("refused"))
        net.get(f"{TWO}/quota").mock(return_value=httpx.Response(503))
        with pytest.raises(NoLeader):
            open_master(f"{ONE},{TWO}").get("/quota")

    def test_a_change_goes_to_the_next_only_if_the_last_certainly_did_not_take_it(self, net, open_master):
        net.post(f"{ONE}/quota").mock(side_effect=[httpx.ConnectError("refused"), httpx.ReadError("reset")])
        second = net.post(f"{TWO}/quota").mock(return_value=httpx.Response(200))
        open_master(f"{ONE},{TWO}").post("/quota", b"{}")
        with pytest.raises(Unreachable) as caught:
            open_master(f"{ONE},{TWO}").post("/quota", b"{}")
        assert caught.value.may_have_happened is True
        assert second.call_count == 1

    @pytest.mark.parametrize(
        ("answer", "asked"),
        [
            (httpx.Response(503, text="No leader elected"), 1),
            (httpx.Response(503, text="Master has not finished recovery"), 1),
            (httpx.Response(503, html="<html>unavailable</html>"), 0),
            (httpx.Response(503, text="upstream reset"), 0),
        ],
    )
    def test_a_change_goes_on_only_after_a_masters_own_503(self, net, open_master, answer, asked):
        net.post(f"{ONE}/quota").mock(return_value=answer)
        second = net.post(f"{TWO}/quota").mock(return_value=httpx.Response(200))
        try:
            open_master(f"{ONE},{TWO}").post("/quota", b"{}")
        except NoLeader as error:
            assert error.may_have_happened  # noqa: PT017
        assert second.call_count == asked

    def test_tls_that_breaks_after_the_handshake_may_have_sent_it(self):
        asked = []

        def broken(request):
            asked.append(request.url.host)
            raise httpx.ReadError("bad record") from ssl.SSLError("bad record mac")

        master = LeadingMaster(
            parse_address("https://one:5050,https://two:5050"), transport=httpx.MockTransport(broken)
        )
        with master, pytest.raises(Unreachable) as caught:
            master.post("/quota", b"{}")
        assert caught.value.may_have_happened
        assert asked == ["one"]


class TestCredentials:
    HEADER = "Basic " + base64.b64encode(b"op:s3cret").decode()

    def test_are_shown_to_masters_that_were_named(self, net, open_master, notices):
        net.get(f"{ONE}/quota").mock(return_value=redirect("//two:5050/master/quota"))
        leader = net.get(f"{TWO}/quota").mock(return_value=httpx.Response(200, json={}))
        open_master(f"{ONE},{TWO}", credentials=Credentials("op", "s3cret")).get("/quota")
        assert leader.calls.last.request.headers["authorization"] == self.HEADER
        assert notices == []

    def test_do_not_follow_a_redirect_to_a_stranger(self, net, open_master, notices):
        first = net.get(f"{ONE}/quota").mock(return_value=redirect("//evil:5050/master/quota"))
        stranger = net.get("http://evil:5050/quota").mock(return_value=httpx.Response(200, json={}))
        master = open_master(credentials=Credentials("op", "s3cret"))
        master.get("/quota")
        master.get("/quota")
        assert first.calls.last.request.headers["authorization"] == self.HEADER
        assert "authorization" not in stranger.calls.last.request.headers
        assert len(notices) == 1
        assert "http://evil:5050" in notices[0]

    def test_a_stranger_that_asks_for_them_should_be_named(self, net, open_master):
        net.post(f"{ONE}/quota").mock(return_value=redirect("//two:5050/master/quota"))
        net.post(f"{TWO}/quota").mock(return_value=httpx.Response(401))
        with pytest.raises(Unauthenticated) as caught:
            open_master(credentials=Credentials("op", "s3cret")).post("/quota", b"{}")
        assert "name it too: --master …,http://two:5050" in (caught.value.hint or "")

    def test_the_secret_is_in_no_text(self):
        credentials = Credentials("op", "s3cret")
        assert "s3cret" not in f"{credentials!r} {credentials} {ClientSettings(credentials=credentials)!r}"


class TestRefusals:
    @pytest.mark.parametrize(
        ("credentials", "said"),
        [
            (None, f"{ONE} requires authentication, but got no credentials (401)"),
            (Credentials("op", "s3cret"), f"wrong principal or secret for {ONE} (401)"),
            (Token("t0ken"), f"wrong token for {ONE} (401)"),
        ],
    )
    def test_who_asks_is_not_known(self, net, open_master, credentials, said):
        net.get(f"{ONE}/quota").mock(return_value=httpx.Response(401, text="401 Unauthorized."))
        with pytest.raises(Unauthenticated) as caught:
            open_master(credentials=credentials).get("/quota")
        assert caught.value.message == said

    @pytest.mark.parametrize(
        ("ask", "action"),
        [
            (lambda master: master.get("/flags"), "VIEW_FLAGS"),
            (lambda master: master.post("/quota", b"{}"), "UPDATE_QUOTA"),
            (lambda master: master.delete("/quota/dev"), "UPDATE_QUOTA"),
            (lambda master: master.put("/weights", b"[]"), "UPDATE_WEIGHT"),
            (lambda master: master.post_form("/reserve", {}), "RESERVE_RESOURCES"),
            (lambda master: master.call(b'{"type": "MARK_AGENT_GONE"}'), "MARK_AGENT_GONE"),
            (lambda master: master.ask("GET_ROLES"), "GET_ROLES"),
            (lambda master: master.get("/frameworks?framework_id=F"), "GET /frameworks"),
        ],
    )
    def test_what_is_not_allowed_is_named_as_mesos_names_it(self, net, open_master, ask, action):
        net.route().mock(return_value=httpx.Response(403, text="403 Forbidden."))
        with pytest.raises(Forbidden) as caught:
            ask(open_master(credentials=Credentials("op", "s3cret")))
        assert caught.value.message == f"principal op may not {action} at {ONE} (403)"

    def test_what_a_master_says_besides_is_told(self, net, open_master):
        net.get(f"{ONE}/quota").mock(return_value=httpx.Response(403, text="not on Sundays"))
        with pytest.raises(Forbidden) as caught:
            open_master().get("/quota")
        assert caught.value.message.startswith("a client without a principal ")
        assert caught.value.message.endswith(f" GET /quota at {ONE} (403): not on Sundays")

    def test_a_master_without_leader_may_have_been_shown_the_change_by_another(self, net, open_master):
        net.post(f"{ONE}/quota").mock(return_value=httpx.Response(503, text="No leader elected"))
        master = open_master()
        with pytest.raises(NoLeader) as caught:
            master.post("/quota", b"{}")
        assert f"a change was sent to {ONE}, but not accepted" in caught.value.message
        assert master.changes_sent == 1


class TestRepetition:
    def test_reads_are_repeated_after_growing_pauses(self, net, open_master, clock):
        net.get(f"{ONE}/quota").mock(
            side_effect=[httpx.ConnectError("refused"), httpx.Response(503), httpx.Response(200, json={})]
        )
        assert open_master().get("/quota") == {}
        assert clock.pauses == [0.25, 0.5]

    def test_jitter_takes_up_to_half_a_pause_off(self, net, open_master, clock):
        net.get(f"{ONE}/quota").mock(side_effect=[httpx.ConnectError("refused"), httpx.Response(200, json={})])
        open_master(jitter=lambda: 0.0).get("/quota")
        assert clock.pauses == [0.125]

    @pytest.mark.parametrize(
        ("answer", "error"),
        [(httpx.Response(503), NoLeader), (httpx.Response(502), MasterFailed), (httpx.ReadError("reset"), Unreachable)],
    )
    def test_reads_end_after_three(self, net, open_master, answer, error):
        route = net.get(f"{ONE}/quota").mock(side_effect=[answer] * 3)
        with pytest.raises(error):
            open_master().get("/quota")
        assert route.call_count == 3

    @pytest.mark.parametrize("answer", [httpx.Response(403), httpx.Response(404), httpx.Response(200, text="x")])
    def test_an_answer_that_will_not_change_is_not_asked_for_again(self, net, open_master, answer):
        route = net.get(f"{ONE}/quota").mock(return_value=answer)
        with pytest.raises((Denied, UnexpectedAnswer)):
            open_master().get("/quota")
        assert route.call_count == 1

    def test_no_pause_beyond_the_deadline(self, net, open_master, clock):
        net.get(f"{ONE}/quota").mock(side_effect=httpx.ConnectError("refused"))
        with pytest.raises(Unreachable):
            open_master(timeout=0.2).get("/quota")
        assert clock.pauses == []

    @pytest.mark.parametrize("failure", [httpx.ReadError("reset"), httpx.Response(503), httpx.Response(500)])
    def test_a_call_that_only_reads_is_repeated_though_it_is_a_post(self, net, open_master, failure):
        route = net.post(f"{ONE}/api/v1").mock(side_effect=[failure, httpx.Response(200, json={"type": "GET_ROLES"})])
        assert open_master().ask("GET_ROLES") == {"type": "GET_ROLES"}
        assert route.call_count == 2

    def test_a_call_that_only_reads_goes_on_to_the_next_master(self, net, open_master):
        net.post(f"{ONE}/api/v1").mock(side_effect=httpx.ReadError("reset"))
        net.post(f"{TWO}/api/v1").mock(return_value=httpx.Response(200, json={}))
        assert open_master(f"{ONE},{TWO}").ask("GET_ROLES") == {}

    @pytest.mark.parametrize("error", [httpx.ConnectError("refused"), httpx.ReadError("reset")])
    def test_changes_are_sent_once(self, net, open_master, error):
        route = net.post(f"{ONE}/quota").mock(side_effect=error)
        with pytest.raises(Unreachable):
            open_master().post("/quota", b"{}")
        assert route.call_count == 1


class TestFailures:
    @pytest.mark.parametrize(
        ("error", "kind", "sent"),
        [
            (httpx.ConnectError("refused"), Unreachable, False),
            (httpx.ReadError("reset"), Unreachable, True),
            (httpx.WriteError("broken pipe"), Unreachable, True),
            (httpx.RemoteProtocolError("disconnected"), Unreachable, True),
            (httpx.ConnectTimeout("slow"), DeadlinePassed, False),
            (httpx.ReadTimeout("slow"), DeadlinePassed, True),
            (httpx.WriteTimeout("slow"), DeadlinePassed, True),
        ],
    )
    def test_whether_a_change_may_have_been_sent(self, net, open_master, error, kind, sent):
        net.post(f"{ONE}/quota").mock(side_effect=error)
        with pytest.raises(kind) as caught:
            open_master().post("/quota", b"{}")
        assert caught.value.may_have_happened is sent

    def test_a_broken_encoding(self, net, open_master):
        net.get(f"{ONE}/quota").mock(
            return_value=httpx.Response(200, headers={"content-encoding": "gzip"}, stream=httpx.ByteStream(b"no gzip"))
        )
        with pytest.raises(UnexpectedAnswer):
            open_master().get("/quota")

    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (httpx.Response(200, text='{"infos": [{"ro', headers={"content-type": "application/json"}), "cut off"),
            (httpx.Response(200, html="<html>Sign in</html>"), "HTML"),
            (httpx.Response(200, text="<!DOCTYPE html>"), "HTML"),
            (httpx.Response(200, text="{}", headers={"content-type": "text/plain"}), "text/plain"),
            (httpx.Response(200, content=b""), "''"),
            (httpx.Response(200, text="[" * 99999, headers={"content-type": "application/json"}), "cut off"),
            (httpx.Response(301, headers={"Location": "https://one/quota"}), "301"),
            (httpx.Response(404, text="404 Not Found."), "404"),
        ],
    )
    def test_answers_that_no_master_gives(self, net, open_master, answer, words):
        net.get(f"{ONE}/quota").mock(return_value=answer)
        with pytest.raises(UnexpectedAnswer) as caught:
            open_master().get("/quota")
        assert words in caught.value.message

    def test_a_body_slower_than_the_deadline(self, net, open_master, clock):
        def drip():
            for _ in range(100):
                clock.now += 1
                yield b" "

        net.get(f"{ONE}/quota").mock(side_effect=lambda _: httpx.Response(200, content=drip()))
        with pytest.raises(DeadlinePassed) as caught:
            open_master(timeout=5).get("/quota")
        assert caught.value.may_have_happened is True
        assert clock.now == 5

    def test_the_deadline_covers_all_requests_together(self, net, open_master, clock):
        def slow(_):
            clock.now += 3
            return httpx.Response(200, json={})

        route = net.get(f"{ONE}/quota").mock(side_effect=slow)
        master = open_master(timeout=5)
        master.get("/quota")
        for sent in (True, False):
            with pytest.raises(DeadlinePassed) as caught:
                master.get("/quota")
            assert caught.value.may_have_happened is sent
        assert route.call_count == 2

    def test_control_characters_are_escaped(self, net, open_master):
        net.post(f"{ONE}/quota").mock(return_value=httpx.Response(400, text="\x1b]0;owned\x07 \u202e"))
        with pytest.raises(Rejected, match="refuses") as caught:
            open_master().post("/quota", b"{}")
        assert caught.value.message.isprintable()

    def test_a_long_detail_is_cut(self, net, open_master):
        net.post(f"{ONE}/quota").mock(return_value=httpx.Response(400, text="x" * 10_000))
        with pytest.raises(Rejected, match="refuses") as caught:
            open_master().post("/quota", b"{}")
        assert len(caught.value.message) < 700


class TestTracing:
    def test_each_exchange_is_told_without_the_secret(self, net, open_master):
        told: list[Trace] = []
        net.get(f"{ONE}/quota").mock(return_value=httpx.Response(200, json={}))
        open_master(trace=told.append, credentials=Credentials("op", "s3cret")).get("/quota")
        (exchange,) = told
        assert exchange.answer is not None
        assert (exchange.method, exchange.url, exchange.answer.status) == ("GET", "http://one:5050/quota", 200)
        assert exchange.headers["Authorization"] == "Basic ***"
        assert "b3A6czNjcmV0" not in repr(exchange)

    def test_a_failure_is_told_too(self, net, open_master):
        told: list[Trace] = []
        net.post(f"{ONE}/quota").mock(side_effect=httpx.ConnectError("refused"))
        net.post(f"{TWO}/quota").mock(return_value=httpx.Response(200))
        open_master(f"{ONE},{TWO}", trace=told.append).post("/quota", b"{}")
        assert [exchange.answer is None for exchange in told] == [True, False]
        assert [exchange.failure is None for exchange in told] == [False, True]


def test_a_v1_call_has_the_exact_content_type(net, open_master):
    route = net.post(f"{ONE}/api/v1").mock(return_value=httpx.Response(200))
    open_master().call(b"{}")
    assert route.calls.last.request.headers["content-type"] == "application/json"


def test_a_proxy_prefix_stays(net, open_master):
    route = net.get("http://proxy/mesos/quota").mock(return_value=httpx.Response(200, json={}))
    open_master("http://proxy/mesos").get("/quota")
    assert route.called


@pytest.mark.parametrize(
    "change",
    [
        lambda master: master.post("/quota", b"{}"),
        lambda master: master.put("/weights", b"[]"),
        lambda master: master.delete("/quota/dev"),
        lambda master: master.call(b"{}"),
        lambda master: master.post_form("/reserve", {}),
        lambda master: master.subscribe("/api/v1/scheduler", b"{}", 1.0),
        lambda master: master.tell("/api/v1/scheduler", b"{}", "id"),
    ],
)
def test_a_master_that_may_only_be_read_is_sent_nothing(change):
    def asked(request):
        raise AssertionError(request)

    master = LeadingMaster(parse_address(ONE), ClientSettings(may_change=False), httpx.MockTransport(asked))
    with pytest.raises(UsageError):
        change(master)
