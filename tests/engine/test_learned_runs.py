"""Real runs in which the record chooses the model, and a budget is laid out over the issues, with a program that says
what it cost."""

import json
import os
import stat

import pytest

MODELS = """\

[models.small]
agent = "claude"
model = "haiku"
tier = 1

[models.big]
agent = "claude"
model = "sonnet"
tier = 2
"""
PROGRAM = """\
#!/bin/sh
cat > /dev/null
echo "$NOFACE_ISSUE_ID" > "done-$NOFACE_ISSUE_ID.txt"
cost=0.10
case "$*" in
*haiku*) echo "$NOFACE_ISSUE_ID $(date +%N)" > bad ;;
*) cost=0.31; rm -f bad ;;
esac
{extra}
echo '{line}' | sed "s/COST/$cost/"
"""
LINE = json.dumps(
    {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "Done.",
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 10},
        "total_cost_usd": "COST",
    }
).replace('"COST"', "COST")


def configure(project, retry="", run="", extra=":", issues=10):
    """A cheap model that never passes and a strong one that always does, with ten issues."""
    program = project.folder / "bin" / "claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(PROGRAM.format(line=LINE, extra=extra))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    project.env["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    project.config(run)
    text = (project.path / "noface.toml").read_text()
    head, _, tail = text.partition("[models.small]")
    tail = tail[tail.index("[retry]") :].replace("[retry]", f"[retry]\n{retry}")
    project.write("noface.toml", head + MODELS + "\n" + tail)
    for number in range(1, issues + 1):
        project.issue(number)
    project.commit("a backlog")


def models(project):
    """The models of each issue's attempts, in order."""
    known = [issue["id"] for issue in project.shown("status")["issues"]]
    return {issue: [attempt["model"] for attempt in project.attempts(issue)] for issue in known}


@pytest.mark.thorough
def test_a_model_that_has_failed_each_issue_is_not_tried_on_each_further_one(project):
    configure(project)
    project.run()
    worked = models(project)
    assert set(project.statuses().values()) == {"merged"}
    assert [worked[str(number)] for number in (1, 2)] == [["small", "small", "big"]] * 2
    assert [worked[str(number)] for number in range(4, 11)] == [["big"]] * 7
    skipped = next(number for number in worked if worked[number] == ["big"])
    why = " ".join(project.noface("show", skipped, "--why").stdout.split())
    assert "Why this model begins with big: small has failed" in why
    assert "first attempts here, at $0.10 each; big has passed" in why
    replayed = project.noface("config", "policy", "replay").stdout
    assert "none would differ" in replayed


@pytest.mark.thorough
def test_with_start_first_each_issue_begins_at_the_bottom_and_replay_says_what_that_cost(project):
    configure(project, 'start = "first"\n', issues=6)
    project.run()
    assert list(models(project).values()) == [["small", "small", "big"]] * 6
    assert "none would differ" in project.noface("config", "policy", "replay").stdout
    other = project.folder / "learned.toml"
    other.write_text((project.path / "noface.toml").read_text().replace('start = "first"\n', ""))
    document = project.shown("config", "policy", "replay", "--config", str(other))
    spared = document["spared"]
    assert sum(each["attempts"] for each in spared) >= 3
    assert not any(each["passed"] for each in spared)
    shown = " ".join(project.noface("config", "policy", "replay", "--config", str(other)).stdout.split())
    assert "if the rest had gone as it went" in shown


@pytest.mark.thorough
def test_a_run_that_was_killed_decides_the_same_when_it_goes_on(project):
    configure(project)
    for _ in range(6):
        killed = project.start("run", NOFACE_FAILPOINT="attempt_recorded:2")
        killed.wait(timeout=120)
    project.run()
    whole = models(project)
    assert [whole[str(number)] for number in (1, 2)] == [["small", "small", "big"]] * 2
    assert [whole[str(number)] for number in range(4, 11)] == [["big"]] * 7


@pytest.mark.thorough
def test_an_issue_that_used_its_share_of_the_budget_comes_after_the_others(project):
    hard = 'test "$NOFACE_ISSUE_ID" != 1 || echo "1 $(date +%N)" > bad'
    configure(project, 'start = "first"\nmax_total_attempts = 12\n', extra=hard, issues=6)
    said = " ".join(project.run("--max-cost", "3.4", code=4).split())
    statuses = project.statuses()
    assert [statuses[str(number)] for number in (1, 2, 3, 4, 5)] == ["ready", *["merged"] * 4]
    assert "of the run's budget: issues that have used less come first" in said
    assert len(project.attempts("1")) >= 4
