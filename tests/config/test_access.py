"""settings, tools and permissions of models and roles: what they give, and what an agent cannot be held to."""

import pytest

from noface.attempt.isolation import writes_beyond
from noface.config.load import parse
from noface.config.model_sections import Model
from noface.config.problems import InvalidConfigError
from noface.data import table
from noface.model.access import Permissions, Settings, Tool
from noface.model.history import Topic
from noface.model.worker_run import ModelSpec, as_role


def problems(text):
    with pytest.raises(InvalidConfigError) as caught:
        parse(text, "noface.toml")
    return [(problem.key, problem.line, problem.message) for problem in caught.value.problems]


def test_a_worker_may_use_all_that_its_agent_has_and_the_settings_are_the_projects():
    model = parse("", "noface.toml").models["claude-sonnet"]
    assert (model.settings, model.tools, model.permissions) == (Settings.PROJECT, None, Permissions.FULL)
    assert all(ModelSpec("m", "claude").may(tool) for tool in Tool)


def test_a_folder_of_sandbox_write_is_no_agent_s_that_is_only_asked():
    """A command has no permissions of its own to keep; what it may write is its person's to say."""
    workers = [ModelSpec("m", agent) for agent in ("claude", "codex", "command")]
    assert all(map(writes_beyond, workers))
    assert [writes_beyond(as_role(worker)) for worker in workers] == [False, False, True]


def test_every_question_but_those_to_the_worker_and_to_nobody_belongs_to_a_role():
    assert {topic for topic in Topic if not topic.role} == {Topic.REFLECTION, Topic.DEPENDENCY}


@pytest.mark.parametrize(
    ("text", "key", "line", "said"),
    [
        ('[models.m]\nagent = "claude"\nsettings = "users"', "models.m.settings", 3, 'did you mean "user"?'),
        ('[models.m]\nagent = "claude"\ntools = ["red"]', "models.m.tools.0", 3, 'did you mean "read"?'),
        ('[models.m]\nagent = "mini"\ntools = ["read", "edit"]', "models.m.tools", 3, '"run" cannot be taken from mini'),
        (
            '[models.m]\nagent = "mini"\ntools = ["read", "edit", "run", "web"]',
            "models.m.tools", 3, 'mini has no tools for "web"; it has: read, edit, run',
        ),
        ('[models.m]\nagent = "codex"\nargs = ["-sread-only"]', "models.m.args.0", 3, "noface sets -s itself"),
        ('[models.m]\nagent = "codex"\nargs = ["-csandbox_mode=x"]', "models.m.args.0", 3, "sets sandbox_mode itself"),
        ('[models.m]\nagent = "mini"\nargs = ["--cost-limit=1"]', "models.m.args.0", 3, "use max_cost_usd of"),
        ('[models.m]\nagent = "claude"\nargs = ["--output-format", "text"]', "models.m.args.0", 3, "leave it out"),
        (
            '[models.m]\nagent = "claude"\npermissions = "read-only"\n[retry]\ndefault_model = "m"',
            "models.m.permissions", 3, "could change nothing",
        ),
        ('[models.m]\nagent = "claude"\ntools = []', "models.m.tools", 3, "could change nothing"),
        (
            '[models.m]\nagent = "claude"\ntools = ["read"]\n[retry]\ndefault_model = "m"',
            "models.m.tools", 3, "could change nothing",
        ),
        (
            '[models.m]\nagent = "codex"\nargs = ["-s", "workspace-write"]',
            "models.m.args.0", 3, "noface sets -s itself; use permissions of [models.m] instead",
        ),
        (
            '[models.m]\nagent = "aider"\nargs = ["--stream"]',
            "models.m.args.0", 3, "noface sets --stream itself; leave it out",
        ),
        (
            '[models.m]\nagent = "command"\ncommand = "x"\nsettings = "none"',
            "models.m.settings", 4, 'command cannot be held to "none"; expected "project"',
        ),
        (
            '[models.m]\nagent = "command"\ncommand = "x"\ntools = ["read"]',
            "models.m.tools", 4, "noface cannot choose the tools of agent command",
        ),
    ],
)  # fmt: skip
def test_what_an_agent_cannot_be_held_to_is_said_with_its_line(text, key, line, said):
    found = [(at, where) for at, where, message in problems(text) if said in message]
    assert (key, line) in found, problems(text)


def test_the_words_of_the_agents_table_are_noface_s_own():
    for name, entry in table("agents").items():
        assert set(entry.get("settings", ())) <= {*Settings}, name
        assert set(entry.get("permissions", ())) <= {*Permissions}, name
        for key in ("tools_fixed", "tools_none"):
            assert set(entry.get(key, ())) <= {*Tool}, name
        assert ("tools_fixed" in entry) == ("tools_none" in entry), name
        assert set(entry.get("owned_options", {}).values()) <= {"", *Model.model_fields}, name
