"""Sample data that use every variable of every template, and that use hardly any: templates are tried with both."""

from dataclasses import replace

from noface.core.actions import action_instruction
from noface.core.failure import PriorFailure
from noface.core.gate import GateKind, GateSpec
from noface.core.history import Part
from noface.core.issue import Issue
from noface.core.prompt_data import EarlierForm, FileExcerpt, PromptData, QuestionData, Told
from noface.core.prompt_situation import Situation
from noface.core.protection import default_protected
from noface.core.taxonomy import IssueStatus, instruction_for

_ISSUE = Issue(
    "12",
    "Count words in files",
    "`wordcount FILE…` prints how many words each file has.\n\nHyphenated words count as one.",
    labels=("cli",),
    paths=("src/**", "tests/test_count.py"),
    accept=("python -m pytest -q tests/test_count.py",),
)
_GATES = (
    GateSpec("unit", "python -m pytest -q"),
    GateSpec("types", "mypy src", GateKind.LINT, hard=False),
    GateSpec("accept", "python -m pytest -q tests/test_count.py", accept=True),
)
_TESTS = ("tests/test_count.py::test_hyphens", "tests/test_count.py::test_no_file")
_EARLIER = (
    PriorFailure(1, "small", "SYNTAX_ERROR", "'(' was never closed", "src/count.py:8", "    print(sum(\n         ^"),
    PriorFailure(2, "small", "TEST_FAILURE", "2 failed, 5 passed", "src/count.py:14", "E  assert 3 == 2", _TESTS),
    PriorFailure(3, "large", "TEST_FAILURE", "1 failed, 6 passed", None, "E  assert 1 == 2", _TESTS[:1]),
)
_PATCH = """\
diff --git a/src/count.py b/src/count.py
--- a/src/count.py
+++ b/src/count.py
@@ -1,2 +1,2 @@
 def words(text):
-    return 0
+    return len(text.split(" "))
"""
_FILES = (FileExcerpt("src/count.py", "def words(text):\n    return 0\n"),)
_ADVICE = (Told("Diagnosis", "split(' ') counts the empty strings between two spaces.", "large"),)
_LESSONS = ("TEST_FAILURE in src/count.py: splitting on any white space helped",)
_REPORT = '{"status": "done", "summary": "…", "confidence": 0.9, "risks": [], "gaps": [], "questions": [], \
"blocked_reason": null}'
_SITUATIONS = {
    Situation.FIRST: ("FirstAttempt", "TEST_FAILURE"),
    Situation.RETRY: ("RetryWithFeedback", "TEST_FAILURE"),
    Situation.ESCALATE: ("Escalate", "RUNTIME_ERROR"),
    Situation.THINK: ("ThinkLonger", "TEST_FAILURE"),
    Situation.REDUCE: ("ReduceScope", "TIMEOUT"),
    Situation.CONTEXT: ("AddContext", "AGENT_CONFUSION"),
    Situation.MERGE_CONFLICT: ("RetryWithFeedback", "MERGE_CONFLICT"),
    Situation.REVIEW: ("RetryWithFeedback", "REVIEW_REJECTED"),
    Situation.FORMAT_REMINDER: ("RetrySame", "OUTPUT_FORMAT"),
}
"""An action and a failure that lead to each situation of a worker."""

_FULL = PromptData(
    issue=_ISSUE,
    gates=_GATES,
    protected=(*default_protected(), "tests/test_count.py", "issues/**"),
    earlier=_EARLIER,
    best=_EARLIER[1],
    patch=_PATCH,
    previous_patch=_PATCH,
    hints=("Words are separated by any white space.",),
    note="Use no library for this.",
    rejected_note="The help text is missing.",
    advice=_ADVICE,
    lessons=_LESSONS,
    files=_FILES,
    report_example=_REPORT,
    think=True,
    earlier_form=EarlierForm.FULL_OUTPUT,
)
_FULL_QUESTION = QuestionData(
    issue=_ISSUE,
    answer_example='{"cause": "…"}',
    gates=_GATES,
    earlier=_EARLIER,
    patch=_PATCH,
    note="Use no library for this.",
    advice=_ADVICE,
    lessons=_LESSONS,
    files=_FILES,
    answer_schema='{"type": "object"}',
    limits=("At most 8 parts.",),
    questions=("Do hyphenated words count as one?",),
    paths=("src/cli.py",),
    parts=(Part("13", IssueStatus.BLOCKED, "2 failed"),),
    others=("8: Add a help text",),
    results=("unit: passed in 3 s",),
    violation="it is not JSON: a comma is missing",
    previous_answer='{"cause": "…" "strategy": "…"}',
)


def samples(situation: Situation) -> tuple[PromptData | QuestionData, ...]:
    """Return data for a situation: full, middling (one failure, from main) and almost none."""
    bare = Issue("12", "Count words in files")
    if situation.asks:
        asked = QuestionData(_ISSUE, "{}", earlier=_EARLIER[:1], patch=_PATCH)
        return _FULL_QUESTION, asked, QuestionData(bare, "{}")
    action, kind = _SITUATIONS[situation]
    full = replace(
        _FULL,
        earlier=(*_EARLIER[:-1], replace(_EARLIER[-1], kind=kind)),
        instruction=instruction_for(kind),
        strategy=action_instruction(action),
    )
    some = PromptData(_ISSUE, _GATES, earlier=full.earlier[-1:], patch=_PATCH)
    return full, some, PromptData(bare, _GATES[:1])
