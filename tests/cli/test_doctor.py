"""`noface doctor`: real programs on a PATH of their own, and what it says of them."""

import json
import shutil
import stat
from pathlib import Path

import pytest

from noface.cli.probes.models import price_problems, version_problems
from noface.config.presets import presets
from noface.data import table
from noface.model.worker_run import ModelSpec

TOOLS = (
    "git", "sh", "bash", "env", "cat", "ls", "sleep", "touch", "test", "pwd", "readlink", "uname", "dirname", "sed",
)  # fmt: skip
KEYS = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CODEX_API_KEY", "OPENAI_API_KEY",
    "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_USE_VERTEXAI",
    "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CONFIG_DIR", "CODEX_HOME",
    "XDG_DATA_HOME", "MSWEA_GLOBAL_CONFIG_DIR",
)  # fmt: skip
SECRET = "sk-ant-api03-not-a-real-key-0123456789abcdef"
CONFIG = """\
[[gates]]
name = "check"
command = "test -e a.txt"

[retry]
default_model = "claude-sonnet"
escalation_model = "gpt-codex"

[roles]
planner = "claude-sonnet"
"""
OK = '{"type":"result","subtype":"success","is_error":false,"result":"OK","total_cost_usd":0.002}'
REFUSED = (
    '{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"total_cost_usd":0,'
    '"result":"Invalid API key: %s"}'
)
DONE = '{"type":"item.completed","item":{"type":"agent_message","text":"OK"}}\n{"type":"turn.completed","usage":{}}'


class Doctor:
    """A project whose PATH holds a few tools and the programs that a test puts there."""

    def __init__(self, project):
        self.project = project
        self.bin = project.folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            found = shutil.which(tool)
            if found is not None:
                (self.bin / tool).symlink_to(found)
        project.env |= {"PATH": str(self.bin), **dict.fromkeys(KEYS, "")}
        self.configure(CONFIG)

    def configure(self, text):
        self.project.write("noface.toml", text)
        self.project.commit("configuration")

    def program(self, name, version="1.2.3", run=":"):
        """Put a program on PATH that tells its version, and otherwise does `run`."""
        path = self.bin / name
        path.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then\n{version_script(version)}\nexit\nfi\n{run}\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def agents(self, claude=OK, codex=DONE):
        self.program("claude", "2.1.197 (Claude Code)", f"cat > /dev/null\ncat << 'END'\n{claude}\nEND")
        self.program("codex", "codex-cli 0.169.0", f"cat > /dev/null\ncat << 'END'\n{codex}\nEND")

    def page(self, *args, code=0, **env):
        done = self.project.noface("doctor", *args, **env)
        assert done.returncode == code, f"exit {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def told(self, *args, code=0, **env):
        return json.loads(self.page("--json", *args, code=code, **env))

    def model(self, name, *args, code=0, **env):
        return next(each for each in self.told(*args, code=code, **env)["models"] if each["name"] == name)


def version_script(version):
    return version if "\n" in version else f"echo '{version}'"


def named(findings, name):
    return next(each for each in findings if each["name"] == name)


@pytest.fixture
def doctor(project):
    return Doctor(project)


LOGGED_IN = {"ANTHROPIC_API_KEY": SECRET, "CODEX_API_KEY": SECRET}


# What is found without asking any model


def test_where_all_is_there_it_says_so(doctor):
    doctor.agents()
    page = doctor.page(**LOGGED_IN)
    assert "Everything seems ready" in page
    assert "Not ready, and not needed: gemini-flash, gemini-pro" in page
    assert "Ready, too: claude-haiku, claude-opus, gpt-codex-mini, gpt-codex-max" in page
    told = doctor.told(**LOGGED_IN)
    assert SECRET not in page + json.dumps(told)
    assert told["ok"]
    models = {model["name"]: model for model in told["models"] if model["used_by"]}
    used = {name: model["used_by"] for name, model in models.items()}
    assert used == {"claude-sonnet": ["step 1", "planner"], "gpt-codex": ["step 2"]}
    sonnet = models["claude-sonnet"]
    assert (sonnet["path"], sonnet["version"]) == (str(doctor.bin / "claude"), "2.1.197")
    assert (sonnet["login"], sonnet["problems"], sonnet["probe"]) == (["ANTHROPIC_API_KEY"], [], None)


def test_a_missing_program_that_is_in_use_needs_a_person_and_says_how_to_install_it(doctor):
    doctor.program("claude")
    page = doctor.page(code=2, **LOGGED_IN)
    assert "the program codex is not on PATH" in page
    assert "→ Install it: npm install -g @openai/codex" in page
    assert "1 thing to fix" in page


def test_a_program_that_its_installer_has_put_beside_path_is_named_with_its_place(doctor):
    """As cron and systemd see it: their PATH knows none of these folders."""
    doctor.program("claude")
    place = doctor.project.folder / ".local/bin/codex"
    place.parent.mkdir(parents=True)
    shutil.copy(doctor.bin / "claude", place)
    page = " ".join(doctor.page(code=2, **LOGGED_IN).split())
    assert f"codex is at {place}, which is not on PATH" in page
    assert f"Start noface with PATH={place.parent}:$PATH" in page


def test_a_missing_login_says_how_to_log_in(doctor):
    doctor.agents()
    found = doctor.model("claude-sonnet", code=3, CODEX_API_KEY=SECRET)
    assert found["problems"] == [
        {
            "name": "login",
            "state": "bad",
            "text": "no login seen",
            "fix": "To log in: run `claude` and log in with /login, or set ANTHROPIC_API_KEY.",
        }
    ]


def test_a_program_that_reads_its_input_or_warns_first_still_tells_its_version(doctor):
    doctor.agents()
    doctor.program("claude", "cat\necho 'WARNING: 1.1.1.1 is old' >&2\necho v3.4")
    assert doctor.model("claude-sonnet", **LOGGED_IN)["version"] == "3.4"


def test_a_program_that_cannot_start_needs_a_person(doctor):
    doctor.agents()
    doctor.program("claude", "echo 'env: node: No such file or directory' >&2\nexit 127")
    (problem,) = doctor.model("claude-sonnet", code=3, **LOGGED_IN)["problems"]
    assert problem["text"].endswith("claude does not start: env: node: No such file or directory")


def test_a_program_newer_than_the_tested_one_is_told_with_both_versions(doctor):
    tested = table("agents")["claude"]["tested"]
    doctor.agents()
    doctor.program("claude", "99.1.0 (Claude Code)")
    (problem,) = doctor.model("claude-sonnet", **LOGGED_IN)["problems"]
    assert (problem["name"], problem["state"]) == ("version", "note")
    assert problem["text"] == f"claude 99.1.0 is newer than {tested}, the newest that noface was tested with"
    assert problem["fix"].endswith(f"install the tested one: npm install -g @anthropic-ai/claude-code@{tested}")


def test_a_program_that_is_too_old_is_told_with_the_reason():
    (problem,) = version_problems("gemini", "0.38.2")
    assert problem.text.startswith("gemini 0.38.2 is older than 0.39.1: it has no --skip-trust")
    assert problem.fix.endswith(f"install the tested one: {table('agents')['gemini']['install_tested']}")


@pytest.mark.parametrize("agent", [name for name, entry in table("agents").items() if "tested" in entry])
def test_the_tested_version_of_a_program_says_nothing(agent):
    assert list(version_problems(agent, table("agents")[agent]["tested"])) == []


def test_which_models_share_a_login_and_which_stand_in_for_each_other_is_shown(doctor):
    doctor.agents()
    own = 'agent = "claude"\nmodel = "claude-sonnet-4-5"\ntier = %s\nenv = { CLAUDE_CONFIG_DIR = "/home/%s" }\n'
    entries = f"[models.a]\n{own % (2, 'a')}[models.b]\n{own % (2, 'b')}[models.top]\n{own % (3, 'a')}"
    ladder = CONFIG.replace('"claude-sonnet"', '"a"').replace('"gpt-codex"', '"top"')
    doctor.configure(ladder + entries)
    model = doctor.model("a", **LOGGED_IN)
    assert model["facts"][:2] == ["same login as top", "while it is away: b"]


def test_a_model_whose_price_nobody_knows_is_told():
    (unknown,) = price_problems(ModelSpec("m", "codex"))
    assert (unknown.name, unknown.fix) == ("price", "Set [models.m] usd_per_mtok_in and usd_per_mtok_out.")


def test_a_command_of_ones_own_needs_neither_login_nor_version(doctor):
    own = '[retry]\ndefault_model = "mine"\n[models.mine]\nagent = "command"\ncommand = "./worker.sh"\n'
    doctor.configure(CONFIG[: CONFIG.index("[retry]")] + own)
    found = doctor.model("mine")
    assert (found["state"], found["login"], found["version"]) == ("ok", [], "")


# The machine and the project


def test_the_machine_is_told(doctor):
    doctor.agents()
    machine = doctor.told(**LOGGED_IN)["machine"]
    names = ["noface", "git", "processes", "sandbox", "syntax"]
    assert [each["name"] for each in machine] == names
    sandbox = named(machine, "sandbox")
    assert (sandbox["state"], sandbox["text"].split(";")[0]) == ("note", "none: bubblewrap is not installed")
    assert "apt install bubblewrap" in sandbox["fix"]
    assert "no process outlives its attempt" in named(machine, "processes")["text"]


def test_what_the_sandbox_shows_of_the_home_is_told_and_what_is_odd_in_show(doctor):
    doctor.agents()
    doctor.program("bwrap", version="bubblewrap 0.8.0")
    home = doctor.project.folder
    for path, mode in ((".pyenv/bin/python", 0o755), (".npmrc", 0o644), (".ssh/id", 0o600)):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text("x")
        (home / path).chmod(mode)
    doctor.configure(CONFIG + f'\n[sandbox]\nshow = ["~/.gone", "~/.ssh", "{home}", "~/.pyenv"]\n')
    told = doctor.told(**LOGGED_IN)
    text = named(told["machine"], "sandbox")["text"]
    assert "~/.pyenv, ~/bin (PATH and known toolchains); harmless keys of ~/.npmrc; [sandbox] show" in text
    found = [each["text"] for each in told["project"] if "[sandbox] show" in each["text"]]
    assert [text.removeprefix("[sandbox] show: ") for text in found] == [
        "~/.gone is not there",
        "~/.ssh holds what only you may read; agents and gates read it too",
        f"{home} is your whole home, which stays hidden; of that the places count that are named",
    ]


def test_the_project_is_told_with_its_folders_and_gates(doctor):
    doctor.agents()
    told = {each["name"]: each["text"] for each in doctor.told(**LOGGED_IN)["project"]}
    assert told["config"] == "noface.toml: 1 gate; models claude-sonnet, then gpt-codex"
    assert told["state"].startswith(f"{doctor.project.state}, ")
    assert told["state"].endswith("free")
    assert " used, " not in told["workspaces"]
    folder = Path(told["workspaces"].partition(", ")[0])
    (folder / "agent-000").mkdir(parents=True)
    (folder / "agent-000/big").write_bytes(b"x" * 2_000_000)
    told = {each["name"]: each["text"] for each in doctor.told(**LOGGED_IN)["project"]}
    assert " 2.0 MB used, " in told["workspaces"]
    assert told["gates"] == "check"


def test_without_a_configuration_it_still_looks_around_and_exits_with_2(doctor):
    doctor.agents()
    (doctor.project.path / "noface.toml").unlink()
    page = doctor.page(code=2, **LOGGED_IN)
    assert "there is no noface.toml" in page
    assert "Ready, too: claude-haiku, claude-sonnet" in " ".join(page.split())


# Asking the models


def test_a_probe_asks_the_models_in_use_and_no_others(doctor):
    doctor.agents()
    told = doctor.told("--probe", **LOGGED_IN)
    probed = {model["name"]: model["probe"] for model in told["models"] if model["probe"] is not None}
    assert probed.keys() == {"claude-sonnet", "gpt-codex"}
    sonnet = probed["claude-sonnet"]
    assert (sonnet["kind"], sonnet["cost_usd"], sonnet["answer"]) == ("", 0.002, "OK")
    assert "Everything is ready; the gates were not run." in doctor.page("--probe", **LOGGED_IN)


def test_a_probe_runs_like_an_attempt_in_an_empty_folder_with_a_short_prompt(doctor):
    doctor.agents()
    notes = doctor.project.folder / "notes"
    seen = f"pwd > {notes}\nls -A >> {notes}\ncat >> {notes}\necho \"$@\" >> {notes}\ntouch left-over\necho '{OK}'"
    doctor.program("claude", run=seen)
    doctor.page("--probe", **LOGGED_IN)
    folder, prompt, arguments = notes.read_text().splitlines()
    assert not Path(folder).exists()
    assert not Path(folder).is_relative_to(doctor.project.path)
    assert prompt == "Reply with OK, and do nothing else."
    assert "--model sonnet" in arguments


def test_a_model_that_answers_is_usable_though_no_login_was_seen(doctor):
    doctor.agents()
    found = doctor.model("claude-sonnet", "--probe")
    assert (found["login"], found["problems"]) == ([], [])


def test_a_refused_key_is_told_as_what_it_is_without_its_value(doctor):
    doctor.agents(claude=REFUSED % SECRET)
    page = doctor.page("--probe", code=3, **LOGGED_IN)
    words = " ".join(page.split())
    assert "AUTH: Invalid API key" in words
    assert "ANTHROPIC_API_KEY was not accepted. To log in: run `claude`" in words
    assert SECRET not in page


def test_a_model_that_does_not_answer_in_time_is_not_usable(doctor):
    doctor.agents()
    doctor.configure(CONFIG + '[models.claude-sonnet]\ntimeout = "1s"\n')
    doctor.program("claude", run="sleep 1000")
    found = doctor.model("claude-sonnet", "--probe", code=3, **LOGGED_IN)
    assert found["probe"]["kind"] == "TIMEOUT"
    assert found["problems"][0]["name"] == "probe"


def test_every_key_that_is_looked_for_reaches_its_agent(doctor):
    keys = {"CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"}
    models = doctor.told(code=2, **dict.fromkeys(keys, SECRET))["models"]
    unseen = [model["name"] for model in models if model["name"] in presets() and not model["login"]]
    assert unseen == []
