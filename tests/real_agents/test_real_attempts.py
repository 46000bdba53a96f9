"""noface run with the real agent programs: each scenario ends in its kind, in its time, with nothing left behind."""

import json
import time
from dataclasses import dataclass, replace

import pytest

OWN_FILES = {"a.txt", "b.txt", "noface.toml", "issues/1-x.md"}
TURNS = {"claude": ("--max-turns", "3"), "mini": ("-c", "agent.step_limit=3")}
OAUTH = (("ANTHROPIC_API_KEY", ""), ("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-test"))
PERSON = "waits (look 2 of 4 before a person is asked)"
NEXT = {
    "NO_DIFF": "ready (NO_DIFF: once more, with feedback)",
    "AGENT_CONFUSION": "ready (AGENT_CONFUSION: once more, with what noface knows)",
    "AUTH": PERSON,
    "MISCONFIGURED": PERSON,
    "RESOURCE_EXHAUSTED": "ready (RESOURCE_EXHAUSTED: a smaller step)",
    "TIMEOUT": "ready (TIMEOUT: a smaller step)",
    "OVERLOADED": "waiting (OVERLOADED: retry 1)",
    "NETWORK": "waiting (NETWORK: retry 1)",
}
"""What noface says comes next after a first attempt that ended so."""
A_DAY_S = 86_400
THREE_DAYS_S = 259_200
TWO_DAYS_AND_MORE_S = 185_400
UNCHARGED = ("RATE_LIMITED", "OVERLOADED", "NETWORK", "AUTH", "MISCONFIGURED")
IDLE_S = 45
"""Longer than any of them takes to start on a machine that is busy."""


@dataclass(frozen=True)
class Case:
    """A program, a scenario, and what must come of it.

    `seconds` is how long it may take, twice what it takes on a machine that has time for it. `retry_in` is how many
    seconds from now the provider said to come back, where the program tells it. `turns` is a limit in the settings of
    Gemini CLI, which has no argument for it.
    """

    cli: str
    scenario: str
    outcome: str
    rule: str
    seconds: float = 200
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    idle: int = 100
    retry_in: float | None = None
    turns: int | None = None

    def __str__(self):
        return f"{self.cli}-{self.scenario}"


def aider(scenario, outcome, rule, **more):
    """Return a case in which aider retries until it gives up, which nothing can shorten: about 85 s."""
    return Case("aider", scenario, outcome, f"aider-{rule}", 240, **more)


CASES = [
    aider("rate_limited", "RATE_LIMITED", "rate-limit", retry_in=42),
    aider("overloaded", "OVERLOADED", "overloaded"),
    aider("truncated", "NETWORK", "network"),
    Case("mini", "rate_limited", "RATE_LIMITED", "mini-rate-limit", retry_in=42),
    Case("mini", "overloaded", "OVERLOADED", "mini-overloaded"),
    Case("mini", "truncated", "NETWORK", "mini-network"),
    Case("claude", "rate_limited", "RATE_LIMITED", "claude-rate-limit"),
    Case("claude", "subscription_spent", "RATE_LIMITED", "claude-rate-limit", env=OAUTH, retry_in=THREE_DAYS_S),
    Case("claude", "weekly_limit", "RATE_LIMITED", "claude-rate-limit", env=OAUTH, retry_in=TWO_DAYS_AND_MORE_S),
    Case("codex", "weekly_limit", "RATE_LIMITED", "codex-rate-limit", retry_in=TWO_DAYS_AND_MORE_S),
    Case("claude", "overloaded", "OVERLOADED", "claude-overloaded"),
    Case("claude", "truncated", "NETWORK", "claude-lost"),
    Case("codex", "rate_limited", "RATE_LIMITED", "codex-rate-limit"),
    Case("codex", "subscription_spent", "RATE_LIMITED", "codex-rate-limit", retry_in=THREE_DAYS_S),
    Case("codex", "an_hour", "RATE_LIMITED", "codex-rate-limit", idle=IDLE_S, retry_in=3600),
    Case("codex", "overloaded", "OVERLOADED", "codex-overloaded"),
    Case("codex", "truncated", "NETWORK", "codex-network"),
    Case("gemini", "rate_limited", "RATE_LIMITED", "gemini-quota", idle=IDLE_S, retry_in=42),
    Case("gemini", "an_hour", "RATE_LIMITED", "gemini-quota", retry_in=3600),
    Case("gemini", "subscription_spent", "RATE_LIMITED", "gemini-quota"),
    Case("gemini", "overloaded", "OVERLOADED", "gemini-overloaded", idle=IDLE_S),
    Case("gemini", "truncated", "NETWORK", "gemini-network"),
    Case("gemini", "endless", "RESOURCE_EXHAUSTED", "gemini-max-turns", turns=3),
    Case("opencode", "rate_limited", "RATE_LIMITED", "opencode-rate-limit", retry_in=1),
    Case("opencode", "an_hour", "RATE_LIMITED", "opencode-rate-limit", idle=IDLE_S),
    Case("opencode", "overloaded", "OVERLOADED", "opencode-overloaded", 240),
    Case("opencode", "truncated", "NETWORK", "opencode-answer-broke-off", idle=IDLE_S),
    *(Case(cli, "endless", "RESOURCE_EXHAUSTED", rule, args=TURNS[cli]) for cli, rule in (
        ("claude", "claude-max-turns"), ("mini", "mini-limit-of-turns"))),
    *(Case(cli, "context_exceeded", "RESOURCE_EXHAUSTED", rule) for cli, rule in (
        ("claude", "claude-context"), ("codex", "codex-context"), ("aider", "aider-context-limit"),
        ("gemini", "gemini-context"), ("opencode", "opencode-context"), ("mini", "mini-context"))),
    *(Case(cli, *rest, rule, **more) for cli in ("claude", "codex", "gemini", "opencode", "aider", "mini") for *rest, rule, more in (
        ("nothing", "NO_DIFF", "tree-unchanged", {}),
        ("question", "AGENT_CONFUSION", f"{cli}-words-ask", {}),
        ("unauthorized", "AUTH", f"{cli}-auth", {}),
        ("model_unknown", "MISCONFIGURED", f"{cli}-not-found", {}),
        ("hang", "TIMEOUT", "agent-unanswered", {"idle": IDLE_S}))),
]  # fmt: skip

CASES += [replace(case, cli="codex-5") for case in CASES if case.cli == "codex"]
ROWS = {
    "nothing": "no edit",
    "question": "no edit",
    "unauthorized": "401",
    "rate_limited": "429, reset time",
    "an_hour": "429, reset time",
    "subscription_spent": "429, reset time",
    "weekly_limit": "429, reset time",
    "overloaded": "overloaded",
    "context_exceeded": "context too long",
    "model_unknown": "model unknown",
    "truncated": "stream cut off",
    "hang": "hang",
}
"""The row of the table that a scenario stands in."""


def case(each):
    """Return a case as a parameter, with the mark of its row."""
    return pytest.param(
        each, marks=[pytest.mark.row(ROWS[each.scenario])] if each.scenario in ROWS else [], id=str(each)
    )


@pytest.mark.parametrize("case", [case(each) for each in CASES])
def test_a_scenario_ends_in_its_kind_in_time_and_leaves_nothing(real, case):
    real.play(case.scenario)
    if case.turns is not None:
        real.settings_of_gemini(model={"maxSessionTurns": case.turns})
    real.config(case.cli, args=case.args, env=dict(case.env), idle=case.idle)
    now, began = time.time(), time.monotonic()
    attempt, printed = real.run()
    assert time.monotonic() - began < case.seconds
    failure = attempt["failure"]
    assert (attempt["outcome"], failure["rule"]) == (case.outcome, case.rule), printed
    assert attempt["charged"] is (case.outcome not in UNCHARGED)
    told = "the provider says when to come back" if case.retry_in is not None else "retry 1"
    assert real.next().startswith(
        NEXT.get(case.outcome, f"waiting (RATE_LIMITED: {told})").removesuffix(")")
    )  # AUTH says more
    assert real.left() == []
    assert real.kept() <= OWN_FILES
    assert real.project.git("status", "--porcelain") == ""
    assert real.model.requests
    if case.retry_in is not None:
        retry_at = json.loads((real.project.state / "attempts/1/1/report.json").read_text())["failure"]["retry_at"]
        assert now - 60 <= retry_at - case.retry_in <= time.time(), "codex tells it to the minute"
    if case.retry_in is not None and case.retry_in > A_DAY_S:
        day = time.strftime("%a %Y-%m-%d %H:%M", time.localtime(retry_at))
        assert printed.count(f"until {day}") == 2, "as it comes and in the summary"
        assert f"until {day}" in real.project.noface("status").stdout
