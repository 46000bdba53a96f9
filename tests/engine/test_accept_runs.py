"""An issue's `accept` commands in a run: their time limit, and when they do not run."""

import json
import sys

import pytest
from support.project import GATE
from support.run_parts import run_parts

from noface.engine.main_checks import check_accept, fact_of
from noface.engine.orders import protection_for
from noface.engine.outside import BacklogWatch
from noface.process.supervise import Canceller


@pytest.mark.thorough
def test_accept_has_the_limit_that_its_issue_gives_and_does_not_run_after_a_failed_gate(project):
    ran = project.folder / "ran"
    project.config(gate=f"{GATE} && test ! -e breaks")
    project.issue(1, max_attempts=1, accept=[f"test -e breaks && echo x >> {ran}"])
    project.issue(2, max_attempts=1, accept=["test ! -e b.txt || sleep 60; false"], accept_timeout="1s")
    work = [{"write": "b.txt", "text": "b"}]
    project.play(("1", 0, [*work, {"write": "breaks", "text": "x"}]), ("*", 0, work))
    project.commit()
    project.run(code=3)
    failed, own = (project.attempts(issue)[0] for issue in ("1", "2"))
    assert [gate["name"] for gate in failed["gates"]] == ["check"]
    assert "not reached: accept" in failed["failure"]["message"]
    assert not ran.exists()
    assert own["outcome"] == "TIMEOUT"
    assert "limit of 1 s" in own["failure"]["message"]


@pytest.mark.parametrize(
    ("chosen", "to_write"),
    [(["test_b.py -k new"], True), (["test_b.py::test_new"], True), (["test_b.py", "test_b.py -k new"], False)],
)
def test_a_file_is_protected_if_main_has_the_test_that_accept_chooses_in_it(project, chosen, to_write):
    project.write("test_b.py", "def test_b():\n    assert False\n")
    project.issue(1, accept=[f"{sys.executable} -m pytest -q -p no:cacheprovider {words}" for words in chosen])
    project.commit()
    with run_parts(project.path) as context:
        BacklogWatch(context).refresh()
        (issue,) = context.issues
        context.journal.fact(*fact_of(issue, check_accept(context, issue, 0, Canceller())))
        protected = protection_for(context, issue, context.env.plumbing.main()).patterns
    assert ("test_b.py" not in protected) is to_write


def test_work_that_landed_after_its_worker_had_broken_off_says_so_in_log_show_and_commit(project):
    project.play(("1", 0, [{"write": "b.txt", "text": "b"}, {"complain": "Killed by the cat."}, {"exit": 7}]))
    project.issue(1, "Add b", accept=["test -e b.txt"])
    project.commit()
    log = project.run()
    assert ", though its worker did not finish: Add b\n" in log
    page = project.noface("show", "1").stdout
    commit = project.git("rev-parse", "main")[:12]
    assert f"  though its worker did not finish\n  landed: git show --first-parent {commit}\n" in page
    assert page.count(commit) == 1
    why = "the worker did not finish (the worker ended with exit code 7: Killed by the cat.); its work counts"
    assert why in " ".join(page.split())
    body = project.git("log", "-1", "--format=%B", "main")
    assert body.splitlines()[2].startswith("The worker did not finish (the worker ended with exit code 7: Killed by")
    trailers = project.git("log", "-1", "--format=%(trailers:only)", "main").splitlines()
    assert trailers == ["Noface-Issue: 1", "Noface-Attempt: 1"]


def test_a_limit_that_is_no_duration_is_a_fault(project):
    project.config()
    project.issue(1, accept=["false"], accept_timeout="soon")
    project.commit()
    faults = json.loads(project.noface("issues", "--json").stdout)["faults"]
    assert "accept_timeout must be a duration" in faults[0]["problem"]
