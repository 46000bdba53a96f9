"""What an agent's program is given in the place of the person's settings: the login, the provider and the models."""

import json
import subprocess
import sys

import pytest
from support.cases import cases

from noface.extras.own_settings import (
    UnreadableSettingsError,
    gemini,
    hook_names,
    merged,
    mirror_opencode,
    opencode,
    parsed,
    started,
)
from noface.model.access import Settings
from noface.model.worker_run import ModelSpec

HOOK = {"hooks": [{"type": "command", "command": "touch $HOME/x"}, {"name": "mine", "type": "command", "command": "c"}]}


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


def plan(tmp_path, settings="project", **more):
    return {
        "folder": str(tmp_path / "own"), "settings": settings, "given": [], "rules": {}, "worker": "", "no_mcp": False,
    } | more  # fmt: skip


@pytest.fixture(autouse=True)
def in_a_project(tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")


def written(path):
    return json.loads(path.read_text())


def test_gemini_s_home_has_the_login_and_the_models_and_none_of_the_person_s_rest(tmp_path):
    theirs = tmp_path / "home" / ".gemini"
    auth = {"auth": {"selectedType": "oauth-personal"}}
    put(theirs / "settings.json", {
        "security": {**auth, "folderTrust": {"enabled": True}}, "model": {"name": "gemini-2.5-pro"},
        "hooks": {"SessionStart": [HOOK]}, "mcpServers": {"x": {}}, "context": {"fileName": "MINE.md"},
    })  # fmt: skip
    for name in ("oauth_creds.json", ".env", "GEMINI.md", "skills/x/SKILL.md", "policies/x.toml", "extensions/x/y"):
        put(theirs / name, "1")
    env = gemini(plan(tmp_path), {"HOME": str(tmp_path / "home")})
    made = tmp_path / "own" / ".gemini"
    assert env == {"GEMINI_CLI_HOME": str(tmp_path / "own")}
    assert {entry.name for entry in made.iterdir()} == {"settings.json", "oauth_creds.json", ".env", "tmp", "history"}
    (made / "oauth_creds.json").write_text("renewed")
    assert (theirs / "oauth_creds.json").read_text() == "renewed"
    assert (made / "tmp").resolve() == theirs / "tmp", "its sessions stay where they are"
    off = {"hooksConfig": {"enabled": False, "disabled": []}}
    assert written(made / "settings.json") == {"security": auth, "model": {"name": "gemini-2.5-pro"}} | off


def test_the_project_s_hooks_are_switched_off_by_their_names_as_well(tmp_path):
    put(
        tmp_path / "project/.gemini/settings.json",
        {"hooksConfig": {"enabled": True}, "hooks": {"BeforeTool": [HOOK, 1]}},
    )
    gemini(plan(tmp_path), {"HOME": str(tmp_path / "home")})
    off = written(tmp_path / "own/.gemini/settings.json")["hooksConfig"]["disabled"]
    assert {"touch $HOME/x", "mine", "c"} <= set(off)
    assert list(hook_names({"hooks": [1]})) == []


def test_a_prompt_of_the_person_s_shell_does_not_act_and_that_of_the_model_does(tmp_path):
    env = {"HOME": str(tmp_path / "home"), "GEMINI_SYSTEM_MD": "/mine.md"}
    gemini(plan(tmp_path, given=["GEMINI_SYSTEM_MD"]), env)
    assert "GEMINI_SYSTEM_MD" in env
    gemini(plan(tmp_path), env)
    assert "GEMINI_SYSTEM_MD" not in env


def test_without_any_settings_gemini_does_not_trust_the_folder_and_does_not_ask(tmp_path):
    env = gemini(plan(tmp_path, "none"), {"HOME": str(tmp_path / "home")})
    assert env["GEMINI_CLI_TRUST_WORKSPACE"] == "false"
    assert written(tmp_path / "own/.gemini/settings.json")["security"] == {"folderTrust": {"enabled": False}}


def test_opencode_s_folder_has_the_providers_of_all_its_files_and_the_other_programs_keep_theirs(tmp_path):
    home = tmp_path / "home"
    put(
        home / ".config/opencode/opencode.jsonc",
        '{ // mine\n "provider": {"a": {"options": {"apiKey": "{file:./key}"}}}, "mcp": {"x": {}},}',
    )
    put(home / ".opencode/opencode.json", {"provider": {"b": {}}, "plugin": ["x"], "model": "b/c"})
    put(home / ".config/git/config", "1")
    put(home / "more.json", {"provider": {"c": {}}, "instructions": ["x.md"]})
    env = {"HOME": str(home), "OPENCODE_CONFIG": str(home / "more.json"), "OPENCODE_CONFIG_DIR": str(home / "dir")}
    changed = opencode(plan(tmp_path), env)
    config = tmp_path / "own/config"
    assert changed == {
        "XDG_CONFIG_HOME": str(config), "OPENCODE_TEST_HOME": str(tmp_path / "own/home"), "OPENCODE_PURE": "1",
    }  # fmt: skip
    key = f"{{file:{home}/.config/opencode/./key}}"
    assert written(config / "opencode/opencode.json") == {
        "provider": {"a": {"options": {"apiKey": key}}, "b": {}, "c": {}}, "model": "b/c",
    }  # fmt: skip
    assert (config / "git/config").read_text() == "1"
    assert not {"OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"} & env.keys()


def test_what_a_person_wrote_into_env_stands_and_noface_s_rules_come_after_it(tmp_path):
    theirs = {"plugin": ["x"], "agent": {"noface": {"permission": {"bash": "allow"}}}}
    env = {"HOME": str(tmp_path / "home"), "OPENCODE_CONFIG_CONTENT": json.dumps(theirs), "OPENCODE_CONFIG": "/c.json"}
    told = plan(tmp_path, given=["OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG"], rules={"bash": "deny"}, worker="noface")
    content = json.loads(opencode(told, env)["OPENCODE_CONFIG_CONTENT"])
    assert content["plugin"] == ["x"]
    assert content["agent"]["noface"] == {"permission": {"bash": "deny"}, "mode": "primary"}
    assert env["OPENCODE_CONFIG"] == "/c.json"
    of_the_shell = json.loads(
        opencode(plan(tmp_path), {**env, "OPENCODE_CONFIG_CONTENT": '{"plugin": ["x"], "model": "m"}'})[
            "OPENCODE_CONFIG_CONTENT"
        ]
    )
    assert of_the_shell == {"model": "m"}


def test_the_project_s_mcp_servers_are_switched_off_by_name(tmp_path):
    put(tmp_path / "project/opencode.jsonc", '{"mcp": {"a": {"type": "local"},},}')
    put(tmp_path / "project/.opencode/opencode.json", "{broken")
    changed = opencode(plan(tmp_path, "user", no_mcp=True), {"HOME": str(tmp_path)})
    assert json.loads(changed["OPENCODE_CONFIG_CONTENT"]) == {"mcp": {"a": {"enabled": False}}}


def test_nothing_is_put_before_a_program_that_needs_no_settings_of_its_own():
    assert started(ModelSpec("m", "gemini", settings=Settings.USER), "/f", ["gemini"]) == ("gemini",)
    assert started(ModelSpec("m", "gemini"), "/f", ["gemini"])[0] == sys.executable
    assert started(ModelSpec("m", "opencode", settings=Settings.USER), "/f", ["opencode"])[0] == sys.executable


def test_opencode_can_write_beside_all_that_the_person_has(tmp_path):
    person, config = tmp_path / ".config", tmp_path / "own"
    for name in ("git/config", "opencode/opencode.json", "opencode/plugin/mine.js"):
        put(person / name, name)
    mirror_opencode(person, config)
    for name in ("git/config", "opencode/opencode.json", "opencode/plugin/mine.js"):
        assert (config / name).read_text() == name
    put(config / "opencode/.gitignore", "")
    assert not (person / "opencode/.gitignore").exists()
    assert opencode(plan(tmp_path, "user"), {"HOME": str(tmp_path)}) == {}


@cases(("text", "value"), [
    ('{"a": "// no comment", /* one */ "b": [1, 2,],}', {"a": "// no comment", "b": [1, 2]}),
    ("", {}),
])  # fmt: skip
def test_settings_may_have_comments_and_trailing_commas(text, value):
    assert parsed(text, "f") == value


@cases("text", ["[]", "{", '{"a": ' + "[" * 200_000])
def test_settings_that_cannot_be_read_are_told(text):
    with pytest.raises(UnreadableSettingsError):
        parsed(text, "f")


def test_what_is_merged_last_comes_last():
    assert list(merged({"a": 1, "b": {"c": 1}}, {"d": 2, "b": {"c": 2}})) == ["a", "b", "d"]


@pytest.mark.parametrize(("agent", "code"), [("gemini", 52), ("opencode", 1)])
def test_a_program_whose_settings_cannot_be_read_is_not_started(tmp_path, agent, code):
    put(tmp_path / ".gemini/settings.json", "{")
    put(tmp_path / ".config/opencode/opencode.json", "{")
    argv = started(
        ModelSpec("m", agent), str(tmp_path / "own"), ["touch", str(tmp_path / "ran")], rules={}, no_mcp=False
    )
    done = subprocess.run(
        argv, check=False, capture_output=True, text=True, env={"HOME": str(tmp_path), "PATH": "/usr/bin"}
    )
    assert done.returncode == code
    assert "cannot be read" in done.stderr
    assert not (tmp_path / "ran").exists()
