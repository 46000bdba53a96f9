"""noface's words for settings, tools and permissions as Codex's options; tests/real_agents shows what they do."""

import tomllib
from dataclasses import replace

import pytest

from noface.agents.base import RunPlace
from noface.agents.codex import CodexAgent
from noface.model.access import Permissions, Settings, Tool
from noface.model.attempt import AttemptOrder
from noface.model.issue import Issue
from noface.model.worker_run import ModelSpec

PLACE = RunPlace("/w", "/d/prompt.md", "/d/order.json", "/d")
FREE = "--dangerously-bypass-approvals-and-sandbox"
CONFIG = """
model_provider = "mine"
model_instructions_file = "/home/me/instructions.md"
profile = "work"
notify = ["true"]
[profiles.work]
model_verbosity = "high"
personality = "friendly"
[model_providers.mine]
name = "müller \\"&\\" co"
base_url = "http://localhost/v1"
experimental_bearer_token = "sk-secret"
http_headers = { X-Key = "also secret" }
env_http_headers = { X-Other = "OTHER" }
request_max_retries = 3
[mcp_servers.mine]
command = "true"
[features]
respect_system_proxy = true
memories = true
"""


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(CONFIG, "utf-8")
    return tmp_path


def started(home="/nowhere", place=PLACE, **words):
    """Return the arguments, what `-c` sets as it is read, and the environment."""
    model = ModelSpec("m", "codex", env=(("HOME", str(home)), ("CODEX_HOME", "")), **words)
    order = AttemptOrder("r", "t", Issue("1", "One"), 1, model, "p", "m", "s", 0, "/d", ())
    invocation = CodexAgent().invocation(order, place)
    argv = list(invocation.argv)
    given = [argv[at + 1].partition("=") for at, argument in enumerate(argv) if argument == "-c"]
    return argv, {key: tomllib.loads(f"x = {value}")["x"] for key, _, value in given}, dict(invocation.env)


def test_by_default_the_project_s_settings_act_without_hooks_and_nothing_is_asked(home):
    argv, settings, _ = started(home)
    assert {"--ignore-user-config", "--ignore-rules"} <= set(argv)
    assert settings["projects"] == {"/w": {"trust_level": "trusted"}}
    off = ("features.hooks", "features.memories", "features.plugins", "features.sleep_tool", "features.goals")
    assert not any(settings[name] for name in off)
    assert settings["tools.experimental_request_user_input.enabled"] is False
    assert not {"agents.enabled", "web_search", "project_doc_max_bytes"} & settings.keys()


def test_a_person_s_login_provider_and_model_act_in_any_case_and_no_secret_is_an_argument(home):
    argv, settings, variables = started(home)
    assert settings["model_provider"] == "mine"
    assert settings["model_providers"]["mine"] == {
        "name": 'müller "&" co',
        "base_url": "http://localhost/v1",
        "env_key": "NOFACE_CODEX_SECRET_0",
        "env_http_headers": {"X-Key": "NOFACE_CODEX_SECRET_1", "X-Other": "OTHER"},
        "request_max_retries": 3,
    }
    assert settings["model_verbosity"] == "high", "of the profile"
    assert settings["features.respect_system_proxy"] is True
    assert not {"model_instructions_file", "notify", "personality", "mcp_servers", "profile"} & settings.keys()
    assert (variables["NOFACE_CODEX_SECRET_0"], variables["NOFACE_CODEX_SECRET_1"]) == ("sk-secret", "also secret")
    assert "secret" not in " ".join(argv)


def test_with_a_person_s_settings_their_file_is_read_by_codex_itself(home):
    argv, settings, variables = started(home, settings=Settings.USER)
    assert "--ignore-user-config" not in argv
    assert not {"features.hooks", "features.memories", "model_provider", "skills.config"} & settings.keys()
    assert settings["projects"] == {"/w": {"trust_level": "trusted"}}
    assert not any(name.startswith("NOFACE_") for name in variables)


def test_without_settings_the_project_is_not_trusted_and_its_instructions_are_not_read(home):
    argv, settings, _ = started(home, settings=Settings.NONE)
    assert "--ignore-user-config" in argv
    assert (settings["project_doc_max_bytes"], settings["skills.include_instructions"]) == (0, False)
    assert "projects" not in settings
    assert settings["model_provider"] == "mine"


def test_a_file_that_is_no_toml_is_left_to_codex_which_says_so(home):
    (home / ".codex/config.toml").write_text("[")
    assert "--ignore-user-config" not in started(home)[0]
    (home / ".codex/config.toml").unlink()
    assert "--ignore-user-config" in started(home)[0]


def test_a_person_s_skills_are_named_one_by_one_and_codex_s_own_are_not(home):
    places = (".codex/skills/mine", ".codex/skills/.system/own", ".codex/skills/group/inner", ".agents/skills/shared")
    for name in places:
        (home / name).mkdir(parents=True)
        (home / name / "SKILL.md").write_text("x")
    told = started(home)[1]["skills.config"]
    assert all(entry["enabled"] is False for entry in told)
    assert {entry["path"].removeprefix(f"{home}/") for entry in told} == {
        ".codex/skills/mine/SKILL.md", ".codex/skills/group/inner/SKILL.md", ".agents/skills/shared/SKILL.md",
    }  # fmt: skip


def project(tmp_path):
    """Return a place whose project has a file of settings, and that file."""
    file = tmp_path / "w/.codex/config.toml"
    file.parent.mkdir(parents=True)
    return replace(PLACE, workspace=str(tmp_path / "w")), file


def test_tools_that_a_run_may_not_use_are_taken_from_it(home, tmp_path):
    here, file = project(tmp_path)
    file.write_text('[mcp_servers.ours]\ncommand = "true"\n')
    shell = (Tool.READ, Tool.EDIT, Tool.RUN)
    settings = started(home, here, tools=shell)[1]
    assert (settings["agents.enabled"], settings["web_search"]) == (False, "disabled")
    assert settings["mcp_servers.ours.enabled"] is False
    assert "mcp_servers.mine.enabled" not in settings
    assert started(home, here, tools=shell, settings=Settings.USER)[1]["mcp_servers.mine.enabled"] is False
    every = started(home, here, tools=tuple(Tool))[1]
    assert not {"agents.enabled", "web_search", "mcp_servers.ours.enabled"} & every.keys()


def test_a_project_s_file_of_settings_that_is_a_link_is_not_followed(home, tmp_path):
    here, file = project(tmp_path)
    file.symlink_to(home / ".codex/config.toml")
    assert not any(name.startswith("mcp_servers") for name in started(home, here, tools=())[1])


@pytest.mark.parametrize(
    ("permissions", "boxed", "argument", "own_folder"),
    [
        (Permissions.FULL, False, FREE, False),
        (Permissions.WORKSPACE, False, "workspace-write", True),
        (Permissions.READ_ONLY, False, "read-only", True),
        (Permissions.WORKSPACE, True, FREE, False),
        (Permissions.READ_ONLY, True, FREE, False),
    ],
)
def test_codex_s_sandbox_is_used_where_noface_s_is_not(permissions, boxed, argument, own_folder):
    argv, settings, variables = started(place=replace(PLACE, boxed=boxed), permissions=permissions)
    assert argument in argv
    assert (FREE in argv) is (argument == FREE)
    assert (variables.get("TMPDIR") == "/d/tmp") is own_folder
    assert ("sandbox_workspace_write.network_access" in settings) is (argument == "workspace-write")
