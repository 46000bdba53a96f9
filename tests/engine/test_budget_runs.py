"""Real runs under a budget, with a program that says what it cost (law 12, I7)."""

import json
import os
import sqlite3
import stat

CLAUDE = """\
#!/bin/sh
cat > /dev/null
echo "$NOFACE_ISSUE_ID" > "done-$NOFACE_ISSUE_ID.txt"
{extra}
echo '{line}'
"""
MODELS = """\

[models.small]
agent = "claude"
tier = 1

[models.big]
agent = "claude"
tier = 2
"""


def result(cost=None, tokens=(0, 0)):
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
    line = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "stop_reason": "end_turn"}
    return json.dumps({**line, "usage": usage, **({"total_cost_usd": cost} if cost is not None else {})})


def claude(project, line, extra=":"):
    """Put a program that poses as Claude Code on the project's PATH."""
    program = project.folder / "bin" / "claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(CLAUDE.format(line=line, extra=extra))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    project.env["PATH"] = f"{program.parent}:{os.environ['PATH']}"


def configure(project, extra="", models=MODELS, **settings):
    project.config(**settings)
    text = (project.path / "noface.toml").read_text()
    head, _, tail = text.partition("[models.small]")
    tail = tail[tail.index("[retry]") :]
    project.write("noface.toml", head + models + "\n" + tail + extra)
    project.commit("configuration")


def issues(project, count):
    for number in range(1, count + 1):
        project.issue(number)
    project.commit("issues")


def costs(project):
    """What each attempt at an issue cost."""
    known = [issue["id"] for issue in project.shown("status")["issues"]]
    return [attempt["cost_usd"] for issue in known for attempt in project.attempts(issue)]


def test_a_run_stops_before_it_starts_what_it_cannot_pay(project):
    claude(project, result(0.6))
    configure(project, "max_cost_usd = 1.5\n")
    issues(project, 6)
    said = project.run(code=4)
    assert costs(project) == [0.6, 0.6]
    assert "a run of small has used up to $0.60 here; $0.30 of the run's $1.50 are left" in " ".join(said.split())


def test_four_workers_overshoot_by_one_attempt_at_most(project):
    claude(project, result(0.6))
    configure(project, "max_cost_usd = 1.0\n", workers=4)
    issues(project, 6)
    said = project.run(code=4)
    assert sum(costs(project)) < 1.0 + 0.6
    assert "max_cost_usd" in said
    state = sqlite3.connect(project.state / "state.db")
    told = {
        json.loads(data)["reason"] for (data,) in state.execute("SELECT data FROM events WHERE kind = 'issue_ready'")
    }
    state.close()
    why = "waits for the run's max_cost_usd: nobody knows yet what small uses: one run of it first"
    assert why in told, "or four workers seem to be one"


def test_an_issue_is_blocked_before_an_attempt_that_it_cannot_pay(project):
    claude(project, result(0.6), extra="touch bad")
    configure(project)
    text = (project.path / "noface.toml").read_text().replace("[retry]", "[retry]\nmax_cost_usd = 1.0")
    project.write("noface.toml", text)
    project.commit("a limit")
    project.issue(1)
    project.commit("an issue")
    project.run(code=3)
    assert len(project.attempts("1")) == 1
    assert "$0.40 of the issue's $1.00 are left" in project.shown("show", "1")["reason"]
