"""Marathon's launch queue as demand: who waited, since when, and what was withdrawn."""

import json
from datetime import UTC, datetime

import pytest

from mesosctl.__main__ import main
from mesosctl.history.imports import join as joining
from mesosctl.history.imports.join import import_demand
from mesosctl.history.records import RecordedCluster, RecordedFramework, RecordedTask, to_micros, to_seconds
from mesosctl.history.sqlite import open_recording, open_writer
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.errors import BadInput
from tests.helpers.surroundings import InMemory, Ran

SINCE = 1_700_000_000.0


def iso(seconds):
    return datetime.fromtimestamp(SINCE + seconds, UTC).isoformat().replace("+00:00", "Z")


def item(app, count, since, *, cpus=1, mem=128, role="web", **more):
    """An item as Marathon's documentation has it, with much that says nothing about demand."""
    return {
        "count": count, "since": iso(since), "delay": {"overdue": True, "timeLeftSeconds": 0},
        "processedOffersSummary": {"processedOffersCount": 5, "unusedOffersCount": 5, "lastUnusedOfferAt": iso(since)},
        "lastUnusedOffers": [{"offer": {"id": "O1"}, "reason": ["InsufficientCpus"], "timestamp": iso(since)}],
        "app": {"id": app, "cmd": "true", "instances": 9, "cpus": cpus, "mem": mem, "disk": 0, "gpus": 0, "role": role},
        **more,
    }  # fmt: skip


def answer(at, *items):
    return {"at": iso(at), "queue": list(items)}


def recorded(folder, tasks, roles=("web",)):
    """Record 1,000 seconds of Marathon with tasks of one cpu: (id, role, start, end)."""
    path = folder / "h.sqlite"
    path.unlink(missing_ok=True)
    with open_writer(path) as recording, recording.transaction():
        span = (to_micros(SINCE), to_micros(SINCE + 1000))
        recording.put_cluster(RecordedCluster("c", "master", "1.11.0", *span, clean_end=True))
        recording.add_framework("c", RecordedFramework("F1", "marathon", roles, span[0]))
        for name, role, start, end in tasks:
            times = (to_micros(SINCE + start), to_micros(SINCE + end))
            held = parse_resources("cpus:1;mem:128")
            recording.add_task("c", RecordedTask("F1", name, role, held, "S0", None, *times))
    return path


def joined(folder, *answers, text=None, **options):
    lines = "".join(json.dumps(one) + "\n" for one in answers) if text is None else text
    (folder / "queue.jsonl").write_text(lines, encoding="utf-8")
    with open_writer(folder / "h.sqlite") as recording:
        return import_demand(
            recording, folder / "queue.jsonl", "marathon-queue", None, lambda *_: None, lambda _: None, **options
        )


def asked(folder):
    with open_recording(folder / "h.sqlite") as recording:
        return {
            task.id: None if task.asked is None else round(to_seconds(task.asked) - SINCE)
            for task in recording.demand("c")
        }


def test_instances_were_asked_for_since_their_app_entered_the_queue_and_later_ones_when_they_are_seen(tmp_path):
    recorded(tmp_path, [("a", "web", 25, 90), ("b", "web", 33, 90), ("c", "web", 45, 90), ("d", "web", 95, 99)])
    done = joined(
        tmp_path,
        answer(20, item("/shop", 2, 8)),
        answer(30, item("/shop", 2, 8)),  # one started, and another came
        answer(40, item("/shop", 1, 8)),
        answer(50),
        answer(90, item("/shop", 1, 81)),
        answer(100),
    )
    assert asked(tmp_path) == {"a": None, "b": 8, "c": 8, "d": 81}  # nobody saw that one started and another came
    assert (done.in_order, done.never_started, done.still_unknown) == (3, 0, 1)


def test_what_was_seen_to_wait_had_not_started_before_the_recording_began(tmp_path):
    recorded(tmp_path, [("a", "web", 35, 90)])
    done = joined(tmp_path, answer(30, item("/shop", 2, -50)), answer(40, item("/shop", 1, -50)))
    assert (done.in_order, done.never_started, done.unjoined) == (1, 1, ())
    assert asked(tmp_path) == {"/shop#2": -50, "a": -50}


def test_an_instance_starts_after_it_was_last_seen_to_wait(tmp_path):
    recorded(tmp_path, [("other", "web", 22, 90), ("own", "web", 52, 90)])
    joined(tmp_path, answer(20, item("/shop", 1, 8)), answer(50, item("/shop", 1, 8)), answer(60))
    assert asked(tmp_path) == {"other": None, "own": 8}


def test_what_still_waits_is_kept_and_what_was_withdrawn_is_listed_and_never_waits(tmp_path):
    recorded(tmp_path, [("a", "web", 35, 90)])
    first = answer(30, item("/shop", 3, 8))
    assert joined(tmp_path, first).never_started == 2
    done = joined(tmp_path, first, answer(40, item("/shop", 1, 8)))
    assert (done.in_order, done.never_started) == (1, 1)
    assert [one.cause for one in done.unjoined] == [joining.WITHDRAWN]
    assert sorted(asked(tmp_path).values()) == [8, 8]


def test_one_answer_may_be_written_in_several_lines(tmp_path):
    recorded(tmp_path, [("a", "web", 35, 90)])
    joined(tmp_path, text=json.dumps({"queue": [item("/shop", 1, 8)]}, indent=2))
    assert asked(tmp_path) == {"a": 8}


@pytest.mark.parametrize(("roles", "cause"), [(("web",), None), (("web", "ops"), joining.NO_ROLE)])
def test_an_app_without_a_role_has_the_only_one_of_its_framework(tmp_path, roles, cause):
    recorded(tmp_path, [("a", "web", 35, 90)], roles)
    done = joined(tmp_path, answer(30, item("/shop", 1, 8, role=None)))
    assert [one.cause for one in done.unjoined] == ([] if cause is None else [cause])
    assert asked(tmp_path) == {"a": 8 if cause is None else None}


def test_a_new_version_of_an_app_and_pods_are_told_apart(tmp_path):
    recorded(tmp_path, [])
    pod = {"count": 2, "since": iso(8), "pod": {"id": "/pod", "containers": []}}
    done = joined(tmp_path, answer(30, item("/shop", 1, 8), pod), answer(40, item("/shop", 1, 35, cpus=2), pod))
    assert (done.never_started, [one.cause for one in done.unjoined]) == (1, [joining.WITHDRAWN])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"queue": [{"count": 1}]}', "line 1"),
        ("[]", "line 1"),
        ("{", "line 1"),
        (json.dumps({"queue": [item("/a", 1, 8)]}) + "\n" + json.dumps({"queue": []}), "line 2"),
        (json.dumps(answer(30, item("/a", 1, 8))) + "\n" + json.dumps(answer(20)), "line 2"),
        (json.dumps(answer(30, item("/a", 2_000_000, 8))), "line 1"),
        (json.dumps(answer(30, item("/a", 1, 8, role=" x"))), "line 1"),
        (json.dumps(answer(30, item("/a", 1, 8, cpus=-1))), "below zero"),
    ],
)
def test_a_file_that_is_wrong_leaves_the_recording_as_it_was(tmp_path, text, says):
    recorded(tmp_path, [("a", "web", 35, 90)])
    with pytest.raises(BadInput, match=says):
        joined(tmp_path, text=text)
    assert asked(tmp_path) == {"a": None}


def test_the_command_names_the_framework(tmp_path):
    recorded(tmp_path, [("a", "web", 35, 90)])
    (tmp_path / "q.json").write_text(json.dumps({"queue": [item("/shop", 1, 8)]}), encoding="utf-8")

    def run(*more):
        environment = InMemory(variables={"HOME": str(tmp_path)})
        words = ("history", "import", "--into", str(tmp_path / "h.sqlite"), "--format", "marathon-queue")
        return Ran(main((*words, str(tmp_path / "q.json"), *more), environment), environment.out, environment.err)

    assert "no recorded framework" in run("--framework", "other").out.replace("\n", " ")
    assert run("--timezone", "UTC").status == 2
    assert run().status == 0
    assert asked(tmp_path) == {"a": 8}
