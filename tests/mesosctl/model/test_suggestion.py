"""The name that was probably meant."""

from mesosctl.model.roles import closest, did_you_mean, likely_role


def test_the_likeliest_name_is_found_whatever_its_case():
    assert closest("wbe", ["ads", "web", "web-old"]) == "web"
    assert closest("WEB", ["ads", "Web"]) == "Web"
    assert closest("batch", ["ads", "web"]) is None
    assert closest("x", []) is None


def test_among_many_names_the_likely_one_is_found_too():
    names = [f"agent-{number}.example.com" for number in range(5000)]
    assert closest("agnt-4321.example.com", names) == "agent-4321.example.com"


def test_a_hint_says_what_to_do_in_any_case():
    assert did_you_mean("wbe", ["web"], "look") == "did you mean web? look"
    assert did_you_mean("batch", ["web"], "look") == "look"
    assert did_you_mean(["wbe", "adds", "batch"], ["web", "ads"], "look") == "did you mean web, ads? look"


def test_a_new_role_is_a_misspelling_of_a_sibling_only():
    assert likely_role("paymnets", ["payments", "ads"]) == "payments"
    assert likely_role("eng/wbe", ["eng", "eng/web", "web"]) == "eng/web"
    assert likely_role("payments/eu", ["payments"]) is None
    assert likely_role("eng/frontend", ["eng/ads", "ops/frontends"]) is None
    assert likely_role("batch-2", ["batch-1", "batch-10"]) is None
