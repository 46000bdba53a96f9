"""A real run whose budget is laid out over the issues, with a program that says what it cost."""

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


def configure(project, retry, extra, issues):
    """A cheap model that never passes and a strong one that always does."""
    program = project.folder / "bin" / "claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(PROGRAM.format(line=LINE, extra=extra))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    project.env["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    project.config()
    text = (project.path / "noface.toml").read_text()
    head, _, tail = text.partition("[models.small]")
    tail = tail[tail.index("[retry]") :].replace("[retry]", f"[retry]\n{retry}")
    project.write("noface.toml", head + MODELS + "\n" + tail)
    for number in range(1, issues + 1):
        project.issue(number)
    project.commit("a backlog")


@pytest.mark.thorough
def test_an_issue_that_used_its_share_of_the_budget_comes_after_the_others(project):
    hard = 'test "$NOFACE_ISSUE_ID" != 1 || echo "1 $(date +%N)" > bad'
    configure(project, "max_total_attempts = 12\n", extra=hard, issues=6)
    said = " ".join(project.run("--max-cost", "3.4", code=4).split())
    statuses = project.statuses()
    assert [statuses[str(number)] for number in (1, 2, 3, 4, 5)] == ["ready", *["merged"] * 4]
    assert "of the run's budget: issues that have used less come first" in said
    assert len(project.attempts("1")) >= 4
