"""Where each agent's key or login is looked for."""

import pytest
from support.agent_recordings import of_each

from noface.cli.probes.models import Login, login_of


@pytest.mark.parametrize(
    ("agent", "model", "env", "seen"),
    [
        ("claude", "m", {"CLAUDE_CODE_OAUTH_TOKEN": "x"}, ("CLAUDE_CODE_OAUTH_TOKEN",)),
        ("claude", "m", {"CLAUDE_CODE_USE_BEDROCK": "1"}, ("CLAUDE_CODE_USE_BEDROCK",)),
        ("claude", "m", {"ANTHROPIC_API_KEY": ""}, ()),
        ("codex", "m", {"OPENAI_API_KEY": "x"}, ()),
        ("gemini", "m", {"GOOGLE_API_KEY": "x"}, ("GOOGLE_API_KEY",)),
        ("opencode", "openai/gpt-6.1-sol", {"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x"}, ("OPENAI_API_KEY",)),
        ("aider", "gpt-6.1-sol", {"OPENAI_API_KEY": "x"}, ("OPENAI_API_KEY",)),
        ("aider", "claude-opus-4-5", {"ANTHROPIC_API_KEY": "x"}, ("ANTHROPIC_API_KEY",)),
        ("mini", "deepseek/deepseek-chat", {"DEEPSEEK_API_KEY": "x"}, ("DEEPSEEK_API_KEY",)),
        ("mini", "anthropic/claude-opus-4-5", {"OPENAI_API_KEY": "x"}, ()),
    ],
)
def test_the_key_of_the_models_own_provider_is_looked_for(agent, model, env, seen, tmp_path):
    assert login_of(agent, model, env, tmp_path).seen == seen


def test_the_key_that_codex_ignores_is_named_in_the_advice(tmp_path):
    assert "does not look at OPENAI_API_KEY" in login_of("codex", "m", {"OPENAI_API_KEY": "x"}, tmp_path).fix


def test_what_cannot_be_seen_is_not_certain(tmp_path):
    assert login_of("claude", "m", {}, tmp_path).certain
    assert not login_of("claude", "m", {}, tmp_path, keychain=True).certain
    assert not login_of("aider", "house/model", {}, tmp_path).certain


@pytest.mark.parametrize("model", ["ollama/qwen", "ollama_chat/qwen", "lm_studio/x"])
def test_a_local_model_needs_no_login(model, tmp_path):
    assert login_of("aider", model, {}, tmp_path) == Login(needed=False)


@pytest.mark.parametrize(
    ("agent", "file"),
    of_each(
        "a file of its login",
        [
            ("claude", ".claude/.credentials.json"),
            ("codex", ".codex/auth.json"),
            ("gemini", ".gemini/oauth_creds.json"),
            ("opencode", ".local/share/opencode/auth.json"),
            ("aider", ".aider.conf.yml"),
            ("mini", ".config/mini-swe-agent/.env"),
        ],
    ),
)
def test_a_login_file_is_seen_where_its_agent_keeps_it(agent, file, tmp_path):
    assert login_of(agent, "anthropic/m", {}, tmp_path).seen == ()
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("x")
    assert login_of(agent, "anthropic/m", {}, tmp_path).seen == (f"~/{file}",)


def test_a_login_folder_that_was_moved_is_looked_for_there(tmp_path):
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved" / "auth.json").write_text("x")
    seen = login_of("codex", "m", {"CODEX_HOME": str(tmp_path / "moved")}, tmp_path / "home").seen
    assert seen == (str(tmp_path / "moved" / "auth.json"),)
