"""An issue broken down: what makes parts of it, what is refused, and what of it is inherited (N8, N9, K4, P8, P9)."""

import copy
import json
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.cases import cases

from noface.model.backlog import check
from noface.model.history import PartFailure
from noface.model.issue import Issue
from noface.model.patterns import matches, matches_any, path_problem, within
from noface.prompts.answers.forms import example_of, schema_of
from noface.prompts.structured import Invalid, reminder
from noface.recovery.breakdown import plan_children
from noface.recovery.breakdown_rules import AcceptForms
from noface.recovery.reported import subtask_failure, subtask_in_words
from noface.recovery.retry_policy import CHILDREN_MAX

EXAMPLE, SCHEMA = example_of("breakdown"), schema_of("breakdown")
PARENT = Issue(
    "7",
    "Read quoted CSV",
    body="Fields in quotes may hold commas.",
    priority=1,
    labels=("csv",),
    depends_on=("3",),
    paths=("src/**", "tests/"),
    accept=("pytest -q tests/test_parser.py",),
    model="big",
    tier=2,
    max_attempts=4,
    no_escalate=True,
    source="issues/7-csv.md",
    content_hash="abc",
)
FREE = Issue("9", "Anything", body="Do it.")


class _AnyCommand(AcceptForms):
    def allowed(self, command):
        return command


ANY = _AnyCommand()


def part(key, **more):
    return {"key": key, "title": f"Part {key}", "body": f"Do {key}.", "paths": [f"src/{key}.py"]} | more


def plan(*children, parent=FREE, known=()):
    return plan_children(parent, {"children": list(children)}, known, ANY)


def fault(*children, **more):
    found = plan(*children, **more)
    assert isinstance(found, Invalid), found
    return found.violation


def test_the_example_of_the_form_makes_two_issues_of_one():
    before = copy.deepcopy(EXAMPLE)
    first, second = plan_children(PARENT, EXAMPLE, {"7", "12"}, ANY)
    assert first == Issue(
        "7.1",
        "Read quoted fields",
        body=EXAMPLE["children"][0]["body"],
        priority=1,
        labels=("csv",),
        depends_on=(),
        paths=("src/tokens.py", "tests/test_tokens.py"),
        accept=("python -m pytest -q tests/test_tokens.py",),
        model="big",
        tier=2,
        max_attempts=4,
        no_escalate=True,
        source="",
        content_hash=first.content_hash,
        parent="7",
        depth=1,
    )
    assert (second.id, second.depends_on, second.accept) == ("7.2", ("7.1",), ())
    assert first.content_hash != second.content_hash
    assert before == EXAMPLE


def test_the_same_part_has_the_same_hash_and_a_changed_one_another():
    one, _ = plan(part("a"), part("b"))
    again, _ = plan(part("a"), part("c"))
    other, _ = plan(part("a", body="Do something else."), part("b"))
    assert one.content_hash == again.content_hash != other.content_hash


def test_ids_that_are_taken_are_passed_over_however_they_are_written():
    parent = Issue("Fix", "t")
    found = plan(part("a"), part("b"), parent=parent, known={"fix.1", "Fix.3", "Fix"})
    assert [child.id for child in found] == ["Fix.2", "Fix.4"]


def test_parts_may_depend_on_parts_that_come_later_in_the_list():
    first, second, third = plan(part("a", depends_on=["c"]), part("b", depends_on=["a", "c"]), part("c"))
    assert (first.depends_on, second.depends_on, third.depends_on) == (("9.3",), ("9.1", "9.3"), ())


@cases(
    ("children", "said"),
    [
        ([], "at children: minItems is 2, got []"),
        ([part("a")], "at children: minItems is 2, got "),
        ([part(str(n)) for n in range(9)], "at children: maxItems is 8, got "),
        ([part("a"), {"key": "b"}], "at children[1]: 'title' is a required property"),
        ([part("a"), part("b", paths="src/b.py")], 'at children[1].paths: expected array, got string "src/b.py"'),
        ([part("a"), part("b", depend_on=["a"])], "('depend_on' was unexpected)"),
        ([part("a"), part("b", title=" ")], "at children[1].title: expected a text that is not blank"),
        ([part("a"), part("b", title="A\u200eB")], "a title of printable characters is expected"),
        ([part("a"), part("b", body="x" * 20_001)], "at children[1].body: maxLength is 20000, got "),
        ([part("a"), part("b", paths=[])], "at children[1].paths: minItems is 1, got []"),
        ([part("a"), part("b", paths=["/etc/passwd"])], "is not relative"),
        ([part("a"), part("b", paths=["C:/x"])], "is not relative"),
        ([part("a"), part("b", paths=["~/x"])], "is not relative"),
        ([part("a"), part("b", paths=["src/../../x"])], 'must not hold ".."'),
        ([part("a"), part("b", paths=["src\\b.py"])], "holds a backslash"),
        ([part("a"), part("b", paths=["src/.GIT/config"])], "git's own folder"),
        ([part("a"), part("b", paths=["src/b\n.py"])], "holds control characters"),
        ([part("a"), part("b", paths=["src//b.py"])], "has an empty part"),
        ([part("a"), part("b", paths=["**"])], "means everything"),
        ([part("a"), part("b", paths=["."])], "means everything"),
        ([part("a"), part("a")], "the key 'a' stands for more than one part"),
        ([part("a"), part("b", depends_on=["z"])], "depends_on names 'z', which is no part ('a', 'b')"),
        ([part("a"), part("b", depends_on=["b"])], "the parts 'b' wait for each other"),
        (
            [part("a", depends_on=["c"]), part("b", depends_on=["a"]), part("c", depends_on=["b"])],
            "the parts 'a', 'b', 'c' wait for each other",
        ),
        ([part("a"), part("b", accept=["make\nrm -rf x"])], "must be one line of printable text"),
        ([part("a"), part("b", accept=["x" * 501])], "at children[1].accept[0]: maxLength is 500, got "),
        (
            [part("a"), part("b", accept=[f"test {n}" for n in range(11)])],
            "at children[1].accept: maxItems is 10, got ",
        ),
        ([part("a"), part("b", accept=["true"])], "the accept command 'true' can never fail"),
        ([part("a"), part("b", accept=["echo done"])], "can never fail"),
        ([part("a", paths=["src"]), part("b", paths=["src/b.py"])], "part 'a' hold those of all other parts"),
        ([part("a", paths=["x.py", "y.py"]), part("b", paths=["x.py", "y.py"])], "hold those of all other parts"),
    ],
)
def test_what_is_no_breakdown_is_refused_with_a_sentence_that_teaches(children, said):
    assert said in fault(*children)


@pytest.mark.parametrize("value", [None, [], "x", 3, {}, {"children": None}, {"children": {}}])
def test_a_value_of_another_form_is_refused_as_well(value):
    assert isinstance(plan_children(FREE, value, (), ANY), Invalid)


def test_a_part_that_is_the_issue_again_is_refused():
    same = part("a", title=" read  quoted csv", body="Fields in quotes may hold commas.\n", covers=[0])
    assert "part 'a' has the text of the issue itself" in fault(same, part("b"), parent=PARENT)
    whole = part("a", paths=["tests", "src/**"], covers=[0])
    assert "hold those of all other parts" in fault(whole, part("b"), parent=PARENT)


def test_parts_of_an_issue_about_one_file_may_share_it():
    parent = Issue("7", "t", body="all", paths=("app.py",), accept=("make test",))
    found = plan(part("a", paths=["app.py"]), part("b", paths=["app.py"], covers=[0]), parent=parent)
    assert [child.paths for child in found] == [("app.py",), ("app.py",)]


def test_paths_stay_within_those_of_the_parent():
    assert "the path 'docs/a.md' is not within the issue's paths ('src/**', 'tests/')" in fault(
        part("a", covers=[0]), part("b", paths=["docs/a.md"]), parent=PARENT
    )
    found = plan(part("a", covers=[0], paths=["./src/web/"]), part("b", paths=["tests/test_b.py"]), parent=PARENT)
    assert [child.paths for child in found] == [("src/web",), ("tests/test_b.py",)]


def test_every_accept_command_of_the_parent_is_covered():
    parent = Issue("7", "t", accept=("make a", "make b", "make c"))
    assert fault(part("a", covers=[0]), part("b", covers=[2]), parent=parent) == (
        "no part covers accept command 1: 'make b'"
    )
    assert len(plan(part("a", covers=[0, 1]), part("b", covers=[1, 2, 3]), parent=parent)) == 2


def test_faults_are_told_together_so_that_one_reminder_is_enough():
    found = plan(part("a", paths=["/x"], accept=["true"]), part("b", depends_on=["q"]))
    assert found.violation.count("; part") == 2
    assert found.violation in reminder(found, "breakdown", SCHEMA)
    many = plan(*(part(key, paths=["/x", "/y"]) for key in "abcd"))
    assert many.violation.endswith("; and 3 more")


def test_the_depth_is_limited_and_no_other_answer_would_help():
    parent = Issue("7.1.1", "t", parent="7.1", depth=2)
    found = plan(part("a"), part("b"), parent=parent)
    assert (found.violation, found.mendable) == ("parts may be 2 deep, and this is at 2 already", False)
    assert [child.depth for child in plan(part("a"), part("b"), parent=Issue("7.1", "t", depth=1))] == [2, 2]


def test_an_id_that_git_would_refuse_ends_it():
    found = plan(part("a"), part("b"), parent=Issue("x" * 63, "t"))
    assert not found.mendable
    assert "is not usable" in found.violation


def test_children_form_a_sound_backlog_with_their_parent():
    children = plan_children(PARENT, EXAMPLE, (), ANY)
    backlog = check([Issue("3", "t"), PARENT, *children])
    assert backlog.faults == ()


KEYS = st.sampled_from(["a", "b", "c", "", " a", "7"])
PATHS = st.sampled_from(
    [
        "src/a.py",
        "src/b.py",
        "src",
        "src/**",
        "*",
        "tests/",
        "./src/a.py",
        "../x",
        "/x",
        ".git/x",
        "a\x00b",
        "src/*.py",
        "",
    ]
) | st.text(max_size=12)
CHILD = st.fixed_dictionaries(
    {"key": KEYS | st.text(max_size=5), "title": st.text(max_size=9), "body": st.text(max_size=30)},
    optional={
        "paths": st.lists(PATHS, max_size=3),
        "accept": st.lists(st.text(max_size=9) | st.sampled_from(["make", "true"]), max_size=2),
        "depends_on": st.lists(KEYS, max_size=3),
        "covers": st.lists(st.integers(-1, 3) | st.sampled_from([0.0, 1.5, True]), max_size=3),
        "more": st.none(),
    },
)


PARENTS = st.sampled_from(
    [
        FREE,
        PARENT,
        Issue("7", "t", accept=("make a",)),
        Issue("7", "t", accept=("make a", "make b"), paths=("src", "tests")),
    ]
)


@st.composite
def sound_plans(draw):
    """A parent with parts that mostly keep the rules: keys and files of their own, dependencies on parts before."""
    parent = draw(PARENTS)
    count = draw(st.integers(2, 4))
    shared = [] if parent is PARENT else draw(st.lists(st.just("src/shared.py"), max_size=1))
    children = []
    for place in range(count):
        own = draw(st.sampled_from([f"src/{place}.py", f"src/{place}/", f"tests/{place}*.py", f"src/{place}/*.c"]))
        before = [f"k{number}" for number in range(place)]
        children.append(
            {
                "key": f"k{place}",
                "title": f"{place} {draw(st.text('xyz ', max_size=9))}",
                "body": draw(st.text(max_size=9)),
                "paths": [own, *shared],
                "accept": draw(st.lists(st.sampled_from(["make a", "make b"]), max_size=1)),
                "depends_on": draw(st.lists(st.sampled_from(before), max_size=2)) if before else [],
                "covers": list(range(place, len(parent.accept), count)),
            }
        )
    return parent, children


@settings(deadline=None)  # the first call imports jsonschema
@given(sound_plans() | st.tuples(PARENTS, st.lists(CHILD, max_size=5)), st.sets(st.sampled_from(["7.1", "9.1", "9.2"])))
def test_any_breakdown_is_either_refused_or_keeps_every_rule(plan_given, known):
    parent, children = plan_given
    found = plan_children(parent, {"children": children}, known, ANY)
    if isinstance(found, Invalid):
        assert found.violation
        assert found.violation
        return
    assert 2 <= len(found) <= CHILDREN_MAX
    ids = [child.id for child in found]
    assert len(set(ids) | known) == len(ids) + len(known)
    assert check([Issue("3", "t"), parent, *found]).faults == ()
    for child in found:
        json.dumps([child.title, child.body, child.paths], ensure_ascii=False).encode()
        assert (child.parent, child.depth) == (parent.id, parent.depth + 1)
        assert child.paths
        assert all(path_problem(path) is None for path in child.paths)
        assert not parent.paths or all(matches_any(path, parent.paths) for path in child.paths)
        assert set(child.depends_on) <= set(ids) - {child.id}


SEGMENTS = st.sampled_from(["a", "b", "a.py", "*", "?", "**", "*.py", "a*", "a?"])
GLOBS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)
FILES = st.lists(st.sampled_from(["a", "b", "a.py", "b.py", "ab"]), min_size=1, max_size=5).map("/".join)


@given(GLOBS, GLOBS, st.lists(FILES, min_size=1, max_size=8))
@example("src/**.py", "src/*.py", ["src/a/b.py"])
@example("src/*", "src/?", ["src/ab"])
@example("src", "src/**", ["src", "src/a"])
@example("*", "*/*", ["a", "a/b"])
@example("a", "a/*/**", ["a/a"])
def test_what_lies_within_a_pattern_never_means_more_than_it(inner, outer, files):
    if within(inner, outer):
        folder = (
            outer.removesuffix("/*") if outer.endswith("/*") else outer.removesuffix("/**")
        )  # all below it is meant, so it is taken for a folder
        beyond = [path for path in files if matches(path, inner) and not matches(path, outer)]
        assert [path for path in beyond if path != folder] == []


@cases(
    ("inner", "outer"),
    [
        ("src/a.py", "src"),
        ("src/a.py", "src/**"),
        ("src/a.py", "src/*.py"),
        ("src/a.py", "."),
        ("src/web", "src"),
        ("src/web/*.py", "src"),
        ("src/web/**", "src/**"),
        ("src/*.py", "src/**"),
        ("src/*.py", "src/*"),
        ("src/a*.py", "src/*.py"),
        ("src/**/x.py", "src/"),
        ("src/**/x.py", "src/**/x.py"),
    ],
)
def test_a_narrower_path_lies_within_a_wider_one_and_not_the_other_way_round(inner, outer):
    assert within(inner, outer)
    assert inner == outer or not within(outer, inner)


FAILED = PartFailure(
    Issue(
        "7.2",
        "Keep quotes",
        body="Mind both kinds.\nAll of them.",
        paths=("src/b.py",),
        accept=("make b",),
        depends_on=("7.1",),
        parent="7",
        depth=1,
    ),
    "TIMEOUT",
    "not finished after 60 s",
    "half of it",
)


def test_a_failed_part_is_told_to_its_parent_as_a_whole():
    assert json.loads(json.dumps(subtask_failure(FAILED))) == {
        "type": "TASK_FAILURE",
        "reason": "subtask_failure",
        "message": "part 7.2 of issue 7 failed: Keep quotes",
        "details": {
            "subtask_request": {
                "type": "atomic",
                "id": "7.2",
                "description": "Keep quotes",
                "inputs": {
                    "body": "Mind both kinds.\nAll of them.",
                    "paths": ["src/b.py"],
                    "accept": ["make b"],
                    "depends_on": ["7.1"],
                },
            },
            "subtask_error": {
                "type": "TASK_FAILURE",
                "reason": "execution_timeout",
                "kind": "TIMEOUT",
                "message": "not finished after 60 s",
            },
            "nesting_depth": 1,
            "partial_output": "half of it",
        },
    }
    for kind, key, value in (
        ("skipped", "reason", "execution_halted"),
        ("RESOURCE_EXHAUSTED", "type", "RESOURCE_EXHAUSTION"),
    ):
        assert subtask_failure(replace(FAILED, kind=kind))["details"]["subtask_error"][key] == value


def test_people_and_workers_read_the_same_in_words():
    assert (
        subtask_in_words(FAILED)
        == """\
Part 7.2, 1 level below the issue as it was written: Keep quotes
It could change: src/b.py
It had to pass: make b
It waited for: 7.1
It was asked: Mind both kinds.
  All of them.
It failed: TIMEOUT: not finished after 60 s
What it had done: half of it"""
    )
