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

_COVERAGE = """def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line("FAIL Required test coverage of 90% not reached. Total coverage: 0.00%")
"""


@pytest.mark.parametrize(
    ("chosen", "to_write"),
    [(["test_b.py -k new"], True), (["test_b.py::test_new"], True), (["test_b.py", "test_b.py -k new"], False)],
)
def test_a_file_is_protected_if_main_has_the_test_that_accept_chooses_in_it(project, chosen, to_write):
    project.write("test_b.py", "def test_b():\n    assert False\n")
    project.write("conftest.py", _COVERAGE)  # what a plug-in prints of it changes nothing
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


def test_what_accept_misses_is_for_the_work_to_bring_and_what_it_reads_is_the_work(project):
    """Files, scripts and programs of the checkout that main does not have; a program that nobody has is the machine's."""
    project.write("README.md", "# Shop\n")
    project.issue(1, "Write the page", "`docs/page.md`", accept=["cat docs/page.md"])
    project.issue(2, "Make the list", accept=["bash bin/list.sh && test -s list.txt", "bash bin/list.sh"])
    project.issue(3, "Tell of it", "README.md tells how to begin.", accept=["grep -q begin README.md"])
    project.issue(4, "Build it", accept=["test -e Dockerfile && no-such-docker build ."])
    project.issue(5, "Count", accept=[" ".join(GATE.split())])
    project.write("prove.py", "import sys\nsys.exit(1)\n")
    project.issue(6, "Prove it", "`prove.py --all` ends well.", accept=[f"{sys.executable} prove.py --all"])
    project.play(
        ("1", 1, [{"write": "page.md", "text": "x"}]),
        ("1", 2, [{"write": "docs/page.md", "text": "x"}]),
        ("2", 1, [{"write": "bin/list.sh", "text": "set -e\nno-such-tool > list.txt\n"}]),
        ("2", 2, [{"write": "bin/list.sh", "text": "echo a > list.txt\n"}]),
        ("3", 0, [{"write": "README.md", "text": "begin\n"}]),
        ("4", 0, [{"write": "Dockerfile", "text": "FROM scratch\n"}]),
        ("5", 0, [{"write": "c.txt", "text": "c"}]),
        ("6", 0, [{"write": "prove.py", "text": "import sys\nsys.exit(0)\n"}]),
    )
    project.commit()
    log = project.run(code=3)
    assert project.statuses() == dict.fromkeys("12356", "merged") | {"4": "blocked"}
    first = [project.attempts(issue)[0] for issue in ("1", "2")]
    assert [(each["outcome"], each["charged"]) for each in first] == [("RUNTIME_ERROR", True)] * 2
    (missed,) = project.attempts("4")
    assert not missed["charged"]
    assert "is the gate check, which main passes" in log
    assert "! 6 Prove it: changes what judges it" in log
    assert log.count("changes what judges it") == 1  # main did not have bin/list.sh


def test_accept_finds_what_setup_made_and_is_refused_if_it_cannot_import_what_main_has(project):
    project.config(
        extra='\n[project]\nsetup = "mkdir -p .venv/bin && ln -s /bin/true .venv/bin/own-tool"\nkeep = [".venv"]\n'
    )
    project.write("shop/__init__.py", "")
    project.write("checks/a.py", "import shop\n")
    project.issue(1, accept=["own-tool && test -e b.txt"])
    project.issue(2, accept=[f"{sys.executable} checks/a.py"])
    project.play(("*", 0, [{"write": "b.txt", "text": "b"}]))
    project.commit()
    log = project.run(code=3)
    assert project.statuses() == {"1": "merged", "2": "blocked"}
    assert project.attempts("2") == []
    assert "it does not find shop, which main has (shop)" in log


def test_what_no_work_can_bring_within_its_paths_is_told_by_every_command_before_anybody_is_paid(project):
    project.write("docs/a.md", "")
    project.issue(1, paths=["src/**"], accept=["test -f docs/b.md"])
    project.commit()
    said = "accept needs docs/b.md, which main has not, and `paths` does not let the work make it"
    for command in (("issues",), ("config", "check"), ("run", "--dry-run")):
        assert said in " ".join(project.noface(*command).stdout.split())
    assert said in project.run(code=3)
    assert project.attempts("1") == []


def test_an_added_issue_is_told_that_main_passes_its_accept(project):
    page = " ".join(project.noface("issues", "add", "X", "-b", "x", "-a", "test -e a.txt").stdout.split())
    assert "main passes what is in `accept` already, so nobody will work on the issue" in page
    assert "Worth knowing" not in project.noface("issues", "add", "Y", "-b", "y", "-a", "test -e b.txt").stdout


def test_a_limit_that_is_no_duration_is_a_fault(project):
    project.config()
    project.issue(1, accept=["false"], accept_timeout="soon")
    project.commit()
    faults = json.loads(project.noface("issues", "--json").stdout)["faults"]
    assert "accept_timeout must be a duration" in faults[0]["problem"]


@pytest.mark.parametrize(
    ("address", "outcomes"), [("https://api.shop.dev/v1", ["ENVIRONMENT"]), ("http://localhost:1/", ["UNKNOWN"])]
)
def test_an_accept_that_another_machine_refuses_is_told_at_once_and_one_of_this_machine_is_the_works(
    project, address, outcomes
):
    refused = "echo 'curl: (22) The requested URL returned error: 401' >&2; exit 22"
    project.issue(7, accept=[f"test -e b.txt || exit 1; true {address}; {refused}"], max_attempts=1)
    project.commit()
    out = project.run(code=3)
    assert [each["outcome"] for each in project.attempts("7")] == outcomes
    assert ("refuses access" in out) == (outcomes == ["ENVIRONMENT"])
