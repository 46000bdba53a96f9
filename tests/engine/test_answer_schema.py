"""A role's agent is given the schema of its answer by its own option; its answer is checked all the same (L4, L11)."""

import json

import pytest
from support.claude_program import claude

REVIEW = '\n[roles]\nreviewer = "small"\n[review]\nwhen = "always"\n'
WORK = ("*", 0, [{"write": "b.txt", "text": "b"}])


def reviewed(project, answer, issue="1"):
    return (issue, 0, [{"answer": json.dumps(answer)}], "review")


def asked(project, again=False):
    """Return the schema that the reviewer's program was given, and the prompt, of the first question or its repetition."""
    (log,) = project.state.glob(f"attempts/1/1/ask-*{'/again' if again else ''}/agent.log")
    sent = [entry for entry in map(json.loads, log.read_text().splitlines()) if entry["type"] == "asked"]
    return sent[-1]["schema"], sent[-1]["messages"][-1]["content"]


def test_an_answer_comes_from_where_the_program_puts_what_a_schema_made(project):
    claude(
        project, WORK, reviewed(project, {"verdict": "approve", "summary": "It is fine.", "points": None}), extra=REVIEW
    )
    project.run()
    assert project.statuses()["1"] == "merged"
    (question,) = project.shown("show", "1")["asked"]
    assert (question["outcome"], question["answer"]["strategy"]) == ("ADVISED", "approve")
    schema, _ = asked(project)
    assert schema["required"] == ["verdict", "summary", "points", "settled", "divide"]


@pytest.mark.thorough
def test_an_answer_that_a_schema_let_pass_and_noface_does_not_is_asked_for_once_more_in_words(project):
    """Providers know no conditions: that a wish for changes needs points, only noface checks."""
    claude(project, WORK, reviewed(project, {"verdict": "request_changes", "summary": "No."}), extra=REVIEW)
    project.run(code=3)
    assert project.statuses()["1"] == "approval"
    schema, prompt = asked(project, again=True)
    assert schema is None
    assert "Your last answer could not be read as a `review`" in prompt
    assert "'points' is a required property" in prompt


@pytest.mark.thorough
def test_a_program_that_is_too_old_for_the_option_is_asked_without_it_from_then_on(project):
    play = reviewed(project, {"verdict": "approve", "summary": "It is fine."}, "*")
    second = ("2", 0, [{"write": "c.txt", "text": "c"}])
    claude(project, second, WORK, play, extra=REVIEW, OLD=project.folder)
    project.issue(2)
    project.commit("another issue")
    project.run()
    assert set(project.statuses().values()) == {"merged"}
    assert asked(project)[0] is None
    assert (project.folder / "refused").read_text() == "once more\n"


def test_an_answer_that_is_cut_off_empty_or_no_object_approves_nothing_and_is_asked_for_once_more(project):
    project.config(REVIEW.replace("small", "big"))
    seen = project.folder / "asked before"
    answer = json.dumps({"verdict": "approve", "summary": "It is fine."})
    says = f"""test -e '{seen}' && echo '{answer}' || echo '{{"verdict": "approve",'; touch '{seen}'"""
    project.play(WORK, ("1", 0, [{"shell": says}], "review"))
    project.issue(1)
    project.commit()
    project.run()
    assert project.statuses()["1"] == "merged"
    (prompt,) = project.state.glob("attempts/1/1/ask-*/again/prompt.md")
    assert "truncated JSON" in prompt.read_text()
    assert "Required keys: `verdict`, `summary`" in prompt.read_text()
