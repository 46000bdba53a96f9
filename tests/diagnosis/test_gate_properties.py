"""Properties: no input breaks the classifier, the same failure has the same signature, work grows with the input."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support.corpus_score import GIVEN, class_of, evidence_of, load, verdicts

from noface.diagnosis.evidence import GateEvidence, ReportCase, TestReport
from noface.diagnosis.gate import classify
from noface.diagnosis.text import BUDGET, LINE_MAX, read_log

WORDS = st.sampled_from(
    [
        "Traceback (most recent call last):\n",
        '  File "a.py", line 3, in f\n',
        "SyntaxError: bad\n",
        "=== FAILURES ===\n",
        "E   ",
        "___ test_x ___\n",
        "not ok 1 - x\n",
        "  ---\n",
        "1..0\n",
        "--- FAIL: TestX (0.00s)\n",
        "panic: x\n",
        "Ran 3 tests in 0.1s\n",
        "FAILED (errors=1)\n",
        "=" * 70 + "\n",
        "error: ",
        "x.c:3:4: ",
        "1) ",
        "    at f (/repo/x.js:1:2)\n",
        "\x1b[31m",
        "\x1b]8;;",
        "\0",
        "\r",
        "\n",
        "3 passed, 1 failed\n",
        "INTERNALERROR> ",
        "_ _ _ _\n",
        "Failed example:\n",
        "*" * 70 + "\n",
        "ok 1\n",
        "\ufffd",
    ]
)
TEXT = st.one_of(st.text(max_size=300), st.lists(st.one_of(WORDS, st.text(max_size=12)), max_size=40).map("".join))
CASES = st.builds(ReportCase, st.text(max_size=9), st.booleans(), st.text(max_size=9), st.text(max_size=30))
REPORTS = st.builds(
    TestReport,
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(0, 9),
    st.lists(st.text(max_size=9), max_size=3).map(tuple),
    st.lists(CASES, max_size=3).map(tuple),
)


@given(
    command=st.one_of(
        st.text(max_size=60), st.sampled_from(["pytest", "go test", "npx jest", "make lint", "cargo clippy"])
    ),
    code=st.one_of(st.none(), st.integers(-20, 260)),
    stdout=TEXT,
    stderr=TEXT,
    files=st.one_of(st.none(), st.lists(st.text(max_size=20), max_size=4).map(tuple)),
    report=st.one_of(st.none(), REPORTS),
    timed_out=st.booleans(),
)
def test_no_input_breaks_the_classifier(command, code, stdout, stderr, files, report, timed_out):
    verdict = classify(GateEvidence(command, code, stdout, stderr, 1.0, 60.0, timed_out, None, files, report))
    assert verdict.rule
    assert len(verdict.excerpt.splitlines()) <= 41
    assert verdict.kind is None or verdict.signature


@given(data=st.data())
def test_no_mixture_of_real_outputs_breaks_the_classifier(data):
    pieces = []
    for record in data.draw(st.lists(st.sampled_from(load(GIVEN)), min_size=1, max_size=4)):
        text = evidence_of(record).stdout[:20_000] or evidence_of(record).stderr[:20_000]
        start = data.draw(st.integers(0, max(0, len(text) - 1)))
        pieces.append(text[start : start + data.draw(st.integers(0, 4_000))])
    out = "".join(pieces)
    assert classify(GateEvidence("make test", 1, out, "", 1.0)).rule
    assert class_of(classify(GateEvidence("make build", 0, out, "", 1.0))) in {"PASS", "NO_TESTS"}


def elsewhere(text: str) -> str:
    """The same output as another run would have printed it: other folder, addresses, process ids, times, lines."""
    text = text.replace("/repo", "/var/tmp/slot-7/checkout")
    text = re.sub(r"0x[0-9a-fA-F]{6,}", "0x7fabc0ffee12", text)
    text = re.sub(r"==\d+==", "==991==", text)
    text = re.sub(r"\b\d+\.\d+ ?s\b", "8.25s", text)
    text = re.sub(r"\(\d+(\.\d+)? ?ms\)", "(77 ms)", text)
    text = re.sub(r"/tmp/[\w.-]+", "/tmp/zz81xq", text)
    text = re.sub(
        r"(\.(?:py|js|ts|go|rs|c|cpp|java|rb|ex|exs|lua|pl|pm|t|sh)):(\d+)", lambda m: f"{m[1]}:{int(m[2]) + 7}", text
    )
    return re.sub(r'(", line )(\d+)', lambda m: f"{m[1]}{int(m[2]) + 7}", text)


def test_the_same_failure_in_another_place_and_time_has_the_same_signature():
    differing = []
    for record, verdict in zip(load(GIVEN), verdicts(GIVEN), strict=True):
        evidence = evidence_of(record)
        again = replace(
            evidence,
            stdout=elsewhere(evidence.stdout),
            stderr=elsewhere(evidence.stderr),
            seconds=evidence.seconds,
            report=None,
        )
        first = classify(replace(evidence, report=None))
        second = classify(again)
        if first.signature != second.signature:
            differing.append((record["id"], first.key_line, second.key_line))
        assert first.kind == second.kind, record["id"]
        assert verdict.kind == first.kind, record["id"]
    assert not differing


def test_another_failure_has_another_signature():
    by_id = {record["id"]: verdict.signature for record, verdict in zip(load(GIVEN), verdicts(GIVEN), strict=True)}
    assert by_id["python-pytest-attribute-error"] != by_id["python-pytest-did-not-raise"]
    assert by_id["c-make-undeclared"] != by_id["c-make-type"]
    assert by_id["rust-cargotest-assert"] != by_id["rust-cargotest-unwrap-none"]


def test_a_log_is_bounded_whatever_the_output():
    for text in ("x" * 5_000_000, "error: x\n" * 600_000, "\x1b[0m" * 900_000, "✕ failed " * 500_000):
        log = read_log(text, text)
        assert len(log.text) <= 2 * (BUDGET + 200)
        assert max(map(len, log.lines), default=0) <= LINE_MAX + 10


def test_what_decides_is_found_in_the_middle_of_much_output():
    noise = "[worker] step 12: retrying request, error=none failed=0 status=ok\n" * 60_000
    middle = "src/queue.c:16:27: error: expected ';' before 'return'\n"
    verdict = classify(GateEvidence("make", 2, noise + middle + noise, "make: *** [Makefile:8: build] Error 1\n"))
    assert class_of(verdict) == "SYNTAX_ERROR"
    assert verdict.location == "src/queue.c:16"


def test_unknown_failures_are_the_same_where_their_output_ends_alike():
    def signed(output):
        return classify(GateEvidence("./check", 3, output, "", 1.0)).signature

    assert signed("strange\nworking for 3.1s\n") == signed("strange\nworking for 4.7s\n")
    assert signed("strange\n") != signed("odd\n")
    assert signed("strange\nstopped\n") != signed("odd\nstopped\n")


def test_each_failing_test_is_told_with_its_own_reason_and_the_cut_is_marked():
    def block(number):
        head = f"_____ test_{number} _____\n\n    def test_{number}():\n" + "        x = 1\n" * 10
        return (
            f"{head}>       assert {number} == x\nE       assert {number} == 1\n\ntest_x.py:{number}: AssertionError\n"
        )

    names = "".join(f"FAILED test_x.py::test_{number} - assert {number} == 1\n" for number in range(2, 7))
    log = f"==== FAILURES ====\n{''.join(map(block, range(2, 7)))}==== short test summary info ====\n{names}5 failed\n"
    verdict = classify(GateEvidence("pytest -q", 1, log, ""))
    assert verdict.failing_tests == tuple(f"test_x.py::test_{number}" for number in range(2, 7))
    shown, _, beside = verdict.excerpt.partition("\n[…]\n")
    for number in range(2, 7):
        assert f"E       assert {number} == 1" in (shown if number < 4 else beside)
    assert beside.splitlines()[-1] == "test_6: E       assert 6 == 1"
