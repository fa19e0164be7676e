"""Which ACL decides, for a principal and for everybody (docs/explanation/documents.md, "Authorization")."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesosctl.mesos.rules.acls import ROLES, AclEntry, Acls, Entity, warnings

ROLE_NAMES = ("*", "dev", "dev/x", "dev/x/y", "devs", "web")
PATTERNS = (*ROLE_NAMES, "dev/%", "dev/x/%", "web/%")
PRINCIPALS = ("ops", "dev", "p/x", "p/%")
ACTION = "update_quotas"


def entities(kind: str, values: Sequence[str]) -> st.SearchStrategy[Entity]:
    some = st.lists(st.sampled_from(values), max_size=3, unique=True).map(lambda named: Entity(kind, "SOME", (*named,)))
    return some | st.sampled_from([Entity(kind, "ANY"), Entity(kind, "NONE")])


def rules(kind: str = ROLES) -> st.SearchStrategy[tuple[AclEntry, ...]]:
    one = st.builds(AclEntry, entities("principals", PRINCIPALS), entities(kind, PATTERNS))
    return st.lists(one, max_size=5).map(tuple)


def acls(kind: str = ROLES) -> st.SearchStrategy[Acls]:
    return st.builds(Acls, st.booleans(), rules(kind).map(lambda found: {ACTION: found}))


kinds = st.sampled_from([ROLES, "users"])
clients = st.sampled_from([*PRINCIPALS, "stranger", None])
targets = st.sampled_from([*ROLE_NAMES, "web/y", "new", None])


def matrix(asked: str | None, entity: Entity) -> tuple[bool, bool]:
    """Whether an entity matches a value, and whether it allows it, as the tables of the documentation have it."""
    if entity.type == "ANY":
        return True, True
    if entity.type == "NONE":
        return True, False
    if asked is None:
        return False, False
    meant = {asked}
    if entity.kind == ROLES:
        parts = asked.split("/")
        meant |= {"/".join(parts[:length]) + "/%" for length in range(1, len(parts))}
    return (found := bool(meant & set(entity.values))), found


def reference(found: Acls, principal: str | None, target: str | None) -> bool:
    for rule in found.rules[ACTION]:
        (is_who, may_who), (is_what, may_what) = matrix(principal, rule.principals), matrix(target, rule.objects)
        if is_who and is_what:
            return may_who and may_what
    return found.permissive


def rule(principals: str, roles: str) -> AclEntry:
    return AclEntry(entity("principals", principals), entity(ROLES, roles))


def entity(kind: str, text: str) -> Entity:
    return Entity(kind, text) if text in ("ANY", "NONE") else Entity(kind, "SOME", tuple(text.split()))  # type: ignore[arg-type]


@example(Acls(False, {ACTION: (rule("p/%", "ANY"),)}), "p/x", "web")
@example(Acls(False, {ACTION: (rule("NONE", "dev/x"), rule("ops", "dev/%"))}), "ops", "dev/x")
@given(kinds.flatmap(acls), clients, targets)
def test_the_first_rule_that_matches_decides(found: Acls, principal: str | None, target: str | None):
    assert found.allows(ACTION, principal, target) is reference(found, principal, target)


@example(Acls(False, {ACTION: (rule("NONE", "dev/x"), rule("ops", "dev/%"))}), "ops", "dev/x")
@given(kinds.flatmap(acls), clients, targets.filter(bool))
def test_the_access_of_a_principal_says_the_same_of_each_object(found: Acls, principal: str | None, target: str):
    access = found.access(ACTION, principal)
    assert access.allows(target) is found.allows(ACTION, principal, target)
    if access.everything or not access.anything:
        assert access.allows(target) is access.everything


@example(Acls(False, {ACTION: (rule("dev", "ANY"), rule("ops", "ANY"))}), "ops", "web")
@example(Acls(False, {ACTION: (rule("ops", "web"), rule("dev", "ads"), rule("ops", "ads"))}), "ops", "ads")
@given(kinds.flatmap(acls), clients, targets)
def test_without_a_rule_that_never_decides_nothing_changes(found: Acls, principal: str | None, target: str | None):
    hidden = {one.field for one in warnings(found) if one.rule == "acls.unreachable"}
    kept = tuple(rule for index, rule in enumerate(found.rules[ACTION]) if f"{ACTION}[{index}]" not in hidden)
    rest = Acls(found.permissive, {ACTION: kept})
    assert rest.allows(ACTION, principal, target) is found.allows(ACTION, principal, target)


@given(kinds.flatmap(acls), clients, targets)
def test_rules_without_effect_allow_everything(found: Acls, principal: str | None, target: str | None):
    if any(one.rule == "acls.no-effect" for one in warnings(found)):
        assert found.allows(ACTION, principal, target)


@pytest.mark.parametrize(
    ("permissive", "listed", "text"),
    [
        (True, [], "all"),
        (False, [], "none"),
        (False, [rule("ops", "ANY")], "all"),
        (True, [rule("ANY", "NONE")], "none"),
        (True, [rule("dev", "NONE")], "all"),
        (False, [rule("ops", "dev dev/%")], "dev, dev/%"),
        (True, [rule("NONE", "secret")], "all, but not secret"),
        (False, [rule("NONE", "dev/x"), rule("ops", "dev/%")], "dev/%, but not dev/x"),
        (True, [rule("ops", "dev/x"), rule("NONE", "dev/%")], "all, but not dev/%, but dev/x"),
        (False, [rule("ops", "dev/%"), rule("NONE", "dev/x web")], "dev/%"),
        (False, [rule("ops", "web"), rule("ops", "ads")], "ads, web"),
    ],
)
def test_what_a_principal_may_do_in_words(permissive: bool, listed: list[AclEntry], text: str):
    assert str(Acls(permissive, {ACTION: tuple(listed)}).access(ACTION, "ops")) == text


@pytest.mark.parametrize(
    ("permissive", "listed", "found"),
    [
        (True, [rule("ops", "ANY"), rule("NONE", "ANY")], set()),
        (True, [rule("ANY", "ANY"), rule("ops", "NONE")], {("acls.unreachable", f"{ACTION}[1]")}),
        (True, [rule("NONE", "dev/%"), rule("ops", "dev/x dev/x/%")], {("acls.unreachable", f"{ACTION}[1]")}),
        (True, [rule("NONE", "dev"), rule("ops", "dev/x")], set()),
        (False, [rule("ops", "web"), rule("dev", "ads"), rule("ops", "ads")], set()),
        (True, [rule("ops", "web")], {("acls.no-effect", ACTION)}),
        (False, [rule("ops", "web")], set()),
        (True, [rule("NONE", "ads/*")], {("acls.no-role", f"{ACTION}[0].roles")}),
        (True, [rule("NONE", "*/%")], {("acls.no-role", f"{ACTION}[0].roles")}),
        (True, [rule("NONE", "/%")], {("acls.no-role", f"{ACTION}[0].roles")}),
        (True, [rule("NONE", "*")], {("acls.no-wildcard", f"{ACTION}[0].roles")}),
        (True, [rule("NONE", "web* web")], {("acls.no-wildcard", f"{ACTION}[0].roles")}),
        (True, [rule("NONE", "%")], {("acls.no-wildcard", f"{ACTION}[0].roles")}),
        (True, [rule("NONE", "web/% a/%b")], set()),
        (False, [rule("* dev/% any ops", "web")], {("acls.no-wildcard", f"{ACTION}[0].principals")}),
        (True, [rule("NONE", ""), rule("NONE", "ads")], {("acls.names-nothing", f"{ACTION}[0].roles")}),
        (
            True,
            [AclEntry(Entity("principals", "NONE", ("ops",)), Entity(ROLES, "ANY"))],
            {("acls.values-ignored", f"{ACTION}[0].principals")},
        ),
    ],
)
def test_what_is_unwise(permissive: bool, listed: list[AclEntry], found: set[tuple[str, str]]):
    needed = {name: (rule("ANY", "ANY"),) for name in ("register_agents", "register_frameworks", "run_tasks")}
    acls = Acls(permissive, {ACTION: tuple(listed)} | ({} if permissive else needed))
    assert {(one.rule, one.field) for one in warnings(acls)} == found


def test_a_cluster_in_which_nobody_may_do_what_it_needs():
    listed = {"register_agents": (rule("ANY", "ANY"),), "run_tasks": (rule("ops", "NONE"),)}
    found = [(one.field, one.sentence.rpartition(", ")[2]) for one in warnings(Acls(False, listed))]
    assert found == [("permissive", "so no framework can subscribe"), ("run_tasks", "so no task can be launched")]


@pytest.mark.parametrize("half", [("ops", ""), ("", "ANY")])
def test_a_rule_with_one_side_that_names_nothing_lets_nobody_in_and_hides_behind_no_other(half):
    listed = {"register_agents": (rule("ANY", "ANY"),), "register_frameworks": (rule("ANY", "ANY"),)}
    found = [(one.rule, one.field) for one in warnings(Acls(False, listed | {"run_tasks": (rule(*half),)}))]
    assert ("acls.nobody-may", "run_tasks") in found
    behind = Acls(True, {ACTION: (rule("NONE", "ANY"), rule(*half))})
    assert [one.rule for one in warnings(behind)] == ["acls.names-nothing"]


@pytest.mark.parametrize(
    ("listed", "earlier"),
    [
        ([rule("ANY", "ANY"), rule("ANY", "ANY"), rule("ops", "web")], {1: 0, 2: 0}),
        ([rule("ops", "ANY"), rule("ANY", "web"), rule("ops", "web")], {2: 0}),
        ([rule("ANY", "web"), rule("ops", "ANY"), rule("ops", "web")], {2: 0}),
        ([rule("dev", "web"), rule("ops dev", "web ads"), rule("ops dev", "web")], {2: 1}),
        ([rule("ops", "web"), rule("ops", "dev/%"), rule("ops", "dev/x dev/x/y")], {2: 1}),
        ([rule("ops", "web"), rule("ops", "ads"), rule("ops", "web ads")], {}),
        ([rule("ops", ""), rule("ops", "web"), rule("ops", "web")], {2: 1}),
        ([rule("ops", "web"), rule("ops", "ANY"), rule("ANY", "web"), rule("ANY", "NONE")], {}),
    ],
)
def test_a_rule_that_never_decides_names_the_first_that_covers_it(listed, earlier):
    found = {one.field: one for one in warnings(Acls(True, {ACTION: tuple(listed)})) if one.rule == "acls.unreachable"}
    assert list(found) == [f"{ACTION}[{index}]" for index in earlier]
    assert {one.level for one in found.values()} <= {"warning"}
    for index, by in earlier.items():
        one = found[f"{ACTION}[{index}]"]
        assert f"{ACTION}[{by}]" in one.sentence
        assert f"{ACTION}[{by}]" in (one.hint or "")


@pytest.mark.parametrize(
    ("acls", "name", "hint"),
    [
        (Acls(True, {ACTION: (rule("ops", "web"),)}), "acls.no-effect", '"NONE"'),
        (Acls(False, {ACTION: (rule("ops", "web"),)}), "acls.nobody-may", "register_agents"),
        (Acls(True, {ACTION: (rule("NONE", ""),)}), "acls.names-nothing", '"values"'),
        (
            Acls(True, {ACTION: (AclEntry(Entity("principals", "ANY", ("ops",)), entity(ROLES, "NONE")),)}),
            "acls.values-ignored",
            "leave out",
        ),
        (Acls(True, {ACTION: (rule("NONE", "a//b"),)}), "acls.no-role", "dev/%"),
        (Acls(True, {ACTION: (rule("NONE", "*"),)}), "acls.no-wildcard", "dev/%"),
        (Acls(False, {ACTION: (rule("*", "web"),)}), "acls.no-wildcard", '"ANY"'),
    ],
)
def test_a_warning_says_what_is_wrong_and_what_to_do(acls, name, hint):
    found = [one for one in warnings(acls) if one.rule == name]
    assert found
    for one in found:
        assert one.level == "warning"
        assert one.sentence
        assert one.line is None
    assert hint in (found[0].hint or "")


def test_roles_in_a_tree_and_the_default_role_are_roles():
    listed = (rule("NONE", "* dev dev/% dev/x/%"), AclEntry(entity("principals", "NONE"), entity("users", "a//b")))
    assert not [one for one in warnings(Acls(True, {ACTION: listed})) if one.rule == "acls.no-role"]


def test_a_rule_for_nobody_keeps_somebody_out():
    listed = (rule("ops", "web"), rule("NONE", "web"))
    assert not list(warnings(Acls(True, {ACTION: listed})))


def test_the_names_that_are_allowed_and_refused():
    listed = (rule("ops", "dev web"), rule("NONE", "dev/x dev"), rule("ops", "web ads"))
    access = Acls(False, {ACTION: listed}).access(ACTION, "ops")
    assert (access.allowed, access.refused) == (("dev", "web", "ads"), ("dev/x",))
    assert (access.everything, access.anything, access.otherwise) == (False, True, False)
    assert access.kind == ROLES


def test_a_name_below_one_that_is_decided_is_not_listed_as_allowed_or_refused():
    access = Acls(False, {ACTION: (rule("NONE", "dev/%"), rule("ops", "dev/x"))}).access(ACTION, "ops")
    assert (access.allowed, access.refused, access.anything, str(access)) == ((), ("dev/%",), False, "none")
    access = Acls(True, {ACTION: (rule("ops", "dev/%"), rule("NONE", "dev/x dev"))}).access(ACTION, "ops")
    assert (access.allowed, access.refused) == (("dev/%",), ("dev",))


def test_what_everybody_may_do_to_everything_is_asked_for_once():
    assert Acls().allows_all(ACTION)
    assert Acls(True, {ACTION: ()}).allows_all(ACTION)
    assert Acls(True, {"run_tasks": (rule("ops", "ANY"),)}).allows_all(ACTION)
    assert not Acls(True, {ACTION: (rule("ANY", "ANY"),)}).allows_all(ACTION)
    assert not Acls(False).allows_all(ACTION)


def test_without_rules_an_access_has_no_kind():
    assert Acls().access(ACTION, "ops").kind == ""


def test_the_names_that_stand_for_a_role_are_of_every_level_above_it():
    assert list(Entity(ROLES, "SOME").standing_for("a/b/c")) == ["a/b/c", "a/b/%", "a/%"]
    assert list(Entity("users", "SOME").standing_for("a/b/c")) == ["a/b/c"]


@pytest.mark.parametrize(
    ("of", "value", "allowed"),
    [("web", "web", True), ("web", "ads", False), ("web", None, False), ("ANY", None, True), ("NONE", "web", False)],
)
def test_an_entity_allows_what_it_names(of, value, allowed):
    assert entity(ROLES, of).allows(value) is allowed


def test_an_action_without_rules_is_as_permissive_as_the_rest():
    for permissive in (True, False):
        acls = Acls(permissive, {"run_tasks": (rule("ops", "NONE"),)})
        assert acls.allows(ACTION, "ops", "web") is permissive


def test_rules_for_others_and_for_nothing_do_not_end_the_list():
    listed = (rule("dev", "ANY"), rule("ops", ""), rule("ops", "web"), rule("NONE", "web"), rule("ANY", "NONE"))
    access = Acls(True, {ACTION: listed}).access(ACTION, "ops")
    assert [(one.names, one.allowed) for one in access.decisions] == [(("web",), True), (None, False)]
    assert access.kind == ROLES


def test_the_access_to_roles_below_another_is_by_the_tree():
    access = Acls(False, {ACTION: (rule("ops", "dev/%"),)}).access(ACTION, "ops")
    assert (access.allows("dev/x/y"), access.allows("dev"), access.allows("devs/x")) == (True, False, False)


WORDS = st.sampled_from(["*", "%", "ANY", "any", "NONE", "web*", "*web", "web%", "dev/%", "web", "dev", "dev/x", "ops"])


@given(st.sampled_from(["principals", "users", ROLES]), WORDS, WORDS)
def test_a_value_that_is_warned_about_stands_for_no_other_name(kind: str, value: str, name: str):
    acls = Acls(True, {ACTION: (AclEntry(Entity("principals", "NONE"), Entity(kind, "SOME", (value,))),)})
    warned = any(one.rule == "acls.no-wildcard" for one in warnings(acls))
    names = acls.rules[ACTION][0].objects.names(name)
    assert not (warned and names and name != value)
    assert warned is (value not in ("web", "dev", "dev/x", "ops") and (kind != ROLES or value != "dev/%"))
