"""What of noface's environment agents and gates get: an allow-list, and everything but the agents' keys."""

import pytest
from support.cases import cases

from noface.agents.base import AGENTS
from noface.config.load import parse
from noface.errors import ConfigError
from noface.model.worker_run import ModelSpec
from noface.secrets.environment import fits, for_agents, for_gates, is_anothers, kept_from_gates, providers_of

KEYS = {
    name: f"value-of-{name}"
    for name in (
        "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "CODEX_API_KEY",
        "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY", "XAI_API_KEY",
        "MISTRAL_API_KEY",
    )
}  # fmt: skip
OTHERS = {
    "GITHUB_TOKEN": "push", "GH_TOKEN": "push", "NOFACE_GITHUB_TOKEN": "push", "GH_ENTERPRISE_TOKEN": "push",
    "GITHUB_ENTERPRISE_TOKEN": "push", "AWS_SECRET_ACCESS_KEY": "cloud", "AWS_ACCESS_KEY_ID": "cloud",
    "DATABASE_PASSWORD": "data", "STRIPE_SECRET": "money", "SSH_AUTH_SOCK": "/run/agent", "MY_APP": "x",
    "LD_PRELOAD": "/evil.so", "BASH_ENV": "/rc", "PROMPT_COMMAND": "x", "PYTHONSTARTUP": "x", "PWD": "/home/pat/repo",
    "GIT_DIR": "/repo/.git", "GIT_INDEX_FILE": "x", "NOFACE_FAILPOINT": "x:9", "PYTEST_CURRENT_TEST": "x",
    "MAKEFLAGS": "-j --jobserver-fds=3,4", "CLAUDECODE": "1", "CLAUDE_CODE_SSE_PORT": "1", "COLUMNS": "200",
    "LC_MESSAGES": "de_DE", "CARGO_REGISTRY_TOKEN": "crates", "POETRY_HTTP_BASIC_X_PASSWORD": "pypi",
    "npm_config__auth": "npm",
}  # fmt: skip
NEEDED = {
    "PATH": "/bin", "HOME": "/home/pat", "USER": "pat", "LOGNAME": "pat", "SHELL": "/bin/bash", "LANG": "de_DE.UTF-8",
    "LC_TIME": "C", "TZ": "UTC", "TERM": "xterm", "TMPDIR": "/tmp", "XDG_CONFIG_HOME": "/home/pat/.config",
    "HTTPS_PROXY": "http://proxy:1", "https_proxy": "http://proxy:1", "NO_PROXY": "localhost", "no_proxy": "x",
    "SSL_CERT_FILE": "/ca.pem", "NODE_EXTRA_CA_CERTS": "/ca.pem", "VIRTUAL_ENV": "/v", "PYENV_ROOT": "/p",
    "NVM_DIR": "/n", "CARGO_HOME": "/c", "RUSTUP_HOME": "/r", "GOPATH": "/g", "GOROOT": "/g", "JAVA_HOME": "/j",
    "npm_config_registry": "https://npm.example.org",
}  # fmt: skip
EVERYTHING = KEYS | OTHERS | NEEDED


def agent(name, model="", given=EVERYTHING, **more):
    return for_agents(given, AGENTS[name].environment, ModelSpec("m", name, model, **more))


def of(found, names):
    return {name for name in names if name in found}


def test_every_agent_gets_what_programs_need_to_run_build_and_reach_the_network():
    for name in AGENTS:
        assert NEEDED.items() <= agent(name).items(), name


def test_a_plain_command_gets_no_secret_at_all():
    assert set(agent("command")) - set(NEEDED) == {
        "LC_ALL",
        "GIT_TERMINAL_PROMPT",
        "GIT_EDITOR",
        "PYTHONDONTWRITEBYTECODE",
    }


@pytest.mark.parametrize(
    ("name", "model", "own"),
    [
        ("claude", "claude-opus-4-5", {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"}),
        ("codex", "gpt-5-codex", {"OPENAI_API_KEY", "CODEX_API_KEY"}),
        ("gemini", "gemini-pro", {"GEMINI_API_KEY", "GOOGLE_API_KEY"}),
        ("aider", "openrouter/anthropic/claude-opus", {"OPENROUTER_API_KEY"}),
        ("aider", "deepseek/deepseek-chat", {"DEEPSEEK_API_KEY"}),
        ("aider", "sonnet", {"ANTHROPIC_API_KEY"}),
        ("mini", "gpt-5", {"OPENAI_API_KEY", "CODEX_API_KEY"}),
        ("opencode", "xai/grok-4", {"XAI_API_KEY"}),
        ("opencode", "mistral/devstral-medium", {"MISTRAL_API_KEY"}),
    ],
)
def test_an_agent_gets_the_keys_of_its_models_provider_and_no_others(name, model, own):
    found = agent(name, model)
    assert of(found, KEYS) == own
    assert of(found, OTHERS) == set()


def test_where_the_model_does_not_tell_its_provider_any_model_key_may_be_needed_but_no_token_to_push_with():
    found = agent("opencode", "")
    assert {"ANTHROPIC_API_KEY", "GROQ_API_KEY"} <= set(found)
    assert of(found, ("GITHUB_TOKEN", "GH_TOKEN", "DATABASE_PASSWORD")) == set()
    at_github = ModelSpec("m", "opencode", "github-copilot/gpt-5")
    assert "GITHUB_TOKEN" in for_agents(EVERYTHING, ("*_TOKEN",), at_github)
    assert "GITHUB_TOKEN" not in for_agents(EVERYTHING, ("*_TOKEN",), ModelSpec("m", "opencode"))


def test_claude_gets_a_clouds_account_only_where_it_reaches_its_models_there():
    assert of(agent("claude"), ("AWS_SECRET_ACCESS_KEY", "GOOGLE_API_KEY")) == set()
    assert "AWS_SECRET_ACCESS_KEY" in agent("claude", given=EVERYTHING | {"CLAUDE_CODE_USE_BEDROCK": "1"})
    assert "AWS_SECRET_ACCESS_KEY" in agent("claude", env=(("CLAUDE_CODE_USE_BEDROCK", "true"),))
    assert "AWS_SECRET_ACCESS_KEY" not in agent("claude", given=EVERYTHING | {"CLAUDE_CODE_USE_BEDROCK": "0"})


def test_env_pass_names_what_else_goes_to_an_agent():
    found = agent("command", env_pass=("MY_APP", "AWS_*", "*_PASSWORD", "OPENAI_API_KEY"))
    assert of(found, EVERYTHING) - set(NEEDED) == {
        "MY_APP", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "DATABASE_PASSWORD", "POETRY_HTTP_BASIC_X_PASSWORD",
        "OPENAI_API_KEY",
    }  # fmt: skip


def test_not_even_a_star_passes_on_what_would_mislead():
    found = agent("command", env_pass=("*",))
    misleading = {
        "NOFACE_GITHUB_TOKEN",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "NOFACE_FAILPOINT",
        "PYTEST_CURRENT_TEST",
        "MAKEFLAGS",
    }
    assert set(EVERYTHING) - set(found) == misleading


def test_gates_get_what_programs_need_and_no_key_of_anybody():
    found = for_gates(EVERYTHING)
    assert of(found, KEYS) == set()
    assert set(NEEDED) <= set(found)
    withheld = ("DATABASE_PASSWORD", "AWS_SECRET_ACCESS_KEY", "STRIPE_SECRET", "MY_APP", "GITHUB_TOKEN")
    assert of(found, withheld) == set()
    assert of(found, ("GIT_DIR", "NOFACE_FAILPOINT", "PYTEST_CURRENT_TEST", "MAKEFLAGS")) == set()
    assert for_gates({"SSH_AUTH_SOCK": "/run/ssh", "DATABASE_URL": "postgres://x"}).keys() == for_gates({}).keys()


def test_env_pass_names_what_else_goes_to_a_gate():
    found = for_gates(EVERYTHING, ("DATABASE_*", "MY_APP"))
    assert set(found) - set(for_gates(EVERYTHING)) == {"DATABASE_PASSWORD", "MY_APP"}
    assert of(for_gates(EVERYTHING, ("*",)), ("GIT_DIR", "NOFACE_FAILPOINT")) == set()


def test_what_a_gate_could_be_given_is_known_by_name():
    kept = kept_from_gates(EVERYTHING, ("MY_APP",))
    assert {"DATABASE_PASSWORD", "AWS_SECRET_ACCESS_KEY"} <= set(kept)
    assert of(dict.fromkeys(kept, ""), ("MY_APP", "GIT_DIR", "PATH", "CLAUDECODE")) == set()


def test_messages_are_untranslated_and_git_asks_nothing_for_agents_and_gates():
    given = {"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"}
    for found in (for_gates(given), agent("command", given=given)):
        assert found == {
            "LC_ALL": "C.UTF-8",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_EDITOR": "true",
            "PYTHONDONTWRITEBYTECODE": "1",
        }


@cases(
    ("pattern", "name", "fit"),
    [
        ("A_*", "A_", True), ("A_*", "A", False), ("*_KEY", "X_KEY", True), ("*_KEY", "X_KEYS", False),
        ("A*B*C", "AxBxC", True), ("A*B*C", "ACB", False), ("AB*BA", "ABA", False), ("*", "", True), ("a", "A", False),
        ("*A*A*", "xAx", False), ("*A*A*", "AA", True),
    ],
)  # fmt: skip
def test_a_star_stands_for_any_letters_and_case_matters(pattern, name, fit):
    assert fits(name, (pattern,)) is fit


def test_a_pattern_of_many_stars_is_not_slow():
    assert not fits("a" * 5000, ("*a" * 200 + "*b",))


@cases(
    ("agent_name", "model", "provider"),
    [
        ("aider", "bedrock/anthropic.claude-v2", "bedrock"), ("opencode", "amazon-bedrock/x", "bedrock"),
        ("mini", "vertex_ai/gemini-pro", "google"), ("aider", "gemini/gemini-pro", "google"),
        ("opencode", "azure-cognitive-services/x", "azure"), ("aider", "o3-mini", "openai"),
        ("aider", "ollama_chat/qwen", "ollama"), ("opencode", "moonshotai/kimi", "moonshot"),
        ("opencode", "together.ai/x", "together"), ("aider", "qwen-max", None), ("aider", "my-server/x", None),
        ("aider", "opus-like", "anthropic"), ("aider", "oracle", None),
    ],
)  # fmt: skip
def test_a_models_name_tells_its_provider(agent_name, model, provider):
    assert providers_of(agent_name, model, {}) == (frozenset({provider}) if provider else None)


def test_a_variable_of_no_known_provider_is_nobody_elses():
    assert not is_anothers("MY_SERVER_API_KEY", frozenset({"openai"}))
    assert is_anothers("GROQ_API_KEY", frozenset({"openai"}))


MODEL = '[models.m]\nagent = "command"\ncommand = "x"\n'


@pytest.mark.parametrize("bad", ["GIT_*", "NOFACE_TOKEN", "MY_KEY=value", "$MY_KEY", ""])
def test_env_pass_takes_names_and_says_what_is_wrong_with_others(bad):
    with pytest.raises(ConfigError) as caught:
        parse(f'{MODEL}env_pass = ["{bad}"]\n', "noface.toml")
    assert "models.m.env_pass" in caught.value.message
    assert "noface.toml:4" in caught.value.message


def test_worker_and_gate_of_a_real_run_see_what_the_rules_say(project):
    seen = project.folder / "seen"
    seen.mkdir()
    extra = f"""
[models.shell]
agent = "command"
command = "env -0 > {seen}/worker; echo > b.txt"
env = {{ GIVEN = "given" }}
env_pass = ["PASSED_*"]
"""
    project.config(extra, gate=f"env -0 > {seen}/gate")
    project.issue(7, model="shell")
    project.commit()
    project.run(
        ANTHROPIC_API_KEY="sk-ant-of-the-agents",
        OPENAI_API_KEY="sk-of-the-agents",
        PASSED_ON="passed",
        PROJECT_SETTING="the project's",
        GOPATH="/go",
        SSH_AUTH_SOCK="/run/ssh",
        GIT_AUTHOR_NAME="nobody",
    )
    worker, gate = (
        dict(item.split("=", 1) for item in (seen / who).read_text().split("\0") if item) for who in ("worker", "gate")
    )
    absent = {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GIT_AUTHOR_NAME", "GIT_DIR", "NOFACE_FAILPOINT"}
    assert absent & set(worker) == absent & set(gate) == set()
    assert (worker["GIVEN"], worker["PASSED_ON"], worker["GOPATH"]) == ("given", "passed", "/go")
    assert {"PROJECT_SETTING", "SSH_AUTH_SOCK"} & set(worker) == set()
    assert {"PROJECT_SETTING", "PASSED_ON", "SSH_AUTH_SOCK", "GIVEN"} & set(gate) == set()
    assert gate["GOPATH"] == "/go"
    assert {name for name in worker if name.startswith("NOFACE_")} == {
        "NOFACE_PROMPT_FILE", "NOFACE_ORDER_FILE", "NOFACE_ISSUE_ID", "NOFACE_ATTEMPT", "NOFACE_MODEL",
        "NOFACE_RUN_ID", "NOFACE_ROLE", "NOFACE_TOPIC", "NOFACE_THINK", "NOFACE_STATE", "NOFACE_TOKEN", "NOFACE_COMMAND",
        "NOFACE_SLOT", "NOFACE_PORT", "NOFACE_PORTS",
    }  # fmt: skip
    own = ("NOFACE_SLOT", "NOFACE_PORT", "NOFACE_PORTS", "COMPOSE_PROJECT_NAME", "TMPDIR")
    assert [name for name in own if worker[name] == gate[name]] == []  # what a worker leaves there reaches no gate
