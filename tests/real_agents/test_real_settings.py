"""Whose hooks, plugins, MCP servers, skills and memory act in a run, and that a run has no tools that it may not use."""

import json
import sys
from pathlib import Path

import pytest
from endpoints import GEMINI_SETTINGS, opencode_settings
from scenario import Answer, Scenario

from noface.model.access import Permissions, Settings, Tool

EVERYTHING = {"hook", "server", "memory", "skill"}
SERVER = Path(__file__).parent / "mcp_server.py"
SKILL = "---\nname: {0}-skill\ndescription: {0}-has-a-skill\n---\nDo it.\n"
PLUGIN = 'export const Mark = async () => {{ require("fs").writeFileSync("{0}", ""); return {{}} }}\n'
BACKGROUND = {"command": "sleep 30", "is_background": True}
TOOLS = {
    "gemini": {
        Tool.READ: "read_file", Tool.EDIT: "write_file", Tool.RUN: "run_shell_command", Tool.WEB: "web_fetch",
        Tool.AGENTS: "invoke_agent", Tool.MCP: "mcp_person_lookperson",
    },
    "opencode": {
        Tool.READ: "read", Tool.EDIT: "edit", Tool.RUN: "bash", Tool.WEB: "webfetch", Tool.AGENTS: "task",
        Tool.MCP: "person_lookperson",
    },
}  # fmt: skip


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


def server(real, who):
    return [sys.executable, str(SERVER), who, str(real.folder / f"{who}-server")]


def furnish(real, cli, who, top):
    """Give a person (or a project) a hook, an MCP server, memory and a skill; their folder is `top`."""
    command = server(real, who)
    if cli == "gemini":
        hook = {"hooks": [{"type": "command", "command": f"touch {real.folder}/{who}-hook; echo '{{}}'"}]}
        mcp = {"mcpServers": {who: {"command": command[0], "args": command[1:], "trust": True}}}
        login = GEMINI_SETTINGS if who == "person" else {"hooksConfig": {"enabled": True}}
        put(top / ".gemini/settings.json", {**login, **mcp, "hooks": {"SessionStart": [hook], "BeforeTool": [hook]}})
        put(top / ".gemini/GEMINI.md" if who == "person" else top / "GEMINI.md", f"{who}-has-memory")
        put(top / f".gemini/skills/{who}-skill/SKILL.md", SKILL.format(who))
        return
    mcp = {"mcp": {who: {"type": "local", "command": command}}}
    config = top / ".config/opencode" if who == "person" else top
    put(config / "opencode.json", {"$schema": "https://opencode.ai/config.json", **mcp})
    put(config / "AGENTS.md", f"{who}-has-memory")
    inner = config if who == "person" else top / ".opencode"
    put(inner / "node_modules/.keep", "")  # it would fetch its package for plug-ins, for as long as there is no network
    put(inner / "package-lock.json", {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}})
    put(inner / "plugin/mark.js", PLUGIN.format(real.folder / f"{who}-hook"))
    put(inner / f"skill/{who}-skill/SKILL.md", SKILL.format(who))


def acted(real, who):
    """Return what of a person's or a project's has reached the model, or has run."""
    sent = json.dumps(real.model.requests)
    seen = {"memory": f"{who}-has-memory" in sent, "skill": f"{who}-has-a-skill" in sent}
    seen |= {"server": f"look{who}" in sent, "hook": (real.folder / f"{who}-hook").exists()}
    return {what for what, there in seen.items() if there}


def offered(real):
    tools = [tool for request in real.model.requests for tool in request.get("tools") or []]
    named = [tool for each in tools for tool in each.get("functionDeclarations", [each])]
    return {each.get("name") or each["function"]["name"] for each in named}


@pytest.mark.row("person's settings")
@pytest.mark.parametrize(
    ("settings", "of_project", "of_person"),
    [("project", EVERYTHING - {"hook"}, set()), ("user", EVERYTHING, EVERYTHING), ("none", set(), set())],
)
@pytest.mark.parametrize("cli", ["gemini", "opencode"])
def test_the_settings_that_act_are_those_that_are_named(real, cli, settings, of_project, of_person):
    real.play("success")
    furnish(real, cli, "person", real.folder)
    furnish(real, cli, "project", real.project.path)
    _, verdict = real.started(cli, "Write b.txt.", settings=Settings(settings))
    assert verdict.error is None, verdict
    assert (real.project.path / "b.txt").read_text() == "done\n"
    assert (acted(real, "project"), acted(real, "person")) == (of_project, of_person)
    assert (real.folder / "person-server").exists() is (settings == "user")


@pytest.mark.row("person's settings")
@pytest.mark.parametrize("cli", ["gemini", "opencode"])
def test_the_person_s_login_provider_and_model_act_though_their_hooks_do_not(real, cli):
    """Through noface, in its sandbox where there is one; what leads to the model stands in the person's home alone."""
    model = real.play("success")
    furnish(real, cli, "person", real.folder)
    if cli == "opencode":
        commented = json.dumps(
            opencode_settings(model.url) | {"mcp": {"person": {"type": "local", "command": server(real, "person")}}}
        )
        put(real.folder / ".config/opencode/opencode.jsonc", f"// mine\n{commented[:-1]},}}\n")
        (real.folder / ".config/opencode/opencode.json").unlink()
    else:
        put(real.folder / ".gemini/.env", f"GEMINI_API_KEY=sk-test-0000\nGOOGLE_GEMINI_BASE_URL={model.url}\n")
    real.config(cli, own_endpoint=True)
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    assert acted(real, "person") == set()
    assert len(attempt["session_id"]) > 20
    assert not list(real.project.state.glob("attempts/1/*/session/own-settings")), "it holds the person's keys"


@pytest.mark.parametrize("word", [*Tool, None])
@pytest.mark.parametrize("cli", ["gemini", "opencode"])
def test_what_is_not_among_the_tools_is_not_offered(real, cli, word):
    real.play(Scenario("says", (Answer(say="Done."),)))
    furnish(real, cli, "person", real.folder)
    tools = None if word is None else tuple(tool for tool in Tool if tool is not word)
    _, verdict = real.started(cli, "Look.", settings=Settings.USER, tools=tools)
    assert verdict.error is None, verdict
    assert {tool for tool, name in TOOLS[cli].items() if name not in offered(real)} == ({word} - {None})


@pytest.mark.row("read-only role")
@pytest.mark.parametrize("cli", ["gemini", "opencode"])
def test_who_may_only_read_has_nothing_that_edits_or_runs(real, cli):
    real.play("reviews")
    _, verdict = real.started(cli, "Look.", permissions=Permissions.READ_ONLY)
    assert verdict.error is None, verdict
    assert not offered(real) & {TOOLS[cli][Tool.EDIT], TOOLS[cli][Tool.RUN], "replace", "write"}
    assert TOOLS[cli][Tool.READ] in offered(real)
    assert not (real.project.path / "b.txt").exists()


@pytest.mark.parametrize("cli", ["opencode"])
def test_a_person_s_own_configuration_and_permissions_in_env_stand(real, cli):
    model = real.play("success")
    theirs = opencode_settings(model.url) | {"instructions": ["mine.md"], "permission": {"webfetch": "deny"}}
    put(real.project.path / "mine.md", "these-are-mine")
    env = {"OPENCODE_CONFIG_CONTENT": json.dumps(theirs), "OPENCODE_PERMISSION": '{"glob": "deny"}'}
    _, verdict = real.started(
        cli, "Write b.txt.", env=env, tools=tuple(tool for tool in Tool if tool is not Tool.AGENTS)
    )
    assert verdict.error is None, verdict
    assert "these-are-mine" in json.dumps(model.requests)
    assert not offered(real) & {"webfetch", "glob", "task"}
    assert (real.project.path / "b.txt").read_text() == "done\n"


@pytest.mark.parametrize("cli", ["gemini"])
def test_a_command_in_the_background_is_refused(real, cli):
    real.play(Scenario("background", (Answer(call="run_shell_command", given=BACKGROUND), Answer(say="Done."))))
    _, verdict = real.started(cli, "Look.")
    assert verdict.error is None, verdict
    assert "in the background are off" in json.dumps(real.model.requests[-1])
