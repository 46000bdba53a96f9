"""A check of an attempt is a function and a line of the table, as CONTRIBUTING.md says: shown on a copy of the package."""

import shutil

from support import ROOT

CHECK = """
def _tabs_are_added(attempt: Judging) -> Failure | None:
    tabs = b"\\n+\\t" in attempt.change.patch
    return Failure(FailureKind.LINT_FAILURE, "a line begins with a tab", rule="tabs") if tabs else None


CHECKS: tuple"""
LINE = "    _tabs_are_added,\n    _change_breaks_a_rule,\n"


def test_a_check_is_a_function_and_a_line_and_honest_work_passes_it(project):
    copy = shutil.copytree(
        ROOT / "noface", project.folder / "changed" / "noface", ignore=shutil.ignore_patterns("__pycache__")
    )
    judge = copy / "attempt" / "judge.py"
    text = judge.read_text().replace("\nCHECKS: tuple", CHECK, 1).replace("    _change_breaks_a_rule,\n", LINE, 1)
    judge.write_text(text)
    project.config()
    project.play(("1", 0, [{"write": "a.txt", "text": "\tone\n"}]), ("2", 0, [{"write": "b.txt", "text": "two\n"}]))
    for number in (1, 2):
        project.issue(number, max_attempts=1)
    project.commit()
    done = project.noface("run", PYTHONPATH=str(copy.parent))
    assert done.returncode == 3, done.stdout + done.stderr
    [failed], [passed] = project.attempts("1"), project.attempts("2")
    assert (failed["failure"]["rule"], passed["outcome"]) == ("tabs", "PASSED")
