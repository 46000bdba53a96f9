"""Fills in prompt templates. Pure: the template's text comes in, the prompt's text goes out.

Templates are Jinja2, in its sandbox, since users may bring their own. What comes from issues, logs and agents goes
through the filters `line` (one line, no markup of its own) and `fenced` (a fence longer than any inside), so that it
cannot pose as noface's instructions.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from noface.core.model import GateSpec, Issue, PriorFailure

_LINE_MAX = 500
_LINE_READ_MAX = 20 * _LINE_MAX
_MARK = "\n[… {left_out} characters left out …]\n"

INSTRUCTIONS: dict[str, str] = {
    "SYNTAX_ERROR": "The code did not parse or compile. Fix the syntax error first, then look at the rest.",
    "RUNTIME_ERROR": "The code ran into an error that is not a failed assertion. Follow the stack trace to its cause.",
    "TEST_FAILURE": "Tests failed. Make them pass by correcting the code, not the tests.",
    "LINT_FAILURE": "A style, type or format check failed. Correct what it names.",
    "NO_TESTS": "The test command ran no tests. Find out why, and see that it does.",
    "NO_DIFF": "You must change code; your previous attempt changed nothing.",
    "TIMEOUT": "The previous attempt did not finish in time. Do the smallest part that makes the gates pass; do it "
    "in small steps, and do not start long-running commands.",
    "RESOURCE_EXHAUSTED": "The previous attempt ran out of a resource. Read less, change less, and finish early.",
    "REVIEW_REJECTED": "A reviewer rejected the work. Answer every point raised; keep what was not objected to.",
    "OUTPUT_FORMAT": "The previous answer was not in the form asked for. Answer in exactly that form.",
    "AGENT_CRASH": "The previous run ended before it was done. Check what is there, and complete it.",
    "AGENT_CONFUSION": "The previous run was unsure what to do. All that is known stands below; choose the simplest "
    "reading that satisfies the commands under Rules.",
    "MERGE_CONFLICT": "Main has moved. Look at how the files are now, and make the change again on top of that.",
    "BOUNDARY_VIOLATION": "The previous attempt changed files it must not change, or added a secret. Stay inside the "
    "paths given, and put no keys or passwords into files.",
    "GATE_TAMPERING": "The previous attempt weakened tests. Leave the tests as strong as they are; if one is wrong, "
    "say so and why, and leave it.",
}


@dataclass(frozen=True, slots=True)
class PromptData:
    """What a prompt is made of. `best` is the attempt the workspace starts from; `patch` its diff."""

    issue: Issue
    gates: tuple[GateSpec, ...]
    protected: tuple[str, ...] = ()
    earlier: tuple[PriorFailure, ...] = ()
    best: PriorFailure | None = None
    patch: str = ""
    hints: tuple[str, ...] = ()
    note: str = ""
    instruction: str = ""
    chars_max: int = 200_000


def line(text: object) -> str:
    """Return text on one line, cut at a limit, so that it cannot open a heading, list or fence of its own."""
    whole = str(text)
    start = len(whole) - len(whole.lstrip())
    flat = " ".join(whole[start : start + _LINE_READ_MAX].split())
    complete = len(flat) <= _LINE_MAX and len(whole) - start <= _LINE_READ_MAX
    return flat if complete else flat[:_LINE_MAX] + " […]"


def fenced(text: object, language: str = "") -> str:
    """Return text between fences longer than any run of backticks in it."""
    body = str(text).rstrip("\n")
    longest = max((len(run) for run in re.findall(r"`{3,}", body)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def cut(text: str, chars_max: int) -> str:
    """Return text with its middle left out where it is longer than `chars_max`, with a mark that says so."""
    if len(text) <= chars_max:
        return text
    half = chars_max // 2
    return text[:half] + _MARK.format(left_out=len(text) - 2 * half) + text[len(text) - half :]


def render(template: str, data: PromptData) -> str:
    """Return the prompt. Body, excerpts and patch are cut to shares of `chars_max`, each cut marked.

    Raises jinja2.TemplateError where the template is faulty.
    """
    share = data.chars_max
    values = {
        "issue": _Shown(data.issue, cut(data.issue.body, share // 2)),
        "gates": data.gates,
        "protected": tuple(line(path) for path in data.protected),
        "earlier": [_cut_failure(failure, share // 8) for failure in data.earlier],
        "best": data.best,
        "patch": cut(data.patch, share // 4),
        "hints": data.hints,
        "note": cut(data.note, share // 8),
        "instruction": data.instruction,
    }
    return str(_compiled(template).render(values))


@lru_cache(maxsize=16)
def _compiled(template: str) -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
    environment.filters |= {"line": line, "fenced": fenced}
    return environment.from_string(template)


class _Shown:
    """An issue with a shortened body, for templates."""

    def __init__(self, issue: Issue, body: str) -> None:
        self.id, self.title, self.labels, self.paths, self.body = (
            issue.id,
            issue.title,
            tuple(line(label) for label in issue.labels),
            tuple(line(path) for path in issue.paths),
            body,
        )


def _cut_failure(failure: PriorFailure, chars_max: int) -> dict[str, object]:
    return {
        "number": failure.number,
        "model": failure.model,
        "kind": failure.kind,
        "message": failure.message,
        "location": failure.location,
        "failing_tests": failure.failing_tests,
        "excerpt": cut(failure.excerpt, chars_max),
    }
