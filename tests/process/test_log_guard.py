"""Secrets are out of logs while programs still run, and of all that noface keeps when it is killed then (I12)."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.cases import first_ones
from support.processes import wait_for

from noface.process.log_masking import LOOK_BYTES_MAX, LogGuard, Masking
from noface.process.supervise import Canceller, Command, Launcher
from noface.secrets.masking import Masker

VALUE = "hunter2-hunter2-x9"
IN_PLACE = "***MY_TOKEN----***"
TOKEN = Masker({VALUE: "MY_TOKEN"})


@pytest.fixture
def log(tmp_path):
    return tmp_path / "agent.log"


@pytest.fixture
def guard(log):
    with closing(LogGuard([str(log)], [], TOKEN)) as made:
        yield made


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


# A log that grows


def test_a_value_is_overwritten_and_what_a_program_appends_meanwhile_stays(guard, log):
    with log.open("a") as file:
        for number in range(3):
            file.write(f"{number} {VALUE}\n")
            file.flush()
            guard.look()
            assert log.read_text() == "".join(f"{n} {IN_PLACE}\n" for n in range(number + 1))


@pytest.mark.parametrize("cut", range(1, len(VALUE)))
@pytest.mark.parametrize("before", [0, 200_000])
def test_a_value_of_which_a_part_had_been_written_at_the_last_look_is_found(guard, log, before, cut):
    with log.open("a") as file:
        file.write("x" * before + VALUE[:cut])
        file.flush()
        guard.look()
        file.write(f"{VALUE[cut:]}\n")
    guard.look()
    assert log.read_text() == "x" * before + f"{IN_PLACE}\n"


def test_a_program_that_writes_all_the_time_loses_no_line(log):
    script = "import os, sys\nfor n in range(20000): os.write(1, f'{n} {sys.argv[1]} {n}\\n'.encode())"
    with log.open("a") as file, closing(LogGuard([str(log)], [], TOKEN)) as guard:
        writer = subprocess.Popen([sys.executable, "-S", "-c", script, VALUE], stdout=file)
        while writer.poll() is None:
            guard.look()
        guard.finish()
    assert log.read_text() == "".join(f"{n} {IN_PLACE} {n}\n" for n in range(20000))


def test_a_look_reads_a_bounded_part_and_the_next_ones_go_on_there(guard, log):
    filler = b"x" * (LOOK_BYTES_MAX + 100)
    log.write_bytes(filler + VALUE.encode() + filler + VALUE.encode())
    looks = 1
    while guard.look():
        looks += 1
    assert looks == 3
    assert log.read_bytes() == filler + IN_PLACE.encode() + filler + IN_PLACE.encode()


def test_holes_are_passed_over(guard, log):
    with log.open("wb") as file:
        file.seek(3 << 40)
        file.write(VALUE.encode())
        file.truncate(4 << 40)
    assert not guard.look()
    with log.open("rb") as file:
        file.seek(3 << 40)
        assert file.read(len(VALUE)).decode() == IN_PLACE
    assert log.stat().st_blocks < 1000


# What a program does to its log


def test_a_log_that_was_cut_off_is_looked_through_again(guard, log):
    for size in (1_000_000, 100_000, 1000):
        log.write_text("x" * size + VALUE)
        guard.look()
        assert log.read_text() == "x" * size + IN_PLACE


def test_a_short_log_that_was_cut_off_and_grew_again_unseen_is_looked_through_again(guard, log):
    log.write_text("x" * 100)
    guard.look()
    log.write_text(f"{VALUE} and {'y' * 100}")
    guard.look()
    assert VALUE not in log.read_text()


def test_a_log_is_followed_under_another_name_and_its_successors_too(guard, log):
    with log.open("a") as file:
        file.write("first\n")
        file.flush()
        guard.look()
        for number in range(9):
            log.rename(log.with_name(f"moved-{number}"))
            log.write_text(VALUE)
            guard.look()
            assert log.read_text() == IN_PLACE
        file.write(VALUE)
        file.flush()
    guard.look()
    assert (log.parent / "moved-0").read_text() == f"first\n{IN_PLACE}"


def test_a_deleted_log_and_a_folder_that_is_gone_hold_nobody_up(tmp_path):
    folder = tmp_path / "attempt"
    folder.mkdir()
    with closing(LogGuard([str(folder / "out"), str(tmp_path / "no" / "where")], [], TOKEN)) as guard:
        (folder / "out").write_text(VALUE)
        guard.look()
        (folder / "out").unlink()
        folder.rmdir()
        assert not guard.look()


@pytest.mark.parametrize("what", ["link", "hard link", "linked folder", "fifo", "folder"])
def test_nothing_but_a_file_of_the_programs_own_is_written_to(tmp_path, what):
    precious = tmp_path / "precious"
    precious.mkdir()
    secret = precious / "agent.log"
    secret.write_text(VALUE)
    folder = tmp_path / "attempt"
    folder.mkdir()
    with closing(LogGuard([str(folder / "agent.log")], [], TOKEN)) as guard:
        match what:
            case "link":
                (folder / "agent.log").symlink_to(secret)
            case "hard link":
                (folder / "agent.log").hardlink_to(secret)
            case "linked folder":
                folder.rmdir()
                folder.symlink_to(precious)
            case "fifo":
                os.mkfifo(folder / "agent.log")
            case "folder":
                (folder / "agent.log").mkdir()
        assert not guard.look()
    assert secret.read_text() == VALUE


def test_a_file_that_its_program_writes_anew_is_read_as_a_whole_each_time(tmp_path):
    told = tmp_path / "told.json"
    with closing(LogGuard([], [str(told)], TOKEN)) as guard:
        for number in range(1, 4):
            told.write_text(f"{VALUE} {'x' * 100_000 * number} {VALUE}")
            guard.look()
            assert told.read_text() == f"{IN_PLACE} {'x' * 100_000 * number} {IN_PLACE}"
            guard.look()


def test_files_are_closed_and_without_secrets_none_is_opened(tmp_path, log):
    log.write_text(VALUE)
    before = open_files()
    guard = LogGuard([str(log), str(log)], [str(tmp_path / "other")], TOKEN)
    guard.look()
    assert open_files() == before + 2
    guard.close()
    assert open_files() == before
    with closing(LogGuard([str(log)], [], Masker())) as idle:
        idle.look()
        idle.finish()
        assert open_files() == before


# Programs under supervision


def test_a_value_leaves_the_logs_while_the_program_still_runs(tmp_path):
    out, err = tmp_path / "out", tmp_path / "err"
    stop, seen = Canceller(), []

    def look():
        if out.read_text() == f"{IN_PLACE}\n" and err.read_text() == f"{IN_PLACE}\n":
            seen.append(True)
            stop.cancel()

    env = (("PATH", os.environ["PATH"]), ("SECRET_VALUE", VALUE))
    script = "echo $SECRET_VALUE; echo $SECRET_VALUE >&2; sleep 100"
    asked = Command(("bash", "-c", script), str(tmp_path), env, None, str(out), str(err), 60.0, None, 1 << 30)
    with Launcher(masking=Masking(TOKEN, tmp_path)) as launcher:
        launcher.run(asked, stop, on_output=look)
    assert seen


# Runs

WORKER = r"""
echo out $MY_TOKEN; echo err $MY_TOKEN >&2
beside=$(dirname $NOFACE_ORDER_FILE)
mkdir -p $beside/db; echo $MY_TOKEN | tee $beside/chat.md > $beside/db/chat.md
git add -A; git -c user.name=a -c user.email=a@b commit -qm "with $MY_TOKEN" --allow-empty
echo done $NOFACE_ATTEMPT > b.txt
rm -f c-*; test $NOFACE_ATTEMPT != 1 || touch "c-$MY_TOKEN.txt"
echo '```json'
echo '{"status": "done", "summary": "s '$MY_TOKEN'", "risks": ["r '$MY_TOKEN'"], "gaps": ["g '$MY_TOKEN'"],'
echo ' "questions": ["q '$MY_TOKEN'"], "needs": ["'$MY_TOKEN'"]}'
echo '```'
"""
GATE = r"""
echo gate $MY_TOKEN; echo gate err $MY_TOKEN >&2
test -e b.txt || exit 0
long=$(printf "%03968d" 0)
cat > junit.xml <<X
<testsuite name="s" tests="1" failures="1"><testcase classname="c" name="test[$MY_TOKEN]">
<failure message="m $MY_TOKEN" type="T $MY_TOKEN">$MY_TOKEN $long$MY_TOKEN</failure></testcase></testsuite>
X
grep -q 3 b.txt
"""
PIECE = VALUE[:10]
"""A value that is cut off before it is masked would leave this."""


def leaks(project, piece=PIECE):
    """Every file of noface's own in which a part of the value stands, but for git's lists of a slot's files."""
    files = [path for path in project.state.rglob("*") if path.is_file() and path.name != "index"]
    assert project.state / "state.db" in files
    return [path for path in files if piece.encode() in path.read_bytes()]


def set_up(project, worker, gate, extra=""):
    project.env["MY_TOKEN"] = VALUE
    project.write("worker.sh", worker)
    project.write("gate.sh", gate)
    project.config(
        '\n[models.shell]\nagent = "command"\nenv_pass = ["MY_TOKEN"]\ncommand = "bash worker.sh"\n'
        '[models.wise]\nagent = "command"\nenv_pass = ["MY_TOKEN"]\ncommand = "echo I think: $MY_TOKEN"\n'
        '[roles]\ndiagnoser = "wise"\n' + extra,
        gate='bash gate.sh"\nenv_pass = ["MY_TOKEN"]\nreport = "junit.xml',
    )
    project.commit()  # without the issue: what stands on main is no secret
    project.issue(7, title=f"Use {VALUE}", model="shell", body=f"The key is {VALUE}.", no_escalate=True)


def test_a_run_in_which_everybody_tells_a_secret_keeps_and_prints_it_nowhere(project):
    set_up(project, WORKER, GATE)
    done = project.noface("run", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert leaks(project) == []
    assert PIECE not in done.stdout + done.stderr
    first, second, third = project.attempts("7")
    assert first["outcome"] == "BOUNDARY_VIOLATION"  # its name would have been public
    assert "MY_TOKEN in c-[masked by noface: MY_TOKEN].txt" in first["failure"]["message"]
    assert second["failure"]["failing_tests"] == ["c.test[***MY_TOKEN***]"]
    assert third["outcome"] == "PASSED"
    assert PIECE not in project.git("log", "--format=%B", "-3", "main")
    reports = list((project.folder / "slots").rglob("junit.xml"))
    assert reports
    assert all(PIECE not in report.read_text() for report in reports)
    for looked in (("status",), ("show", "7"), ("logs", "7"), ("why", "7")):
        shown = project.noface(*looked)
        assert PIECE not in shown.stdout + shown.stderr


@pytest.mark.thorough
def test_a_looking_command_that_reads_changed_issues_stores_no_secret(project):
    set_up(project, WORKER, GATE)
    project.noface("run", "--max-iterations", "0")
    project.issue(8, title=f"Then {VALUE}")
    project.noface("status")
    assert "***MY_TOKEN***" in project.noface("show", "8").stdout
    assert leaks(project) == []


@pytest.mark.thorough
def test_the_parts_of_an_issue_are_stored_without_the_secrets_of_its_text(project):
    worker = "mkdir -p one two; echo bad > one/a.txt; echo bad > two/b.txt\n"
    set_up(project, worker, "test ! -e one/a.txt", '[retry.strategies]\nRUNTIME_ERROR = "breakdown"\n')
    project.noface("run")
    assert len(project.shown("status")["issues"]) == 3
    assert leaks(project) == []


@pytest.mark.parametrize("who", first_ones(["worker", "gate"]))
def test_what_a_program_printed_is_gone_while_it_runs_and_when_noface_is_killed_then(project, who):
    tells = "echo out $MY_TOKEN; echo err $MY_TOKEN >&2; echo x > b.txt; "
    worker, gate = (
        (f"{tells} sleep 100", "true") if who == "worker" else (tells, f"test -e b.txt || exit 0; {tells} sleep 100")
    )
    set_up(project, worker, gate)
    folder = project.state / "attempts" / "7" / "1"
    logs = (folder / "agent.log", folder / "agent.err")
    logs = logs if who == "worker" else (*logs, folder / "gates" / "check.out", folder / "gates" / "check.err")
    running = project.start("run")
    wait_for(lambda: all(log.exists() and IN_PLACE in log.read_text() for log in logs))
    assert leaks(project) == []
    assert running.poll() is None
    assert project.processes()
    running.kill()
    running.communicate()
    wait_for(lambda: not project.processes())
    assert leaks(project) == []
    assert all(log.read_text().endswith(f"{IN_PLACE}\n") for log in logs)


def test_what_an_agent_keeps_of_its_talk_is_free_of_secrets_while_it_runs(project):
    program = project.folder / "aider"
    program.write_text(
        '#!/usr/bin/env bash\nwhile test "$1" != --chat-history-file; do shift; done\n'
        'echo "said $MY_TOKEN" >> "$2"; echo "typed $MY_TOKEN" >> "$4"; sleep 100\n'
    )
    program.chmod(0o755)
    project.env["MY_TOKEN"] = VALUE
    project.config(f'\n[models.shell]\nagent = "aider"\nenv_pass = ["MY_TOKEN"]\ncommand = "{program}"\n')
    project.issue(7, model="shell")
    project.commit()
    folder = project.state / "attempts" / "7" / "1"
    running = project.start("run")
    chat, typed = folder / "session/aider.chat.md", folder / "session/aider.input"
    wait_for(lambda: all(file.exists() and IN_PLACE in file.read_text() for file in (chat, typed)))
    running.kill()
    running.communicate()
    wait_for(lambda: not project.processes())
    assert leaks(project) == []


def test_the_last_words_before_noface_was_killed_are_masked_by_the_next_run(project):
    go, begun = project.folder / "go", project.folder / "begun"
    set_up(
        project,
        f"test $NOFACE_ATTEMPT != 1 || {{ touch {begun}; while test ! -e {go}; do sleep 0.01; done; echo $MY_TOKEN;"
        " sleep 100; }; echo > b.txt",
        "true",
    )
    log = project.state / "attempts" / "7" / "1" / "agent.log"
    running = project.start("run")
    wait_for(begun.exists)  # the log is there before its program
    running.send_signal(19)  # so that no look follows
    go.touch()
    wait_for(lambda: VALUE in log.read_text())
    running.kill()
    running.communicate()
    wait_for(lambda: not project.processes())
    assert leaks(project) == [log]
    project.run()
    assert log.read_text() == f"{IN_PLACE}\n"
    assert leaks(project) == []
