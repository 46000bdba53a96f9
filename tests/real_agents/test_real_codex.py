"""Codex with the models of its presets, which call their tools from a script, and with an older model, which does not."""

import json

import pytest
from scenario import Answer, Scenario

from noface.agents.base import EventKind
from noface.agents.registry import AGENTS
from noface.data import table

PRESETS = [entry["model"] for entry in table("agents")["codex"]["presets"]]
OLDER = "gpt-5.1-codex"
"""It is given its tools beside the conversation, and calls each by itself."""
BOTH = Scenario("both", (Answer(edit="b.txt", text="done"), Answer(run="cat a.txt"), Answer(say="Done.")))
VERDICT = {"verdict": "approve", "summary": "It does what it should."}
SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in VERDICT},
    "required": list(VERDICT),
    "additionalProperties": False,
}


def models(*names):
    """Parametrize a test by models; each run counts as one of codex."""
    return pytest.mark.parametrize("model", names, ids=[f"codex-{name}" for name in names])


def events(real):
    """Return what the reader makes of the run's output."""
    return AGENTS["codex"].reader().feed((real.folder / "attempt" / "agent.log").read_bytes())


@models(*PRESETS)
def test_an_edit_and_a_command_of_a_preset_are_seen_with_what_they_used(real, model):
    real.play(BOTH)
    _, verdict = real.started("codex", "Write b.txt.", model=model)
    assert verdict.error is None
    assert (real.project.path / "b.txt").read_text() == "done\n"
    seen = [(event.kind, event.text) for event in events(real)]
    assert (EventKind.EDIT, f"edited {real.project.path}/b.txt") in seen
    assert [text for kind, text in seen if kind is EventKind.TOOL] == ["command_execution /bin/bash -lc 'cat a.txt'"]
    assert (verdict.usage.tokens_in, verdict.usage.tokens_out) == (3 * 1200, 3 * 40)
    assert '"type": "additional_tools"' in json.dumps(real.model.requests[0])


@models(*PRESETS)
def test_a_preset_that_is_only_asked_reads_and_cannot_edit(real, model):
    real.play("reviews")
    _, verdict = real.started("codex", "Review this.", role="review", model=model)
    assert verdict.answer.endswith('{"verdict": "approve"}')
    assert not (real.project.path / "b.txt").exists()
    assert "one\\n" in json.dumps(real.model.requests[-1]), "it can read the project"


@models(*PRESETS)
def test_a_preset_answers_by_a_schema(real, model):
    real.play(Scenario("by a schema", (Answer(say="I see.", json=VERDICT),)))
    _, verdict = real.started("codex", "Review this.", role="review", model=model, schema=json.dumps(SCHEMA))
    assert verdict.error is None
    assert json.loads(verdict.answer) == VERDICT


@pytest.mark.parametrize("scenario", ["truncated", "broken_end"])
@models(*PRESETS, OLDER)
@pytest.mark.row("stream cut off", "codex")
def test_answers_that_break_off_are_no_finished_run_and_what_was_written_is_kept(real, model, scenario):
    real.play(scenario)
    real.config("codex", model=model)
    attempt, printed = real.run()
    assert (attempt["outcome"], attempt["failure"]["rule"]) == ("NETWORK", "codex-network"), printed
    assert not attempt["charged"]
    assert ("b.txt" in real.kept()) is (scenario == "broken_end")
