"""Claude Code alone: whose settings act, which tools it has and what they may do, by noface's words for that."""

import json
import shutil

import pytest
from endpoints import KEY
from scenario import Answer, Scenario

from noface.data import table
from noface.model.access import Permissions, Settings, Tool

HERE = "claude"
DONE = Answer(say="Done.")
OFF = table("agents")["claude"]["access"]["off"]
CALLS = (
    Answer(call="ScheduleWakeup", given={"delaySeconds": 60, "reason": "wait", "prompt": "go on"}),
    Answer(call="CronCreate", given={"cron": "* * * * *", "prompt": "go on"}),
    Answer(call="Monitor", given={"command": "echo tick; sleep 60", "description": "x", "timeout_ms": 60000}),
    Answer(call="EnterWorktree", given={"name": "w1"}),
    Answer(call="Workflow", given={"script": "await agent('hi')", "description": "d", "title": "t"}),
    Answer(call="AskUserQuestion", given={"questions": []}),
    Answer(call="Agent", given={"description": "d", "prompt": "Hi.", "isolation": "worktree"}),
    Answer(call="Bash", given={"command": "sleep 60", "description": "x", "run_in_background": True}),
)


def results(real):
    """Return what the tools answered, from the conversation in the last request: whether as an error, and the text."""
    contents = [message["content"] for message in real.model.requests[-1]["messages"]]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    results = [part for part in parts if part.get("type") == "tool_result"]
    return [(bool(part.get("is_error")), json.dumps(part["content"])) for part in results]


def offered(real):
    return {tool["name"]: tool for request in real.model.requests for tool in request.get("tools") or []}


@pytest.mark.parametrize("cli", [HERE])
@pytest.mark.row("own worktree")
def test_tools_that_schedule_wait_ask_or_work_elsewhere_are_refused_at_once(real, cli):
    real.play(Scenario("off", (*CALLS, Answer(edit="b.txt", text="done"), DONE)))
    ended, verdict = real.started(cli, "Write b.txt.")
    assert verdict.error is None
    assert ended.seconds < 45
    answers = results(real)
    assert [error for error, _ in answers] == [True] * len(CALLS) + [False], answers
    assert not set(offered(real)) & set(OFF)
    assert "run_in_background" not in offered(real)["Bash"]["input_schema"]["properties"]
    assert not (real.project.path / ".claude").exists()


@pytest.mark.parametrize("cli", [HERE])
def test_a_subagent_ends_before_the_model_goes_on_and_a_command_may_begin_with_a_wait(real, cli):
    agent = {"description": "d", "prompt": "Look around.", "subagent_type": "Explore"}
    real.play(Scenario("agents", (Answer(call="Agent", given=agent), Answer(run="sleep 3; echo waited"), DONE)))
    _, verdict = real.started(cli, "Go.")
    assert verdict.error is None
    assert "hand-back" in results(real)[0][1]
    assert "waited" in results(real)[1][1]


def a_person_and_a_project(real):
    """Write settings into the home and into the project: a hook, a server, a skill, a subagent and instructions each."""
    for place, who in ((real.folder, "PERSON"), (real.project.path, "PROJECT")):
        hook = {"type": "command", "command": f"touch {real.folder}/hook-{who}"}
        given = {"hooks": {"SessionStart": [{"hooks": [hook]}]}, "permissions": {"deny": [f"Bash(touch {who}*)"]}}
        server = {"command": "touch", "args": [f"{real.folder}/server-{who}"]}
        write(place / ".claude/settings.json", json.dumps(given))
        write(place / f".claude/skills/{who}/SKILL.md", f"---\nname: {who}\ndescription: SKILL-{who}\n---\nDo it.\n")
        write(place / f".claude/agents/{who}.md", f"---\nname: a{who}\ndescription: AGENT-{who}\n---\nHelp.\n")
        servers = place / (".claude.json" if who == "PERSON" else ".mcp.json")
        write(servers, json.dumps({"mcpServers": {who: server}}))
    above = {"command": "touch", "args": [f"{real.folder}/server-PARENT"]}
    write(real.folder / ".mcp.json", json.dumps({"mcpServers": {"above": above}}))
    write(real.folder / ".claude/CLAUDE.md", "MEMORY-PERSON")
    write(real.project.path / "CLAUDE.md", "MEMORY-PROJECT")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("cli", [HERE])
@pytest.mark.parametrize(
    ("settings", "acts"),
    [
        (Settings.PROJECT, {"MEMORY-PROJECT", "SKILL-PROJECT", "AGENT-PROJECT", "server-PROJECT", "denied-PROJECT"}),
        (
            Settings.USER,
            {f"{what}-{who}" for who in ("PERSON", "PROJECT") for what in (
                "MEMORY", "SKILL", "AGENT", "server", "hook", "denied")} | {"server-PARENT"},
        ),
        (Settings.NONE, set()),
    ],
)  # fmt: skip
@pytest.mark.row("person's settings")
def test_whose_settings_act(real, cli, settings, acts):
    real.play(Scenario("settings", (Answer(run="touch PERSON1"), Answer(run="touch PROJECT1"), DONE)))
    a_person_and_a_project(real)
    _, verdict = real.started(cli, "Go.", settings=settings)
    assert verdict.error is None
    asked = json.dumps(real.model.requests)
    found = {f"{what}-{who}" for what in ("MEMORY", "SKILL", "AGENT") for who in ("PERSON", "PROJECT")
             if f"{what}-{who}" in asked}  # fmt: skip
    found |= {path.name for path in real.folder.glob("*-P*")}
    found |= {f"denied-{who}" for who in ("PERSON", "PROJECT") if f"Bash with command touch {who}1 has been" in asked}
    assert found == acts


@pytest.mark.parametrize("cli", [HERE])
@pytest.mark.parametrize("settings", list(Settings))
def test_the_login_and_the_provider_of_the_person_s_settings_act_in_any_case(real, cli, settings):
    real.play("success")
    own = {"apiKeyHelper": f"echo {KEY}", "env": {"ANTHROPIC_BASE_URL": real.model.url}}
    write(real.folder / ".claude/settings.json", json.dumps(own))
    _, verdict = real.started(cli, "Write b.txt.", settings=settings, own_endpoint=True)
    assert verdict.error is None
    assert (real.project.path / "b.txt").read_text() == "done\n"


@pytest.mark.parametrize("cli", [HERE])
@pytest.mark.parametrize("rules", [False, True], ids=["", "own rules"])
def test_read_only_reads_and_runs_what_writes_nothing(real, cli, rules):
    write_file = Answer(call="Write", given={"file_path": str(real.project.path / "w.txt"), "content": "x"})
    commands = [
        "git log --oneline",
        "cat a.txt | grep one",
        "touch t1",
        "echo x > e1",
        "python3 -c \"open('p1', 'w')\"",
    ]
    real.play(Scenario("reads", (write_file, *(Answer(run=command) for command in commands), DONE)))
    if rules:
        write(real.folder / ".claude/settings.json", json.dumps({"permissions": {"allow": ["Bash", "Write"]}}))
    settings = Settings.USER if rules else Settings.PROJECT
    _, verdict = real.started(cli, "Go.", permissions=Permissions.READ_ONLY, settings=settings)
    assert verdict.error is None
    assert real.project.git("status", "--porcelain").split() in ([], ["??", "noface.toml"])
    assert "Edit" not in offered(real)
    assert ("Bash" in offered(real)) is not rules
    if not rules:
        assert [error for error, _ in results(real)] == [True, False, False, True, True, True]


@pytest.mark.parametrize("cli", [HERE])
def test_in_the_workspace_only_it_writes_there_or_says_what_its_sandbox_lacks(real, cli):
    outside = real.folder / "outside.txt"
    moves = (Answer(run=f"touch {outside}"), Answer(run="python3 -c \"open('b.txt', 'w').write('x')\""))
    real.play(Scenario("workspace", (*moves, DONE)))
    _, verdict = real.started(cli, "Go.", permissions=Permissions.WORKSPACE)
    assert not outside.exists()
    if shutil.which("socat") and shutil.which("bwrap"):
        assert verdict.error is None
        assert (real.project.path / "b.txt").exists()
    else:
        assert (verdict.error.kind, "socat" in verdict.error.excerpt) == ("MISCONFIGURED", True)
        assert real.model.requests == []


@pytest.mark.parametrize("cli", [HERE])
@pytest.mark.parametrize(
    ("tools", "names"),
    [
        ((Tool.READ,), {"Read", "Glob", "Grep"}),
        ((Tool.READ, Tool.EDIT), {"Read", "Glob", "Grep", "Edit", "Write", "NotebookEdit"}),
        ((Tool.READ, Tool.RUN), {"Read", "Glob", "Grep", "Bash", "Skill"}),
        ((Tool.READ, Tool.WEB), {"Read", "Glob", "Grep", "WebFetch", "WebSearch"}),
        ((Tool.READ, Tool.AGENTS), {"Read", "Glob", "Grep", "Agent"}),
    ],
)
def test_it_has_the_tools_that_are_named_and_no_others(real, cli, tools, names):
    real.play(Scenario("tools", (DONE,)))
    a_person_and_a_project(real)
    _, verdict = real.started(cli, "Go.", tools=tools)
    assert verdict.error is None
    assert set(offered(real)) - {"DeferredToolPlaceholder"} == names
    assert not (real.folder / "server-PROJECT").exists()


@pytest.mark.parametrize("cli", [HERE])
def test_in_noface_s_sandbox_that_holds_it_and_any_command_runs(real, cli):
    if real.sandbox == "none":
        pytest.skip("no sandbox here")
    outside = real.folder / "outside.txt"
    seen = "python3 -c \"print(6 * 7, 'seen')\""
    moves = (f"touch {outside}", "python3 -c \"open('b.txt', 'w').write('x')\"", seen)
    real.play(Scenario("boxed", (*(Answer(run=command) for command in moves), DONE)))
    real.config(cli, own='permissions = "workspace"')
    attempt, printed = real.run()
    assert attempt["outcome"] == "PASSED", printed
    assert "42 seen" in json.dumps(real.model.requests[-1])
    assert not outside.exists()
    assert real.kept() <= {"a.txt", "noface.toml", "issues/1-x.md", "b.txt"}
