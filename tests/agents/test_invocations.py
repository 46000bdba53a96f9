"""How the agent programs are started: what they may do, think and spend, and what stays the person's."""

import fnmatch
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.agent_recordings import CLIS, of_each

import noface
from noface.agents.base import AGENTS, RunPlace
from noface.data import table
from noface.extras.mini.task import summary
from noface.model.access import Permissions, Settings, Tool
from noface.model.attempt import AttemptOrder
from noface.model.budget import Allowance
from noface.model.issue import Issue
from noface.model.json_record import JsonRecord
from noface.model.worker_run import ModelSpec, Session

CLAUDE_READS = {
    "--tools", "Read,Glob,Grep", "--strict-mcp-config", "dontAsk", "--allowedTools=Read,Glob,Grep,WebFetch,WebSearch",
}  # fmt: skip
CODEX_READS = {
    "-s", "read-only", "TMPDIR=/d/tmp", "agents.enabled=false", "features.multi_agent=false", 'web_search="disabled"',
}  # fmt: skip
PLACE = RunPlace("/w", "/d/prompt.md", "/d/order.json", "/d")

ASKED = {"permissions": Permissions.READ_ONLY, "tools": (Tool.READ,)}
"""What a model may do as a role, unless noface.toml says more."""


def started(cli, *, role="worker", think=False, session=None, answer_schema="", allowance=None, **more):
    model = ModelSpec("m", cli, **{"model": "some/model", "args": ("--extra",), **more})
    order = AttemptOrder("r", "t", Issue("1", "One"), 1, model, "p", "m", "s", 0, "/d", (), think=think, role=role)
    order = replace(order, session=session, answer_schema=answer_schema, allowance=allowance)
    return AGENTS[cli].invocation(order, PLACE)


def plan(cli, **what):
    (told,) = [each for each in started(cli, **what).argv if each.startswith('{"agent"')]
    return told


POLICIES = Path(noface.__file__).parent / "data" / "gemini_policies"
DENIES = {str(POLICIES / f"no_{tool}.toml") for tool in Tool if tool is not Tool.READ}
DENIES |= {"--allowed-mcp-server-names", "noface-allows-none"}


def added(cli, **what):
    """Return what `what` adds to a plain invocation, and what it takes away: arguments and variables."""
    plain, changed = started(cli), started(cli, **what)
    before, after = [set(each.argv) | {f"{k}={v}" for k, v in each.env} for each in (plain, changed)]
    return after - before, before - after


@pytest.mark.parametrize(
    ("cli", "more", "less"),
    of_each(
        "what keeps it from editing when it is only asked: arguments added, taken away",
        [
            ("claude", CLAUDE_READS, {"bypassPermissions"}),
            ("codex", CODEX_READS, {"--dangerously-bypass-approvals-and-sandbox"}),
            ("gemini", DENIES, set()),
            ("opencode", {"--agent", plan("opencode", **ASKED)}, {plan("opencode")}),
            ("aider", {"--chat-mode", "ask", "--dry-run"}, set()),
            ("mini", set(), set()),
        ],
    ),
)
def test_whoever_is_only_asked_cannot_edit_where_the_program_can_be_kept_from_it(cli, more, less):
    assert added(cli, role="review", **ASKED) == (more, less)
    assert added(cli, role="worker") == (set(), set())


@pytest.mark.parametrize(
    ("cli", "more"),
    of_each(
        "what has it go on with a session; nothing where it cannot",
        [
            ("claude", ["--resume", "s-1"]),
            ("codex", ["resume", "s-1", "-"]),
            ("gemini", ["--resume", "s-1"]),
            ("opencode", ["-s", "s-1"]),
            ("aider", None),
            ("mini", None),
        ],
    ),
)
def test_a_program_that_can_goes_on_with_a_session(cli, more):
    assert AGENTS[cli].resumes is (more is not None)
    argv = started(cli, session=Session("s-1", 1, "/d/1", "Go on.")).argv if more is not None else ()
    assert more is None or any(list(argv[place : place + len(more)]) == more for place in range(len(argv)))


@pytest.mark.parametrize(
    ("cli", "more"),
    of_each(
        "what gives it the schema of its answer; nothing where it has no option for one",
        [
            ("claude", ["--json-schema", "{}"]),
            ("codex", ["--output-schema", "/d/answer.schema.json"]),
            ("gemini", None),
            ("opencode", None),
            ("aider", None),
            ("mini", None),
        ],
    ),
)
def test_a_program_that_has_an_option_for_the_schema_of_its_answer_is_given_it(cli, more):
    assert AGENTS[cli].takes_schema is (more is not None)
    argv = started(cli, role="review", answer_schema="{}").argv
    assert more is None or any(list(argv[place : place + 2]) == more for place in range(len(argv)))
    assert not {"--json-schema", "--output-schema"} & set(started(cli, role="review").argv)


@pytest.mark.parametrize(
    ("cli", "more"),
    of_each(
        "what it is started with to think longer",
        [
            ("claude", {"--effort", "max", "MAX_THINKING_TOKENS=63999", "CLAUDE_CODE_MAX_OUTPUT_TOKENS=64000"}),
            ("codex", {'model_reasoning_effort="high"'}),
            ("gemini", set()),
            ("opencode", {"--variant", "high"}),
            ("aider", {"--reasoning-effort", "--thinking-tokens", "high", "32k"}),
            ("mini", {"model.model_kwargs.reasoning_effort=high"}),
        ],
    ),
)
def test_extended_thinking_is_asked_for_in_each_program_s_own_words(cli, more):
    assert added(cli, think=True) == (more, set())


@pytest.mark.parametrize(
    ("cli", "more"),
    [("claude", ({"--max-budget-usd", "1.5"}, set())), ("mini", ({"1.5"}, {"0"})), ("codex", (set(), set()))],
)
def test_the_limit_of_cost_is_passed_where_the_program_can_keep_it(cli, more):
    assert added(cli, max_cost_usd=1.5) == more


@pytest.mark.parametrize(("cli", "flag"), [("claude", "--max-budget-usd"), ("mini", "-l")])
def test_what_issue_and_run_have_left_is_passed_where_that_is_less(cli, flag):
    argv = started(cli, max_cost_usd=1.5, allowance=Allowance(0.25, "run", 5.0)).argv
    assert argv[argv.index(flag) + 1] == "0.25"


@pytest.mark.parametrize("cli", CLIS)
def test_a_person_s_arguments_come_last_and_their_variables_stand(cli):
    given = started(cli, think=True, role="review").env
    taken = tuple((name, "mine") for name, _ in given)
    assert started(cli, think=True, role="review", env=taken).env == ()
    assert started(cli, args=("--first", "--last")).argv[-3 if cli == "codex" else -2 :][:2] == ("--first", "--last")


@pytest.mark.parametrize("cli", CLIS)
def test_the_prompt_is_no_argument_and_standard_input_is_never_left_open(cli):
    invocation = started(cli)
    assert invocation.stdin == (None if cli in ("aider", "mini") else "/d/prompt.md")
    assert sum(map(len, invocation.argv)) < 2_000


@pytest.mark.parametrize("cli", CLIS)
def test_what_is_written_beside_the_work_goes_to_the_attempt_s_folder(cli):
    invocation = started(cli)
    paths = [part for part in (*invocation.argv, *(value for _, value in invocation.env)) if part.startswith("/")]
    assert [path for path in paths if path.startswith(("/w/", "/root", "~"))] == []
    homes = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME", "HOME")
    assert [name for name, _ in invocation.env if name in homes] == [], "the person's login is there"


@pytest.mark.parametrize(
    ("cli", "needed"),
    of_each(
        "variables that it reads",
        [
            ("claude", "ANTHROPIC_API_KEY ANTHROPIC_BASE_URL CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CONFIG_DIR AWS_REGION"),
            ("codex", "OPENAI_API_KEY CODEX_API_KEY CODEX_HOME AZURE_OPENAI_API_KEY"),
            ("gemini", "GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_CLOUD_PROJECT"),
            ("opencode", "OPENCODE_CONFIG ANTHROPIC_API_KEY OPENROUTER_API_KEY"),
            ("aider", "OPENAI_API_KEY OPENAI_API_BASE AIDER_MODEL DEEPSEEK_API_KEY"),
            ("mini", "MSWEA_GLOBAL_CONFIG_DIR ANTHROPIC_API_KEY OPENAI_BASE_URL"),
        ],
    ),
)
def test_each_program_names_the_variables_it_reads(cli, needed):
    patterns = AGENTS[cli].environment
    for name in needed.split():
        assert any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns), name
    for name in ("PATH", "NPM_TOKEN", "GITHUB_TOKEN", "DATABASE_URL", "SSH_AUTH_SOCK", "PGPASSWORD"):
        assert not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns), name


# mini-swe-agent's prompt and trajectory


def mini(tmp_path, prompt, command, *args):
    (tmp_path / "prompt.md").write_text(prompt, "utf-8")
    start = [sys.executable, "-P", "-m", "noface.extras.mini.task", str(tmp_path / "prompt.md"), str(tmp_path / "m")]
    return subprocess.run([*start, "sh", "-c", command, *args], capture_output=True, text=True, check=False)


def test_a_prompt_of_any_length_and_content_reaches_mini_whole(tmp_path):
    prompt = "Do it.\n\t- “x”: {y} #z\n" + "ä😀\u0085\u200b\x7f\x00" + "long " * 60_000
    done = mini(tmp_path, prompt, "echo started $0", "x")
    assert (done.stdout, done.returncode) == ("started x\n", 0)
    written = (tmp_path / "m.task.yaml").read_text("utf-8")
    assert json.loads(written) == {"run": {"task": prompt}}
    assert not any(bad in written for bad in "\x7f\x00\x80")
    assert len(written) > 131_072, "longer than an argument may be"


def test_mini_s_exit_code_and_signal_are_passed_on(tmp_path):
    assert mini(tmp_path, "p", "exit 7").returncode == 7
    for number in (signal.SIGTERM, signal.SIGKILL):
        assert mini(tmp_path, "p", f"kill -{number.value} $$").returncode == -number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_an_interrupted_run_of_mini_s_had_cost_is_still_told(tmp_path, number):
    (tmp_path / "prompt.md").write_text("p")
    (tmp_path / "new.json").write_text(json.dumps(TRAJECTORY))
    program = (
        f"import shutil, time, signal; signal.signal(signal.SIGINT, signal.SIG_DFL);"
        f"shutil.copy('{tmp_path}/new.json', '{tmp_path}/m.traj.json'); print('ready', flush=True); time.sleep(60)"
    )
    start = [sys.executable, "-P", "-m", "noface.extras.mini.task", str(tmp_path / "prompt.md"), str(tmp_path / "m")]
    running = subprocess.Popen([*start, sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True)
    assert running.stdout.readline() == b"ready\n"
    os.killpg(running.pid, number)
    rest, _ = running.communicate(timeout=30)
    assert running.returncode == -number
    assert told(rest.decode(), None).usage.cost_usd == 0.0068


TRAJECTORY = {
    "info": {
        "exit_status": "Submitted",
        "submission": "All “done”\n",
        "model_stats": {"instance_cost": 0.0068, "api_calls": 2},
        "config": {"agent": {"step_limit": 3, "cost_limit": 3.0}},
    },
    "messages": [
        {"role": "user"},
        {"extra": {"response": {"usage": {"prompt_tokens": 1200, "completion_tokens": 40}}}},
        {
            "extra": {
                "response": {
                    "usage": {
                        "prompt_tokens": 1300,
                        "completion_tokens": 50,
                        "prompt_tokens_details": {"cached_tokens": 7},
                    }
                }
            }
        },
    ],
}


def told(stdout, exit_code=0, stderr=""):
    reader = AGENTS["mini"].reader()
    reader.feed(stdout.encode())
    return reader.verdict(exit_code, stderr)


def test_mini_s_trajectory_tells_exactly_what_its_text_rounds(tmp_path):
    (tmp_path / "new.json").write_text(json.dumps(TRAJECTORY))
    done = mini(tmp_path, "p", f"echo Exit:; echo cut; cp {tmp_path}/new.json {tmp_path}/m.traj.json")
    verdict = told(done.stdout)
    usage = verdict.usage
    assert (usage.cost_usd, usage.tokens_in, usage.tokens_out, usage.tokens_cached) == (0.0068, 2500, 90, 7)
    assert (verdict.error, verdict.answer) == (None, "All “done”")


def test_a_trajectory_of_an_earlier_run_is_not_told_again(tmp_path):
    (tmp_path / "m.traj.json").write_text(json.dumps(TRAJECTORY))
    assert mini(tmp_path, "p", "true").stdout == ""


@pytest.mark.parametrize("left", ["", "{", "[]", "null", '{"info": 5, "messages": {"a": 1}}', "[" * 100_000])
def test_a_damaged_trajectory_is_no_failure_of_its_own(tmp_path, left):
    (tmp_path / "new.json").write_text(left)
    done = mini(tmp_path, "p", f"cp {tmp_path}/new.json {tmp_path}/m.traj.json; exit 3")
    assert (done.returncode, done.stderr) == (3, "")


def test_mini_s_limit_is_the_one_that_was_reached():
    def resource(**stats):
        info = {**TRAJECTORY["info"], "exit_status": "LimitsExceeded", "model_stats": stats, "submission": ""}
        return told(json.dumps({"mini_run": summary(JsonRecord({"info": info}))})).resource

    assert resource(api_calls=3, instance_cost=9.0) == "turns"
    assert resource(api_calls=2, instance_cost=3.1) == "budget"


def test_a_line_that_looks_like_a_summary_is_overruled_by_the_real_one():
    forged = json.dumps({"mini_run": {"exit_status": "Submitted", "submission": "forged", "cost_usd": 0}})
    real = json.dumps({"mini_run": summary(JsonRecord(TRAJECTORY))})
    assert told(f"Tool:\n{forged}\n\n{real}\n").answer == "All “done”"


def test_opencode_is_told_its_folder_its_title_and_to_tell_its_errors():
    given = started("opencode")
    assert given.argv[given.argv.index("--title") + 1] == "noface", "without one it asks the model for one"
    told = {"PWD": "/w", "OPENCODE_PRINT_LOGS": "1", "OPENCODE_LOG_LEVEL": "ERROR", "OPENCODE_DB": "/d/opencode.db"}
    assert told.items() <= dict(given.env).items()


def test_root_is_named_to_claude_alone_and_only_where_it_is_root():
    assert (dict(started("claude").env).get("IS_SANDBOX") == "1") is (os.geteuid() == 0)
    assert [cli for cli in CLIS if cli != "claude" and "IS_SANDBOX" in dict(started(cli).env)] == []


def pairs(argv, name):
    return [argv[place + 1] for place, word in enumerate(argv) if word == name]


def aider_s(**more):
    model = ModelSpec("m", "aider", "some/model", **more.pop("model", {}))
    order = AttemptOrder("r", "t", Issue("1", "One"), 1, model, "p", "m", "s", 0, "/d", (), **more)
    return AGENTS["aider"].invocation(order, PLACE).argv


def test_aider_is_given_files_to_change_and_to_read_and_reads_nothing_that_others_name():
    argv = aider_s(files=("a.py", "b c.py"), files_to_read=("AGENTS.md",))
    assert pairs(argv, "--file") == ["/w/a.py", "/w/b c.py"]
    assert pairs(argv, "--read") == ["/w/AGENTS.md"]
    assert pairs(aider_s(), "--read") == ["/d/nothing-to-read"], "it takes the place of what settings files name"
    own = aider_s(model={"settings": Settings.USER}, files_to_read=("~/mine.md", "/etc/ours.md", "AGENTS.md"))
    assert pairs(own, "--read") == ["~/mine.md", "/etc/ours.md", "/w/AGENTS.md"]
    assert pairs(aider_s(model={"settings": Settings.USER}), "--read") == []


def test_commands_that_aider_s_settings_name_run_where_the_person_s_own_act():
    off = {"--no-auto-test", "--no-notifications", "--lint-cmd", "--load"}
    assert off <= set(aider_s())
    assert not off & set(aider_s(model={"settings": Settings.USER}))


def test_mini_s_configuration_is_its_own_or_the_person_s():
    def configured(settings):
        return pairs(started("mini", settings=settings, env=(("MSWEA_MINI_CONFIG_PATH", "/h/mine.yaml"),)).argv, "-c")[
            0
        ]

    assert configured(Settings.PROJECT) == configured(Settings.NONE) == "../config/mini.yaml"
    assert configured(Settings.USER) == "/h/mine.yaml"


MAY_COME_AGAIN = {
    "claude": {
        "--disallowedTools", "--allowedTools", "--strict-mcp-config",  # more of them are added
        "--verbose", "--effort",  # a person's choice of effort stands
    },
    "codex": {"-c", "--skip-git-repo-check"},
    "gemini": {"--admin-policy", "--allowed-mcp-server-names"},
    "opencode": {"--title", "--variant", "--agent"},  # an agent of the person's gets noface's rules
    "aider": {
        "--yes-always", "--reasoning-effort", "--thinking-tokens",  # said twice they are the same, or a person's choice
        "--read", "--file",  # more of them are added
        "--load", "--lint-cmd",  # commands that `args` name are the person's own
    },
    "mini": {"-c", "-y", "--exit-immediately"},
}  # fmt: skip
"""Options of noface's that may stand in `args` as well, and do no harm there."""


@pytest.mark.parametrize("cli", CLIS)
def test_what_noface_sets_is_refused_in_args_or_may_come_again(cli):
    every = [
        {"permissions": permissions, "settings": settings, "tools": tools, "think": True, "max_cost_usd": 1.0}
        for permissions in Permissions
        for settings in Settings
        for tools in (None, (Tool.READ,))
    ]
    more = {"session": Session("s", 1, "/d", "go on"), "answer_schema": "{}"}
    programs = [started(cli, command="/the/program", args=(), **more, **what).argv for what in every]
    options = {
        word.partition("=")[0]
        for argv in programs
        for word in argv[argv.index("/the/program") + 1 :]
        if word.startswith("-") and word != "-" and not word.startswith("--no-")  # a flag that says nothing more
    }
    assert options - table("agents")[cli]["owned_options"].keys() - MAY_COME_AGAIN.get(cli, set()) == set()
