"""What a model is told that says whether an issue asks for changed tests, and on what its answer has to stand.

It sees nothing of the worker's session, report or words, nor the change of the product.
"""

from collections.abc import Iterator
from dataclasses import replace

from noface.engine.context import RunContext
from noface.engine.prompt_context import prior_failures
from noface.git.plumbing import Plumbing
from noface.integrity.asked_for import Grounds
from noface.integrity.judges import Part, part_of
from noface.integrity.strength import all_bodies
from noface.integrity.tampering import BY_BODY, named_among
from noface.model.attempt import PastAttempt
from noface.model.history import ASKED_FOR, CONTESTED, Advice, AdviceOutcome, History, Topic, Verdict
from noface.model.issue import Issue
from noface.model.patch import changed_lines
from noface.model.quoting import some
from noface.prompts.data import PromptData

_TEST_BYTES_MAX = 1_000_000
LET_BY_CONFIGURATION = '[review] changed_tests = "land"'


def about_tests(context: RunContext, history: History, main: str, data: PromptData) -> tuple[PromptData, Grounds]:
    """Return the question's data, and what its answer has to stand on."""
    last, issue = history.current[-1], _of_a_person(context, history.issue)
    patch = patch_of_tests(context.env.plumbing, main, last.candidate or main, last.changed)
    failing = last.failure.failing_tests if last.failure is not None else ()
    grounds = grounds_of((issue.title, issue.body, data.note), patch, failing)
    if last.failure is not None and last.failure.rule in BY_BODY:
        removed = tuple(line.text for line in changed_lines(patch) if line.removed)
        grounds = replace(grounds, taken=True, lines=(*removed, *_names(failing)))
    earlier = tuple(replace(each, summary="") for each in prior_failures(context, issue, (last,)))
    asked = PromptData(
        issue, answer_example=data.answer_example, gates=data.gates, earlier=earlier, patch=patch,
        note=data.note, whole_patch=True, questions=(last.quote,) if last.quote else (), decided=data.decided,
    )  # fmt: skip
    return asked, grounds


def patch_of_tests(plumbing: Plumbing, main: str, candidate: str, changed: tuple[str, ...]) -> str:
    tests = tuple(path for path in changed if part_of(path) is Part.TEST) or changed
    return plumbing.patch_since(main, candidate, tests).decode("utf-8", "replace")


def answered_before(context: RunContext, history: History) -> Advice | None:
    """Return an earlier answer on the same change of main's tests, for the newest attempt: it is not asked again."""
    plumbing, last = context.env.plumbing, history.current[-1]
    main, past = plumbing.main(), {attempt.number: attempt for attempt in history.attempts}

    def patch(attempt: PastAttempt) -> str:
        return patch_of_tests(plumbing, main, attempt.candidate or main, attempt.changed)

    now = patch(last)
    for answer in reversed(history.advice):
        given = answer.topic is Topic.CHANGED_TESTS and answer.outcome is not AdviceOutcome.UNAVAILABLE
        if given and answer.after in past and patch(past[answer.after]) == now:
            return replace(answer, after=last.number, epoch=history.epoch, cost_usd=None, tokens=None)
    return None


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


def contested(context: RunContext, history: History) -> Advice | None:
    """Return that another issue, which landed since this one was read, asks for what main's tests expect.

    Its text was written without the other's work, unless it names it: who reads only one of two texts that contradict
    each other finds it asked for, and only a person can see both.
    """
    last, issue, plumbing = history.attempts[-1], _of_a_person(context, history.issue), context.env.plumbing
    asked = {advice.after for advice in history.advice if advice.strategy == CONTESTED}
    seen = any(each.attempt in asked and each.verdict is Verdict.APPROVED for each in history.decisions)
    if seen or last.failure is None:
        return None
    kin = {other.id for other in context.issues if other.parent in (history.issue.id, issue.id)}
    kin |= {history.issue.id, issue.id, *issue.depends_on}
    for landing in reversed(context.reader.landed_since_read(issue.id)):
        if landing.issue_id in kin or f"#{landing.issue_id}" in f"{issue.title}\n{issue.body}".split():
            continue
        own = changed_bodies(plumbing, landing.old, landing.new)
        if mine := tuple(test for test in last.failure.failing_tests if named_among(test, own)):
            cause = f"issue {landing.issue_id}, which landed first, asks for what main's {some(mine, 3)} expects"
            number, epoch = last.number, history.epoch
            return Advice(Topic.CHANGED_TESTS, number, epoch=epoch, strategy=CONTESTED, cause=cause, tests=mine)
    return None


def changed_bodies(plumbing: Plumbing, old: str, new: str) -> tuple[str, ...]:
    """Return the tests whose bodies differ between two commits; the imports and data beside them are none."""
    paths = tuple(change.path for change in plumbing.diff(old, new).changes if part_of(change.path) is Part.TEST)
    before, after = (all_bodies(plumbing.texts(commit, paths, _TEST_BYTES_MAX)) for commit in (old, new))
    return tuple(body.label for key, body in after.items() if body.test and before.get(key) != body)


def let_by_configuration(history: History) -> Advice:
    last = history.attempts[-1]
    tests = last.failure.failing_tests if last.failure is not None else ()
    cause = LET_BY_CONFIGURATION
    return Advice(Topic.CHANGED_TESTS, last.number, epoch=history.epoch, strategy=ASKED_FOR, cause=cause, tests=tests)


def let_for(advice: tuple[Advice, ...], number: int) -> frozenset[str] | None:
    mine: Iterator[Advice] = (each for each in advice if each.topic is Topic.CHANGED_TESTS and each.after == number)
    return next((frozenset(each.tests) for each in mine if each.strategy == ASKED_FOR), None)
