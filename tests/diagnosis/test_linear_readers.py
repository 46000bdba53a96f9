"""Whatever an agent, a gate or a change writes, reading it takes time in proportion to its length.

The work is measured in processor time of this thread, for a text and for one eight times as long. What grows with the
length takes eight times as long; what grows with its square takes 64 times as long, or is not done at all: it is cut
off. The limit lies far from both, and short times are never held against anything.

A busy machine only ever adds to a measure (garbage of other tests, cold caches, a shared core), so of several measures
the least one counts, for the long text and for the short one; and tables and patterns are loaded before.
"""

import gc
import json
import re
import signal
import time
from itertools import islice

import pytest

from noface.agents.base import AGENTS
from noface.diagnosis import agent, gate, syntax
from noface.diagnosis.agent_errors import AgentError, AgentEvidence
from noface.diagnosis.evidence import GateEvidence
from noface.diagnosis.reset_times import WallClock
from noface.gates import secrets
from noface.gates.report import parse_report
from noface.integrity.diff.text import left_markers
from noface.integrity.strength import weaker
from noface.integrity.tampering import weakened_tests
from noface.model.attempt import FileChange
from noface.prompts import json_scan
from noface.prompts import text as prompt_text
from noface.secrets.masking import Masker
from noface.trackers.issue_file import read_issue
from noface.ui.logs import Readable, typed_reader
from noface.ui.text import clean, clean_block, fit, hanging, wrapped

SHORT = 3_000
FACTOR = 8
RATIO_MAX = 30
NOTHING_S = 0.15
"""Times below this are too short to be compared, and too short to matter."""
CUT_OFF_S = 3.0
MEASURES = 3

REPEATED = (
    "\r", "\n", "\t", " ", "\b", "\x1b", "\x1b[", "\x1b[31m", "\x1b]", "\x1bP", "\x9b", "\0", ".", "-", "_", "=", '"', "'",
    "`", "\\", '\\"', "(", "[", "{", "<", "/", "/*", "/**/", "//", "*/", ":", ": ", "a", "a ", "a.", "1", "1.", "1 ",
    "1:", "\r\n", " \n", "\n ", "```\n", "{{", "[[", "${", "${A", "│ ", "─", "\u2028", "é", "x=", "aA1", "-----BEGIN ",
    "-----BEGIN RSA PRIVATE KEY-----\n", "AKIA", "eyJ", "it.each", "test(", "assert", "expect ", "Error: ", "at a (",
    'File "a", line 1, in ', "FAILED a::b - ", "E   a", "resets in 1 ", "retry after ", "please ", "https://", "@",
    "litellm.X: ", '{"a": ', "[1, ", "<a>", "&amp;", "- a: b\n", "a = [\n", "[[a]]\n", "1 passed, ", '"""',
)  # fmt: skip
AROUND = (" ", "\r", "\n", "a", "1", ".", "\\", "/", "(")
BEHIND = ("it.each", '{"a": "', "a.c:3:5: error: ", "a: ")


def hostile(size: int):
    """Texts of `size` characters, each with a name."""
    for part in REPEATED:
        yield repr(part), (part * size)[:size]
    for part in AROUND:
        yield f"x, many {part!r}, x", "x" + part * size + "x"
        for head in BEHIND:
            yield f"{head!r}, many {part!r}", head + part * size + "!"


def patch(text: str) -> str:
    """A change that adds the text to a file of tests."""
    head = "diff --git a/tests/test_a.py b/tests/test_a.py\n--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1 +1 @@\n-a\n"
    return head + "\n".join(f"+{line}" for line in text.split("\n"))


def stream(name: str, text: str) -> object:
    reader = AGENTS[name].reader()
    reader.feed(b"\n" + text.encode("utf-8", "replace") + b"\n")
    reader.used()
    return reader.verdict(1, text)


def readable(name: str, text: str) -> list[str]:
    """What `noface logs` and the live view make of an agent's output, and of the same as words of the agent."""
    view = Readable(typed_reader(name))
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}
    data = text.encode("utf-8", "replace") + b"\n" + json.dumps(said).encode() + b"\n"
    return [*(line for at in range(0, len(data), 65_536) for line in view.feed(data[at : at + 65_536])), *view.rest()]


CHANGE = FileChange("tests/test_a.py", "M", "0" * 40, "1" * 40, "100644", "100644", 1, 1)
MASKER = Masker({"abcdefghijkl1234": "KEY", "aaaaaaaaaaaaaaaa": "ALIKE"})
CLOCK = WallClock(1_000_000_000.0)
READERS = {
    "clean": clean,
    "clean_block": clean_block,
    "wrapped": lambda text: wrapped(text, 80),
    "hanging": lambda text: hanging(text, 80),
    "fit": lambda text: fit(text, 80),
    "gate": lambda text: gate.classify(GateEvidence("pytest -q", 1, text, text)),
    "green gate": lambda text: gate.classify(GateEvidence("make test", 0, text, "")),
    "mask": MASKER.text,
    "mask a patch": lambda text: MASKER.patch(patch(text).encode("utf-8", "replace"), "x"),
    "secrets": lambda text: secrets.scan(patch(text)),
    "bodies of tests": lambda text: weaker({"tests/test_a.py": text, "a.test.js": text}, {"tests/test_a.py": ""}),
    "weakened tests": lambda text: weakened_tests((CHANGE,), patch(text)),
    "markers": lambda text: left_markers(patch(text)),
    "report": lambda text: parse_report(b"<testsuite><testcase name='a'>" + text.encode() + b"</testcase></testsuite>"),
    "JSON in an answer": json_scan.scan,
    "prompt": lambda text: (prompt_text.clean(text), prompt_text.fenced(text), prompt_text.tidy(text)),
    "issue": lambda text: read_issue("files", "1-a.md", text.encode()),
    "front matter": lambda text: read_issue("files", "1-a.md", b"---\n" + text.encode() + b"\n---\n# a\nb"),
    **{
        f"syntax of {path}": lambda text, path=path: syntax.check(path, syntax.language_of(path), text.encode())
        for path in ("a.py", "a.json", "package.json", "a.toml", "a.yml")
        if syntax.language_of(path)
    },
    # "scripted" is read as "command" is
    **{f"stream of {name}": lambda text, name=name: stream(name, text) for name in AGENTS if name != "scripted"},
    **{f"log of {name}": lambda text, name=name: readable(name, text) for name in ("claude", "codex", "aider")},
    **{
        f"end of {name}": lambda text, name=name: (
            agent.classify(AgentEvidence(name, 1, stderr=text), CLOCK),
            agent.classify(AgentEvidence(name, 1, error=AgentError(text, details=text)), CLOCK),
            agent.classify(AgentEvidence(name, 0, last_words=text, finished=True, changed=False), CLOCK),
        )
        for name in ("claude", "aider")
    },
}  # fmt: skip


class TooLong(BaseException):
    """The time for one text is up; no `except Exception` of a reader keeps it."""


def seconds(read, text: str) -> float:
    """The processor time that reading takes, CUT_OFF_S at most."""

    def stop(_number, _frame):
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    collects = gc.isenabled()
    gc.disable()
    signal.setitimer(signal.ITIMER_VIRTUAL, CUT_OFF_S)
    began = time.thread_time()
    try:
        read(text)
    except TooLong:
        return CUT_OFF_S
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        if collects:
            gc.enable()
    return time.thread_time() - began


def too_long(read, text: str, shorter: str) -> float:
    """The seconds that the long text takes where they are too many beside the short one's, else 0."""
    short = long = CUT_OFF_S
    for _ in range(MEASURES):
        long = min(long, seconds(read, text))
        if long <= NOTHING_S:
            return 0.0
        short = min(short, seconds(read, shorter))
        if long < CUT_OFF_S and long <= RATIO_MAX * short:
            return 0.0
    return long


EVERY = 5
"""Of all texts each reader gets every fifth, each from another one on; `make test-nightly` gives each reader all."""


def held_to_its_length(name, texts):
    read = READERS[name]
    shorter = dict(hostile(SHORT))
    read("a")
    for label, text in texts:
        took = too_long(read, text, shorter[label])
        assert not took, f"{label}: {took:.2f} s"


@pytest.mark.parametrize("name", READERS)
def test_what_reads_a_hostile_text_takes_time_in_proportion_to_it(name):
    first = list(READERS).index(name) % EVERY
    held_to_its_length(name, islice(hostile(SHORT * FACTOR), first, None, EVERY))


@pytest.mark.thorough
@pytest.mark.parametrize("name", READERS)
def test_what_reads_any_hostile_text_takes_time_in_proportion_to_it(name):
    held_to_its_length(name, hostile(SHORT * FACTOR))


def test_the_measure_itself_tells_a_square_from_a_line():
    def square(text: str) -> str:
        return re.sub(r"\r+\n|\r", "\n", text)

    def line(text: str) -> int:
        return sum(1 for _ in text for _ in range(20))

    short, long = "\r" * SHORT, "\r" * (SHORT * FACTOR)
    assert too_long(square, long, short)
    assert not too_long(line, long, short)


def test_a_carriage_return_starts_a_line_of_its_own_but_not_before_a_line_end():
    assert clean_block("a\rb\r\nc\r\r\nd\r\r\re") == "a\nb\nc\nd\n\n\ne"
