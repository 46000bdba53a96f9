"""Causes that lie outside the work (a network, a rate limit, a port in use, a full disk): nobody is charged for them."""

import pytest
from support.clocked_run import clocked

REFUSED = "Error: connect ECONNREFUSED 127.0.0.1:443"


def worker(project, lines, gate="test -e a.txt", setup=""):
    """A plain command as the only model; in `lines`, $COUNT is how many calls there have been."""
    script = project.folder / "worker.sh"
    head = f"echo >> {project.folder}/calls\nCOUNT=$(wc -l < {project.folder}/calls)\n"
    script.write_text(f"{head}{lines}\necho done > $NOFACE_ISSUE_ID.txt\n")
    project.write("gate.sh", gate)
    project.write(
        "noface.toml",
        f'[project]\nsetup = "{setup}"\nsetup_inputs = ["a.txt"]\n'
        '[[gates]]\nname = "check"\ncommand = "bash gate.sh"\ncanary = false\n'
        f'[models.small]\nagent = "command"\ncommand = "sh {script}"\n[retry]\ndefault_model = "small"\n'
        f'max_total_attempts = 2\n[sandbox]\nkind = "none"\n[run]\nslots_dir = "{project.folder / "slots"}"\n',
    )
    project.issue(1)
    project.commit()


def outcomes(project, issue="1"):
    return [(attempt["outcome"], attempt["charged"]) for attempt in project.attempts(issue)]


def test_a_worker_and_a_gate_that_end_with_such_a_cause_are_run_again_and_it_lands(project):
    once = project.folder / "once"
    gate = f"test -e 1.txt || exit 0\ntest -e {once} && exit 0\ntouch {once}\necho 'Error: connect ETIMEDOUT 10.0.0.1:443'\nexit 1"
    worker(project, f"test $COUNT -gt 2 || {{ echo '{REFUSED}' >&2; exit 1; }}", gate)
    done = clocked(project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes(project) == [("AGENT_CRASH", False), ("AGENT_CRASH", False), ("PASSED", True)]
    assert REFUSED in project.attempts("1")[0]["failure"]["message"]
    assert "1 gate check is run again: Error: connect ETIMEDOUT 10.0.0.1:443" in done.stdout


NO_ACCESS = "npm error code E401"


def test_access_that_is_refused_goes_to_a_person_at_once_wherever_it_appears(project):
    """In a gate, in an issue's own command on main, in the setup of a changed lockfile, at the end of a worker."""
    end = f'{{ echo "{NO_ACCESS}"; exit 1; }}'
    project.write("setup.sh", f"! grep -q private a.txt || {end}")
    project.write("accept.sh", end)
    project.issue(2, accept=["bash accept.sh"])
    for number in (3, 4, 5):
        project.issue(number)
    refused = f"test $NOFACE_ISSUE_ID != 4 || {{ echo '{NO_ACCESS}' >&2; exit 1; }}"
    worker(
        project,
        f"test $NOFACE_ISSUE_ID != 3 || echo private >> a.txt\n{refused}",
        f"test ! -e 1.txt || {end}",
        "bash setup.sh",
    )
    done = clocked(project)
    assert done.returncode == 3, done.stdout + done.stderr
    assert project.statuses() == {"1": "blocked", "2": "blocked", "3": "blocked", "4": "blocked", "5": "merged"}
    assert [len(outcomes(project, issue)) for issue in "1234"] == [1, 0, 1, 1]
    assert outcomes(project, "4") == [("AUTH", False)]
    assert "refuses access: credentials or permissions are missing" in done.stdout


@pytest.mark.thorough
def test_a_worker_is_told_the_known_cause_of_any_failure(project):
    worker(
        project,
        "test $COUNT -gt 1 && rm -f peers.txt || echo x > peers.txt",
        "test ! -e peers.txt || { echo 'npm error code ERESOLVE'; echo 'npm error Could not resolve dependency:'; exit 1; }",
    )
    done = clocked(project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes(project) == [("RUNTIME_ERROR", True), ("PASSED", True)]
    assert "npm install --legacy-peer-deps" in project.prompt("1", 2)
