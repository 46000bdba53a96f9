"""Codex with the models of its presets, which call their tools from a script, and with an older model, which does not."""

import json
import re
import shutil
import time
from dataclasses import dataclass, replace

import pytest
from scenario import Answer, Scenario, scenario

from noface.agents.base import AGENTS, EventKind
from noface.data import table
from noface.model.access import Permissions, Settings, Tool
from noface.model.worker_run import Session

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
    outputs = [item["output"] for item in real.model.requests[-1]["input"] if "output" in item]
    assert "one\\n" in json.dumps(outputs), "it can read the project"


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


HOOKED = ("--dangerously-bypass-hook-trust",)
"""A person's hooks are trusted by their hash in config.toml, which nothing but the terminal's dialog writes."""
PERSONAL = {"MY-INSTRUCTIONS", "MY-SKILL", "MY-SHARED-SKILL", "MY-MEMORY"}
OF_PROJECT = {"OUR-INSTRUCTIONS", "OUR-SETTINGS", "OUR-SKILL"}
STARTED = {"my-hook", "my-server", "my-notify", "our-hook", "our-server"}


def visit(real, who):
    """Return a command that tells that it was started, by a file."""
    return ["touch", str(real.folder / "started" / who)]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def home_and_project(real):
    """Fill the person's home and the project with all that Codex may take from them, and a provider of their own."""
    home, here = real.folder / ".codex", real.project.path
    (real.folder / "started").mkdir()
    hook = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": " ".join(visit(real, "{}"))}]}]}}
    skill = "---\nname: {}\ndescription: {}\n---\nx\n"

    def server(who):
        return f"[mcp_servers.{who}]\ncommand = 'touch'\nargs = ['{real.folder}/started/{who}']\n"

    provider = f"""
model_provider = "mine"
developer_instructions = "MY-INSTRUCTIONS"
notify = {json.dumps(visit(real, "my-notify"))}
[model_providers.mine]
name = "mine"
base_url = "{real.model.url}/v1"
wire_api = "responses"
experimental_bearer_token = "sk-in-the-file"
http_headers = {{ X-Key = "also-in-the-file" }}
[features]
memories = true
[memories]
generate_memories = false
"""
    write(home / "config.toml", provider + server("my-server"))
    write(home / "hooks.json", json.dumps(hook).replace("{}", "my-hook"))
    write(home / "skills/mine/SKILL.md", skill.format("mine", "MY-SKILL"))
    write(real.folder / ".agents/skills/shared/SKILL.md", skill.format("shared", "MY-SHARED-SKILL"))
    write(home / "memories/memory_summary.md", "MY-MEMORY")
    write(here / "AGENTS.md", "OUR-INSTRUCTIONS")
    write(here / ".codex/config.toml", 'developer_instructions = "OUR-SETTINGS"\n' + server("our-server"))
    write(here / ".codex/hooks.json", json.dumps(hook).replace("{}", "our-hook"))
    write(here / ".agents/skills/ours/SKILL.md", skill.format("ours", "OUR-SKILL"))


@pytest.mark.parametrize(
    ("settings", "told", "started"),
    [
        (Settings.PROJECT, OF_PROJECT, {"our-server"}),
        (Settings.USER, PERSONAL | OF_PROJECT, STARTED),
        (Settings.NONE, set(), set()),
    ],
    ids=["codex-project", "codex-user", "codex-none"],
)
def test_whose_settings_act_and_the_person_s_provider_does_in_any_case(real, settings, told, started):
    real.play("success")
    home_and_project(real)
    _, verdict = real.started("codex", "Write b.txt.", args=HOOKED, own_endpoint=True, settings=settings)
    assert verdict.error is None
    assert (real.project.path / "b.txt").read_text() == "done\n"
    asked = json.dumps([request for request in real.model.requests if "Write b.txt." in json.dumps(request)])
    overruled = {"MY-INSTRUCTIONS"} if settings is Settings.USER else set()  # by the project's own
    assert {word for word in PERSONAL | OF_PROJECT if word in asked} == told - overruled
    assert {path.name for path in (real.folder / "started").iterdir()} == started


def tools_of(request):
    """Return the names of all tools in a request, those that its script may call among them."""
    within = [tool for item in request["input"] for tool in item.get("tools") or []]
    every = [each for tool in within for each in tool.get("tools", [tool])]
    nested = re.findall(r"### `(\w+)`", json.dumps(every))
    return {each["name"] for each in every} | set(nested)


@models(PRESETS[1])
def test_tools_that_schedule_or_ask_are_off_and_those_that_are_not_wanted_too(real, model):
    real.play("success")
    home_and_project(real)
    real.started("codex", "Write b.txt.", own_endpoint=True, model=model)
    offered = tools_of(real.model.requests[0])
    assert offered >= {"exec", "exec_command", "apply_patch", "spawn_agent"}
    assert not offered & {"sleep", "create_goal", "request_user_input", "request_user_input_async"}
    (real.folder / "started" / "our-server").unlink()
    asked = len(real.model.requests)
    some = (Tool.READ, Tool.EDIT, Tool.RUN)
    real.started("codex", "Write b.txt.", own_endpoint=True, model=model, tools=some)
    offered = tools_of(real.model.requests[asked])
    assert offered >= {"exec", "exec_command", "apply_patch"}
    assert not offered & {"spawn_agent", "wait_agent", "send_message", "web_search", "web__run"}
    assert list((real.folder / "started").iterdir()) == []


@models(PRESETS[1], OLDER)
def test_what_may_write_in_its_workspace_writes_there_alone(real, model):
    outside = real.folder / "outside.txt"
    real.play(Scenario("both", (Answer(run=f"echo in > in.txt; echo out > {outside}"), Answer(say="Done."))))
    _, verdict = real.started("codex", "Write.", model=model, permissions=Permissions.WORKSPACE)
    assert verdict.error is None
    assert (real.project.path / "in.txt").read_text() == "in\n"
    assert not outside.exists()
    assert "Read-only file system" in json.dumps(real.model.requests[-1])


@models(PRESETS[1])
def test_a_role_in_the_sandbox_reads_the_project(real, model):
    real.play(Reads("reads"))
    real.config("codex", model=model, more='[roles]\nreviewer = "real"\n[review]\nwhen = "always"')
    real.issue(1)
    printed = real.project.run()
    assert real.landed() == ["b.txt"], printed
    asked = [text for text in map(json.dumps, real.model.requests) if "asked for a judgement" in text]
    assert "READ:one" in asked[-1]
    assert "WROTE" not in asked[-1].replace("&& echo WROTE", "")


@dataclass(frozen=True)
class Reads(Scenario):
    """A worker, and a reviewer that reads a file and tries to write one."""

    def about(self, request):
        if "asked for a judgement" not in request:
            return Scenario("worker", (Answer(edit="b.txt", text="done"), Answer(say="Done.")))
        verdict = {"verdict": "approve", "summary": "It does what it should.", "points": None}
        tries = Answer(run='echo "READ:$(cat a.txt)"; echo mine > evil.txt && echo WROTE')
        return Scenario("reviewer", (tries, Answer(say="I see.", json=verdict)))


def session(thread):
    return Session(thread, 1, "/nowhere", "Go on.")


@models(*PRESETS)
def test_a_thread_is_gone_on_with_by_its_id_and_as_the_newest_one(real, model):
    real.play("success")
    _, begun = real.started("codex", "Write b.txt.", model=model)
    real.model.scenario = Scenario("the rest", (Answer(say="Done."),))
    for how in ({"session": session(begun.usage.session_id)}, {"args": ("resume", "--last")}):
        _, verdict = real.started("codex", "Go on.", model=model, **how)
        assert verdict.error is None
        assert verdict.usage.session_id == begun.usage.session_id
        assert "I will do it now." in json.dumps(real.model.requests[-1]["input"])


@models(PRESETS[1])
def test_a_thread_whose_log_is_gone_or_that_never_was_is_refused_before_the_model_is_asked(real, model):
    real.play("success")
    _, begun = real.started("codex", "Write b.txt.", model=model)
    asked = len(real.model.requests)
    shutil.rmtree(real.folder / ".codex/sessions")
    for thread in (begun.usage.session_id, "01a20491-0000-7ea1-ac8f-dd64bf24ab71"):
        ended, verdict = real.started("codex", "Go on.", model=model, session=session(thread))
        assert ended.exit_code == 1
        assert "no rollout found for thread id" in verdict.error.excerpt
        assert not verdict.finished
    assert len(real.model.requests) == asked


@models(*PRESETS)
def test_a_thread_that_met_the_usage_limit_is_gone_on_with_after_it(real, model):
    spent = replace(scenario("subscription_spent"), answers=BOTH.answers[::2], fails_from=2)
    soon = {**spent.openai, "resets_at": int(time.time()) + 1}
    real.play(replace(spent, openai=soon))
    real.config("codex", model=model)
    first, printed = real.run()
    assert (first["outcome"], first["charged"], first["failure"]["rule"]) == ("RATE_LIMITED", False, "codex-rate-limit")
    assert "b.txt" in real.kept(), printed
    before = len(real.model.requests)
    real.model.scenario = Scenario("the rest", (Answer(say="Done."),))
    assert "merged" in real.project.run()
    _, second = real.project.attempts("1")
    assert second["resumed"] == {"session": first["session_id"], "attempt": 1, "refused": ""}
    assert "I will do it now." in json.dumps(real.model.requests[before]["input"])
    assert real.landed() == ["b.txt"]
