"""Logs of other schedulers: every row is used or accounted for, and what is there has the meaning of the log."""

import gzip
import re
from dataclasses import replace

import pytest

from mesosctl.history.imports.run import ImportOptions, import_log
from mesosctl.history.records import MICROS, RecordedCluster, Window
from mesosctl.history.sqlite import open_recording, open_writer
from mesosctl.history.windows import time_zone, window_of
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.errors import BadInput, Conflict, UsageError
from mesosctl.usage.calculation import UsageOptions
from mesosctl.usage.calculation import usage as used
from tests import ROOT
from tests.helpers.traces import trace

_SWF = """\
; Version: 2.2
; UnixStartTime: 1000
; MaxProcs: 16
1 0 5 10 4 -1 -1 8 -1 -1 1 7 2 -1 3 -1 -1 -1
2 10 -1 0 1 -1 -1 -1 -1 -1 0 8 2 -1 3 -1 -1 -1
3 20 0 60 -1 -1 -1 2 -1 -1 5 7 1 -1 3 -1 -1 -1
"""
_PODS = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p-1,1500,1024,1,460,,LS,Succeeded,10,100,20
p-2,1000,1024,8,1000,,BE,Pending,10,100,
p-3,1000,1024,0,0,,LS,Running,200,100,
p-4,many,1024,0,0,,LS,Running,20,100,
p-5,1000,1024
"""


def imported(folder, text, of_format, **options):
    """Write a log, import it, and return the recording's path and what became of its rows."""
    name = options.pop("name", "log.txt")
    (folder / name).write_text(text, encoding="utf-8")
    history = folder / "h.sqlite"
    with open_writer(history) as recording:
        done = import_log(recording, ImportOptions(folder / name, of_format, **options), lambda *_: None)
    return history, done


def rows(history, cluster_id="log"):
    with open_recording(history) as recording:
        return list(recording.tasks(cluster_id)), list(recording.demand(cluster_id)), list(recording.agents(cluster_id))


def test_a_job_holds_its_processors_from_submit_and_wait_on(tmp_path):
    history, done = imported(tmp_path, _SWF, "swf", role_by="group", processor="cpus:1;mem:4GiB")
    tasks, demand, agents = rows(history)
    assert (done.rows, done.used, done.skipped) == (3, 3, ())
    first, second, third = tasks
    assert (first.asked, first.start, first.end) == (1000 * MICROS, 1005 * MICROS, 1015 * MICROS)
    assert first.resources == parse_resources("cpus:4;mem:16GiB")
    assert (first.role, first.framework_id, first.state) == ("2", "7", "TASK_FINISHED")
    assert (second.start, second.end) == (1010 * MICROS, 1010 * MICROS)  # an unknown wait is 0, and so is its run time
    assert third.resources == parse_resources("cpus:2;mem:8GiB")  # as requested, where the allocated is unknown
    assert [one.total for one in agents] == [parse_resources("cpus:16;mem:64GiB")]
    assert len(demand) == 3


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("4 -1 0 60 1 -1 -1 2 -1 -1 1 7 1 -1 3 -1 -1 -1", "its field 'submit time' is unknown"),
        ("4 20 0 -1 1 -1 -1 2 -1 -1 1 7 1 -1 3 -1 -1 -1", "its field 'run time' is unknown"),
        ("4 20 0 60 -1 -1 -1 -1 -1 -1 1 7 1 -1 3 -1 -1 -1", "its field 'requested processors' is unknown"),
        ("4 20 0 60 1 -1 -1 1 -1 -1 3 7 1 -1 3 -1 -1 -1", "it is a part of a job that has a line of its own"),
        ("4 20 0 60 1", "it has fewer than 18 fields"),
        ("4 soon 0 60 1 -1 -1 2 -1 -1 1 7 1 -1 3 -1 -1 -1", "submit time is not a number"),
    ],
)
def test_a_job_that_cannot_be_used_is_counted_with_its_cause(tmp_path, line, cause):
    _, done = imported(tmp_path, _SWF + line + "\n", "swf")
    assert (done.rows, done.used) == (4, 3)
    assert [(one.cause, one.rows, one.line) for one in done.skipped] == [(cause, 1, 7)]


def test_a_pod_that_was_never_scheduled_is_demand_and_the_rest_is_accounted_for(tmp_path):
    history, done = imported(tmp_path, _PODS, "openb")
    tasks, demand, _ = rows(history)
    assert [one.id for one in tasks] == ["p-1"]
    assert tasks[0].resources == parse_resources("cpus:1.5;mem:1024;gpus:0.46")
    with open_recording(history) as recording:
        assert {one.capabilities for one in recording.frameworks("log")} == {("GPU_RESOURCES",)}
    assert [(one.id, one.start, one.lasts) for one in demand] == [
        ("p-1", 20 * MICROS, None),
        ("p-2", None, 90 * MICROS),
    ]
    assert (done.rows, done.used) == (5, 2)
    assert {(one.cause, one.line, one.column) for one in done.skipped} == {
        ("it ends before it begins", 4, "deletion_time"),
        ("cpu_milli is not a number", 5, "cpu_milli"),
        ("it has not one cell for every column", 6, "scheduled_time"),
    }


def test_the_example_of_the_page_is_imported_whole(tmp_path):
    page = (ROOT / "docs/reference/recording.md").read_text(encoding="utf-8")
    (text,) = re.findall(r'```csv title="log.csv"\n(.*?)```', page, re.DOTALL)
    history, done = imported(tmp_path, text, "csv", name="log.csv")
    tasks, demand, _ = rows(history)
    assert (done.rows, done.used, done.skipped) == (9, 9, ())
    assert len(tasks) == 8
    assert [one.id for one in demand if one.start is None] == ["t-6"]
    assert [one.id for one in tasks if one.end is None] == ["t-9"]
    assert tasks[0].asked == 1772352000 * MICROS


@pytest.mark.parametrize("separator", ["|", ";", "\t", ","])
def test_the_first_line_tells_what_separates_the_cells(tmp_path, separator):
    lines = [
        ["task", "role", "resources", "from", "to"],
        ["t-1", "web", '"cpus:2;mem:512"', "100", "200"],
        ["t-2", "batch", '"cpus:1;ports:[1-2,4-5]"', "150", "300"],
    ]
    history, done = imported(tmp_path, "".join(separator.join(cells) + "\n" for cells in lines), "csv")
    tasks, _, _ = rows(history)
    assert (done.used, done.skipped) == (2, ())
    assert [(one.role, one.start, one.end) for one in tasks] == [
        ("web", 100 * MICROS, 200 * MICROS),
        ("batch", 150 * MICROS, 300 * MICROS),
    ]
    assert tasks[0].resources == parse_resources("cpus:2;mem:512")


@pytest.mark.parametrize(("separator", "named"), [("|", "'|'"), (";", "';'"), ("\t", "tab"), (",", "','")])
def test_a_column_that_lacks_is_told_with_the_columns_that_are_there_and_their_separator(tmp_path, separator, named):
    with pytest.raises(BadInput, match="no column 'role'") as refused:
        imported(tmp_path, separator.join(["JobID", "Account", "Start"]) + "\n", "csv")
    assert refused.value.hint == f"its columns (separated by {named}) are JobID, Account, Start"


@pytest.mark.parametrize(
    ("text", "of_format", "says"),
    [
        ("a,b\n1,2\n", "openb", r"log.txt has no column 'name'"),
        ("a,b\n1,2\n", "csv", "has no column 'role'"),
        ("role,to\nweb,2\n", "csv", "has no column 'asked'"),
        ("role,to,from\nweb,2,1\n", "csv", "has no column 'resources'"),
        ("", "csv", "is empty"),
        ("; UnixStartTime: 0\n", "swf", "has no rows"),
        ("a b c\n", "swf", "no row of"),
    ],
)
def test_a_file_of_another_form_is_refused_and_leaves_nothing(tmp_path, text, of_format, says):
    with pytest.raises(BadInput, match=says):
        imported(tmp_path, text, of_format)
    assert not list(tmp_path.glob("h.sqlite*"))


def test_a_compressed_log_is_read_and_a_cut_one_refused(tmp_path):
    packed = gzip.compress(_SWF.encode())
    for name, content in (("whole.swf.gz", packed), ("cut.swf.gz", packed[:-20])):
        (tmp_path / name).write_bytes(content)
    with open_writer(tmp_path / "h.sqlite") as recording:
        assert import_log(recording, ImportOptions(tmp_path / "whole.swf.gz", "swf"), lambda *_: None).used == 3
        with pytest.raises(BadInput, match="cut short"):
            import_log(recording, ImportOptions(tmp_path / "cut.swf.gz", "swf"), lambda *_: None)
        assert [one.cluster_id for one in recording.clusters()] == ["whole"]


def test_the_same_rows_are_refused_unless_they_replace(tmp_path):
    history, _ = imported(tmp_path, _SWF, "swf")
    with pytest.raises(Conflict, match="3 rows overlap an earlier import"):
        imported(tmp_path, _SWF, "swf")
    imported(tmp_path, _SWF, "swf", replace=True)
    with open_recording(history) as recording:
        assert [(one.rows, one.used) for one in recording.imports()] == [(3, 3)]
        assert recording.counts("log").tasks == 3
        assert recording.counts("log").agents == 1


def test_a_later_log_that_overlaps_replaces_only_what_it_has_itself(tmp_path):
    history, _ = imported(tmp_path, _SWF, "swf")
    later = _SWF.splitlines(keepends=True)
    more = later[-1].replace("3 20", "4 500", 1)
    imported(tmp_path, "".join([*later[:3], later[-1], more]), "swf", name="later.txt", cluster_id="log", replace=True)
    tasks, _, agents = rows(history)
    assert [one.id for one in tasks] == ["1", "2", "3", "4"]
    assert (agents[0].start, agents[0].end, len(agents)) == (1000 * MICROS, 1560 * MICROS, 1)
    with open_recording(history) as recording:
        for one in recording.imports():
            assert one.rows == one.used + sum(skipped.rows for skipped in one.skipped)
        assert recording.clusters()[0].last_seen == 1560 * MICROS


def test_a_log_that_is_replaced_takes_no_agents_of_another_with_it(tmp_path):
    history, _ = imported(tmp_path, _SWF, "swf")
    later = "".join([*_SWF.splitlines(keepends=True)[:3], "9 500 0 60 2 -1 -1 2 -1 -1 1 7 3 -1 1 -1 -1 -1\n"])
    imported(tmp_path, later, "swf", name="later.txt", cluster_id="log")
    held = rows(history)[2]
    imported(tmp_path, _SWF, "swf", replace=True)
    assert rows(history)[2] == held


def test_an_interrupted_import_leaves_nothing(tmp_path):
    history, _ = imported(tmp_path, _SWF, "swf")
    header = "task,role,resources,from,to\n"
    log = tmp_path / "long.csv"
    log.write_text(header + "t,web,cpus:1,0,1\n" * 6_000, encoding="utf-8")

    def stop(*_):
        raise KeyboardInterrupt

    with open_writer(history) as recording, pytest.raises(KeyboardInterrupt):
        import_log(recording, ImportOptions(log, "csv"), stop)
    with open_recording(history) as read:
        assert [one.cluster_id for one in read.clusters()] == ["log"]
        assert read.counts("log").tasks == 3


def test_options_of_one_format_are_refused_with_another(tmp_path):
    with pytest.raises(UsageError, match="--processor is for --format swf"):
        imported(tmp_path, _PODS, "openb", processor="cpus:1")
    with pytest.raises(UsageError, match="--role-by team") as refused:
        imported(tmp_path, _SWF, "swf", role_by="team")
    assert refused.value.field == "--role-by"
    assert "user" in str(refused.value.hint)
    with pytest.raises(UsageError, match="processor") as refused:
        imported(tmp_path, _SWF, "swf", processor="cpus:0")
    assert refused.value.field == "--processor"
    assert "cpus:1" in str(refused.value.hint)


def test_the_jobs_of_the_ipsc_are_all_accounted_for(tmp_path):
    log = trace("nasa-ipsc-1993.swf.gz")
    with open_writer(tmp_path / "h.sqlite") as recording:
        done = import_log(recording, ImportOptions(log, "swf", role_by="user"), lambda *_: None)
        assert (done.rows, done.used, done.skipped) == (18_239, 18_239, ())
        assert len({one.role for one in recording.tasks(done.cluster_id)}) == 69
        assert next(recording.agents(done.cluster_id)).total == parse_resources("cpus:128")


def test_the_pods_of_the_gpu_trace_are_all_accounted_for(tmp_path):
    pods, nodes = trace("openb-pods.csv"), trace("openb-nodes.csv")
    with open_writer(tmp_path / "h.sqlite") as recording:
        done = import_log(recording, ImportOptions(pods, "openb", agents=nodes), lambda *_: None)
        counts = recording.counts(done.cluster_id)
        assert (done.rows, done.used, done.skipped) == (8_152, 8_152, ())
        assert (counts.agents, counts.frameworks, counts.tasks) == (1_213, 4, 8_152)
        never = [one for one in recording.demand(done.cluster_id) if one.start is None]
        assert len(never) == 897
        since = 9_000_000 * MICROS
        late = list(recording.tasks(done.cluster_id, Window(since)))
        assert 0 < len(late) < counts.tasks
        assert all(one.end is None or one.end > since for one in late)


_HEAD = "task,role,resources,from,to\n"


def test_a_csv_of_a_spreadsheet_may_begin_with_a_byte_order_mark(tmp_path):
    _, done = imported(tmp_path, "\ufeff" + _HEAD + "t,web,cpus:1,1,2\n", "csv")
    assert (done.rows, done.used) == (1, 1)


@pytest.mark.parametrize(
    ("rows_of_it", "line"),
    [
        ('t,web,cpus:1,1,2\n"u,web,cpus:1,1,2\nv,web,cpus:1,1,2\n', 3),
        ('"t\nt",web,cpus:1,1,2\n"u"x,web,cpus:1,1,2\n', 4),
        (f"t,{'w' * 200_000},cpus:1,1,2\n", 2),
    ],
    ids=["a quote that nobody closes", "text after a quote", "a long cell"],
)
def test_what_is_no_csv_is_refused_with_the_line_where_its_row_begins(tmp_path, rows_of_it, line):
    with pytest.raises(BadInput, match=f"line {line}: the row that begins there cannot be read"):
        imported(tmp_path, _HEAD + rows_of_it, "csv")


def test_a_column_that_is_there_twice_is_refused(tmp_path):
    with pytest.raises(BadInput, match="the column 'to' twice"):
        imported(tmp_path, "role,resources,from,to,to\nweb,cpus:1,1,2,3\n", "csv")


@pytest.mark.parametrize(
    ("of_format", "log", "agents", "says"),
    [
        ("openb", _PODS, "sn,cpu_milli,memory_mib,gpu\nn,1,1,0\nn,1,1,0\n", "line 3: the name 'n' is empty or rep"),
        ("csv", _HEAD + "t,web,cpus:1,1,2\n", "agent,resources\na,cpus:1\na,cpus:1\n", "line 3: the name 'a' is empty"),
        ("openb", _PODS, "sn,cpu_milli\nn,1\n", "has no column 'memory_mib'"),
        ("openb", _PODS, "sn,cpu_milli,memory_mib,gpu\nn,many,1,0\n", "line 2: cpu_milli is not a number"),
        ("openb", _PODS, "sn,cpu_milli,memory_mib,gpu\nn,1\n", "line 2: it is too short"),
        ("csv", _HEAD + "t,web,cpus:1,1,2\n", "agent\na\n", "has no column 'resources'"),
        ("swf", _SWF, "", "is empty"),
        ("csv", _HEAD + "t,web,cpus:1,1,2\n", 'agent,resources\n"a,cpus:1\n', "line 2"),
    ],
)
def test_a_fault_of_the_agents_names_their_option(tmp_path, of_format, log, agents, says):
    (tmp_path / "agents.csv").write_text(agents, encoding="utf-8")
    with pytest.raises(BadInput, match=says) as refused:
        imported(tmp_path, log, of_format, agents=tmp_path / "agents.csv")
    assert refused.value.field == "--agents"


def test_a_damaged_compressed_log_is_refused(tmp_path):
    packed = bytearray(gzip.compress(_SWF.encode() * 50))
    packed[20:40] = b"\xff" * 20
    (tmp_path / "log.swf.gz").write_bytes(packed)
    with open_writer(tmp_path / "h.sqlite") as recording, pytest.raises(BadInput, match="damaged"):
        import_log(recording, ImportOptions(tmp_path / "log.swf.gz", "swf"), lambda *_: None)


_OUT = "is out of range"
_JOB = "4 {submit} {wait} {run} {processors} -1 -1 2 -1 -1 1 7 1 -1 3 -1 -1 -1\n"


def _job(submit="20", wait="0", run="60", processors="1"):
    return _JOB.format(submit=submit, wait=wait, run=run, processors=processors)


@pytest.mark.parametrize(
    ("of_format", "log", "row", "cause", "column"),
    [
        ("csv", "", "u,web,cpus:1,-90000000000,2,,\n", f"from {_OUT}", "from"),
        ("csv", "", "u,web,cpus:1,0001-01-01T00:00:00,2,,\n", f"from {_OUT}", "from"),
        ("csv", "", "u,web,cpus:1,1,1e300,,\n", f"to {_OUT}", "to"),
        ("csv", "", "u,web,cpus:1,,,10,1e300\n", f"lasts {_OUT}", "lasts"),
        ("csv", "", "u,web,cpus:1,,,10,1e305\n", f"lasts {_OUT}", "lasts"),
        ("csv", "", "u,web,cpus:1,,,250000000000,250000000000\n", f"lasts {_OUT}", "lasts"),
        ("csv", "", "u,web,cpus:9e15;cpus:9e15,1,2,,\n", "it holds more than a master can count", "resources"),
        ("csv", "", "u,web,secret,1,2,,\n", "its resources cannot be read", "resources"),
        ("swf", _SWF, _job(run="1e300"), f"run time {_OUT}", "run time"),
        ("swf", _SWF, _job(run="1e305"), f"run time {_OUT}", "run time"),
        ("swf", _SWF, _job(wait="2e11", run="2e11"), f"run time {_OUT}", "run time"),
        ("swf", _SWF, _job(submit="1e300"), f"submit time {_OUT}", "submit time"),
        ("swf", _SWF, _job(wait="1e300"), f"wait time {_OUT}", "wait time"),
        ("swf", _SWF, _job(processors="4e300"), "it holds more than a master can count", "allocated processors"),
        ("swf", _SWF, _job(processors="1e308"), "it holds more than a master can count", "allocated processors"),
        ("openb", "", "1,1,1e10,1e13,,LS,Running,20,100,20", "it holds more than a master can count", "gpu_milli"),
        ("openb", "", "1,1,1e300,1e13,,LS,Running,20,100,20", f"num_gpu {_OUT}", "num_gpu"),
        ("openb", "", "1,1,0,0,,LS,Running,-20,100,20", f"creation_time {_OUT}", "creation_time"),
    ],
)
def test_a_number_that_no_recording_holds_costs_its_row_alone(tmp_path, of_format, log, row, cause, column):
    if of_format == "csv":
        log = "task,role,resources,from,to,asked,lasts\nt,web,cpus:1,1,2,,\n"
    elif of_format == "openb":
        log, row = "".join(_PODS.splitlines(keepends=True)[:2]), f"p,{row}\n"
    history, done = imported(tmp_path, log + row, of_format)
    assert [(one.cause, one.column, one.rows) for one in done.skipped] == [(cause, column, 1)]
    assert done.used == done.rows - 1
    tasks, _, agents = rows(history)  # all of it can be read again
    assert len(tasks) == done.used
    assert all(one.total == parse_resources("cpus:16") for one in agents)
    with open_recording(history) as recording:
        (cluster,) = recording.clusters()
        assert used(recording, cluster, UsageOptions(*window_of(cluster, None, None), "role")).rows


@pytest.mark.parametrize("header", ["MaxProcs: inf", "MaxProcs: 4e300", "UnixStartTime: 1e300", "UnixStartTime: inf"])
def test_a_header_out_of_range_is_refused(tmp_path, header):
    with pytest.raises(BadInput, match=f"{header.split(':')[0]} is .* in the header") as refused:
        imported(tmp_path, f"; {header}\n{_job()}", "swf")
    assert refused.value.hint


def test_a_part_of_a_job_is_named_by_its_status(tmp_path):
    _, done = imported(tmp_path, _SWF + "4 20 0 60 1 -1 -1 1 -1 -1 3 7 1 -1 3 -1 -1 -1\n", "swf")
    assert [one.column for one in done.skipped] == ["status"]


def test_a_job_that_is_not_used_does_not_size_the_agent(tmp_path):
    history, _ = imported(tmp_path, _job() + _job(processors="4e300"), "swf")
    _, _, (agent,) = rows(history)
    assert agent.total == parse_resources("cpus:1")


def test_an_agent_larger_than_a_master_can_count_is_refused(tmp_path):
    (tmp_path / "agents.csv").write_text("agent,resources\na,cpus:9e15;cpus:9e15\n", encoding="utf-8")
    with pytest.raises(BadInput, match="line 2") as refused:
        imported(tmp_path, _SWF, "swf", agents=tmp_path / "agents.csv")
    assert refused.value.field == "--agents"


@pytest.mark.parametrize(
    ("of_format", "head", "row", "cause", "column"),
    [
        ("openb", _PODS, "p-6,1000,1024,some,460,,LS,Running,10,100,20\n", "num_gpu is not a number", "num_gpu"),
        ("csv", "task,role,cpus,from,to\nt,web,1,1,2\n", "u,web,many,1,2\n", "cpus is not a number", "cpus"),
        ("csv", _HEAD + "t,web,cpus:1,1,2\n", "u,web,cpus:1,,2\n", "it has no time at which it begins", "from"),
    ],
)
def test_a_row_that_cannot_be_used_names_its_column(tmp_path, of_format, head, row, cause, column):
    _, done = imported(tmp_path, head + row, of_format)
    assert (cause, column) in {(one.cause, one.column) for one in done.skipped}


def test_the_agents_of_a_csv_have_ports_and_its_tasks_have_states(tmp_path):
    (tmp_path / "agents.csv").write_text("agent,resources\na,cpus:1;ports:31000\n", encoding="utf-8")
    log = "task,role,resources,from,to,state\nt,web,cpus:1,1,2,TASK_FAILED\nu,web,cpus:1,1,2,\n"
    history, _ = imported(tmp_path, log, "csv", agents=tmp_path / "agents.csv")
    tasks, _, agents = rows(history)
    assert [str(one.total) for one in agents] == ["cpus:1; ports:[31000-31000]"]
    assert [one.state for one in tasks] == ["TASK_FAILED", None]


def test_times_are_seconds_or_dates_and_a_framework_has_its_principal(tmp_path):
    log = (
        "task,role,framework,principal,resources,from,to\n"
        "t,web,f,ops,cpus:1,1e-1,2\n"
        "u,web,f,ops,cpus:1,1970-01-01T00:00:03Z,1970-01-01T00:00:04\n"
        "v,web,f,ops,cpus:1,1970-01-01T00:00:03Zz,9\n"
    )
    history, done = imported(tmp_path, log, "csv")
    tasks, _, _ = rows(history)
    assert [(one.start / MICROS, one.end / MICROS) for one in tasks] == [(0.1, 2), (3, 4)]
    assert [(one.cause, one.column) for one in done.skipped] == [("from is not a time", "from")]
    with open_recording(history) as recording:
        assert [(one.id, one.principal) for one in recording.frameworks("log")] == [("f (ops)", "ops")]


def test_the_tasks_of_another_principal_are_those_of_another_framework(tmp_path):
    log = "task,role,framework,principal,cpus,from,to\n"
    log += "a,r,f,ann,1,0,10\nb,r,f,bob,2,0,10\nc,r,f,,4,0,10\nd,r,,bob,8,0,10\n"
    later = log.replace(",f,ann", ",f,bob").replace(",0,10", ",20,30")
    history, _ = imported(tmp_path, log, "csv")
    imported(tmp_path, later, "csv", name="later.csv", cluster_id="log")
    with open_recording(history) as recording:
        found = used(recording, recording.clusters()[0], UsageOptions(0, 30 * MICROS, "principal"))
        cpus = {row.key: row.whole.used["cpus"] // (10_000 * MICROS) for row in found.rows}
        assert cpus == {"ann": 1, "bob": 2 + 8 + 1 + 2 + 8, "unknown": 4 + 4}
        assert {one.name for one in recording.frameworks("log")} == {"f", "r"}


def test_a_log_of_a_cluster_that_was_recorded_leaves_what_is_known_of_it(tmp_path):
    known = RecordedCluster("log", "http://lab", "1.11.0", 100 * MICROS, 200 * MICROS, False, "ops", 3)
    with open_writer(tmp_path / "h.sqlite") as recording, recording.transaction():
        recording.put_cluster(known)
    history, _ = imported(tmp_path, _HEAD + "t,web,cpus:1,50,150\n", "csv")
    with open_recording(history) as read:
        assert read.clusters() == [replace(known, first_seen=50 * MICROS)]


def test_an_agent_of_two_logs_is_there_from_the_earliest_to_the_latest_time(tmp_path):
    (tmp_path / "agents.csv").write_text("agent,resources\na,cpus:1\n", encoding="utf-8")
    for name, span in (("late.csv", "100,200"), ("early.csv", "50,90")):
        log = _HEAD + f"{name},web,cpus:1,{span}\n"
        history, _ = imported(tmp_path, log, "csv", name=name, cluster_id="c", agents=tmp_path / "agents.csv")
    _, _, agents = rows(history, "c")
    assert [(one.start / MICROS, one.end / MICROS) for one in agents] == [(50, 200)]


# --- What is known at the end of a log ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "counts_from_1970"),
    [
        ("; UnixStartTime: 1000", False),
        ("; MaxProcs: 16", True),
        ("; UnixStartTime: 0", True),
        ("; UnixStartTime: unknown", True),
    ],
)
def test_a_log_that_names_no_start_is_told_to_count_from_1970(tmp_path, header, counts_from_1970):
    (tmp_path / "jobs.swf").write_text(f"{header}\n{_job()}\n{_job(submit='30')}\n", encoding="utf-8")
    told: list[str] = []
    with open_writer(tmp_path / "h.sqlite") as recording:
        import_log(recording, ImportOptions(tmp_path / "jobs.swf", "swf"), lambda *_: None, told.append)
    assert len(told) == counts_from_1970
    assert all("jobs.swf" in one and "1970" in one for one in told)


_ZONELESS = "role,cpus,from,to\nweb,1,2026-07-01T10:00:00,2026-07-01T11:00:00\nads,1,2026-01-01T10:00:00,\n"
_JULY, _JANUARY = 1782900000, 1767261600
"""Ten o'clock of these days in UTC."""


@pytest.mark.parametrize(
    ("text", "zone", "starts", "says"),
    [
        (_ZONELESS, None, [_JULY, _JANUARY], ["read as UTC"]),
        (_ZONELESS, "Europe/Berlin", [_JULY - 7200, _JANUARY - 3600], []),
        (_ZONELESS, "UTC", [_JULY, _JANUARY], []),
        (_ZONELESS.replace("00:00", "00:00Z"), None, [_JULY, _JANUARY], []),
        (_ZONELESS.replace("00:00", "00:00Z"), "America/New_York", [_JULY, _JANUARY], ["nothing uses"]),
        (f"role,cpus,from,to\nweb,1,{_JULY},\nads,1,5,9\n", None, [_JULY, 5], []),
    ],
)
def test_times_without_a_zone_are_of_the_one_that_is_named_or_of_utc_with_a_note(tmp_path, text, zone, starts, says):
    (tmp_path / "log.csv").write_text(text, encoding="utf-8")
    told: list[str] = []
    options = ImportOptions(tmp_path / "log.csv", "csv", zone=None if zone is None else time_zone(zone))
    with open_writer(tmp_path / "h.sqlite") as recording:
        import_log(recording, options, lambda *_: None, told.append)
    assert sorted(one.start for one in rows(tmp_path / "h.sqlite")[0]) == sorted(at * MICROS for at in starts)
    assert len(told) == len(says)
    assert all(part in one for part, one in zip(says, told, strict=True))


_TABLE = "role,cpus,from,to\n"


@pytest.mark.parametrize(
    ("text", "of_format", "where", "is_wrong_format"),
    [
        ("a b c\nd e\n", "swf", "Line 1: ", True),
        (_TABLE + "web,1,1,2\nads,2,1,2\n", "swf", "Line 1: ", True),
        ("a b c\n" + _job(submit="-1"), "swf", "Line 1: ", False),
        (_job(run="-1") + _job(run="-1"), "swf", "Line 1, column run time: ", False),
        (_TABLE + "web,1,soon,2\nads,2,later,3\n", "csv", "Line 2, column from: ", False),
        (_TABLE + "web,1\nads,2\n", "csv", "Line 2, column to: ", False),
    ],
)
def test_another_format_is_advised_only_where_the_format_is_wrong(tmp_path, text, of_format, where, is_wrong_format):
    with pytest.raises(BadInput, match=where) as refused:
        imported(tmp_path, text, of_format)
    assert ("--format" in str(refused.value.hint)) is is_wrong_format


def import_csv(folder, text, before=None):
    """Import a CSV of a framework f into cluster log; return what was told, its frameworks, and the cluster."""
    told: list[str] = []
    (folder / "log.csv").write_text(text, encoding="utf-8")
    with open_writer(folder / "h.sqlite") as recording:
        if before is not None:
            with recording.transaction():
                recording.put_cluster(before)
        options = ImportOptions(folder / "log.csv", "csv", cluster_id="log")
        import_log(recording, options, lambda *_: None, told.append)
        return told, list(recording.frameworks("log")), recording.clusters()[0]


def test_a_framework_is_there_from_its_first_task_to_its_last_in_any_order_of_rows(tmp_path):
    text = "framework,role,resources,from,to\nf,web,cpus:1,10,20\nf,web,cpus:1,5,12\nf,ads,cpus:1,8,30\n"
    _, (framework,), cluster = import_csv(tmp_path, text)
    assert (framework.start, framework.end, framework.roles) == (5 * MICROS, 30 * MICROS, ("ads", "web"))
    assert (cluster.first_seen, cluster.last_seen) == (5 * MICROS, 30 * MICROS)


def test_what_never_started_is_wanted_for_as_long_as_it_would_last(tmp_path):
    _, (framework,), cluster = import_csv(tmp_path, "framework,role,resources,asked,lasts,to\nf,web,cpus:1,10,100,\n")
    assert (framework.end, cluster.last_seen) == (110 * MICROS, 110 * MICROS)


def test_a_cluster_that_is_known_keeps_what_is_known_of_it_beyond_the_log(tmp_path):
    before = RecordedCluster(
        "log", "http://m:5050", "1.11.0", 0, 99 * MICROS, clean_end=True, principal="ops", clock_steps=3
    )
    _, _, cluster = import_csv(tmp_path, "framework,role,resources,from,to\nf,web,cpus:1,10,20\n", before)
    assert cluster == before


@pytest.mark.parametrize(("number", "has_more"), [(1, False), (5, False), (6, True)])
def test_five_columns_that_nothing_uses_are_named(tmp_path, number, has_more):
    titles = ",".join(f"x{at}" for at in range(number))
    (told,), _, _ = import_csv(tmp_path, f"role,resources,from,to,{titles}\nweb,cpus:1,1,2{',0' * number}\n")
    assert all((f"'x{at}'" in told) is (at < 5) for at in range(number))
    assert ("…" in told) is has_more


def test_a_log_that_is_not_there_is_an_error_of_its_file(tmp_path):
    with open_writer(tmp_path / "h.sqlite") as recording, pytest.raises(BadInput) as refused:
        import_log(recording, ImportOptions(tmp_path / "none.csv", "csv"), lambda *_: None)
    assert refused.value.field == "FILE"
