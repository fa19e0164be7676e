"""Removing and setting is one guarded section: wherever it stops, the role keeps a quota or the operator is warned."""

import json

import httpx
import pytest

from mesosctl.mesos.errors import HungUp, Interruption, Terminated

UPDATE = ("quota", "update", "dev", "cpus:3", "--api", "v0")
OLD, NEW = {"value": 2}, {"value": 3.0}


@pytest.fixture
def dev(cluster, entries):
    cluster.quotas["dev"] = entries(cpus=2)
    cluster.limits["dev"] = {"cpus": OLD}
    return cluster


def held(cluster):
    return cluster.quotas["dev"][0]["scalar"] if "dev" in cluster.quotas else None


def interrupt(_):
    raise KeyboardInterrupt


def terminate(_):
    raise Interruption(Terminated)


def hang_up(_):
    raise Interruption(HungUp)


def cut(_):
    raise httpx.ReadError("reset")


def after(cluster, act):
    def done(request):
        cluster.usual(request)
        return act(request)

    return done


def answer(status, **said):
    return lambda _: httpx.Response(status, **said)


PAGE = {"html": "<html>proxy</html>"}


@pytest.mark.parametrize("step", ["DELETE /quota/dev", "POST /quota"])
@pytest.mark.parametrize(("stop", "status"), [(interrupt, 130), (terminate, 143), (hang_up, 129)])
@pytest.mark.parametrize("form", ["table", "json"])
def test_an_interruption_after_either_step_was_made(run, dev, step, stop, status, form):
    dev.instead[step] = [after(dev, stop)]
    ran = run(*UPDATE, "-o", form)
    assert ran.status == status
    assert held(dev) in (OLD, {"value": 2.0}, NEW)
    said = json.loads(ran.err)["error"]["message"] if form == "json" else ran.err.splitlines()[-1]
    known = "the old quota of 'dev' (cpus:2) is restored" if "DELETE" in step else "role 'dev' has quota cpus:3"
    assert known in said
    assert "not known" not in said


@pytest.mark.parametrize("stop", [cut, answer(503, **PAGE), answer(503), answer(400, **PAGE), answer(502, **PAGE)])
def test_a_removal_whose_answer_was_lost_goes_on(run, dev, stop):
    dev.instead["DELETE /quota/dev"] = [after(dev, stop)]
    ran = run(*UPDATE)
    assert ran.status == 0, ran.err
    assert held(dev) == NEW


@pytest.mark.parametrize("stop", [cut, answer(503, **PAGE)])
def test_a_removal_of_which_nothing_can_be_read_is_loud(run, dev, stop):
    dev.instead["DELETE /quota/dev"] = [after(dev, stop)]
    dev.instead["GET /quota"] = [dev.usual] + [answer(403)] * 9
    dev.instead["POST /quota"] = [answer(403)]
    ran = run("-q", *UPDATE)
    assert ran.status == 9
    assert "WARNING: ROLE 'dev' MAY HAVE NO QUOTA NOW" in ran.err
    assert "HAS NO QUOTA NOW" not in ran.err


def test_where_nothing_can_be_read_putting_back_is_tried_all_the_same(run, dev):
    dev.instead["DELETE /quota/dev"] = [after(dev, cut)]
    dev.instead["GET /quota"] = [dev.usual] + [answer(403)] * 9
    run(*UPDATE)
    assert held(dev) == {"value": 2.0}


def test_a_put_back_that_finds_a_quota_there_is_no_alarm(run, dev, entries):
    def set_by_another(_):
        dev.quotas["dev"] = entries(cpus=7)
        return httpx.Response(400, text="already has quota")

    dev.instead["POST /quota"] = [answer(403), set_by_another]
    ran = run(*UPDATE)
    assert ran.status == 4
    assert "HAS NO QUOTA" not in ran.err
    assert "has quota cpus:7" in ran.err


@pytest.mark.parametrize("where", ["GET /quota", "POST /quota"])
def test_a_second_interruption_does_not_skip_the_alarm(run, dev, where):
    dev.instead["DELETE /quota/dev"] = [after(dev, interrupt)]
    dev.instead[where] = ([dev.usual] if where == "GET /quota" else []) + [interrupt]
    assert "MAY HAVE NO QUOTA NOW" in run("-q", *UPDATE).err


def test_a_removal_that_was_interrupted_may_still_come(run, dev):
    dev.instead["DELETE /quota/dev"] = [interrupt]
    ran = run("-q", *UPDATE)
    assert ran.status == 130
    assert "WARNING: role 'dev' still has its old quota (cpus:2)" in ran.err


@pytest.mark.parametrize("stop", [answer(403), answer(503, text="No leader elected")])
def test_a_refused_removal_needs_nothing_put_back(run, dev, stop):
    dev.instead["DELETE /quota/dev"] = [stop]
    ran = run(*UPDATE)
    assert ran.status in (4, 7)
    assert "WARNING" not in ran.err
    assert held(dev) == OLD
