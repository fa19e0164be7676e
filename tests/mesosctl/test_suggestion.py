"""The name that was probably meant, and words of a command line to paste."""

import shlex

import pytest

from mesosctl.mesos.roles import closest, did_you_mean, likely_role
from mesosctl.suggestion import command, on_cluster, options_text


def test_the_likeliest_name_is_found_whatever_its_case():
    assert closest("wbe", ["ads", "web", "web-old"]) == "web"
    assert closest("WEB", ["ads", "Web"]) == "Web"
    assert closest("batch", ["ads", "web"]) is None
    assert closest("x", []) is None
    assert closest("wbe", ["web"], 0.9) is None


def test_a_name_with_another_number_is_another_name():
    assert closest("agent-9", ["agent-1", "agent-2"]) is None
    assert closest("agnt-2", ["agent-1", "agent-2"]) == "agent-2"
    assert closest("AGENT-2", ["agent-1", "agent-2"]) == "agent-2"


def test_among_many_names_the_likely_one_is_found_too():
    names = [f"agent-{number}.example.com" for number in range(5000)]
    assert closest("agnt-4321.example.com", names) == "agent-4321.example.com"
    assert closest("agent-4321.example.cmo", names) == "agent-4321.example.com"
    assert closest("aaab", [*names, "aaaa"]) == "aaaa"


@pytest.mark.parametrize("place", [760, 1240])
def test_of_many_names_those_with_a_similar_beginning_are_compared(place):
    names = [f"n{number:05}-other-{chr(97 + number % 26)}" for number in range(5000)]
    names[place] = f"n{place:05}-needle-m"
    assert closest("n01000-needle-q", names) == names[place]


def test_a_thousand_names_are_all_compared():
    names = [f"{number:03}-web-{number:03}" for number in range(1000)]
    assert closest("x500-web-500x", names) == "500-web-500"


def test_a_hint_says_what_to_do_in_any_case():
    assert did_you_mean("wbe", ["web"], "look") == "did you mean web? look"
    assert did_you_mean("batch", ["web"], "look") == "look"
    assert did_you_mean("web-2", ["web-1"], "look") == "look"
    assert did_you_mean("web-2", ["web-1"], "look", are_numbered=False) == "did you mean web-1? look"
    assert did_you_mean(["wbe", "adds", "batch"], ["web", "ads"], "look") == "did you mean web, ads? look"


def test_a_new_role_is_a_misspelling_of_a_sibling_only():
    assert likely_role("paymnets", ["payments", "ads"]) == "payments"
    assert likely_role("eng/wbe", ["eng", "eng/web", "web"]) == "eng/web"
    assert likely_role("payments/eu", ["payments"]) is None
    assert likely_role("eng/frontend", ["eng/ads", "ops/frontends"]) is None
    assert likely_role("batch-2", ["batch-1", "batch-10"]) is None


def test_options_to_paste_are_quoted_as_in_a_command():
    hostile = "v;reboot$(id)"
    assert shlex.split(options_text(under=hostile, dry_run=True, force=None)) == ["--under", hostile, "--dry-run"]
    with on_cluster(master="m:1"):
        assert options_text(role="web") == "--role web", "the present command names its cluster already"
        words = shlex.split(command("reserve", role=hostile))
    assert words == ["mesosctl", "reserve", "--master", "m:1", "--role", hostile]
