"""The real programs take the schema of a role's answer by their option, and noface reads the answer where they put it."""

import json
from dataclasses import dataclass

import pytest
from install import clis
from scenario import Answer, Scenario

from noface.model.history import Topic
from noface.prompts.answers.forms import ANSWERS, provider_schema, without_nulls
from noface.prompts.structured import validate

VERDICT = {"verdict": "approve", "summary": "It does what it should.", "points": None, "settled": None}
REVIEW = Scenario("by a schema", (Answer(say="I see.", json=VERDICT),))
PROSE = json.dumps({name: value for name, value in VERDICT.items() if value is not None})


@dataclass(frozen=True)
class TwoRoles(Scenario):
    """A worker that writes b.txt, and a reviewer that answers by a schema, or in prose where it is given none."""

    def about(self, request):
        review = Answer(say=f"I see.\n```json\n{PROSE}\n```", json=VERDICT)
        return (
            Scenario("reviewer", (review,)) if "asked for a judgement" in request else Scenario("worker", self.answers)
        )


CLIS = clis()
_BY_SCHEMA = "StructuredOutput"
SCHEMAS = {topic: provider_schema(form.schema) for topic, form in ANSWERS.items()}
OLD = """#!/bin/sh
for word; do case $word in {option}) echo "error: unknown option '$word'" >&2; exit 1;; esac; done
exec {program} "$@"
"""


def schema_sent(cli, request):
    if cli == "codex":
        return request["text"]["format"]["schema"]
    (tool,) = [each for each in request["tools"] if each["name"] == _BY_SCHEMA]
    return tool["input_schema"]


@pytest.mark.parametrize("topic", [Topic.REVIEW, Topic.DIAGNOSIS, Topic.BREAKDOWN])
@pytest.mark.parametrize("cli", ["claude", "codex"])
def test_the_schema_reaches_the_model_and_its_answer_is_read(real, cli, topic):
    real.play(REVIEW)
    _, verdict = real.started(cli, "Review this.", role="review", schema=json.dumps(SCHEMAS[topic]))
    sent = schema_sent(cli, real.model.requests[-1])
    assert sent["properties"].keys() == SCHEMAS[topic]["properties"].keys()
    if topic is Topic.REVIEW:
        assert verdict.error is None
        form = ANSWERS[topic].schema
        read = validate(without_nulls(verdict.answer, form), form, "review")
        assert read == {"verdict": "approve", "summary": "It does what it should."}


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
@pytest.mark.parametrize(("cli", "option"), [("claude", "--json-schema"), ("codex", "--output-schema")])
def test_a_reviewer_answers_by_a_schema_or_is_asked_without_where_its_program_is_too_old(real, cli, option, old):
    real.play(TwoRoles("two roles", (Answer(edit="b.txt", text="done"), Answer(say="Done."))))
    real.config(cli)
    file = real.project.path / "noface.toml"
    text = file.read_text() + '\n[roles]\nreviewer = "real"\n[review]\nwhen = "always"\n'
    if old:
        program = real.folder / "bin" / cli
        program.parent.mkdir()
        real_one = CLIS[cli].program
        program.write_text(OLD.format(option=option, program=real_one))
        program.chmod(0o755)
        text = text.replace(f'command = "{real_one}"', f'command = "{program}"')
        text = text.replace('timeout = "150s"', 'timeout = "150s"\nsandbox = "none"')
    file.write_text(text)
    real.issue(1)
    printed = real.project.run()
    (question,) = real.project.shown("show", "1")["asked"]
    assert (question["outcome"], question["answer"]["strategy"]) == ("ADVISED", "approve"), printed
    assert real.landed() == ["b.txt"]
    given = [(request.get("text"), request.get("tools") or []) for request in real.model.requests]
    by_schema = [
        text for text, tools in given if "format" in (text or {}) or any(t.get("name") == _BY_SCHEMA for t in tools)
    ]
    assert bool(by_schema) is not old
