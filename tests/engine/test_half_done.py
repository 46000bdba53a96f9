"""Half of an issue's work closes no issue: what is left is a part, and somebody looks before a parent is closed."""

import json
import signal

import pytest

from noface.git.refs import slug

KILLED = -signal.SIGKILL
BODY = "Six files are wanted:\n\n" + "".join(f"- [ ] write `{n}.txt`\n" for n in "abcdef")
WISE = """
[models.wise]
agent = "scripted"
command = "{script}"
tier = 3
[roles]
{role} = "wise"
"""


def write(*names):
    return [{"write": f"{name}.txt", "text": name} for name in names]


def says(value):
    return {"say": "```json\n" + json.dumps(value) + "\n```"}


def part(*left):
    return says({"status": "partial", "summary": "a part", "left": [f"write {name}.txt" for name in left]})


DONE = says({"status": "done", "summary": "It is already done, nothing to change."})
SLEEP = {"sleep": 60}


def config(project, extra=""):
    project.config(extra, gate="test ! -e bad")
    toml = project.path / "noface.toml"
    text = toml.read_text().replace('idle_timeout = "30s"', 'idle_timeout = "2s"')
    toml.write_text(text.replace("tier = 2\n", 'tier = 2\nidle_timeout = "2s"\n', 1))


def there(project):
    return {name for name in "abcdef" if project.git("ls-tree", "main", f"{name}.txt")}


def test_what_nobody_has_begun_is_a_part_and_what_was_begun_is_done_once(project):
    config(project)
    project.play(
        ("7", 1, [*write("a"), SLEEP]),
        ("7", 2, [*write("b"), part("c", "d", "e", "f")]),
        ("7", 3, [*write("c"), SLEEP]),
        *((f"7.{number}", 0, [DONE]) for number in (1, 2, 3)),
        ("7.4", 1, [*write("d"), part("e", "f")]),
        ("7.4", 2, [*write("e"), {"say": "So far."}]),  # not that it is all
        ("7.4", 3, [*write("f"), DONE]),
    )
    project.issue(7, "Six files", BODY)
    project.commit()
    project.run(code=3)
    assert there(project) == set("abcdef")
    assert project.statuses() == {"7": "approval"} | {f"7.{number}": "merged" for number in (1, 2, 3, 4)}
    rest = project.prompt(slug("7.4"), 1)
    left = rest.split("this is left:")[1].split("These parts come before")[0]
    assert [name for name in "abcdef" if f"{name}.txt" in left] == ["c", "d", "e", "f"]


@pytest.mark.thorough
def test_a_role_says_what_is_missing_in_the_issue_s_words_and_a_killed_noface_goes_on(project):
    config(project, WISE.format(script=project.script, role="reviewer") + '[review]\nwhen = "never"\n')
    found = {"missing": [{"sentence": "and document them", "what": "no f.txt"}], "reason": "I looked."}
    nothing = {"missing": [], "reason": "I looked again."}
    look = f"test -e {project.folder}/f && cat {project.folder}/no || cat {project.folder}/yes"
    (project.folder / "yes").write_text(f"```json\n{json.dumps(found)}\n```")
    (project.folder / "no").write_text(f"```json\n{json.dumps(nothing)}\n```")
    project.play(
        ("7", 0, [{"shell": look}], "what_is_missing"),
        ("7", 0, [*write("a", "b"), SLEEP]),
        ("7.3", 0, [*write("f"), {"shell": f"touch {project.folder}/f"}, DONE]),
        ("*", 0, [DONE]),
    )
    project.issue(7, "Write the files", "Write the files, and document them.")
    project.commit()
    for point in ("question_answered:1:kill", "answer_recorded:2:kill", "question_answered:1:kill"):
        project.run(code=KILLED, NOFACE_FAILPOINT=point)
    project.run()
    assert project.statuses()["7"] == "merged"
    assert there(project) == set("abf")
    assert "no f.txt" in project.prompt(slug("7.3"), 1)
    assert len([each for each in project.statuses() if each.startswith("7.")]) == 3
