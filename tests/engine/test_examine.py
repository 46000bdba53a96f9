"""What is found in a change before any gate runs: with real runs, in which a gate leaves a mark when it has run."""

import json

import pytest

from noface.git.plumbing import Plumbing
from noface.git.repository import discover

BINARY = "head -c 1500000 /dev/urandom > app"
CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"


@pytest.fixture
def examined(project):
    """Run a worker's steps on an issue of one attempt; give back the attempt, and whether a gate saw its work."""

    def run(steps, limits="", gate="true", before=None, play=None, code=3, **issue):
        canary = project.folder / "gate-ran"
        for name, text in (before or {}).items():
            project.write(name, text)
        project.config(gate=f"test ! -e b.txt || touch {canary}; {gate}", extra=f"\n[limits]\n{limits}")
        project.play(*(play or [("7", 0, [*steps, {"write": "b.txt", "text": "work\n"}])]))
        project.issue(7, **{"max_attempts": 1, **issue})
        project.commit()
        project.run(code=code)
        return project.attempts("7")[0], canary.exists()

    return run


MAIN = {"old.py": "broken(\n", "older.py": "broken(\n", "tests/fixtures/one/in.txt": f"So:\n{CONFLICT}"}
# What a worker writes, what becomes of it, and a part of what is said of it.
FOUND = {
    "a file that does not parse": (
        [{"write": "src/a.py", "text": "x = 1\nfoo(x\n"}],
        ("SYNTAX_ERROR", "syntax.python", "src/a.py:2"),
        "src/a.py:2: '(' was never closed: foo(x",
    ),
    "conflict markers": (
        [{"write": "style.css", "text": CONFLICT}],
        ("SYNTAX_ERROR", "conflict-markers", "style.css"),
        "style.css (1)",
    ),
}
LEFT = {
    "a file that did not parse on main, either": [{"write": "old.py", "text": "still broken(\n"}],
    "a broken file that is only moved": [{"delete": "older.py"}, {"write": "new.py", "text": "broken(\n"}],
    "conflict markers in a string": [{"write": "a.py", "text": f'EXAMPLE = """\n{CONFLICT}"""\n'}],
    "conflict markers as main shows them": [
        {"write": "tests/fixtures/two/deep/in.txt", "text": f"As on main:\n{CONFLICT}and\n{CONFLICT}"}
    ],
    "conflict markers in a file that the issue asks for": [{"write": "docs/git.md", "text": CONFLICT}],
}


def test_what_breaks_a_file_is_named_before_any_gate_runs_and_what_may_be_meant_is_left_to_the_gates(project):
    works = {name: steps for name, (steps, _, _) in FOUND.items()} | LEFT
    numbered = {name: str(number) for number, name in enumerate(works, 1)}
    for name, text in MAIN.items():
        project.write(name, text)
    project.config(gate=f"for mark in b*.txt; do touch {project.folder}/ran-$mark; done")
    marked = {name: {"write": f"b{issue}.txt", "text": "work\n"} for name, issue in numbered.items()}
    project.play(*((issue, 0, [*works[name], marked[name]]) for name, issue in numbered.items()))
    for issue in numbered.values():
        project.issue(issue, max_attempts=1, may_change=["docs/git.md"])
    project.commit()
    project.run(code=3)
    for name, issue in numbered.items():
        (attempt,) = project.attempts(issue)
        ran = (project.folder / f"ran-b{issue}.txt").exists()
        if name in LEFT:
            assert (name, attempt["outcome"], ran) == (name, "PASSED", True)
            continue
        _, (outcome, rule, place), message = FOUND[name]
        failure = attempt["failure"]
        assert (name, attempt["outcome"], failure["rule"], ran) == (name, outcome, rule, False)
        assert (failure["location"] or failure["message"]).startswith(place)
        assert message in failure["message"]
        assert (attempt["gates"], attempt["charged"]) == ([], True)


@pytest.mark.thorough
def test_conflict_markers_in_text_are_found_and_shown_to_the_next_attempt(examined, project):
    left = [{"write": "README.md", "text": CONFLICT}]
    mended = [{"write": "README.md", "text": "ours and theirs\n"}]
    attempt, _ = examined([], play=[("7", 1, left), ("7", 2, mended)], code=0, max_attempts=2)
    assert (attempt["outcome"], attempt["failure"]["rule"]) == ("SYNTAX_ERROR", "conflict-markers")
    assert "README.md: >>>>>>> other" in project.prompt("7", 2)
    assert project.statuses() == {"7": "merged"}


def test_a_workspace_s_path_in_the_work_is_told_with_the_line_shown(examined, project):
    do, mended = {"shell": "echo \"ROOT = '$PWD'\" > src.py"}, {"shell": "echo x > src.py"}
    attempt, _ = examined([], play=[("7", 1, [do]), ("7", 2, [mended])], code=0, max_attempts=2)
    assert (attempt["outcome"], attempt["failure"]["rule"]) == ("LINT_FAILURE", "left-in")
    assert f"{project.folder}/slots/" in attempt["failure"]["excerpt"]
    assert "would work nowhere else" in project.prompt("7", 2)
    assert project.statuses() == {"7": "merged"}


LINKS = {
    "ln -s /etc/hostname link": "links-outside",
    "mkdir a && ln -s ../../b a/link": "links-outside",
    "ln -s . link": "links-outside",
    "ln -s $PWD/a.txt link": "links-outside",
    "mkdir -p a/b && ln -s ../../a a/b/link": "links-outside",
    "mkdir a && ln -s ../a.txt a/link": "",
    "ln -s a.txt link": "",
}


def test_a_link_that_leads_out_of_the_project_or_in_a_circle_is_refused(project):
    """In ten public histories the only such links are one commit's, into its author's home: a mistake (psf/black)."""
    project.play(*((str(number), 0, [{"shell": do}]) for number, do in enumerate(LINKS, 1)))
    for number in range(1, len(LINKS) + 1):
        project.issue(number, max_attempts=1)
    project.commit()
    project.run(code=3)
    failures = {do: project.attempts(str(number))[0]["failure"] for number, do in enumerate(LINKS, 1)}
    assert {do: (failure or {}).get("rule", "") for do, failure in failures.items()} == LINKS


@pytest.mark.thorough
def test_a_workspace_that_is_reached_through_a_link_is_known_by_both_its_names(examined, project):
    (project.folder / "real").mkdir()
    (project.folder / "slots").symlink_to(project.folder / "real")
    attempt, _ = examined([{"shell": "echo $(pwd -P) > where.txt"}])
    assert attempt["failure"]["rule"] == "left-in"


def test_a_large_binary_is_found_and_its_size_told(examined):
    attempt, gate_ran = examined([{"shell": BINARY}])
    assert not gate_ran
    assert (attempt["outcome"], attempt["failure"]["rule"]) == ("LINT_FAILURE", "binary-too-big")
    assert attempt["failure"]["evidence"] == ["app (1,500,000 bytes)"]


@pytest.mark.thorough
def test_a_virtual_environment_of_many_files_stays_out_of_the_change(examined, project):
    made = [{"write": f"env3/lib/m{n}.py", "text": "x = 1\n"} for n in range(6)]
    made += [{"write": "env3/pyvenv.cfg", "text": "home = /usr/bin\n"}, {"write": "a.py", "text": "a = 1\n"}]
    attempt, _ = examined(made, limits="max_changed_files = 4\n", code=0)
    assert attempt["notes"][0].startswith("left out of the change: env3/lib/m0.py (in a folder that a program fills), ")
    assert set(project.git("diff", "--name-only", "main~1", "main").split()) == {"a.py", "b.txt"}


@pytest.mark.thorough
def test_white_space_alone_is_no_work(examined, project):
    before = {"x.py": "f(a,b)\n", "y.js": "g()\r\n", "z.js": "h()\n"}
    steps = [{"write": "x.py", "text": "f(a, b)\n"}, {"write": "y.js", "text": "g()\n"}, {"shell": "chmod +x z.js"}]
    attempt, gate_ran = examined([], before=before, play=[("7", 0, steps)])
    assert not gate_ran
    assert (attempt["outcome"], attempt["failure"]["rule"]) == ("NO_DIFF", "only-white-space")


def test_a_changed_script_that_a_gate_calls_is_tampering(examined):
    package = {"scripts": {"test": "node --test"}}
    cheat = json.dumps({"scripts": {"test": "true"}})
    attempt, gate_ran = examined(
        [{"write": "package.json", "text": cheat}],
        before={"package.json": json.dumps(package)},
        gate="true || npm test",
    )
    assert not gate_ran
    assert (attempt["outcome"], attempt["failure"]["rule"]) == ("GATE_TAMPERING", "gates-weakened")
    assert "the script test, which a gate calls, was changed to `true`" in attempt["failure"]["message"]


def test_contents_are_read_from_the_object_store_within_bounds(project):
    oid = project.git("rev-parse", "HEAD:a.txt")
    tree = project.git("rev-parse", "HEAD^{tree}")
    plumbing = Plumbing(discover(project.path))
    with plumbing.blobs() as blobs:
        assert blobs.size(oid) == 4
        assert blobs.read(oid, 4) == b"one\n"
        assert blobs.read(oid, 3) is None
        assert blobs.read(oid, 4) == b"one\n"
        assert blobs.size("0" * 40) is None
        assert blobs.read(tree, 10_000) is None
    blobs.close()
