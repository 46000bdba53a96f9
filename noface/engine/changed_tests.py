"""What a model is told that says whether an issue asks for changed tests, and on what its answer has to stand.

It sees nothing of the worker's session, report or words, nor the change of the product.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from noface.attempt.earlier_tests import bodies_since
from noface.engine.context import RunContext
from noface.engine.prompt_context import prior_failures
from noface.git.landings import landings
from noface.git.plumbing import Plumbing
from noface.integrity.asked_for import Grounds
from noface.integrity.judges import Part, part_of
from noface.integrity.tampering import BY_BODY, named_among
from noface.model.history import ASKED_FOR, CONTESTED, Advice, History, Topic, Verdict
from noface.model.issue import Issue
from noface.model.patch import changed_lines
from noface.model.quoting import some
from noface.prompts.data import QuestionData
from noface.store.reader import OpenLanding

LET_BY_CONFIGURATION = '[review] changed_tests = "land"'


def about_tests(context: RunContext, history: History, main: str, data: QuestionData) -> tuple[QuestionData, Grounds]:
    """Return the question's data, and what its answer has to stand on."""
    last, issue = history.current[-1], _of_a_person(context, history.issue)
    patch = patch_of_tests(context.env.plumbing, main, last.candidate or main, last.changed)
    failing = last.failure.failing_tests if last.failure is not None else ()
    grounds = grounds_of((issue.title, issue.body, data.note), patch, failing)
    if last.failure is not None and last.failure.rule in BY_BODY:
        removed = tuple(line.text for line in changed_lines(patch) if line.removed)
        grounds = replace(grounds, taken=True, lines=(*removed, *_names(failing)))
    earlier = tuple(replace(each, summary="") for each in prior_failures(context, issue, (last,)))
    asked = QuestionData(
        issue,
        data.answer_example,
        gates=data.gates,
        earlier=earlier,
        patch=patch,
        note=data.note,
        answer_schema=data.answer_schema,
    )
    return asked, grounds


def patch_of_tests(plumbing: Plumbing, main: str, candidate: str, changed: tuple[str, ...]) -> str:
    """Return what work changes in the tests among its files; all of it if its tests stand among the product."""
    tests = tuple(path for path in changed if part_of(path) is Part.TEST) or changed
    return plumbing.patch_since(main, candidate, tests).decode("utf-8", "replace")


def grounds_of(texts: tuple[str, ...], patch: str, failing: tuple[str, ...]) -> Grounds:
    """Return what an answer has to stand on, of an issue's texts, the patch of its tests and main's that fail."""
    return Grounds(texts, (*(line.text for line in changed_lines(patch)), *_names(failing)), failing)


def _names(tests: tuple[str, ...]) -> Iterator[str]:
    return (test.partition("::")[2] or test for test in tests)  # a file may be called as the project is


def _of_a_person(context: RunContext, issue: Issue) -> Issue:
    """Return the issue that a person wrote: the text of a part is a model's."""
    known = {other.id: other for other in context.issues}
    while issue.parent is not None and issue.parent in known:
        issue = known[issue.parent]
    return issue if issue.parent is None else replace(issue, title="", body="")


def let_by_configuration(history: History) -> Advice:
    """Return the answer where a person lets all changes of tests land that keep the tests."""
    last = history.attempts[-1]
    tests = last.failure.failing_tests if last.failure is not None else ()
    cause = LET_BY_CONFIGURATION
    return Advice(Topic.CHANGED_TESTS, last.number, epoch=history.epoch, strategy=ASKED_FOR, cause=cause, tests=tests)


def contested(context: RunContext, history: History) -> Advice | None:
    """Return that another issue asks for what these tests expect, with whose work they came as they are.

    That landed after the text of this one was written: so it knew nothing of them, unless it names or depends on the
    other one, or both are parts of one. Who reads only one of two texts that contradict each other finds it asked for.
    """
    last, issue = history.attempts[-1], _of_a_person(context, history.issue)
    attempts = {advice.after for advice in history.advice if advice.strategy == CONTESTED}
    if any(verdict.attempt in attempts and verdict.verdict is Verdict.APPROVED for verdict in history.approvals):
        return None  # a person has seen both
    tests = last.failure.failing_tests if last.failure is not None else ()
    parents = {other.id: other.parent for other in context.issues}
    for landing in reversed(context.reader.landed_since_read(issue.id)):
        other = landing.issue_id
        kin = other in (history.issue.id, issue.id) or parents.get(other) in (history.issue.id, issue.id)
        if kin or other in issue.depends_on or _speaks_of(issue, other):
            continue
        own = bodies_since(context.env.plumbing, *_change_of(context.env.plumbing, landing))
        if mine := tuple(test for test in tests if named_among(test, own)):
            cause = f"issue {other}, which landed first, asks for what main's {some(mine, 3)} expects"
            number, epoch = last.number, history.epoch
            return Advice(Topic.CHANGED_TESTS, number, epoch=epoch, strategy=CONTESTED, cause=cause, tests=mine)
    return None


def _change_of(plumbing: Plumbing, landing: OpenLanding) -> tuple[str, str]:
    """Return the commits before and after an issue's own work, where it landed alone or with others."""
    landed = landings(plumbing, f"{landing.old}..{landing.new}")
    own = next((each for each in landed if each.issue == landing.issue_id), None)
    if own is None or own.commit == landing.new:
        return landing.old, landing.new
    return own.parents[0], own.commit


def _speaks_of(issue: Issue, other: str) -> bool:
    named = rf"(?:#|\bissue ){other}\b" if other.isdigit() else rf"\b{re.escape(other)}\b"
    return re.search(named, f"{issue.title}\n{issue.body}", re.IGNORECASE) is not None


def why_let(advice: Advice) -> str:
    return f'{advice.model} finds that the issue asks for it: "{advice.text}"' if advice.text else advice.cause


def let_for(advice: tuple[Advice, ...], number: int) -> frozenset[str] | None:
    """Return the tests of main that an attempt may contradict, None if it may contradict none."""
    mine: Iterator[Advice] = (each for each in advice if each.topic is Topic.CHANGED_TESTS and each.after == number)
    return next((frozenset(each.tests) for each in mine if each.strategy == ASKED_FOR), None)
