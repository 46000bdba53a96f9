"""`noface policy`: the table, and one kind step by step."""

import subprocess
import sys

import pytest
from support import ROOT

from noface.cli.policy_records import policy as policy_of
from noface.config.load import parse
from noface.model.taxonomy import FailureKind
from noface.ui.policy import policy_page, short_names

PRESETS = '[retry]\ndefault_model = "claude-sonnet"\nescalation_model = "claude-opus"\n'
_SHOWN = (ROOT / "docs/recovery.md").read_text("utf-8").partition("$ noface policy\n")[2].partition("…\n")[0]
DEFAULT_TABLE = _SHOWN[_SHOWN.index("SYNTAX_ERROR") :]
OWN_LADDER = """
[retry]
max_total_attempts = 4

[retry.strategies]
NO_TESTS = "skip"

[[retry.ladder]]
model = "claude-haiku"
attempts = 2
answers = ["TEST_FAILURE", "complexity"]

[[retry.ladder]]
model = "claude-opus"
think = true
"""


def rules(text=PRESETS):
    return policy_of(parse(text, "noface.toml"))


def page(text=PRESETS, width=80):
    return "\n".join(line.rstrip() for line in policy_page("noface.toml", rules(text), width))


# The table


def test_the_usual_policy_is_the_one_that_the_docs_show():
    assert DEFAULT_TABLE in page() + "\n", "docs/recovery.md shows another table"


def test_what_differs_from_the_defaults_is_shown():
    shown = page(OWN_LADDER)
    for expected in (
        "  1  claude-haiku  tier 1 · 2 attempts · answers TEST_FAILURE, TIMEOUT,",
        "  SKIP      it is left undone",
    ):
        assert expected in shown
    assert "wait for" not in shown, "only words that are used are explained"


def test_models_keep_their_names_where_the_short_ones_would_say_less():
    assert short_names(("claude-sonnet", "claude-opus")) == {"claude-sonnet": "sonnet", "claude-opus": "opus"}
    for names in (("gpt-5", "gpt-5-mini"), ("claude-opus", "local"), ("small",), ("claude-opus", "gemini-pro")):
        assert short_names(names) == {name: name for name in names}


# The command


def test_the_command_needs_nothing_but_the_configuration(project):
    done = project.noface("policy")
    assert (done.returncode, done.stderr) == (0, "")
    assert "  1  small  tier 1 · 2 attempts" in done.stdout
    assert "\x1b" not in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert not (project.state / "state.db").exists()


def test_the_json_holds_the_policy_and_every_path(project):
    document = project.shown("policy")
    assert (document["schema"], document["file"]) == (1, "noface.toml")
    assert [(rung["model"], rung["times"], rung["think"]) for rung in document["ladder"]] == [
        ("small", 2, False),
        ("big", 1, False),
        ("big", 5, True),
    ]
    listed = [kind for row in document["policy"] for kind in row["kinds"]]
    assert sorted(listed) == sorted(FailureKind)
    row = next(row for row in document["policy"] if "TEST_FAILURE" in row["kinds"])
    assert [step["action"] for step in row["steps"]][-1] == "Block"
    one = project.shown("policy", "--kind", "rate-limited")
    assert (one["kind"], one["category"], one["strategy"]) == ("RATE_LIMITED", "transient", "switch")
    assert [step["wait_s"] for step in one["policy"]] == [0.0, 30.0, 60.0, 120.0]
    assert (one["finite"], one["person"]) == (False, None)


def test_an_unknown_kind_is_refused_with_the_nearest_and_all_of_them(project):
    done = project.noface("policy", "--kind", "TEST_FAILUR")
    assert done.returncode == 2
    assert "there is no failure kind TEST_FAILUR" in done.stderr
    assert "Did you mean TEST_FAILURE? The kinds: SYNTAX_ERROR, RUNTIME_ERROR," in done.stderr


@pytest.mark.parametrize("verb", ["config policy", "tools fsck"])
def test_a_look_imports_nothing_of_a_run(project, verb):
    code = f"""
import sys
sys.argv = ["noface", *"{verb}".split()]
from noface.__main__ import main
try:
    main()
except SystemExit:
    pass
print([name for name in ("noface.cli.wiring", "noface.engine.recover", "noface.attempt.judge") if name in sys.modules])
"""
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=project.path, env=project.environment(), capture_output=True, check=False
    )
    assert said.stdout.splitlines()[-1] == b"[]", said.stderr


# The replay


def after_a_night(project):
    """Issue 7 fails twice, and the stronger model makes it."""
    project.play(
        ("7", 1, [{"write": "bad", "text": "1\n"}]),
        ("7", 2, [{"write": "bad", "text": "2\n"}]),
        ("7", 0, [{"delete": "bad"}, {"write": "b.txt", "text": "done\n"}]),
    )
    project.issue(7, "Login of visitors")
    project.commit()
    project.run()


def test_another_configuration_shows_what_it_would_have_decided(project):
    assert project.noface("policy", "--replay").stdout == "0 decisions, none would differ under noface.toml.\n"
    after_a_night(project)
    assert project.noface("policy", "--replay").stdout == "3 decisions, none would differ under noface.toml.\n"
    before = project.shown("show", "7"), project.git("for-each-ref")
    other = project.folder / "other.toml"
    text = (project.path / "noface.toml").read_text()
    other.write_text(text.replace("[retry]\n", "[retry]\nescalate_after_attempts = 1\n"))
    page = project.noface("policy", "--replay", "--config", str(other)).stdout
    assert "7 after attempt 1: " in page
    assert "RetryWithFeedback small → Escalate big" in page
    document = project.shown("policy", "--replay", "--config", str(other))
    assert (document["decisions"], [each["attempt"] for each in document["otherwise"]]) == (3, [1, 2])
    assert (project.shown("show", "7"), project.git("for-each-ref")) == before


def test_a_replay_says_why_it_cannot_be(project):
    broken = project.folder / "broken.toml"
    broken.write_text('[retry]\ndefault_modl = "small"\n')
    done = project.noface("policy", "--replay", "--config", str(broken), "--json")
    assert (done.returncode, "retry.default_modl" in done.stderr) == (2, True)
    assert project.noface("policy", "--replay", "--kind", "TIMEOUT").returncode == 2
