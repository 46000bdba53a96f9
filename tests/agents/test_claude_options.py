"""noface's words for settings, tools and permissions as Claude Code's options; tests/real_agents shows what they do."""

import json
from dataclasses import replace

import pytest

from noface.agents.base import RunPlace
from noface.agents.claude import ClaudeAgent
from noface.data import table
from noface.model.access import Permissions, Settings, Tool
from noface.model.attempt import AttemptOrder
from noface.model.issue import Issue
from noface.model.worker_run import ModelSpec, Session

PLACE = RunPlace("/w", "/d/prompt.md", "/d/order.json", "/d")
NO_HOOKS = {"disableAllHooks": True, "claudeMdExcludes": ["/CLAUDE.md", "/CLAUDE.local.md", "/.claude/CLAUDE.md",
            "/.claude/rules/**", "/AGENTS.md"]}  # fmt: skip


def started(home="/nowhere", session=None, env=(), place=PLACE, **words):
    """Return the options by name with their values, and the environment."""
    model = ModelSpec("m", "claude", env=(("HOME", str(home)), ("CLAUDE_CONFIG_DIR", ""), *env), **words)
    order = AttemptOrder("r", "t", Issue("1", "One"), 1, model, "p", "m", "s", 0, "/d", (), session=session)
    invocation = ClaudeAgent().invocation(order, place)
    options, name = {}, ""
    for argument in invocation.argv[1:]:
        if argument.startswith("-"):
            name, _, value = argument.partition("=")
            options[name] = value
        else:
            options[name] = argument
    return options, dict(invocation.env)


def settings(home="/nowhere", **words):
    return json.loads(started(home, **words)[0].get("--settings", "{}"))


def test_by_default_the_project_s_settings_act_without_hooks_and_nothing_is_asked():
    options, env = started()
    assert options["--setting-sources"] == "project"
    assert options["--permission-mode"] == "bypassPermissions"
    assert settings() == NO_HOOKS
    assert not {"--tools", "--strict-mcp-config", "--allowedTools"} & options.keys()
    assert (env["CLAUDE_CODE_DISABLE_AUTO_MEMORY"], env["ENABLE_CLAUDEAI_MCP_SERVERS"]) == ("1", "false")


def test_with_a_person_s_settings_all_sources_and_their_hooks_act():
    options, env = started(settings=Settings.USER)
    assert not {"--setting-sources", "--settings"} & options.keys()
    assert "CLAUDE_CODE_DISABLE_AUTO_MEMORY" not in env


def test_without_settings_no_source_no_server_and_no_instructions_act():
    options, env = started(settings=Settings.NONE)
    assert options["--setting-sources"] == ""
    assert "--strict-mcp-config" in options
    assert settings(settings=Settings.NONE) == NO_HOOKS
    assert env["CLAUDE_CODE_DISABLE_CLAUDE_MDS"] == "1"


@pytest.mark.parametrize("words", [{}, {"settings": Settings.USER}, {"permissions": Permissions.READ_ONLY}])
def test_what_schedules_waits_asks_or_works_elsewhere_is_off_in_every_run(words):
    options, env = started(**words)
    off = set(options["--disallowedTools"].split(","))
    assert off >= {"ScheduleWakeup", "CronCreate", "Monitor", "Workflow", "EnterWorktree", "AskUserQuestion"}
    assert off >= {"Agent(isolation:worktree)", "SendMessage", "RemoteTrigger"}
    assert "Agent" not in off
    assert env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] == "1"


def test_tools_are_listed_by_their_names_and_servers_are_none_unless_named():
    options, _ = started(tools=(Tool.READ, Tool.RUN))
    assert options["--tools"] == "Read,Glob,Grep,Bash,Skill"
    assert "--strict-mcp-config" in options
    assert "--strict-mcp-config" not in started(tools=(Tool.READ, Tool.MCP))[0]


@pytest.mark.parametrize("own", [None, "{", '{"mcpServers": {}}'])
def test_servers_that_stand_above_the_workspace_are_left_out(tmp_path, own):
    workspace = tmp_path / "slot"
    workspace.mkdir()
    place = replace(PLACE, workspace=str(workspace))
    assert "--strict-mcp-config" not in started(place=place)[0]
    (tmp_path / ".mcp.json").write_text("{}")
    if own is not None:
        (workspace / ".mcp.json").write_text(own)
    options, _ = started(place=place)
    assert "--strict-mcp-config" in options
    assert options.get("--mcp-config") == (f"{workspace}/.mcp.json" if own == '{"mcpServers": {}}' else None)
    assert "--strict-mcp-config" not in started(place=place, settings=Settings.USER)[0]


def test_to_read_only_is_to_be_asked_nothing_and_to_have_no_tool_that_edits():
    options, _ = started(permissions=Permissions.READ_ONLY)
    assert options["--permission-mode"] == "dontAsk"
    assert set(options["--disallowedTools"].split(",")) >= {"Edit", "Write", "NotebookEdit"}
    assert "Bash" not in options["--disallowedTools"]
    with_own_rules, _ = started(permissions=Permissions.READ_ONLY, settings=Settings.USER)
    assert "Bash" in with_own_rules["--disallowedTools"].split(","), "a person's rules may allow what writes"


def test_to_write_in_the_workspace_only_is_its_own_sandbox_or_nothing():
    options, _ = started(permissions=Permissions.WORKSPACE)
    assert options["--permission-mode"] == "acceptEdits"
    given = settings(permissions=Permissions.WORKSPACE)
    assert given["disableAllHooks"] is True
    assert given["sandbox"]["enabled"] is given["sandbox"]["failIfUnavailable"] is True
    assert given["sandbox"]["allowUnsandboxedCommands"] is False


def test_in_noface_s_own_sandbox_commands_are_free_since_that_holds_them():
    boxed = replace(PLACE, boxed=True)
    options, _ = started(place=boxed, permissions=Permissions.WORKSPACE)
    assert options["--permission-mode"] == "acceptEdits"
    assert "Bash" in options["--allowedTools"].split(",")
    assert "sandbox" not in json.loads(options["--settings"])
    options, _ = started(place=boxed, permissions=Permissions.READ_ONLY, settings=Settings.USER)
    assert "Bash" not in options["--disallowedTools"].split(",")
    assert "Edit" in options["--disallowedTools"].split(",")


def test_the_person_s_login_and_provider_act_whatever_settings_do(tmp_path):
    (tmp_path / ".claude").mkdir()
    own = {
        "apiKeyHelper": "/bin/key",
        "hooks": {"SessionStart": []},
        "permissions": {"allow": ["Bash"]},
        "env": {"ANTHROPIC_BASE_URL": "http://gateway", "EDITOR": "vi", "HTTPS_PROXY": "http://p", "ANTHROPIC_X": 1},
    }
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps(own))
    for words in ({}, {"settings": Settings.NONE}):
        assert settings(tmp_path, **words) == {**NO_HOOKS, "apiKeyHelper": "/bin/key"}
        env = started(tmp_path, **words)[1]
        assert (env["ANTHROPIC_BASE_URL"], env["HTTPS_PROXY"]) == ("http://gateway", "http://p")
        assert not {"EDITOR", "ANTHROPIC_X"} & env.keys()
    assert "ANTHROPIC_BASE_URL" not in started(tmp_path, settings=Settings.USER)[1], (
        "there its settings act by themselves"
    )
    assert "ANTHROPIC_BASE_URL" not in started(tmp_path, env=(("ANTHROPIC_BASE_URL", "http://mine"),))[1]


@pytest.mark.parametrize("text", [None, "", "[]", "{", '{"env": 3}', '{"env": {"ANTHROPIC_BASE_URL": null}}', "\xff"])
def test_settings_of_a_person_that_nobody_can_read_are_none(tmp_path, text):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    if text is not None:
        (folder / "settings.json").write_bytes(text.encode("latin-1"))
    options, env = started(env=(("CLAUDE_CONFIG_DIR", str(folder)),))
    assert json.loads(options["--settings"]) == NO_HOOKS
    assert "ANTHROPIC_BASE_URL" not in env


def test_a_command_may_take_almost_as_long_as_the_attempt():
    def given(**limits):
        _, env = started(**limits)
        return env["BASH_DEFAULT_TIMEOUT_MS"], env["BASH_MAX_TIMEOUT_MS"]

    assert given(timeout_s=3600.0) == ("600000", "3590000")
    assert given(timeout_s=5.0) == ("1000", "1000")


def test_a_session_is_gone_on_with_by_its_id():
    options, _ = started(session=Session("s-1", 1, "/d", "Go on."))
    assert options["--resume"] == "s-1"
    owned = table("agents")["claude"]["owned_options"]
    assert {"--resume", "--continue", "-c", "--session-id"} <= owned.keys()


def test_each_word_that_the_registry_offers_has_its_options():
    entry = table("agents")["claude"]
    for setting in entry["settings"]:
        for permission in entry["permissions"]:
            options, _ = started(settings=Settings(setting), permissions=Permissions(permission), tools=tuple(Tool))
            assert options["--tools"].count(",") >= len(Tool)
