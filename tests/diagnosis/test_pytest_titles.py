"""Pytest's blocks whose title leaves no room for its underscores: recorded output of pytest 8, cut to the block."""

import pytest

from noface.diagnosis.evidence import GateEvidence
from noface.diagnosis.gate import classify
from noface.model.taxonomy import FailureKind

RECORDED = """\
..F                                                                      [100%]
=================================== FAILURES ===================================
{title}

command = 'sh tests/test.sh && make lint', scripts = ('tests/test.sh',)

    def test_scripts(command, scripts):
>       assert run_scripts((command,)) == scripts
E       AssertionError: assert ('make', 'tests/test.sh') == ('tests/test.sh',)

tests/test_files.py:21: AssertionError
=========================== short test summary info ============================
FAILED tests/test_files.py::test_scripts
1 failed, 2 passed in 0.28s
"""


@pytest.mark.parametrize(
    "title",
    [
        "_________________________________ test_scripts _________________________________",
        "_ test_scripts_are_what_a_command_runs_and_not_what_it_reads[CI=1 sh tests/test.sh && make lint-scripts2] _",
        "_ test_scripts_are_what_a_command_runs_and_not_what_it_reads_or_writes_to_disk _",
        "__ test_scripts_are_what_a_command_runs_and_not_what_it_reads_or_writes_here ___",
        "_ TestScripts.test_scripts_are_what_a_command_runs_and_not_what_it_reads_at_all __",
    ],
)
def test_the_line_that_decides_is_the_error_of_the_block(title):
    verdict = classify(GateEvidence("pytest", 1, RECORDED.format(title=title), ""))
    assert verdict.kind is FailureKind.TEST_FAILURE
    assert verdict.message == "E       AssertionError: assert ('make', 'tests/test.sh') == ('tests/test.sh',)"
    assert verdict.location == "tests/test_files.py:21"


def test_the_rule_between_the_frames_of_a_traceback_is_no_title():
    text = RECORDED.format(title="___ test_scripts ___").replace(
        "E       Ass", "\n" + "_ " * 40 + "\n\n    def run_scripts(commands):\nE       Ass"
    )
    verdict = classify(GateEvidence("pytest", 1, text, ""))
    assert verdict.location == "tests/test_files.py:21"
    assert verdict.failing_tests == ("tests/test_files.py::test_scripts",)
