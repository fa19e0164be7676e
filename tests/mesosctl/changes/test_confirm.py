"""The rows of `confirm`: a change that was accepted, refused or never answered, and what the master shows then."""

import httpx
import pytest


def cut(_):
    raise httpx.ReadError("connection reset")


def refused(_):
    raise httpx.ConnectError("connection refused")


def silent(_):
    raise httpx.ReadTimeout("timed out")


def cut_after(cluster):
    def act(request):
        cluster.usual(request)
        raise httpx.RemoteProtocolError("server disconnected without sending a response")

    return act


SET = ("quota", "set", "dev", "cpus:1")


@pytest.mark.parametrize("words", [SET, (*SET, "--no-wait")])
def test_no_answer_and_shown_is_done(run, cluster, words):
    cluster.instead["POST /api/v1"] = [cut_after(cluster)]
    ran = run(*words)
    assert ran.status == 0
    assert "shows that the new quota of 'dev' took" in ran.err


def test_a_proxy_that_gives_up_may_have_passed_it_on(run, cluster):
    def act(request):
        cluster.usual(request)
        return httpx.Response(504, html="<html>Gateway Timeout</html>")

    cluster.instead["POST /api/v1"] = [act]
    assert run(*SET).status == 0


def test_no_answer_and_not_shown_is_the_failure_itself(run, cluster):
    cluster.instead["POST /api/v1"] = [cut]
    ran = run(*SET)
    assert ran.status == 7
    assert "so far" in ran.err
    assert cluster.changed == ["POST /api/v1"], "a change is never repeated"


def test_a_master_that_failed_without_doing_it_keeps_its_status(run, cluster):
    cluster.instead["POST /api/v1"] = [lambda _: httpx.Response(500)]
    ran = run(*SET)
    assert ran.status == 8
    assert "so far" in ran.err


def test_no_answer_and_no_master_to_read_from_is_unknown(run, cluster):
    cluster.instead["POST /api/v1"] = [cut]
    cluster.instead["GET /quota"] = [cluster.usual, refused, refused, refused]
    ran = run(*SET)
    assert ran.status == 9
    assert "is unknown" in ran.err


def test_no_answer_within_the_deadline_and_not_shown_may_still_happen(run, cluster):
    cluster.instead["POST /api/v1"] = [silent]
    ran = run(*SET)
    assert ran.status == 9
    assert "may still happen" in ran.err


def test_what_was_certainly_not_sent_is_not_looked_for(run, cluster):
    cluster.instead["POST /api/v1"] = [refused]
    ran = run(*SET)
    assert ran.status == 7
    assert cluster.asked[-1] == "POST /api/v1"


def test_an_accepted_change_that_cannot_be_read_back(run, cluster):
    cluster.instead["GET /quota"] = [cluster.usual, lambda _: httpx.Response(403)]
    ran = run(*SET)
    assert ran.status == 9
    assert "was accepted" in ran.err


def already(_):
    return httpx.Response(400, text="already has quota")


def test_a_refusal_and_shown_now_is_done(run, cluster):
    def act(request):
        cluster.usual(request)
        return already(request)

    cluster.instead["POST /quota"] = [act]
    ran = run(*SET, "--api", "v0")
    assert ran.status == 0
    assert "as if the request had arrived twice" in ran.err


def test_a_refusal_and_not_shown_is_the_refusal(run, cluster):
    cluster.instead["POST /quota"] = [already]
    ran = run(*SET, "--api", "v0")
    assert ran.status == 3
    assert "already has quota" in ran.err


def test_a_refusal_and_reading_denied_is_the_refusal(run, cluster):
    cluster.instead["POST /quota"] = [already]
    cluster.instead["GET /quota"] = [cluster.usual, lambda _: httpx.Response(403)]
    assert run(*SET, "--api", "v0").status == 3


def test_a_refusal_and_no_master_to_read_from_is_unknown(run, cluster):
    cluster.instead["POST /quota"] = [already]
    cluster.instead["GET /quota"] = [cluster.usual, refused, refused, refused]
    ran = run(*SET, "--api", "v0")
    assert ran.status == 9
    assert "took effect all the same is unknown" in ran.err


def test_a_page_for_people_is_no_answer_to_a_change(run, cluster):
    cluster.instead["POST /api/v1"] = [lambda _: httpx.Response(200, html="<html>Please sign in</html>")]
    assert run(*SET).status == 8


def test_a_removal_without_an_answer_is_read_back(run, cluster, entries):
    cluster.quotas["dev"] = entries(cpus=1)
    cluster.instead["DELETE /quota/dev"] = [cut, cut_after(cluster)]
    assert run("quota", "remove", "dev").status == 7
    assert run("quota", "remove", "dev").status == 0


def test_an_update_without_an_answer_is_read_back(run, cluster, entries):
    cluster.quotas["dev"] = entries(cpus=1)
    cluster.instead["POST /api/v1"] = [cut, cut_after(cluster)]
    assert run("quota", "update", "dev", "cpus:2").status == 7
    assert run("quota", "update", "dev", "cpus:2").status == 0


HIDING = {"authorizers": "local", "acls": "{}"}


@pytest.mark.parametrize("flags", [HIDING, {"authorizers": "org_Module"}, {}])
def test_what_an_acl_may_hide_is_not_said_to_be_absent(run, cluster, flags):
    cluster.flags = flags
    cluster.instead["POST /quota"] = [cut]
    ran = run(*SET)
    assert ran.status == 9
    assert "is unknown: this principal may not see it" in ran.err


def test_a_role_that_was_seen_is_not_hidden(run, cluster, entries):
    cluster.flags = HIDING
    cluster.quotas["dev"] = entries(cpus=1)
    cluster.instead["DELETE /quota/dev"] = [cut_after(cluster)]
    assert run("quota", "remove", "dev").status == 0
    cluster.quotas["dev"] = entries(cpus=1)
    cluster.instead["POST /api/v1"] = [cut]
    ran = run("quota", "update", "dev", "cpus:2")
    assert ran.status == 7
    assert "so far" in ran.err


@pytest.mark.parametrize(("request_cut", "words"), [("/quota", ["cpus:2"]), ("/api/v1", ["--limit", "cpus:2"])])
def test_a_role_created_by_an_update_may_be_hidden(run, cluster, request_cut, words):
    cluster.flags = HIDING
    cluster.instead[f"POST {request_cut}"] = [cut]
    assert run("quota", "update", "dev", *words, "--create", "--yes").status == 9


def test_a_role_that_is_not_shown_may_be_hidden(run, cluster):
    ran = run("quota", "remove", "dev")
    assert ran.status == 5
    assert "or this principal may not see it" in ran.err


NOT_A_MASTERS = [
    httpx.Response(503, html="<html>unavailable</html>"),
    httpx.Response(503),
    httpx.Response(503, text="upstream connect error or disconnect/reset before headers"),
    httpx.Response(400, html="<html>bad</html>"),
    httpx.Response(409, html="<html>conflict</html>"),
]


@pytest.mark.parametrize("answer", NOT_A_MASTERS)
def test_a_refusal_that_is_not_a_masters_own_is_read_back(run, cluster, answer):
    def act(request):
        cluster.usual(request)
        return answer

    cluster.instead["POST /api/v1"] = [act]
    ran = run(*SET)
    assert ran.status == 0, ran.err
    assert "shows that the new quota of 'dev' took" in ran.err


def test_a_masters_own_503_did_nothing(run, cluster):
    cluster.instead["POST /api/v1"] = [lambda _: httpx.Response(503, text="No leader elected")]
    ran = run(*SET)
    assert ran.status == 7
    assert cluster.asked[-1] == "POST /api/v1"
    assert "no change was sent" not in ran.err
    assert "a change was sent to http://master:5050, but not accepted" in ran.err


@pytest.mark.parametrize(
    ("answer", "words", "sent"),
    [
        ("none", SET, "POST /api/v1"),
        ("none", (*SET, "--api", "v0"), "POST /quota"),
        ("refusal", (*SET, "--api", "v0"), "POST /quota"),  # UPDATE_QUOTA refuses nothing that it has done
    ],
)
def test_what_took_the_whole_deadline_is_looked_for_all_the_same(run, cluster, monkeypatch, answer, words, sent):
    """Whatever came back when hardly any time was left: there is more to read the change back."""
    monkeypatch.setattr("mesosctl.changes.confirm.GRACE", 600.0)

    def act(request):
        cluster.usual(request)
        cluster.passed += 3500.0
        return cut(request) if answer == "none" else httpx.Response(400, text="already has quota")

    def slow(request):
        cluster.passed += 300.0
        return cluster.usual(request)

    cluster.instead[sent] = [act]
    cluster.instead["GET /quota"] = [cluster.usual, slow]
    ran = run(*words, "--timeout", "1h")
    assert ran.status == 0, ran.err
    assert cluster.changed == [sent]
    assert "took effect" in ran.err
