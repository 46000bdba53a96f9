"""A failed gate, a broken file, a breakdown: what is good of the work is there for the next attempt."""

import json
import re

import pytest

from noface.git.refs import scratch_branch, slug

DONE = {"status": "done", "summary": "It is all there."}
BROKEN = "def f(:\n"
FILES = [{"write": f"src/f{n}.py", "text": f"value = {n}  # {'.' * 99}\n" * 50} for n in range(12)]
DIVIDE = '[retry.strategies]\nTEST_FAILURE = "breakdown"\nRESOURCE_EXHAUSTED = "breakdown"\n'


def there(project, *names):
    """A step that tells in said.txt of the test's folder which files the worker finds."""
    return {"shell": f"cat {' '.join(names)} > {project.folder}/said.txt 2>/dev/null; true"}


def said(project):
    return (project.folder / "said.txt").read_text()


def branch(project, issue, path):
    return project.git("show", f"{scratch_branch(issue)}:{path}", check=False)


def test_one_file_of_many_that_does_not_parse_is_there_to_mend_with_all_the_others(project):
    project.play(
        ("1", 1, [*FILES, {"write": "src/last.py", "text": BROKEN}]),
        ("1", 2, [there(project, "src/last.py", "src/f3.py"), {"say": "I see nothing."}]),
        ("1", 3, [{"write": "src/last.py", "text": "x = 1\n"}]),
    )
    project.issue(1)
    project.commit()
    project.run()
    assert said(project).startswith(BROKEN)
    assert "value = 3" in said(project)
    prompt = project.prompt("1", 2)
    assert "SYNTAX_ERROR: src/last.py:1" in prompt
    assert "Fix that specific problem while preserving working parts." in prompt
    assert len(prompt) < 40_000
    assert "These files do not parse" not in prompt
    assert "These files do not parse, they may be half written: src/last.py:1." in project.prompt("1", 3)
    assert (project.path / "src" / "f7.py").exists()


@pytest.mark.thorough
def test_the_branch_shows_what_the_gates_saw_and_not_what_does_not_parse(project):
    project.config(gate="! grep -qs 1 a.py")
    project.play(
        ("1", 1, [{"write": "a.py", "text": "a = 1\n"}]),
        ("1", 2, [{"write": "a.py", "text": BROKEN}, {"write": "more.py", "text": "x = 1\n" * 99}]),
    )
    project.issue(1, max_attempts=2)
    project.commit()
    project.run(code=3)
    assert branch(project, "1", "a.py") == "a = 1"


@pytest.mark.thorough
def test_parts_begin_with_the_whole_s_work_in_their_paths_and_leave_theirs_to_its_retry(project):
    plan = {
        "children": [
            {"key": "one", "title": "Write one", "body": "one.txt", "paths": ["one"]},
            {"key": "two", "title": "Write two", "body": "two.txt", "paths": ["two"]},
            {"key": "three", "title": "Write three", "body": "three.txt", "paths": ["three"]},
        ]
    }
    wise = f'\n[models.wise]\nagent = "scripted"\ncommand = "{project.script}"\ntier = 3\n[roles]\nplanner = "wise"\n'
    project.config(f"{DIVIDE}{wise}", gate="! grep -qrs bad . --include=*.txt || { echo FAIL: bad; exit 1; }")
    whole = [{"write": f"{name}/w.txt", "text": f"whole {name}\n"} for name in ("one", "two", "three", "four")]
    ask = [{"say": "```json\n" + json.dumps(plan) + "\n```"}]
    project.play(
        ("7", 1, [*whole, {"write": "one/b.txt", "text": "bad\n"}]),
        ("7", 1, ask, "breakdown"),
        ("7.1", 1, [there(project, "one/w.txt", "two/w.txt"), {"delete": "one/b.txt"}]),
        ("7.3", 1, [{"say": json.dumps(DONE)}]),
        ("7.2", 0, [{"write": "two/part.txt", "text": "bad part\n"}]),
        (
            "7",
            2,
            [
                {"shell": f"cat */*.txt > {project.folder}/retried.txt"},
                {"delete": "two/part.txt"},
                {"say": json.dumps(DONE)},
            ],
        ),
    )
    project.issue(7, max_attempts=8)
    project.commit()
    project.run()
    assert said(project) == "whole one\n"
    assert "earlier work on the whole issue" in project.prompt(slug("7.1"), 1)
    told = project.prompt("7", 2)
    for branch_told in re.findall(r"noface/[\w.-]+", told):
        assert "bad part" in project.git("show", f"{branch_told.rstrip('.')}:two/part.txt")
    assert "1 level below" in told
    assert "changed two/part.txt" in told
    retried = (project.folder / "retried.txt").read_text()
    assert {"whole one", "whole two", "whole three", "whole four", "bad part"} <= set(retried.splitlines())
    assert {issue: project.statuses()[issue] for issue in ("7", "7.2", "7.3")} == {
        "7": "merged",
        "7.2": "skipped",
        "7.3": "merged",
    }
    for name in ("one", "two", "three", "four"):
        assert (project.path / name / "w.txt").exists()
