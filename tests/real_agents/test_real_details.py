"""What noface learns from the real programs, what it asks of them, and what is special about single ones."""

import json

import pytest
from scenario import scenario

CLIS = ("claude", "codex", "codex-5", "gemini", "opencode", "aider", "mini")
OFFERED = {
    "claude": {"Read", "Grep", "Glob"},
    "gemini": {"read_file", "grep_search", "glob"},
    "opencode": {"read", "grep", "glob"},
}
"""Tools that whoever is only asked something needs."""
USD = {"claude": (3e-6, 15e-6), "opencode": (2.5e-6, 10e-6), "mini": (2.5e-6, 10e-6)}
OWN_FILES = {"a.txt", "b.txt", "noface.toml", "issues/1-x.md"}


def asked(real):
    return [json.dumps(request) for request in real.model.requests]


def offered(real):
    """Return the names of all tools that the program offered to the model."""
    tools = [tool for request in real.model.requests for tool in request.get("tools") or []]
    named = [tool for each in tools for tool in each.get("functionDeclarations", [each])]
    return {each.get("name") or each["function"]["name"] for each in named}


@pytest.mark.row("success")
@pytest.mark.parametrize("cli", CLIS)
def test_work_lands_alone_and_its_report_cost_tokens_and_session_are_kept(real, cli):
    played = scenario("report")
    real.play(played)
    real.config(cli)
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    assert real.landed() == ["b.txt"]
    assert (real.project.path / "b.txt").read_text() == "done\n"
    assert real.kept() <= OWN_FILES
    report = attempt["report"]
    assert (report["status"], report["unverified"], report["risks"]) == (
        "done",
        ["Long names"],
        ["None that I know of"],
    )
    usage = json.loads((real.project.state / "attempts/1/1/report.json").read_text())["agent"]["usage"]
    requests = len(real.model.requests)
    assert requests == (1 if cli == "aider" else 2) or cli == "claude"
    sent, received = requests * played.tokens_in, requests * played.tokens_out
    assert (usage["tokens_in"], usage["tokens_out"]) == (sent, received)
    assert len(usage["session_id"] or "") > 20 or cli in ("aider", "mini"), "these have none"
    if cli in USD:
        assert usage["cost_usd"] == pytest.approx(sent * USD[cli][0] + received * USD[cli][1])
    elif cli == "aider":
        assert usage["cost_usd"] == 0.0034, "as it prints it"


@pytest.mark.row("background process")
@pytest.mark.parametrize("cli", CLIS)
def test_processes_left_behind_are_ended_and_the_work_lands(real, cli):
    stays = "setsid sleep 976 >/dev/null 2>&1 </dev/null &"  # aider's model has no tools
    real.play("success" if cli == "aider" else "leftovers")
    real.config(cli, args=("--auto-test", "--test-cmd", stays) if cli == "aider" else ())
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    report = json.loads((real.project.state / "attempts/1/1/report.json").read_text())
    assert real.left() == []
    assert report["agent"]["survivors_killed"] >= 1 or cli.startswith(("claude", "codex")), (
        "which end them themselves at times"
    )
    assert report["agent"]["ended_by"] == "itself"
    assert real.landed() == ["b.txt"]


@pytest.mark.parametrize("cli", ["claude", "codex", "gemini", "opencode", "aider"])
def test_whoever_is_only_asked_reads_answers_and_cannot_edit(real, cli):
    real.play("reviews")
    before = real.project.git("status", "--porcelain", "--ignored")
    _, verdict = real.started(cli, "Review this.", role="review")
    assert verdict.error is None
    assert verdict.answer.endswith('{"verdict": "approve"}')
    assert not (real.project.path / "b.txt").exists()
    after = real.project.git("status", "--porcelain", "--ignored")
    assert after.replace("?? .aider.tags.cache.v4/", "") == before  # the database of aider's map
    if cli == "codex":
        assert "read-only" in asked(real)[-1].partition("I will do it now.")[2].lower(), "its patch was refused"
        assert "one\\n" in asked(real)[-1], "it can read the project"
    if cli in OFFERED:
        assert offered(real) >= OFFERED[cli]
        assert not offered(real) & {
            "Bash",
            "Edit",
            "Write",
            "write_file",
            "replace",
            "run_shell_command",
            "bash",
            "edit",
        }


@pytest.mark.parametrize(
    ("cli", "model", "thinks"),
    [
        ("claude", "claude-sonnet-4-5", lambda request: request["thinking"]["budget_tokens"] == 63_999),
        ("claude", "claude-opus-4-6", lambda request: request["output_config"]["effort"] == "max"),
        ("codex", "gpt-5.1-codex", lambda request: request["reasoning"]["effort"] == "high"),
        ("aider", "openai/o3", lambda request: request["reasoning_effort"] == "high"),
        ("mini", "openai/o3", lambda request: request["reasoning_effort"] == "high"),
        ("aider", "openai/gpt-4o", lambda request: "reasoning_effort" not in request),
        ("mini", "openai/gpt-4o", lambda request: "reasoning_effort" not in request),
        ("opencode", "test/o3", lambda request: request["reasoning_effort"] == "high"),
        ("opencode", "test/gpt-4o", lambda request: "reasoning_effort" not in request),
        ("gemini", "gemini-2.5-pro", lambda request: "thinkingConfig" in request["generationConfig"]),  # as always
    ],
)
def test_extended_thinking_and_a_prompt_of_300_kb_reach_the_provider(real, cli, model, thinks):
    real.play("success")
    prompt = "Write b.txt.\n" + "one more word " * 23_000 + "and the last."
    _, verdict = real.started(cli, prompt, think=True, model=model)
    assert verdict.error is None
    assert prompt.partition("\n")[2] in asked(real)[-1]
    assert thinks(real.model.requests[-1])
    assert (real.project.path / "b.txt").read_text() == "done\n"


@pytest.mark.parametrize("cli", ["claude", "mini"])
def test_the_limit_of_cost_ends_the_run(real, cli):
    real.play("endless")
    flag = ("--max-budget-usd", "1") if cli == "claude" else ("-l", "1")
    _, verdict = real.started(cli, "Go on.", args=flag)
    assert (verdict.error.kind, verdict.resource) == ("RESOURCE_EXHAUSTED", "budget")
    assert verdict.usage.cost_usd > 1


@pytest.mark.parametrize("cli", ["codex"])
def test_codex_refuses_a_reserved_provider_before_it_asks_the_model_anything(real, cli):
    real.play("overloaded")
    _, verdict = real.started(cli, "Do it.", args=("-c", "model_providers.openai.request_max_retries=0"))
    assert verdict.error.kind == "MISCONFIGURED"
    assert "reserved built-in provider" in verdict.error.excerpt
    assert real.model.requests == []


@pytest.mark.parametrize("cli", ["codex"])
def test_a_person_s_codex_home_keeps_its_login_and_gets_no_database(real, cli):
    home = real.folder / ".codex"
    home.mkdir()
    (home / "auth.json").write_text('{"OPENAI_API_KEY": "sk-test-mine"}')
    real.play("success")
    _, verdict = real.started(cli, "Write b.txt.")
    assert verdict.error is None
    assert (home / "auth.json").read_text() == '{"OPENAI_API_KEY": "sk-test-mine"}'
    assert list(home.glob("*.sqlite*")) == []
    assert list((real.folder / "attempt" / "codex").glob("*.sqlite")) != []


@pytest.mark.parametrize("cli", ["aider"])
def test_aider_s_switch_for_analytics_stays_the_person_s(real, cli):
    real.play("success")
    _, verdict = real.started(cli, "Write b.txt.")
    assert verdict.error is None
    settings = real.folder / ".aider" / "analytics.json"
    assert not settings.exists() or not json.loads(settings.read_text()).get("permanently_disable")
