"""Options, addresses and errors that every command has."""

import httpx
import pytest


def test_without_an_address_it_is_a_usage_error_that_says_how(run):
    ran = run("quota", "list", MESOSCTL_MASTER="")
    assert ran.status == 2
    assert "http://host:5050" in ran.err
    assert "fake:" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("-o", "name", "quota", "list"),
        ("quota", "-o", "name", "list"),
        ("quota", "list", "-o", "name"),
        ("-o", "csv", "quota", "list", "-o", "name"),
    ],
)
def test_global_options_stand_anywhere_and_the_nearest_counts(run, cluster, entries, words):
    cluster.quotas["dev"] = entries(cpus=1)
    assert run(*words).out == "dev\n"


def test_the_option_is_stronger_than_the_environment(run, cluster):
    run("--master", "http://other:5050", "quota", "list")
    assert cluster.requests[0].url.host == "other"


@pytest.mark.parametrize(
    "words", [("bogus",), ("quota", "bogus"), ("options", "extra"), ("-o", "xml", "quota", "list")]
)
def test_words_that_are_no_command(run, words):
    ran = run(*words)
    assert ran.status == 2
    assert ran.out == ""
    assert "--help" in ran.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("completion",), "Missing argument 'SHELL'. Choose from: bash, zsh, fish\n"),
        (("--timeout", "x", "quota", "list"), "'x' is not a span of time\n"),
        (("quota", "list", "--timeout", "0"), "--timeout is 0: it must be at least 0.001 seconds\n"),
        (("ratelimit", "watch", "--count", "x"), "Invalid value for '--count'"),
    ],
)
def test_a_mistake_is_told_in_one_line_of_plain_words(run, words, told):
    assert run(*words).err.startswith(f"mesosctl: {told}")


def test_a_value_of_another_type_is_told_in_plain_words(run):
    first = run("ratelimit", "watch", "--count", "x").err.splitlines()[0]
    assert "is not a whole number" in first


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (("volumes", "create"), "mesosctl volumes create [OPTIONS] AGENT [ID] [SIZE]"),
        (("quota", "set"), "mesosctl quota set [OPTIONS] [ROLE] [RESOURCES...]"),
        (("quota", "remove"), "mesosctl quota remove [OPTIONS] ROLE..."),
    ],
)
def test_usage_is_written_as_in_man_pages(run, words, usage):
    assert run(*words, "--help").out.startswith(f"Usage: {usage}\n")


@pytest.mark.parametrize("words", [(), ("quota",)])
def test_no_command_shows_the_help_on_standard_error(run, words):
    ran = run(*words)
    assert ran.status == 2
    assert ran.out == ""
    assert "Usage: mesosctl" in ran.err


@pytest.mark.parametrize("words", [("--help",), ("quota", "-h"), ("quota", "set", "--help"), ("-v", "--version")])
def test_help_and_version_are_data(run, words):
    ran = run(*words)
    assert ran.status == 0
    assert ran.err == ""
    assert ran.out


def test_verbose_shows_each_exchange(run):
    assert "mesosctl: GET http://master:5050/quota 200" in run("quota", "list", "-v").err


class TestCredentials:
    @pytest.fixture
    def header(self, cluster):
        return lambda: cluster.requests[0].headers.get("authorization")

    def test_from_a_file(self, run, header, tmp_path):
        path = tmp_path / "secret"
        path.write_text("s3cret\n")
        assert run("quota", "list", "--principal", "op", "--secret-file", str(path)).status == 0
        assert header() == "Basic b3A6czNjcmV0"

    def test_from_the_environment(self, run, header):
        run("quota", "list", MESOSCTL_PRINCIPAL="op", MESOSCTL_SECRET="s3cret")
        assert header() == "Basic b3A6czNjcmV0"

    @pytest.mark.parametrize("form", ["table", "json"])
    def test_what_repeats_them_is_not_believed(self, run, cluster, form):
        def echo(request):
            return httpx.Response(400, text=f"what is {request.headers['authorization']}? s3cret?")

        cluster.instead["GET /quota"] = [echo]
        ran = run("quota", "list", "-o", form, MESOSCTL_PRINCIPAL="op", MESOSCTL_SECRET="s3cret")
        assert (ran.status, "what is Basic ***? ***?" in ran.err) == (3, True)

    def test_from_a_person(self, run, header):
        run("quota", "list", "--principal", "op", terminal=True)
        assert header() == "Basic b3A6dHlwZWQ="

    @pytest.mark.parametrize(
        ("words", "status"),
        [
            (["--principal", "op"], 2),
            (["--secret-file", "x"], 2),
            (["--principal", "a:b"], 2),
            (["--principal", "op", "--secret-file", "/nonexistent"], 3),
            (["--principal", "op", "--secret-file", "/dev/null"], 3),
            (["--key", "x"], 2),
        ],
    )
    def test_half_of_them_is_refused(self, run, cluster, words, status):
        assert run("quota", "list", *words).status == status
        assert cluster.asked == []


class TestEndings:
    def test_ctrl_c_is_told_in_one_sentence(self, run, cluster):
        def interrupt(_):
            raise KeyboardInterrupt

        cluster.instead["GET /quota"] = [interrupt]
        ran = run("quota", "list")
        assert (ran.status, ran.out, ran.err) == (130, "", "mesosctl: interrupted: no change was sent\n")

    def test_a_reader_that_went_away_is_quiet(self, run, cluster):
        def pipe(_):
            raise BrokenPipeError

        cluster.instead["GET /quota"] = [pipe]
        ran = run("quota", "list")
        assert (ran.status, ran.err) == (141, "")

    def test_a_bug_is_one_sentence(self, run, cluster):
        def bug(_):
            raise ZeroDivisionError("with a secret inside")

        cluster.instead["GET /quota"] = [bug, bug]
        ran = run("quota", "list")
        assert ran.status == 8
        assert "this is a bug (ZeroDivisionError)" in ran.err
        assert "secret" not in ran.err
        with pytest.raises(ZeroDivisionError):
            run("quota", "list", "-vv")

    def test_a_timeout_is_a_deadline(self, run, cluster):
        def slow(_):
            raise httpx.ReadTimeout("slow")

        cluster.instead["GET /quota"] = [slow]
        ran = run("quota", "list", "--timeout", "2")
        assert ran.status == 9
        assert "within 2 s" in ran.err


def test_a_group_lists_no_completion_options(run):
    assert "completion" not in run("quota", "--help").out
