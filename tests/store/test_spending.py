"""What models have used, read back from the rows of attempts and questions."""

import pytest
from support.spending import World

from noface.model.budget import Estimate, Spent
from noface.model.worker_run import Usage
from noface.store.database import Database
from noface.store.reader import NEWEST_MAX


@pytest.fixture
def world():
    database = Database.memory()
    yield World(database)
    database.close()


def test_a_run_has_spent_what_its_attempts_and_its_questions_used(world):
    world.attempt("small", 0.5, 100, 20)
    world.attempt("small", None, 7, None)
    world.answer(world.ask("big"), "big", 0.25, 40)
    assert world.reader.spent_in("run-1") == Spent(0.75, 167)
    assert world.reader.spent_in("another") == Spent()


def test_an_issue_has_cost_what_its_attempts_and_its_questions_did_also_those_that_were_cut_short(world):
    def cost():
        return world.reader.issue("7").cost_usd

    assert cost() is None
    world.attempt("small", 0.5)
    world.answer(world.ask("large"), "large", 0.25)
    assert cost() == 0.75
    world.questions.cut_short(3.0, world.ask("large"), Usage(0.125))
    world.attempt("small")
    assert cost() == 0.875


def test_the_most_that_a_model_used_is_seen_in_attempts_and_questions(world):
    world.attempt("small", 0.5, 100, 20)
    world.attempt("small", 0.2, 500, 20)
    world.answer(world.ask("small"), "small", 0.9, 10)
    world.answer(world.ask("big"), "big", None, 40)
    assert world.reader.peaks() == {"small": Estimate("small", 0.9, 520), "big": Estimate("big", None, 40)}


def test_only_the_newest_attempts_tell_what_the_next_may_use(world):
    world.attempt("small", 9.0)
    for _ in range(NEWEST_MAX):
        world.attempt("small", 0.1)
    assert world.reader.peaks() == {"small": Estimate("small", 0.1, None)}


def test_many_cheap_questions_do_not_hide_what_an_attempt_cost(world):
    world.attempt("small", 2.0)
    for _ in range(NEWEST_MAX + 5):
        world.answer(world.ask("small"), "small", 0.01)
    assert world.reader.peaks() == {"small": Estimate("small", 2.0, None)}


def test_what_has_started_and_not_ended_is_under_way(world):
    world.attempt("small", 0.5)
    world.start("big", think=True)
    question = world.ask("planner")
    world.ask("")
    assert world.reader.under_way() == (("big", True), ("planner", False))
    world.end()
    world.answer(question, "planner")
    assert world.reader.under_way() == ()
