"""What workers are told in each situation, and what other models are asked: complete, and fit to be read."""

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from support.cases import cases

from noface.data import table
from noface.engine.prompt_context import built_in
from noface.model.actions import Mode, action_instruction
from noface.model.failure import Failure, PriorFailure
from noface.model.gate import GateSpec
from noface.model.history import Decided, Verdict
from noface.model.issue import Issue
from noface.model.protection import default_protected
from noface.model.start import CutOff, StartPoint, StartReason
from noface.model.taxonomy import Category, FailureKind, instruction_for, reaches_workers
from noface.prompts.check import samples
from noface.prompts.data import EarlierForm, PromptData, Quote, RelatedFile, Situation, situation_for
from noface.prompts.render import render

TEMPLATES = built_in()
WORK = [situation for situation in Situation if not situation.asks]
QUESTIONS = [situation for situation in Situation if situation.asks]
ISSUE = Issue("7", "Mend the sum", body="It adds wrongly.", paths=("src/**",))
DATA = PromptData(ISSUE, (GateSpec("unit", "pytest -q"), GateSpec("types", "mypy", hard=False)), ("conftest.py",))
MARKDOWN = MarkdownIt("commonmark")


def prior(number, message="2 failed", excerpt="E assert 1 == 2", kind="TEST_FAILURE", **more):
    return PriorFailure(number, "small", kind, message, "src/a.py:3", excerpt, **more)


def told(situation=Situation.RETRY, templates=TEMPLATES, **changes):
    return render(situation, templates, replace(DATA, **changes), 50_000).text


def asked(situation, **changes):
    data = {"earlier": (prior(1), prior(2, "3 failed")), "patch": "+new", "limits": ("At most 8 parts.",), **changes}
    return render(situation, TEMPLATES, PromptData(ISSUE, answer_example='{"an": "example"}', **data), 50_000).text


def section(prompt, heading):
    return prompt.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]


def headings(prompt):
    return re.findall(r"^#+ (.*)$", prompt, re.MULTILINE)


# --- what every worker is told


@pytest.mark.parametrize("situation", [each for each in WORK if each is not Situation.RESUME])
def test_every_worker_is_told_all_that_the_specification_asks_for(situation):
    earlier = (
        prior(1, "one failed", signature="s"),
        prior(2, "two failed", signature="s"),
        prior(3, failing_tests=("tests/test_a.py::test_one",)),
    )
    prompt = told(
        situation,
        earlier=earlier,
        start=StartPoint(StartReason.BEST_SO_FAR, 2, "c"),
        patch="-old\n+new",
        hints=("Check schema files.",),
        lessons=("Quote the column names.",),
        diagnosis=(Quote("A diagnosis", "The cast is wrong.", "large"),),
        advice=(Quote("Another design", "Without a cast.", "large"),),
        files=(RelatedFile("src/b.py", "it is named"),),
        note="Use the other table.",
        instruction=instruction_for("TEST_FAILURE"),
        strategy=action_instruction("Escalate"),
        report_example='{"status": "done"}',
    )
    for part in (
        "Mend the sum",
        "It adds wrongly.",
        "Begin by reading",
        "If data is missing, report the gap. Do NOT substitute.",
        "`pytest -q`",
        "`mypy` (reported only)",
        "`conftest.py`",
        "Change only files in: `src/**`",
        "+new",
        "E assert 1 == 2",
        "`tests/test_a.py::test_one`",
        "1 and 2 (small), 2 times the same: TEST_FAILURE: two failed",
        "failed with: TEST_FAILURE: 2 failed.",
        "- Check schema files.",
        "Quote the column names.",
        "A diagnosis (by large; it may be wrong: check it against the code):",
        "The cast is wrong.",
        "Without a cast.",
        "`src/b.py`:",
        "Use the other table.",
        instruction_for("TEST_FAILURE"),
        action_instruction("Escalate"),
        "with the changes of attempt 2, the best so far",
        '```json\n{"status": "done"}\n```',
    ):
        assert part in prompt, part


def test_the_newest_failure_is_told_in_full_and_the_older_ones_in_a_line_or_two():
    tests = tuple(f"tests/test_a.py::test_{number}" for number in range(5))
    earlier = tuple(prior(n, message=f"message {n}", excerpt=f"excerpt {n}", failing_tests=tests) for n in (1, 2, 3))
    prompt = told(earlier=earlier)
    assert section(prompt, "The attempts before").strip().split("\n") == [
        f"- Attempt {n} (small): TEST_FAILURE: message {n}, at `src/a.py:3`, failing:"
        f" {', '.join(f'`{test}`' for test in tests[:3])} and 2 more"
        for n in (1, 2)
    ]
    assert "excerpt 3" in section(prompt, "What failed in attempt 3")
    assert "excerpt 1" not in prompt


def test_the_user_chooses_how_much_is_told_of_older_attempts():
    earlier = tuple(prior(n, message=f"message {n}", excerpt=f"excerpt {n}") for n in (1, 2))
    least = told(earlier=earlier, earlier_form=EarlierForm.MINIMAL)
    assert section(least, "The attempts before").strip() == "- Attempt 1 (small): TEST_FAILURE"
    assert "excerpt 1" in section(told(earlier=earlier, earlier_form=EarlierForm.FULL_OUTPUT), "The attempts before")


@pytest.mark.parametrize("kind", [kind.value for kind in FailureKind if not reaches_workers(kind, charged=False)])
def test_no_worker_is_told_of_what_it_cannot_mend(kind):
    prompt = told(earlier=(prior(1), prior(2, "come back later", kind=kind, charged=False)))
    assert "failed with: TEST_FAILURE: 2 failed" in prompt
    assert "come back later" not in prompt
    assert "failed with" not in told(Situation.FIRST, earlier=(prior(1, kind=kind, charged=False),))


def test_work_that_was_broken_off_from_outside_is_gone_on_with():
    cut_off = prior(1, "come back later", kind="RATE_LIMITED", charged=False)
    prompt = told(Situation.RETRY, earlier=(cut_off,), start=StartPoint(StartReason.CUT_OFF, 1, "c"), patch="+half")
    assert "Attempt 1 was cut off, through no fault of the work." in prompt
    assert "+half" in section(prompt, "The changes so far")
    assert "failed with" not in prompt


def test_who_goes_on_in_a_session_is_told_only_what_is_new():
    start, facts = StartPoint(StartReason.CUT_OFF, 1, "c"), CutOff("the login was no longer accepted", main_moved=True)
    told_again = told(Situation.RESUME, start=start, cut_off=facts, patch="+half", report_example="{}")
    assert "You were cut off in the middle of it, because the login was no longer accepted." in told_again
    assert "merged with main, which has changed since" in told_again
    assert not [known for known in ("It adds wrongly.", "+half", "Begin by reading") if known in told_again]
    edited = told(
        Situation.RESUME, cut_off=replace(facts, edited=True, broken=("a.py:3",)), note="Use the other table."
    )
    assert not [new for new in ("It adds wrongly.", "`a.py:3`", "Use the other table.") if new not in edited]
    assert "you had changed nothing in it by then" in edited


def test_an_issue_without_text_is_said_to_have_none():
    assert "It has no text" in told(Situation.FIRST, issue=replace(ISSUE, body=" \n"))
    assert "It has no text" in told(Situation.FIRST, issue=replace(ISSUE, body="\x00"))


# --- the protected paths, shortly


def test_protected_paths_are_said_in_words_and_files_before_patterns():
    scripts = tuple(f"scripts/check_{number}.sh" for number in range(9))
    protected = (*default_protected(), "issues/**", *scripts)
    (row,) = [row for row in told(protected=protected).split("\n") if "are undone" in row]
    shown = ", ".join(f"`{path}`" for path in scripts[:8])
    assert row == (
        "- Changes to these are undone before your work is judged: the tests' configuration (a conftest.py may gain fixtures with new names), CI definitions and "
        f"these files: {shown} and 2 more patterns"
    )


def test_words_stand_for_the_built_in_patterns_only_where_all_of_them_hold():
    assert (
        "judged: the tests' configuration (a conftest.py may gain fixtures with new names), CI definitions\n"
        in told(protected=default_protected())
    )
    assert "judged: these files: `conftest.py`\n" in told()
    assert "are undone" not in told(protected=())


# --- what differs between the situations


def test_added_context_is_what_is_known_now():
    advice = (Quote("Answers of the planner", "ISO dates.", "large"),)
    known = section(told(Situation.CONTEXT, earlier=(prior(1),), advice=advice), "What is known now")
    assert "ISO dates." in known
    assert "Read what is known now" in told(Situation.CONTEXT, earlier=(prior(1),), advice=advice)
    assert "is known now" not in told(Situation.CONTEXT, earlier=(prior(1),))


def test_a_format_reminder_names_the_violation_and_the_form():
    failure = prior(1, "a comma is missing in line 2", kind="OUTPUT_FORMAT", excerpt='{"a": 1 "b"}')
    prompt = told(Situation.FORMAT_REMINDER, earlier=(failure,), report_example='{"status": "done"}')
    assert "This was wrong with the form: a comma is missing in line 2." in prompt
    assert '{"a": 1 "b"}' in section(prompt, "The answer that could not be read")
    assert "One JSON object between fences" in section(prompt, "The form")


# --- the questions


@pytest.mark.parametrize("situation", QUESTIONS)
def test_every_question_ends_by_asking_for_one_json_object(situation):
    prompt = asked(situation)
    answer = section(prompt, "Your answer")
    assert headings(prompt)[-1] == "Your answer"
    assert "ONE JSON object in a fence" in answer
    assert "Nothing else will be read." in answer
    assert re.findall(r"```json\n(.*)\n```", answer) == ['{"an": "example"}']


@pytest.mark.parametrize("situation", QUESTIONS)
def test_every_question_holds_what_is_needed_to_answer_it(situation):
    prompt = asked(
        situation,
        paths=("src/b.py",),
        others=("8: Add a button",),
        files=(RelatedFile("src/c.py", "it is named"),),
        note="Use the other table.",
    )
    alone = (Situation.REVIEWER, Situation.CHANGED_TESTS, Situation.MISSING)  # they judge what is there
    failures = ("TEST_FAILURE: 3 failed", "Attempt 1 (small): TEST_FAILURE: 2 failed", "E assert 1 == 2")
    for part in (
        *(failures if situation not in alone else ()),
        "issue 7, `Mend the sum`",
        "It adds wrongly.",
        "+new",
        "- `src/b.py`",
        "8: Add a button",
        "- `src/c.py`: it is named",
        "Use the other table.",
        "- At most 8 parts.",
        "change nothing there",
    ):
        assert part in prompt, part


def test_a_diagnosis_is_asked_for_in_the_words_of_the_specification():
    question = section(asked(Situation.DIAGNOSIS), "What you are asked")
    for key in ("cause", "recoverable", "strategy", "alternative", "modified", "skip_reason"):
        assert f"`{key}`" in question
    for strategy in ("alternative_approach", "retry_modified", "retry_same", "skip_and_continue", "escalate"):
        assert f'"{strategy}"' in question
    assert '"yes", "no" or "maybe"' in question


# --- the instructions


def test_every_kind_has_an_instruction_of_its_own_or_reaches_no_worker():
    told = [kind for kind in FailureKind if reaches_workers(kind, charged=False)]
    assert {kind.category for kind in FailureKind if kind not in told} == {Category.TRANSIENT, Category.ENVIRONMENT}
    assert [kind for kind in FailureKind if kind not in told and instruction_for(kind)] == [FailureKind.ENVIRONMENT]
    assert len({instruction_for(kind) for kind in told} - {""}) == len(told)
    assert instruction_for("PASSED") == ""
    assert reaches_workers("PASSED", charged=True)


def test_every_action_that_runs_a_worker_has_a_strategy_to_tell():
    names = {mode.value for mode in Mode}
    assert {name for name, entry in table("actions").items() if "instruction" in entry} == names
    assert {name for name in names if not action_instruction(name)} == {"FirstAttempt", "RetrySame", "AddContext"}


def test_how_the_issue_s_own_test_fails_on_main_is_told_until_an_attempt_s_output_is_newer():
    failing = Failure(FailureKind.TEST_FAILURE, "1 failed", rule="r", excerpt="E assert 0 == 2", gate="accept")
    shown = [told(Situation.FIRST, on_main=failing), told(on_main=failing, earlier=(prior(1, kind="NO_DIFF"),))]
    for prompt in shown:
        assert "E assert 0 == 2" in section(prompt, "What fails now")
    gated = prior(1, excerpt="E assert 1 == 2", command="pytest -q")
    assert "E assert 0 == 2" not in told(on_main=failing, earlier=(gated,))
    idle = (gated, prior(2, kind="NO_DIFF", excerpt="It is done."))
    prompt = told(on_main=failing, earlier=idle, start=StartPoint(StartReason.BEST_SO_FAR, 1))
    assert "E assert 1 == 2" in section(prompt, "What fails now")


def test_files_of_instructions_are_named_where_the_agent_does_not_read_them():
    assert "Read `AGENTS.md` first" in section(told(read_first=("AGENTS.md",)), "Rules")
    assert "AGENTS.md" not in told(protected=())


@cases(
    ("action", "failure", "situation"),
    [
        ("FirstAttempt", None, Situation.FIRST),
        ("FirstAttempt", "MERGE_CONFLICT", Situation.FIRST),
        ("RetryWithFeedback", "TEST_FAILURE", Situation.RETRY),
        ("Escalate", "TEST_FAILURE", Situation.ESCALATE),
        ("SwitchModel", "RATE_LIMITED", Situation.ESCALATE),
        ("ThinkLonger", "TEST_FAILURE", Situation.THINK),
        ("ReduceScope", "TIMEOUT", Situation.REDUCE),
        ("AddContext", "AGENT_CONFUSION", Situation.CONTEXT),
        ("RetryWithFeedback", "MERGE_CONFLICT", Situation.MERGE_CONFLICT),
        ("Escalate", "MERGE_CONFLICT", Situation.MERGE_CONFLICT),
        ("RetryWithFeedback", "REVIEW_REJECTED", Situation.REVIEW),
        ("RetrySame", "OUTPUT_FORMAT", Situation.FORMAT_REMINDER),
        ("RetrySame", None, Situation.FIRST),
        ("WaitUntil", "RATE_LIMITED", Situation.RETRY),
    ],
)
def test_the_action_and_the_failure_decide_on_the_situation(action, failure, situation):
    assert situation_for(action, failure) is situation


@cases("kind", [None, *FailureKind])
def test_every_action_after_every_failure_leads_to_work(kind):
    for action in Mode:
        assert not situation_for(action, kind).asks


# --- fit to be read


def all_prompts():
    return [
        pytest.param(situation, data, id=f"{situation.value}-{number}")
        for situation in Situation
        for number, data in enumerate(samples())
    ]


@pytest.mark.parametrize(("situation", "data"), all_prompts())
def test_a_prompt_reads_well(situation, data):
    prompt = render(situation, TEMPLATES, data, 50_000).text
    outside = re.sub(r"^(`{3,})\w*\n.*?\n\1$", "FENCE", prompt, flags=re.DOTALL | re.MULTILINE)
    assert "\n\n\n" not in outside
    assert not re.search(r" $|[^ \n-] {2,}\S|\.\.|None|True|False|[{][{%]|&#?\w+;", outside, re.MULTILINE)
    assert not re.search(r"^#.*\n(?!\n)", outside, re.MULTILINE)  # a blank line follows every heading
    assert not re.search(r"^#.*\n\n(#|\Z)", outside, re.MULTILINE)  # and something stands under it
    assert not re.search(r":\n\n(#|\Z)", outside)  # no list is announced and empty
    assert not re.search(r"^[^-\s\d].*\n- |^- .*\n[^-\s]", outside, re.MULTILINE)  # lists stand by themselves
    assert prompt.startswith("# ")
    assert prompt.endswith("\n")
    names = headings(outside)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("situation", "data"), all_prompts())
def test_the_lists_of_a_prompt_are_lists(situation, data):
    prompt = render(situation, TEMPLATES, data, 50_000).text
    for token in MARKDOWN.parse(prompt):
        assert token.type not in {"html_block", "code_block", "blockquote_open", "hr"}
        assert token.type != "list_item_open" or token.level in {1, 3}


def test_what_the_owner_approved_or_said_is_part_of_the_rule_on_tests():
    plain, approved = (section(told(**more), "Rules") for more in ({}, {"decided": (LET,), "note": "Round it."}))
    assert "- Never delete, skip or weaken a test, unless the issue asks for just that. Change main's" in plain
    assert "lets you change these, tests among them, whatever the other rules say: `tests/a.py::test_one`" in approved


LET = Decided(2, Verdict.APPROVED, tests=("tests/a.py::test_one",))
