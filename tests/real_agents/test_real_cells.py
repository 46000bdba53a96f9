"""The real programs through more than one answer: what noface does next, how it holds them to money, roles and home."""

import json
from dataclasses import dataclass, field, replace

import pytest
from endpoints import MODELS, agent_of
from person import WORDS, files, settings_of_a_person
from scenario import Answer, Scenario

from noface.data import table

COLUMNS = ("claude", "codex", "codex-5", "gemini", "opencode", "aider", "mini")
WITH_TOOLS = tuple(column for column in COLUMNS if column != "aider")
IDLE_S = 45
"""Longer than any of them takes to start on a machine that is busy."""
PRESETS = [
    (agent, preset["model"]) for agent, entry in table("agents").items() for preset in entry.get("presets", ())
]  # fmt: skip
STRONGER = {
    "claude": "claude-opus-4-5",
    "codex": "gpt-6-astra",
    "codex-5": "gpt-5.1-codex-max",
    "gemini": "gemini-3.1-pro-preview",
    "opencode": "test/o3",
    "aider": "openai/o3",
    "mini": "openai/o3",
}
"""A model beside the usual one, which the program also knows."""
PRICED = {"codex-5": "usd_per_mtok_in = 2\nusd_per_mtok_out = 10"}
"""Models that no price list has."""
DONE = Answer(say="Done: b.txt is written.")
RIGHT = (Answer(edit="b.txt", text="done"), DONE)


@dataclass(frozen=True)
class Changing(Scenario):
    """A model that answers otherwise as soon as a request holds `sign`; `seen` collects the requests with it."""

    sign: str = ""
    later: tuple[Answer, ...] = RIGHT
    seen: list[str] = field(default_factory=list)

    def about(self, request):
        if self.sign not in request:
            return replace(self, sign="\0")
        self.seen.append(request)
        return Scenario(self.name, self.later)


@pytest.mark.row("syntax error")
@pytest.mark.parametrize("cli", COLUMNS)
def test_an_edit_that_does_not_parse_is_named_and_the_next_attempt_lands(real, cli):
    broken = (Answer(edit="b.py", text="def b(:"), Answer(say="Done."))
    found = "def b(:\n" * 4  # aider's own lint asks three times more, and each answer adds to the file
    mended = (Answer(edit="b.py", text="def b(): pass", search=found), Answer(say="Done."))
    played = real.play(Changing("syntax", broken, sign="failed with: SYNTAX_ERROR", later=mended)).scenario
    real.config(cli, gate="test ! -e b.py || python3 -m py_compile b.py")
    real.issue(1, "b.py")
    printed = real.project.run()
    first, second = real.project.attempts("1")
    assert [first["outcome"], first["charged"], second["outcome"]] == ["SYNTAX_ERROR", True, "PASSED"], printed
    assert "b.py:1: invalid syntax" in real.project.prompt("1", 2)
    assert played.seen
    assert real.landed() == ["b.py"]
    assert (real.project.path / "b.py").read_text() == "def b(): pass\n"


@pytest.mark.row("escalation")
@pytest.mark.parametrize("cli", COLUMNS)
def test_the_second_model_is_told_why_the_first_failed_and_lands(real, cli):
    stronger = STRONGER[cli]
    wrong = (Answer(edit="c.txt", text="this is the wrong file"), Answer(say="Done."))
    sign = f"/models/{stronger}:" if cli == "gemini" else f'"model": "{stronger.rpartition("/")[2]}'
    played = real.play(Changing("escalation", wrong, sign=sign)).scenario
    more = real.model_entry(cli, name="stronger", model=stronger, own="tier = 3")
    retry = 'escalation_model = "stronger"\nescalate_after_attempts = 1'
    real.config(cli, own="tier = 1", gate="test ! -e c.txt || test -e b.txt", retry=retry, more=more)
    real.issue(1)
    printed = real.project.run()
    first, second = real.project.attempts("1")
    assert (first["model"], first["charged"], second["model"]) == ("real", True, "stronger"), printed
    assert first["failure"]["gate"] == "check"
    assert second["outcome"] == "PASSED"
    assert "test ! -e c.txt" in real.project.prompt("1", 2)
    assert played.seen
    assert "b.txt" in real.landed()


DEAR = Scenario(
    "dear", tuple(Answer(edit=f"b{n}.txt", text="done") for n in range(40)), pause_s=3, tokens_in=150_000
)  # fmt: skip
"""A model that goes on and on, at some $0.40 an answer; none is like the last, which Gemini CLI would end."""
AGAIN = {"aider": ("--auto-test", "--test-cmd", "false")}
"""Has aider ask for one answer after the other."""


@pytest.mark.row("budget, attempt")
@pytest.mark.parametrize("cli", COLUMNS)
def test_a_run_over_its_model_s_budget_is_ended_and_the_amount_told(real, cli):
    real.play(DEAR)
    real.config(cli, own=f"max_cost_usd = 0.5\n{PRICED.get(cli, '')}", args=AGAIN.get(cli, ()))
    attempt, printed = real.run()
    failure = attempt["failure"]
    assert (attempt["outcome"], attempt["charged"]) == ("RESOURCE_EXHAUSTED", True), printed
    assert "budget" in failure["ran_out"]
    assert 0.5 <= attempt["cost_usd"] < 5
    assert len(real.model.requests) < 12
    assert real.left() == []


@pytest.mark.row("budget, run")
@pytest.mark.parametrize("cli", COLUMNS)
def test_a_run_over_the_budget_of_all_stops_and_says_so(real, cli):
    real.play(DEAR)
    real.config(cli, run="max_cost_usd = 0.5", own=PRICED.get(cli, ""), args=AGAIN.get(cli, ()))
    real.issue(1)
    real.issue(2)
    printed = real.project.run(code=4)
    assert "max_cost_usd" in printed
    (attempt,) = real.project.attempts("1")
    assert real.project.attempts("2") == []
    assert (attempt["outcome"], attempt["charged"]) in (("INTERRUPTED", False), ("RESOURCE_EXHAUSTED", True))
    assert 0.5 <= attempt["cost_usd"] < 5
    assert len(real.model.requests) < 12
    assert real.left() == []


@dataclass(frozen=True)
class Reviewer(Scenario):
    """A worker that writes b.txt, and a reviewer that first tries to write evil.txt; `found` are those it could."""

    find: object = None
    found: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def about(self, request):
        if "asked for a judgement" not in request:
            return Scenario("worker", RIGHT)
        self.found.extend(self.find())
        self.asked.append(request)
        verdict = {"verdict": "approve", "summary": "It does what it should."}
        answer = Answer(say=f"I see.\n```json\n{json.dumps(verdict)}\n```", json=verdict | {"points": None})
        return Scenario("reviewer", (Answer(edit="evil.txt", text="mine", say=answer.say), answer))


@pytest.mark.row("read-only role")
@pytest.mark.parametrize("cli", COLUMNS)
def test_a_reviewer_that_tries_to_write_cannot_and_its_verdict_counts(real, cli):
    slots = real.folder / "slots"
    played = real.play(Reviewer("reviewer", find=lambda: [str(path) for path in slots.rglob("evil.txt")])).scenario
    real.config(cli, more='[roles]\nreviewer = "real"\n[review]\nwhen = "always"')
    real.issue(1)
    printed = real.project.run()
    (question,) = real.project.shown("show", "1")["asked"]
    assert (question["outcome"], question["answer"]["strategy"]) == ("ADVISED", "approve"), printed
    assert played.asked
    assert played.found == []
    assert list(slots.rglob("evil.txt")) == []
    assert real.landed() == ["b.txt"]
    assert "evil.txt" not in real.kept()


@pytest.mark.row("person's settings")
@pytest.mark.parametrize("cli", COLUMNS)
def test_hooks_servers_and_memory_of_the_person_s_home_do_not_act(real, cli):
    real.play("success")
    leading = settings_of_a_person(real.folder, agent_of(cli), real.model.url)
    before = files(real.folder)
    real.config(cli, env=leading)
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    assert real.landed() == ["b.txt"]
    assert real.model.visited == []
    assert WORDS not in json.dumps(real.model.requests)
    if real.sandbox == "bubblewrap":
        assert files(real.folder) == before


@pytest.mark.row("person's settings")
@pytest.mark.parametrize(
    "cli", [cli for cli in COLUMNS if "user" in table("agents")[agent_of(cli)].get("settings", ())]
)
def test_with_settings_of_the_user_they_act(real, cli):
    real.play("success")
    leading = settings_of_a_person(real.folder, agent_of(cli), real.model.url)
    real.config(cli, own='settings = "user"', env=leading)
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    assert "hook" in real.model.visited or WORDS in json.dumps(real.model.requests)


@pytest.mark.row("own worktree")
@pytest.mark.parametrize("cli", WITH_TOOLS)
def test_work_in_a_worktree_of_the_agent_s_own_is_not_taken_for_work_and_the_next_attempt_lands(real, cli):
    elsewhere = "git worktree add -q --detach .side && printf 'done\\n' > .side/b.txt"
    real.play(Changing("worktree", (Answer(run=elsewhere), DONE), sign="failed with: NO_DIFF"))
    real.config(cli)
    real.issue(1)
    printed = real.project.run()
    first, second = real.project.attempts("1")
    assert [first["outcome"], second["outcome"]] == ["NO_DIFF", "PASSED"], printed
    assert first["failure"]["rule"] == "worked-elsewhere"
    assert ".side" in real.project.prompt("1", 2)
    assert real.landed() == ["b.txt"]
    assert not [path for path in real.kept() if path.startswith(".side")]


@pytest.mark.row("long silent test")
@pytest.mark.parametrize("cli", WITH_TOOLS)
def test_a_tool_call_that_is_silent_for_longer_than_idle_timeout_is_no_hang(real, cli):
    silent = f"python3 -c 'import time; time.sleep({IDLE_S + 25})'; printf 'done\\n' > b.txt"
    real.play(Scenario("silent", (Answer(run=silent), DONE)))
    real.config(cli, idle=IDLE_S)
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    assert attempt["seconds"] > IDLE_S + 20
    assert real.landed() == ["b.txt"]


@pytest.mark.row("preset models")
@pytest.mark.parametrize(("cli", "model"), PRESETS)
def test_work_by_each_preset_s_own_model_lands_and_its_cost_is_known(real, cli, model):
    real.play("success")
    real.config(cli, model=model)
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    assert real.landed() == ["b.txt"]
    assert attempt["cost_usd"] > 0


def test_every_column_has_a_model():
    assert set(COLUMNS) == set(MODELS)
