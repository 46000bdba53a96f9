"""Whoever reads what an agent, a gate or a stranger wrote takes a time that grows as the text does.

Beside the expressions (test_linear_patterns.py) there are loops: over lines, brackets, levels, tokens. Each reader gets
long lines of one kind, lines just short of being long, deep nesting, no line ends, NUL, halves of surrogates, a
minified program; and 2 MB of what it takes most time for.

Much of the work is done in C, where no step can be counted. So the time of this process is compared between a text and
another one eight times as long: what is linear takes 8 times as much, what is quadratic 64, and in between is room for
all that others do on the machine. What takes little is not compared.
"""

from functools import partial
from time import process_time

import pytest
from support.slow_text import UNITS

from noface.agents.base import AGENTS
from noface.diagnosis import syntax
from noface.diagnosis.evidence import GateEvidence
from noface.diagnosis.gate import classify
from noface.gates.report import parse_report
from noface.gates.secrets import keys_of, told, without_secrets
from noface.integrity import strength
from noface.integrity.diff.rules import Diff, DiffLimits, examine, left_markers
from noface.integrity.evasion import ASKS, evading_lines, replaced_frameworks
from noface.integrity.form import same_but_for_comments, same_but_for_form
from noface.integrity.grown import growth
from noface.integrity.inner_tests import with_main_tests
from noface.integrity.inventory_text import counted_tests, named_tests
from noface.integrity.tampering import renamed_tests, weakened_tests
from noface.model.attempt import FileChange
from noface.model.patch import changed_lines
from noface.model.quoting import one_line as in_one_line
from noface.model.quoting import printable_lines, short
from noface.prompts import json_scan
from noface.prompts.answers.report import find_report
from noface.secrets.masking import MaskedStream, Masker
from noface.secrets.shapes import keys_in_place, without_keys
from noface.trackers.github.issue import RemoteIssue, priority_of, read_remote
from noface.trackers.github.talk import heard_of
from noface.trackers.issue_body import read_body
from noface.trackers.issue_file import read_issue
from noface.ui.text import clean

SHORT, LONG, WHOLE = 12_500, 100_000, 2_000_000
LINE = 1_900
"""The length of lines that a rule gets in one piece."""
WORTH_S = 0.3
GROWS_MAX = 28
MASKER = Masker({"k7Rz2LxJ4m6Vn3pB8qWs9dFg0hJk1Lz": "MY_TOKEN"})
TEXTS = (
    *(("", unit) for unit in UNITS),
    *(("x = ", unit) for unit in ("[", "(", "{'a':", "not ", "-", "a.b(", '"\\"')),
    *(('{"type": "result", "result": "', unit) for unit in ("a", "\\n", "\\ud800", "{", '\\"')),
    *(("+++\n", unit) for unit in ("a = [", "[a.", "a.", '"""')),
    *(("<testsuite>", unit) for unit in ("<testcase>", "&amp;", "<!--", "<a b='")),
    *(
        ("", unit)
        for unit in ('{"":', "NODE_ENV ", 'modules"', "e\u0301", '\\"', "/*\n", "import a\n", "/// a\nfn a() {}\n")
    ),
    *(("", unit) for unit in ("-----BEGIN RSA PRIVATE KEY-----", "PRIVATE KEY", "AKIA", "ghp_", "eyJ", "sk-", "=> ")),
    *(
        ("", unit)
        for unit in ("ok 1 - a\n", "not ok 1\n", "def test_a():\n    assert x\n", "function(a){return b};", "\ud800")
    ),
    *(
        ("", unit)
        for unit in ("Error: ", "error: a.py:1:1 ", "expected a got b ", "FAILED a::b - ", "1 failed, ", "...", "k7Rz")
    ),
)


def _patch(text: str, name: str = "a.py") -> str:
    lines = text.split("\n")
    head = f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1,1 +1,{len(lines)} @@\n-old\n"
    return head + "\n".join(f"+{line}" for line in lines) + "\n"


def _examined(text: str, name: str) -> object:
    change = FileChange(name, "M", "100644", "100644", "1" * 40, "2" * 40, 1, 1)
    return examine(Diff(changes=(change,), patch=_patch(text, name)), DiffLimits())


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _below(heading: str, text: str) -> object:
    """Read a text below a heading: as an item, in code, behind a word that says something, as lines."""
    said = [f"- {text}", f"- `{text}`", f"- `a`{text}", f"blocked by {text}", text, f"```\n{text}\n```"]
    return [read_body(f"## {heading}\n{each}", "acme/shop") for each in said]


READERS = {
    "gate's output": lambda text: classify(GateEvidence("pytest", 1, text, "")),
    "gate's other output": lambda text: classify(GateEvidence("make", 1, "", text)),
    "report": lambda text: parse_report(_bytes(text)),
    "names of tests": lambda text: (named_tests(text), counted_tests(text, "", "go test")),
    "keys": keys_of,
    "keys in place": lambda text: keys_in_place(_bytes(text)),
    "keys of text": without_keys,
    "keys of a patch": lambda text: told(_patch(text)),
    "contents": lambda text: without_secrets(_bytes(text), MASKER),
    "mask of text": MASKER.text,
    "mask of a patch": lambda text: without_secrets(_bytes(_patch(text)), MASKER),
    "mask of a log": lambda text: MaskedStream(MASKER).feed(_bytes(text)),
    "values": lambda text: MASKER.telling(_bytes(text)),
    "lines": lambda text: list(changed_lines(_patch(text))),
    "rules of a diff": lambda text: _examined(text, "shop/cart.py"),
    "rules of a test": lambda text: _examined(text, "tests/test_cart.py"),
    "rules of a bundle": lambda text: _examined(text, "web/app.min.js"),
    "suspects": lambda text: left_markers(_patch(text)),
    "weakened": lambda text: (weakened_tests((), _patch(text)), renamed_tests(_patch(text))),
    "bodies": lambda text: (strength.bodies("tests/test_a.py", text), strength.bodies("a.test.js", text)),
    "evasion": lambda text: evading_lines(list(changed_lines(_patch(text))), (ASKS, "check", "coverage")),
    "frameworks": lambda text: replaced_frameworks(list(changed_lines(_patch(text)))),
    "form": lambda text: [same_but_for_form(f"a.{end}", _bytes(text), b"x") for end in ("py", "js", "json", "toml")],
    "comments": lambda text: [same_but_for_comments(f"a.{end}", _bytes(text), b"x") for end in ("py", "js", "rs")],
    "syntax": lambda text: [
        syntax.check(f"a.{end}", lang, _bytes(text)) for end, lang in (("json", "json"), ("toml", "toml"))
    ],
    "brackets": lambda text: [
        syntax.check(f"a.{end}", lang, _bytes(text))
        for end, lang in (("js", "javascript"), ("go", "go"), ("rs", "rust"), ("java", "java"))
    ],
    "inner tests": lambda text: [with_main_tests(f"a.{end}", text, f"{text}\nx") for end in ("rs", "c", "cmake")],
    "fixtures": lambda text: growth(text, f"{text}\nx = 1\n"),
    "JSON in an answer": json_scan.scan,
    "report of a worker": find_report,
    "file of an issue": lambda text: read_issue("issues", "1-a.md", _bytes(text)),
    "body of an issue": lambda text: read_body(text, "acme/shop"),
    **{f"body below {name}": partial(_below, name) for name in ("Depends on", "Paths", "Acceptance")},
    "issue and comment": lambda text: (
        read_remote(RemoteIssue(7, text, text, labels=(text,)), ("pytest", text)),
        heard_of("7", 1, "alice", text),
        priority_of((text,)),
    ),
    "body with front matter": lambda text: read_remote(RemoteIssue(7, "A", f"<!-- noface\n{text}\n-->"), ("pytest",)),
    "terminal": lambda text: (clean(text), printable_lines(text)),
    "quotes": lambda text: (printable_lines(text), short(text, 100), in_one_line(text, 100)),
}


def _streamed(agent):
    def run(text):
        reader = agent.reader()
        reader.feed(_bytes(text) + b"\n")
        reader.verdict(1, text)

    return run


READERS |= {f"stream of {name}": _streamed(agent) for name, agent in AGENTS.items()}


QUICK = ("keys", "report", "suspects", "terminal", "JSON in an answer", "mask of text")
ALL = [name if name in QUICK else pytest.param(name, marks=pytest.mark.thorough) for name in READERS]


def _text(before, unit, size, line):
    if line is None:
        return before + unit * (size // len(unit)) + "\x01"
    return before + f"{unit * (line // len(unit))}\n" * (size // line)


def _cost(run, text):
    began = process_time()
    run(text)
    return process_time() - began


def _growth(run, form):
    """Return by how much a reader takes longer for the long text, 0 if that is little; and how long."""
    short, long = (_cost(run, _text(*form[:2], size, form[2])) for size in (SHORT, LONG))
    if long < WORTH_S or long < GROWS_MAX * short:
        return 0, long
    short, long = (min(_cost(run, _text(*form[:2], size, form[2])) for _ in range(3)) for size in (SHORT, LONG))
    return long / short * (long > GROWS_MAX * short), long


@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("name", ALL)
def test_a_reader_takes_a_time_that_grows_as_the_text_does(name):
    forms = [(*each, line) for each in TEXTS for line in (None, LINE) if line is None or "\n" not in each[1]]
    found = {form: _growth(READERS[name], form) for form in forms}
    assert not {form: grows for form, (grows, _) in found.items() if grows}
    dearest = max(found, key=lambda form: found[form][1])
    whole = _cost(READERS[name], _text(*dearest[:2], WHOLE, dearest[2]))
    assert whole < max(WORTH_S, found[dearest][1]) * WHOLE / LONG * GROWS_MAX / (LONG / SHORT)
