"""Tab in bash, zsh and fish: each test types into the real shell, and looks at what stands there then."""

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time

import pytest
from support.cases import first_ones
from support.cli_story import usual_night, write_issue
from support.project import Project
from typer.core import TyperGroup
from typer.main import get_command

from noface.cli.main import build

SHELLS = ("bash", "zsh", "fish")
HOSTILE = "Mind $(touch stolen) `touch stolen` \\$(touch stolen) '; touch stolen; ' \" [/b] a:b"
DONE = "that-was-all"
FISH = {"_NOFACE_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
START_S = 60

BASH = """
bind 'set show-all-if-ambiguous on'; bind 'set enable-bracketed-paste off'; bind 'set page-completions off'
bind 'set completion-query-items 0'; PS1='> '; source "$SCRIPT"
"""
ZSH = """
autoload -Uz compinit; compinit -u -D; source "$SCRIPT"; PROMPT='> '; LISTMAX=0; unsetopt prompt_sp prompt_cr zle_bracketed_paste
"""


class Shell:
    """A shell with noface's completion. `tab` returns what it shows after a line was typed and Tab pressed."""

    def __init__(self, name, folder, project):
        self.name, self.project = name, project
        bin_folder = folder / "bin"
        bin_folder.mkdir(exist_ok=True)
        noface = bin_folder / "noface"
        noface.write_text(f'#!/bin/sh\nexec {sys.executable} -m noface "$@"\n')
        noface.chmod(0o755)
        self.env = project.environment(
            PATH=f"{bin_folder}:{os.environ['PATH']}",
            TERM="dumb" if name == "bash" else "xterm",
            SCRIPT=str(folder / f"noface.{name}"),
            ZDOTDIR=str(folder),
            XDG_CONFIG_HOME=str(folder / "config"),
            LC_ALL="C.UTF-8",
        )
        script = self.project.cold(**{**self.env, "_NOFACE_COMPLETE": f"source_{name}"}).stdout
        (folder / f"noface.{name}").write_text(script)
        (folder / ".zshrc").write_text(ZSH)
        (folder / "bashrc").write_text(BASH)
        self.folder = folder

    def tab(self, line):
        cwd = self.project.path
        if self.name == "fish":
            asked = f"source $SCRIPT; complete -C {line!r}"
            done = subprocess.run(
                ["fish", "--no-config", "-c", asked], cwd=cwd, env=self.env, capture_output=True, text=True, check=True
            )
            return done.stdout + done.stderr
        argv = {"bash": ["bash", "--noprofile", "--rcfile", str(self.folder / "bashrc"), "-i"], "zsh": ["zsh", "-i"]}
        # The line is abandoned; what the shell prints for the next one shows that it is done.
        return typed(argv[self.name], f"{line}\t\x15echo {DONE}:$((40 + 2))\n", cwd, self.env)


def typed(argv, keys, cwd, env):
    """What a program writes to its terminal while these keys are typed, without what only moves the cursor."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(cwd)
        os.execvpe(argv[0], argv, env)
    seen, sent, until = "", False, time.monotonic() + START_S
    try:
        while f"{DONE}:42" not in seen and time.monotonic() < until:
            if select.select([terminal], [], [], 1)[0]:
                seen += os.read(terminal, 65536).decode("utf-8", "replace")
            if not sent and "> " in seen:
                os.write(terminal, keys.encode())
                sent, seen = True, ""
        os.write(terminal, b"exit\n")
    finally:
        os.close(terminal)
        os.waitpid(process, 0)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x07", "", seen).partition(f"echo {DONE}")[0]


@pytest.fixture(scope="module")
def night(_blank, tmp_path_factory):
    folder = tmp_path_factory.mktemp("night")
    project = Project(shutil.copytree(_blank, folder / "repo"), folder)
    project.config()
    project.commit("first")
    write_issue(project.path, "009-mind", json.dumps(HOSTILE)[1:-1])
    story = usual_night(project.path, project.git("rev-parse", "HEAD"))
    story.status("009", "approval", "it waits")
    yield project
    story.close()


@pytest.fixture(scope="module", params=first_ones(SHELLS, 2))
def shell(request, night, tmp_path_factory):
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed: apt-get install {request.param}")
    return Shell(request.param, tmp_path_factory.mktemp(request.param), night)


def ids(shown):
    return set(re.findall(r"(?<![\w-])00\d(?!\w)", shown))


def test_issues_are_offered_with_their_titles_which_are_never_evaluated(shell):
    shown = shell.tab("noface show 00")
    assert ids(shown) == {"001", "002", "003", "004", "005", "006", "007", "009"}
    assert ("Paginate the list of orders" in shown) == (shell.name != "bash"), "bash shows words alone"
    assert not list(shell.project.path.rglob("stolen*"))


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("retry --model claude-o", "claude-opus"),
        ("approve ", "009"),  # the only one that waits for approval
    ],
)
def test_models_and_what_a_verb_can_take_are_completed(night, line, word):
    assert word in night.noface(**FISH, _TYPER_COMPLETE_ARGS=f"noface {line}").stdout


def test_every_value_that_names_something_of_noface_is_completed():
    wanted = {"issue_id", "issue_ids", "issue", "depends_on", "model", "gate"}
    missing = [
        f"{command.name} {param.name}"
        for command in commands(get_command(build(None)))
        for param in command.params
        if param.name in wanted and param._custom_shell_complete is None
    ]
    assert missing == []


def commands(command):
    if isinstance(command, TyperGroup):
        yield command
        for each in command.commands.values():
            yield from commands(each)
    else:
        yield command


def test_an_issue_that_no_run_has_seen_is_offered_and_nothing_is_written(project):
    project.config()
    project.issue(7, "Fresh")
    done = project.noface(**FISH, _TYPER_COMPLETE_ARGS="noface run --issue ")
    assert (done.stdout, done.stderr, done.returncode) == ("7\tFresh (ready)\n", "", 0)
    assert not project.state.exists()


def test_outside_a_repository_nothing_is_said(tmp_path):
    nowhere = Project(tmp_path, tmp_path)
    done = nowhere.noface(_NOFACE_COMPLETE="complete_bash", COMP_WORDS="noface show ", COMP_CWORD="2")
    assert (done.stdout.strip(), done.stderr, done.returncode) == ("", "", 0)


def test_broken_configuration_and_state_are_not_complained_of(project):
    project.write("noface.toml", "[tracker\n")
    project.state.mkdir()
    (project.state / "state.db").write_bytes(b"no database")
    done = project.noface(_NOFACE_COMPLETE="complete_bash", COMP_WORDS="noface show ", COMP_CWORD="2")
    assert (done.stdout.strip(), done.stderr, done.returncode) == ("", "", 0)
