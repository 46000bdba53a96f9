"""What a diff tells before any gate runs: every rule against patches that a real git made.

How often that is wrong on honest work: of the newest 120 commits each of 70 public projects (7,766) 4 would end as work
of form alone, 1 as one of generated files alone, and 5 hold conflict markers, 3 of them left there by mistake.
"""

from dataclasses import replace

import pytest
from support.cases import cases
from support.git_ground import git, git_bytes, tree_of

from noface.git.objects import parse_diff
from noface.integrity.asked_for import asks_for
from noface.integrity.diff.rules import Diff, DiffLimits, binaries, by_gravity, examine
from noface.integrity.rubbish import is_generated
from noface.integrity.strength import weaker
from noface.model.taxonomy import FailureKind

CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"
OPTIONS = ("-r", "-z", "--raw", "--numstat", "-p", "--no-renames", "--no-ext-diff", "--no-textconv")


@pytest.fixture
def change(tmp_path):
    """The diff between a tree with the files `before` and one where those of `after` were written (None deletes)."""

    git(tmp_path, "init", "-q")

    def make(before, after, **about):
        diff = parse_diff(
            git_bytes(tmp_path, "diff-tree", *OPTIONS, tree_of(tmp_path, before), tree_of(tmp_path, after))
        )
        sizes = {each.path: len(after[each.path]) for each in binaries(diff.changes)}
        return Diff(diff.changes, diff.patch.decode("utf-8", "replace"), sizes=sizes, **about)

    return make


def rules(diff, **limits):
    return [failure.rule for failure in examine(diff, DiffLimits(**limits))]


def test_ordinary_work_is_left_to_the_gates(change):
    assert examine(change({"a.py": "x = 1\n"}, {"a.py": "x = 2\n", "b.txt": "new\n"}), DiffLimits()) == ()


# Form (which changes are form: test_form.py)


def test_a_change_of_form_alone_is_no_work(change):
    diff = change({"a.js": "f(a,b)\n"}, {"a.js": "f(a, b)\n"}, only_form=True)
    (failure,) = examine(diff, DiffLimits())
    assert (failure.kind, failure.rule) == (FailureKind.NO_DIFF, "only-white-space")
    assert failure.message.startswith("only form was changed (white space, quotes, ends of lines), in a.js")


def test_an_empty_new_file_is_work(change):
    assert rules(change({"a.txt": "one\n"}, {"pkg/__init__.py": ""})) == []


def test_an_issue_that_proves_itself_may_ask_for_form_or_generated_files(change):
    assert rules(change({"a.js": "f(a,b)\n"}, {"a.js": "f(a, b)\n"}, accepted=True, only_form=True)) == []
    assert rules(change({}, {"uv.lock": "x"}, accepted=True)) == []
    assert rules(change({}, {"uv.lock": "y"}, paths=("uv.lock",))) == []
    assert rules(change({}, {"uv.lock": "z"}, made_asked=True)) == []


# Generated files


@pytest.mark.parametrize(
    "path",
    [
        "package-lock.json",
        "web/yarn.lock",
        "go.sum",
        "dist/app.js",
        "a/__pycache__/b.cpython-311.pyc",
        "static/jquery.min.js",
        "target/debug/app",
        "node_modules/x/index.js",
        "pkg.egg-info/PKG-INFO",
        ".coverage",
        "src/Main.class",
    ],
)
def test_a_change_of_generated_files_alone_is_no_work(change, path):
    (failure,) = examine(change({}, {path: "made\n"}), DiffLimits())
    assert (failure.kind, failure.rule) == (FailureKind.NO_DIFF, "only-generated")
    assert path in failure.message
    assert rules(change({}, {path: "made again\n", "src/a.py": "x = 1\n"})) == []


@pytest.mark.parametrize(
    "path", ["build/webpack.config.js", "bin/deploy", "src/distance.py", "lock.py", "target/README.txt", "obj/cube.stl"]
)
def test_what_people_write_is_not_generated(path):
    assert not is_generated(path)


@cases(
    ("text", "asked"),
    [
        ("Run uv lock --upgrade", True),
        ("Upgrade all dependencies", True),
        ("x 1.0 has CVE-2024-1. Move to 1.1.", True),
        ("npm audit reports a vulnerability", True),
        ("chore(deps): ms from 1 to 2", True),
        ("Commit a lockfile", True),
        ("Ship a minified build", True),
        ("Move from npm to yarn", True),
        ("total() of an empty list raises", False),
        ("The date format loses the zone", False),
        ("Add a --json flag", False),
    ],
)
def test_an_issue_about_what_tools_write_is_told_by_its_words(text, asked):
    assert asks_for("generated", (text,)) is asked


# Boundaries


def test_files_outside_the_issue_s_paths_are_named(change):
    (failure,) = examine(change({}, {"src/a.py": "1\n", "b.py": "2\n"}, paths=("src/**",)), DiffLimits())
    assert failure.kind is FailureKind.BOUNDARY_VIOLATION
    assert failure.rule == "outside-paths"
    assert failure.evidence == ("b.py",)
    assert failure.signature == "outside-paths:b.py"
    assert rules(change({}, {"src/a.py": "3\n", "b.py": None}, paths=("src", "b.py"))) == []


def test_a_weakened_test_is_tampering(change):
    test = "def test_a():\n    assert f() == 1\n"
    before, after = {"tests/test_a.py": test}, {"tests/test_a.py": "# later\n"}
    (failure,) = examine(change(before, after, weaker=weaker(before, after)), DiffLimits())
    assert (failure.kind, failure.rule) == (FailureKind.GATE_TAMPERING, "tests-emptied")
    assert failure.failing_tests == ("tests/test_a.py::test_a",)
    assert "1 test deleted" in failure.message


def test_what_gates_call_and_no_longer_finds_is_tampering(change):
    diff = change({}, {"b.txt": "b\n"}, gates=("package.json: the script test, which a gate calls, was removed",))
    (failure,) = examine(diff, DiffLimits())
    assert (failure.kind, failure.rule) == (FailureKind.GATE_TAMPERING, "gates-weakened")
    assert "the gates were weakened: package.json: the script test" in failure.message


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("pyproject.toml", "fail_under = 90\n", "fail_under = 80\n", "fail_under was lowered: 90 to 80"),
        ("setup.cfg", "addopts = --cov-fail-under=90\n", "addopts =\n", "fail_under was taken away (90)"),
        ("package.json", '  "branches": 80,\n', '  "branches": 10,\n', "branches was lowered: 80 to 10"),
        ("Makefile", "\tnpx eslint --max-warnings 0\n", "\tnpx eslint --max-warnings 99\n", "raised: 0 to 99"),
        ("spec/.simplecov", "minimum_coverage 95\n", "minimum_coverage 5\n", "minimum_coverage was lowered"),
        ("ci.yml", "run: pytest --cov-fail-under 90\n", "run: pytest\n", "taken away"),
        ("pyproject.toml", "fail_under = 90\n", "# fail_under = 90\n", "taken away"),
    ],
)
def test_a_lowered_threshold_is_tampering(change, name, old, new, said):
    (failure,) = examine(change({name: old}, {name: new}), DiffLimits())
    assert (failure.kind, failure.rule) == (FailureKind.GATE_TAMPERING, "gates-weakened")
    assert said in failure.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"pyproject.toml": "fail_under = 80\n"}, {"pyproject.toml": "fail_under = 90\n"}),
        ({"pyproject.toml": "fail_under = 80\n"}, {"pyproject.toml": "fail_under = 80.0\nx = 1\n"}),
        (
            {"setup.cfg": "[tool]\nfail_under = 80\n", "pyproject.toml": "x = 1\n"},
            {"setup.cfg": "[tool]\n", "pyproject.toml": "x = 1\nfail_under = 80\n"},
        ),
        ({"README.md": "fail_under = 80\n"}, {"README.md": "fail_under = 10\n"}),
        ({"src/a.py": "fail_under = 80\n"}, {"src/a.py": "fail_under = 10\n"}),
    ],
)
def test_a_threshold_that_is_raised_moved_or_only_written_about_is_no_finding(change, old, new):
    assert rules(change(old, new)) == []


# Conflict markers


def test_conflict_markers_left_in_are_a_syntax_error(change):
    (failure,) = examine(change({"a.css": "a {}\n"}, {"a.css": f"a {{}}\n{CONFLICT}", "b.txt": CONFLICT}), DiffLimits())
    assert (failure.kind, failure.rule) == (FailureKind.SYNTAX_ERROR, "conflict-markers")
    assert failure.message.startswith("conflict markers were left in: a.css (1), b.txt (1)")
    assert failure.evidence[0] == "a.css: <<<<<<< HEAD"
    assert failure.location == "a.css"


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "NOTES",
        "docs/a.rst",
        "a.txt",
        "LICENSE",
        "ci.yaml",
        "page.html",
        "a.ipynb",
        "fix.patch",
        "tests/fixtures/a.txt",
    ],
)
def test_markers_are_found_in_any_file_of_text_and_their_lines_shown(change, name):
    (failure,) = examine(change({name: "one\n"}, {name: f"one\n{CONFLICT}"}), DiffLimits())
    assert (failure.kind, failure.rule, failure.location) == (FailureKind.SYNTAX_ERROR, "conflict-markers", name)
    lines = (f"{name}: <<<<<<< HEAD", f"{name}: =======", f"{name}: >>>>>>> other")
    assert failure.evidence == lines
    assert failure.excerpt == "\n".join(lines)


def test_markers_that_a_file_takes_along_when_it_is_moved_are_no_finding(change):
    text = f"How a conflict looks:\n{CONFLICT}"
    assert rules(change({"docs/git.md": text, "b.txt": "b\n"}, {"docs/git.md": None, "manual/git.md": text})) == []
    twice = change({"old.md": text}, {"old.md": None, "new.md": text, "z.txt": CONFLICT})
    (failure,) = examine(twice, DiffLimits())
    assert failure.message.startswith("conflict markers were left in: z.txt (1);")


def test_markers_around_lines_that_stay_are_found(change):
    (failure,) = examine(
        change({"a.c": "one\ntwo\n"}, {"a.c": "<<<<<<< SEARCH\none\n=======\ntwo\n>>>>>>> REPLACE\n"}), DiffLimits()
    )
    assert failure.rule == "conflict-markers"


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("merging.rst", None, "Title\n=======\n"),
        ("docs/merging.md", None, "    " + CONFLICT.replace("\n", "\n    ")),
        ("fix.patch", None, "+" + CONFLICT.replace("\n", "\n+")[:-1]),
        ("README.md", None, "Merging\n=======\n\n>>>>>>> quoted deeply\n"),
        ("a.txt", f"{CONFLICT}one\n", f"{CONFLICT}two\n"),
        ("a.txt", f"{CONFLICT}one\n", f"one\ntwo\n{CONFLICT}"),
        ("a.txt", None, "=======\nheading\n=======\n"),
        ("a.txt", None, "<<<<<<< and no more\n"),
        ("a.c", None, "x <<<<<<< y\n=======\n>>>>>>> z\n"),
        ("a.sh", None, "cat <<<<<<<EOF\n======= =\n>>>>>>>>> x\n"),
    ],
)
def test_markers_that_mean_no_conflict_are_no_finding(change, name, before, after):
    assert rules(change({name: before} if before else {}, {name: after})) == []


def test_markers_inside_a_string_are_no_finding(change):
    diff = change({}, {"a.py": f'X = """\n{CONFLICT}"""\n'}, mere_text=frozenset({"a.py"}))
    assert rules(diff) == []


# The workspace's own path


# Size


def test_a_large_binary_is_too_much_and_a_small_one_is_not(change):
    diff = change({"old.bin": b"\0" * 9}, {"logo.png": b"\0" * 50, "app": b"\0" * 1_000_001, "old.bin": b"\0" * 10})
    (failure,) = examine(diff, DiffLimits())
    assert (failure.kind, failure.rule) == (FailureKind.LINT_FAILURE, "binary-too-big")
    assert failure.evidence == ("app (1,000,001 bytes)",)


def test_a_removed_binary_is_no_finding(change):
    assert rules(change({"app": b"\0" * 1_000_001}, {"app": None})) == []


def test_too_many_files_are_too_much(change):
    diff = change({}, {f"f{n}.txt": "x\n" for n in range(4)})
    (failure,) = examine(diff, DiffLimits(files_max=3))
    assert (failure.kind, failure.rule) == (FailureKind.RESOURCE_EXHAUSTED, "diff-too-big")
    assert "diff size: it changes 4 files ([limits] max_changed_files is 3)" in failure.message
    assert rules(diff, files_max=4) == []


def test_too_many_lines_are_too_much_deleted_ones_included(change):
    diff = change({"a.txt": "x\n" * 6}, {"a.txt": "y\n" * 5})
    (failure,) = examine(diff, DiffLimits(lines_max=10))
    assert "11 lines ([limits] max_changed_lines is 10)" in failure.message
    assert failure.evidence == ("11 lines in a.txt",)
    assert rules(diff, lines_max=11) == []


def test_output_of_programs_never_makes_a_change_too_big(change):
    files = {f"env3/lib/m{n}.py": "x = 1\n" for n in range(9)} | {"env3/pyvenv.cfg": "home = /usr/bin\n"}
    files |= {f"web/node_modules/m{n}/index.js": "x\n" for n in range(3)} | {"a.py": "x = 2\n", "uv.lock": "x\n"}
    diff = change({}, files, on_main=("README.md", "web/app.js"))
    assert rules(diff, files_max=5, lines_max=5) == []
    assert rules(replace(diff, on_main=("env3/README", "web/node_modules/m0/own.js")), files_max=5) == ["diff-too-big"]


# Together


def test_the_gravest_finding_is_told_and_names_the_others(change):
    diff = change({}, {"a.c": CONFLICT, "b.c": "x\n" * 9}, paths=("b.c",))
    found = by_gravity(examine(diff, DiffLimits(lines_max=3)))
    assert [failure.rule for failure in found] == ["outside-paths", "conflict-markers", "diff-too-big"]
    assert [rule for rule, _, _ in found[0].also_matched] == ["conflict-markers", "diff-too-big"]
    assert by_gravity(found[1:2]) == found[1:2]


def test_odd_names_and_huge_lines_are_no_trouble(change):
    name = b"a\xff\n.txt".decode("utf-8", "surrogateescape")
    diff = change({}, {name: "x" * 3_000_000 + "\n" + CONFLICT})
    (failure,) = examine(diff, DiffLimits())
    assert failure.rule == "conflict-markers"
    failure.message.encode()
