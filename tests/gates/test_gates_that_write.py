"""A gate that changes the files it checks: what it proved is not what would land, unless its changes become the work."""

import json
import os
import threading
import time

import pytest
from support.cases import first_ones

from noface.attempt.prepare import kept_digest

FORMAT = "sed -i 's/ *$//' *.txt"


def gate(name, command, kind="lint", **more):
    lines = [
        f"{key} = {json.dumps(value)}"
        for key, value in {"name": name, "command": command, "kind": kind, **more}.items()
    ]
    return "\n[[gates]]\n" + "\n".join(lines) + "\n"


@pytest.fixture
def written(project):
    """A project with a formatter as a gate, and a worker that leaves blanks at the ends of lines."""

    def make(*gates, text="two  \n", name="b.txt", attempts=1):
        project.config("".join(gates), gate="test -e a.txt")
        project.write("a.txt", "one\n")
        project.play(("*", 0, [{"write": name, "text": text}]))
        project.issue(1, max_attempts=attempts)
        project.commit()
        return project

    return make


def test_a_gate_that_changes_a_file_of_the_work_fails_and_shows_what_it_made(written):
    project = written(gate("format", FORMAT), attempts=2)
    project.run(code=3)
    attempt = project.attempts("1")[0]
    assert attempt["outcome"] == "LINT_FAILURE"
    assert attempt["failure"]["rule"] == "gate-changed-files"
    assert "b.txt" in attempt["failure"]["message"]
    assert "+two\n" in project.prompt("1", 2)
    assert project.git("ls-tree", "--name-only", "main", "b.txt") == ""


def test_with_fixes_its_changes_become_part_of_the_work_and_all_gates_run_again(written):
    project = written(gate("format", FORMAT, fixes=True), gate("clean", "! grep -q ' $' *.txt", kind="test"))
    project.run()
    assert project.git("show", "main:b.txt") == "two"
    assert any("became part of the work" in note for note in project.attempts("1")[0]["notes"])


LIST = "ls *.txt > names.md"


@pytest.mark.parametrize("command", first_ones([f"{LIST} && git diff --exit-code", LIST, f"{LIST}; exit 0"]))
def test_what_a_fixing_gate_makes_of_the_work_becomes_part_of_it(written, command):
    project = written(gate("docs", command, fixes=True), text="two\n")
    project.write("names.md", "a.txt\n")
    project.commit()
    project.run()
    assert project.git("show", "main:names.md") == "a.txt\nb.txt"
    assert "the gate docs changed names.md; that became part of the work" in project.attempts("1")[0]["notes"]


@pytest.mark.parametrize(
    "path", first_ones(["tests/names.txt", "check.sh", "names.snap", "Makefile", ".github/workflows/names.yml"], 2)
)
def test_a_fixing_gate_may_not_change_what_judges_or_is_protected(written, path):
    project = written(gate("make", f"test ! -e b.txt || echo b >> {path}", fixes=True), text="two\n")
    project.write(path, "a\n")
    project.commit()
    project.run(code=3)
    (attempt,) = project.attempts("1")
    assert (attempt["failure"]["rule"], attempt["charged"]) == ("gate-fixed-judges", False)
    assert path in attempt["failure"]["message"]
    (blocked,) = json.loads(project.noface("blocked", "--json").stdout)["blocked"]
    assert blocked["task"] == "Correct the gate make, then run again"


@pytest.mark.parametrize(("text", "issue", "rule"), [("AKIA$(echo Q7RZ2LXJ4M6VN3PB)", {}, "secret-added")])
def test_what_a_fixing_gate_makes_is_examined_like_all_work(project, text, issue, rule):
    make = f"test ! -e b.txt || echo {text} > names.md"
    project.config(gate("docs", make, fixes=True), gate="test -e a.txt")
    project.write("a.txt", "one\n")
    project.write("names.md", "a.txt\n")
    project.play(("*", 0, [{"write": "b.txt", "text": "two\n"}]))
    project.issue(1, max_attempts=1, **issue)
    project.commit()
    project.run(code=3)
    failure = project.attempts("1")[0]["failure"]
    assert (failure["rule"], "with what the gate docs wrote" in failure["message"]) == (rule, True)


def test_a_fixing_gate_that_changes_main_as_well_has_to_leave_other_files_alone(written, project):
    """It is tried on main last, with main's commit as git's HEAD."""
    heads = project.folder / "heads"
    written(gate("format", f"git log -1 --format=%s >> {heads}; {FORMAT}", fixes=True, hard=False))
    project.write("a.txt", "one  \n")
    project.commit()
    project.run(code=3)
    failure = project.attempts("1")[0]["failure"]
    assert failure["rule"] == "gate-fixed-others"
    assert "a.txt" in failure["message"]
    assert heads.read_text().splitlines()[-1] == project.git("log", "-1", "--format=%s", "main")


@pytest.mark.parametrize("made", first_ones(["names.json", "names.md"]))
def test_a_worker_may_commit_what_a_gate_makes_of_its_work(written, made):
    project = written(gate("docs", f"ls *.txt > {made}"), gate("unit", "test -e a.txt", kind="test"), text="two\n")
    project.write(made, "a.txt\n")
    project.play(("*", 0, [{"write": "b.txt", "text": "two\n"}, {"write": made, "text": "a.txt\nb.txt\n"}]))
    project.commit()
    project.run()
    assert project.git("show", f"main:{made}") == "a.txt\nb.txt"


@pytest.mark.thorough
def test_data_that_the_work_itself_writes_in_a_gate_still_judges(written):
    """Main's program does not write what it is compared with; the change's does."""
    project = written(gate("golden", "python3 prog.py > out; cmp out golden.json", kind="test"))
    project.write("prog.py", "print(1)\n")
    project.write("golden.json", "1\n")
    prog = "open('golden.json', 'w').write('2\\n')\nprint(2)\n"
    project.play(("*", 0, [{"write": "prog.py", "text": prog}, {"write": "golden.json", "text": "2\n"}]))
    project.commit()
    project.run(code=3)
    assert project.attempts("1")[0]["outcome"] == "GATE_TAMPERING"


@pytest.mark.parametrize("command", first_ones([LIST, f"{LIST} && git diff --exit-code"]))
def test_without_fixes_worker_and_person_are_told_of_what_a_gate_makes_of_the_work(written, command):
    project = written(gate("docs.1", command), text="two\n", attempts=2)
    project.write("names.md", "a.txt\n")
    project.commit()
    project.run(code=3)
    failure = project.attempts("1")[0]["failure"]
    assert failure["rule"] == "gate-changed-files"
    assert "names.md" in failure["message"]
    assert "+b.txt" in project.prompt("1", 2)


def test_a_fixing_gate_that_is_never_done_is_told(written):
    project = written(gate("count", "test ! -e b.txt || echo more >> b.txt", fixes=True))
    project.run(code=3)
    assert project.attempts("1")[0]["failure"]["rule"] == "gate-fixes-again"


@pytest.mark.parametrize("fixes", first_ones([True, False]))
def test_a_gate_that_changes_main_itself_stops_the_run_before_any_work(written, fixes):
    project = written(gate("format", FORMAT, fixes=fixes))
    project.write("a.txt", "one  \n")
    project.commit()
    said = project.noface("run")
    assert said.returncode == 3
    assert "changed files that it checks: a.txt" in said.stderr
    assert "fixes = true" in said.stderr
    assert project.attempts("1") == []


def test_who_edits_the_slot_while_a_gate_runs_cannot_make_it_green(written, project):
    waits = f"until test -e {project.folder}/edited; do sleep 0.02; done"
    project = written(
        gate("slow", f"test ! -e b.txt || {{ touch started; {waits}; grep -q two b.txt; }}"), text="bad\n"
    )
    edited = []

    def edit():
        slot = project.folder / "slots"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not edited:
            for started in slot.glob("*/gate-*/*/started"):
                if (started.parent / "b.txt").exists():
                    (started.parent / "b.txt").write_text("two\n")
                    edited.append(started)
                    (project.folder / "edited").touch()
            time.sleep(0.01)

    person = threading.Thread(target=edit)
    person.start()
    project.run(code=3)
    person.join()
    assert edited
    assert project.git("ls-tree", "--name-only", "main", "b.txt") == ""


def test_a_kept_file_changed_in_place_under_another_name_is_found(tmp_path):
    kept, store = tmp_path / "kept", tmp_path / "store"
    kept.mkdir()
    store.write_text("exit 1")
    os.link(store, kept / "tool")
    before, status = kept_digest([kept]), store.stat()
    os.link(store, tmp_path / "of another project")
    assert kept_digest([kept]) == before
    store.write_text("exit 0")
    os.utime(store, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert store.stat().st_size == status.st_size
    assert kept_digest([kept]) != before
