"""Every command that noface prints works when it is copied: each is run where, and as, it was printed."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager

from noface.cli.main import VERBS

GIT = ("diff", "show", "switch", "log", "branch", "status", "stash", "add", "commit", "worktree")
PRINTED = re.compile(rf"(?:(?:noface (?:{'|'.join(VERBS)})|git (?:{'|'.join(GIT)}))\b|\$\{{EDITOR)[^\n`·|│]*")
UNSURE = {"status": "blocked", "blocked_reason": "unclear", "summary": "?", "questions": ["which file?"]}


def night(project):
    """A night after which issues stand in a dozen ways."""
    project.write("c.txt", "one\n")
    project.config(
        '[models.away]\nagent = "command"\ncommand = "missing-program-of-nobody"\ntier = 3\n\n'
        '[approval]\nlabels = ["risky"]\n',
        gate="test ! -e bad || { echo FAIL: got bad, want good; exit 1; }",
    )
    config = (project.path / "noface.toml").read_text()
    project.write("noface.toml", config.replace("[retry]\n", '[retry]\nbackoff_base = "0.1s"\n', 1))
    project.play(
        ("1", 0, [{"write": "one.txt", "text": "1"}]),
        ("2", 0, [{"write": "bad", "text": "x"}, {"write": "two.txt", "text": "2"}]),
        ("3", 0, [{"say": '{"status": "already_done", "evidence": "test -e a.txt"}'}]),
        ("4", 0, [{"write": "elsewhere.txt", "text": "4"}]),
        ("5", 0, [{"say": "```json\n" + json.dumps(UNSURE) + "\n```"}]),
        ("6", 0, [{"write": "six.txt", "text": "6"}]),
        ("7", 0, [{"replace": "c.txt", "old": "one", "new": "seven"}]),
        ("9", 0, [{"write": "half.txt", "text": "9"}]),
        ("10", 0, [{"say": "?"}]),
        ("11", 0, [{"write": "bad", "text": "y"}]),
    )
    project.issue(1)
    project.issue(2)
    project.issue(3)
    project.issue(4, paths=["src/**"])
    project.issue(5)
    project.issue(6, labels=["risky"])
    project.issue(7)
    project.issue(8, accept=["test -e a.txt"])
    project.issue(9, accept=["test -e whole.txt"])
    project.issue(10, model="away")
    project.issue(11)
    project.issue(12, depends_on=["2"])
    project.write("issues/13-broken.md", "+++\ntitle = 'no end'\n")
    project.commit()
    project.write("c.txt", "mine\n")  # in the way of issue 7
    project.run(code=3)
    project.git("branch", "-D", "noface/11")  # a person has tidied up
    by_hand = project.git("commit-tree", "-p", "noface/9", "-m", "by hand", "noface/9^{tree}")
    project.git("branch", "-f", "noface/9", by_hand)
    project.issue(9, body="Mind what I did.", accept=["test -e whole.txt"])
    project.run(code=3)
    project.issue(14)
    project.noface("retry", "2")
    assert project.statuses() == {
        **dict.fromkeys(("5", "9", "10", "11"), "blocked"),
        "1": "merged",
        "2": "ready",
        "3": "approval",
        "4": "approval",
        "6": "approval",
        "7": "landing",
        "8": "skipped",
        "12": "waiting",
        "14": "ready",
    }


DECIDING = ("approve", "reject", "retry", "skip", "issues", "switch", "stash", "tools", "config", "run", "branch")
LOOKS = [  # of pages that print the same commands one
    *(["status"], ["blocked"], ["run", "--dry-run"]),
    *(["show", number] for number in ("2", "3", "5", "9")),
    *(["blocked", number] for number in ("1", "7", "11")),
    *(["show", "14", "--why"], ["skip", "1"], ["skip", "99"], ["reject", "6"]),
]


def commands(text):
    """The commands in a page, a message or a hint; prose ends where a sentence or a remark begins."""
    for found in PRINTED.findall(text):
        command = re.split(r" \(|[.;,:]? {2,}|[.;,:)]$|[.;,] (?=[A-Za-z])|: (?=[a-z])", found.strip())[0].strip(' ."')
        if command.count('"') % 2:
            command += '"'
        yield command


EDITED = "${EDITOR:-vi}"


def harmless(command):
    """The command as it is run here: a run only plans, an editor leaves the file as it is."""
    command = command.replace('"$(noface config path)"', "noface.toml")
    return re.sub(r"noface run\b(?! --dry-run)", "noface run --dry-run", command).replace(EDITED, "test -f")


def test_every_command_that_is_printed_works(project, tmp_path):
    night(project)
    place = Place(project, tmp_path / "kept")
    printed = {}
    for look in LOOKS:
        with place.as_it_was(look[0] in DECIDING):
            done = project.noface(*look)
        for command in commands(done.stdout + "\n" + done.stderr):
            form = re.sub(r"\b\d+\b", "ID", command) if command.startswith("noface") else command
            printed.setdefault(form, (command, look))
    assert len(printed) >= 25
    failed = {}
    for command, look in printed.values():
        words = shlex.split(harmless(command))
        with place.as_it_was(words[1] in DECIDING):
            done = project.noface(*words[1:]) if words[0] == "noface" else place.shell(harmless(command))
        if done.returncode not in (0, 3):
            failed[f"{command} (printed by {' '.join(look)})"] = done.stdout[-200:] + done.stderr[-300:]
    assert failed == {}


class Place:
    """The project's repository as the night has left it."""

    def __init__(self, project, keep):
        self.project, self.keep = project, keep
        shutil.copytree(project.path, keep, symlinks=True)

    @contextmanager
    def as_it_was(self, changes):
        """Put the repository back afterwards, where what is done in it changes something."""
        yield
        if changes:
            shutil.rmtree(self.project.path)
            shutil.copytree(self.keep, self.project.path, symlinks=True)

    def shell(self, line):
        """Run a line in a shell as a person does who has copied it."""
        program = self.project.folder / "bin" / "noface"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m noface "$@"\n')
        program.chmod(0o755)
        env = self.project.environment(PATH=f"{program.parent}:{os.environ['PATH']}", GIT_PAGER="cat")
        return subprocess.run(
            ["sh", "-c", line], cwd=self.project.path, env=env, capture_output=True, text=True, check=False
        )
