"""What is ended for money: remembered with the limit and its amounts, never begun again for ever, never lost (law 12)."""

import json

import pytest
from support.cases import first_ones
from support.policy_story import K, decide, failed, interrupted, policy
from support.spending import World, answer, configure, fed, only_attempt, program, result

from noface.agents.claude import ClaudeAgent
from noface.attempt.worker.agent_watch import at_least
from noface.model.actions import Block
from noface.model.budget import Budget, EndedFor, Spent, overrun, passed_by
from noface.model.history import Topic
from noface.model.worker_run import Usage
from noface.store.database import Database

NOTHING = result(0) | {"usage": {"input_tokens": 0, "output_tokens": 0}}
"""What Claude Code prints when a signal ends it, whatever it used."""


def says_when_it_is_ended(entry):
    """A script that says what it used, hangs, and says this when it is interrupted."""
    say = json.dumps(entry).replace('"', "~")
    ends = f'trap \'echo "{say}" | tr "~" "\\042"; exit 1\' INT'
    return f"{ends}\necho '{json.dumps(answer())}'\nwhile :; do sleep 0.1; done"


# By itself, at what was left for it

OWN_END = """\
budget=$(echo "$*" | sed -n 's/.*--max-budget-usd \\([0-9.]*\\).*/\\1/p')
echo "$budget" >> {told}
printf '{{"type":"result","subtype":"error_max_budget_usd","is_error":true,"total_cost_usd":%s,"errors":["over"]}}\\n' \\
    "$(echo "$budget" | sed 's/$/2/')"
exit 1"""
"""A program that ends itself at the budget that it is given, somewhat above it, as Claude Code does."""


def told_budgets(project):
    return (project.folder / "told").read_text().split()


def ends_itself(project):
    program(project, "claude", "echo half > half.txt\n" + OWN_END.format(told=project.folder / "told"))


def test_an_agent_that_ends_itself_at_what_the_run_has_left_ends_the_run_at_its_limit(project):
    ends_itself(project)
    configure(project, attempts=5)
    said = project.run("--max-cost", "1.5", code=4)
    assert told_budgets(project) == ["1.5"]
    assert "Stopped at the limit max_cost_usd: $1.52 of $1.50." in said
    attempt = only_attempt(project)
    assert (attempt["outcome"], attempt["charged"], attempt["changed"]) == ("INTERRUPTED", False, ["half.txt"])
    assert "ended at the run's max_cost_usd = $1.50: $1.52 used, $1.52 of it here" in attempt["notes"]
    assert project.statuses() == {"1": "ready"}


def test_an_agent_that_ends_itself_at_what_its_issue_has_left_has_its_issue_blocked_for_that(project):
    ends_itself(project)
    configure(project, attempts=5, retry="max_cost_usd = 1.5")
    project.run(code=3)
    assert told_budgets(project) == ["1.5"]
    attempt = only_attempt(project)
    assert (attempt["outcome"], attempt["charged"], attempt["cost_usd"]) == ("INTERRUPTED", False, 1.52)
    shown = project.shown("show", "1")
    assert (shown["status"], shown["reason"]) == ("blocked", "$1.52 used of the issue's $1.50")


# Remembered


@pytest.mark.parametrize("last_word", first_ones([NOTHING, result(0.01)]))
def test_an_issue_ended_for_its_budget_is_blocked_whatever_its_agent_says_last_until_more_is_allowed(
    project, last_word
):
    program(project, "claude", says_when_it_is_ended(last_word))
    configure(project, attempts=2, retry="max_cost_usd = 1.5")
    project.run("--max-iterations", "5", code=3)
    attempt = only_attempt(project)
    assert (attempt["outcome"], attempt["charged"]) == ("INTERRUPTED", False)
    assert attempt["cost_usd"] == pytest.approx(2.1)
    assert "ended at the issue's max_cost_usd = $1.50: $2.10 used, $2.10 of it here" in attempt["notes"]
    shown = project.shown("show", "1")
    assert (shown["status"], shown["reason"]) == ("blocked", "$2.10 used of the issue's $1.50")
    (blocked,) = project.shown("blocked")["blocked"]
    assert blocked["question"] == "May issue 1 cost more than [retry] max_cost_usd allows?"
    assert blocked["next_steps"][0].startswith("Raise max_cost_usd of [retry] and run noface again.")
    text = (project.path / "noface.toml").read_text()
    project.write("noface.toml", text.replace("max_cost_usd = 1.5", "max_cost_usd = 150"))
    program(project, "claude", f"echo done > b.txt\necho '{json.dumps(result(0.1))}'")
    project.run()
    shown = project.shown("show", "1")
    assert (shown["status"], shown["cost_usd"]) == ("merged", pytest.approx(2.2)), "what it spent stays counted"


# The policy


def ended(ended_for, limit=1.5):
    passed = passed_by(Budget("run", limit), Spent(2.0))
    return interrupted(signature=overrun(ended_for, passed, Spent(2.0)).mark)


def test_two_ends_at_the_run_s_budget_block_and_what_lies_between_does_not_matter():
    assert decide(ended(EndedFor.RUN)).name == "RetrySame"
    assert decide(ended(EndedFor.RUN)).reason == "ended at the run's max_cost_usd = $1.50; nothing is charged"
    for between in ((), (interrupted(),), (ended(EndedFor.WITH_RUN),)):
        told = decide(ended(EndedFor.RUN), *between, ended(EndedFor.RUN))
        assert (type(told), told.kind) == (Block, K.RESOURCE_EXHAUSTED)
    assert decide(ended(EndedFor.RUN), failed(K.TEST_FAILURE), ended(EndedFor.RUN)).name == "RetrySame"


def test_what_was_ended_because_of_others_is_made_again():
    assert decide(*[ended(EndedFor.WITH_RUN)] * 9).name == "RetrySame"


def test_what_was_ended_at_its_issue_s_budget_is_blocked_even_where_less_was_recorded():
    reason = "it was ended at the issue's max_cost_usd = $1.50"
    blocked = Block(K.RESOURCE_EXHAUSTED, reason, "max_cost_usd")
    assert decide(ended(EndedFor.ISSUE), policy=policy(issue_cost_usd_max=1.5)) == blocked
    raised = decide(ended(EndedFor.ISSUE), policy=policy(issue_cost_usd_max=15.0))
    assert raised.name == "RetrySame"


# Amounts


def test_a_result_of_nothing_does_not_outrank_the_answers_that_were_counted():
    assert fed(ClaudeAgent().reader(), answer(100, 40), NOTHING) == (None, 100, 40, 0)
    assert fed(ClaudeAgent().reader(), NOTHING) == (0.0, 0, 0, None)
    assert fed(ClaudeAgent().reader(), answer(3, 4), result(0)) == (0.0, 5, 5, None), "it tells more than was counted"


def test_no_amount_is_less_than_what_was_told_before():
    told = Usage(2.1, 1000, 10, tokens_cached=0, priced=True)
    assert at_least(Usage(0.0, 0, 0, "s"), told) == Usage(2.1, 1000, 10, "s", 0, priced=True)
    assert at_least(Usage(3.0, 5, 20, "s", 7), told) == Usage(3.0, 1000, 20, "s", 7)
    assert at_least(Usage(), Usage()) == Usage()


def test_what_was_cut_short_tells_nothing_of_what_the_next_run_may_use():
    database = Database.memory()
    world = World(database)
    world.questions.cut_short(3.0, world.ask("small"), Usage(900.0))
    assert (world.reader.peaks(), world.reader.spent_in("run-1").usd) == ({}, 900.0)
    database.close()


def test_a_question_s_ends_at_the_run_s_budget_are_counted_for_its_topic_and_attempt_alone():
    database = Database.memory()
    world = World(database)
    for ended_for in (EndedFor.RUN, EndedFor.WITH_RUN, EndedFor.RUN):
        over = overrun(ended_for, passed_by(Budget("run", 1.0), Spent(2.0)), Spent(2.0))
        world.questions.cut_short(3.0, world.ask("small"), Usage(), cause=over.note, mark=over.mark)
    world.questions.cut_short(3.0, world.ask("small"), Usage(1.0))
    count = world.questions.ends_at_run
    assert count("7", Topic.DIAGNOSIS, after=1, epoch=0) == 2
    assert count("7", Topic.REVIEW, after=1, epoch=0) == count("7", Topic.DIAGNOSIS, after=2, epoch=0) == 0
    database.close()


# Where noface itself fails


def test_what_a_run_cost_is_recorded_where_noface_fails_after_it(project):
    program(project, "claude", f"echo '{json.dumps(answer())}'\necho done > b.txt\necho '{json.dumps(result(1.25))}'")
    configure(project)
    project.run(code=1, NOFACE_FAILPOINT="agent_exited:1:enospc")
    attempt = only_attempt(project)
    assert (attempt["outcome"], attempt["charged"], attempt["cost_usd"]) == ("INTERRUPTED", False, 1.25)
