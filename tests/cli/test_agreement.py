"""What is wrong before a run: each command that can know it shows the same words, with an exit code that agrees.

A command that does not look at something says nothing wrong about it.
"""

import re

import pytest
from support.cases import cases
from support.project import GATE

from noface.engine.readiness import box_findings, gate_findings
from noface.errors import EXIT_ATTENTION, EXIT_DONE, EXIT_USAGE
from noface.model.access import Permissions
from noface.model.command_line import unknown_placeholders
from noface.model.finding import Finding, exit_code_of
from noface.model.gate import GateKind, GateSpec
from noface.model.worker_run import ModelSpec

CONFIG, BACKLOG = ("config check", "doctor", "run --dry-run"), ("issues", "doctor", "run --dry-run")
VERBS = ("config check", "doctor", "run --dry-run", "issues")

TOGETHER = {
    "model small: its script is not there": CONFIG,
    "its script is not there": CONFIG,
    "model big: the program claude is not on PATH": CONFIG[::2],
    "the program claude is not on PATH": CONFIG,
    "Install it: npm install -g @anthropic-ai/claude-code": CONFIG,
    "gate check: the program no-such-gate is not on PATH": CONFIG,
    "gate pytest: main has no file .venv/bin/pytest, and there is no [project] setup": CONFIG,
    "issues/x y.md: the id 'x y' is not usable": BACKLOG,
    "issues/2-x.md: dependency cycle: 2 -> 3 -> 2": BACKLOG,
    "issues/4-other.md: the id 4 is used more than once": BACKLOG,
    "issues/5-x.md: depends_on names '99', which does not exist": BACKLOG,
    "Write the id of an issue of this backlog, or take the entry out.": BACKLOG,
    "issues/6-x.md: the front matter is not valid TOML": BACKLOG,
    "issues/8-x.md: model = 'gpt' is no model of the configuration": BACKLOG,
}
"""Faults that can be had at once: the words, and the commands that show them."""


def shown(project, verb):
    done = project.noface(*verb.split())
    return done.returncode, " ".join(re.sub(r"\s+", " ", done.stdout + done.stderr).replace("→ ", "").split())


def edit(project, old, new):
    text = (project.path / "noface.toml").read_text()
    assert old in text
    project.write("noface.toml", text.replace(old, new, 1))
    project.commit()


@pytest.fixture
def faulty(project):
    project.script.unlink()
    project.env["PATH"] = "/usr/bin:/bin"
    edit(project, GATE, "no-such-gate run")
    edit(project, "[models.small]", '[[gates]]\nname = "pytest"\ncommand = ".venv/bin/pytest -q"\n[models.small]')
    edit(project, f'[models.big]\nagent = "scripted"\ncommand = "{project.script}"', '[models.big]\nagent = "claude"')
    edit(project, "[retry]", "[retry]\nmax_total_attempts = 2")
    edit(project, "[models.small]", '[review]\nwhen = "always"\n\n[project]\nkeep = ["**/x"]\n\n[models.small]')
    project.write("issues/x y.md", "+++\ntitle = 'x'\n+++\nDo")
    project.issue(2, depends_on=["3"])
    project.issue(3, depends_on=["2"])
    project.issue(4)
    project.write("issues/4-other.md", "+++\ntitle = 'x'\n+++\nDo")
    project.issue(5, depends_on=["99"])
    project.write("issues/6-x.md", "+++\ntitle = \n+++\n")
    project.issue(7)
    project.issue(8, model="gpt")
    return project


def test_every_command_shows_what_it_can_know_in_the_same_words(faulty):
    pages = {verb: shown(faulty, verb) for verb in VERBS}
    wrong = [
        f"{verb} {'lacks' if verb in verbs else 'should not say'}: {words}"
        for words, verbs in TOGETHER.items()
        for verb, (_, page) in pages.items()
        if (words in page) is not (verb in verbs)
        and not (verb == "doctor" and words.startswith("model "))  # each model has a line of its own there
    ]
    assert wrong == [], pages
    codes = {verb: code for verb, (code, _) in pages.items()}
    expected = dict.fromkeys(CONFIG, EXIT_USAGE) | {"issues": EXIT_ATTENTION}
    assert codes == expected


ALONE = {
    "main": ("[run]", '[project]\nmain = "trunk"\n[run]', "[project] main = 'trunk', but there is no such branch"),
    "templates": ("[run]", '[prompts]\ndir = "prompts"\n[run]', 'first.md.j2:1: there is no variable "nothing"'),
    "sandbox": ('kind = "none"', 'kind = "bubblewrap"', '[sandbox] kind = "bubblewrap": bubblewrap is not installed.'),
}
"""Faults with which a run refuses to begin: what is replaced in noface.toml by what, and the words."""


@pytest.mark.parametrize("fault", ALONE)
def test_what_a_run_refuses_is_refused_by_every_command_that_looks_at_it(project, tmp_path, fault):
    old, new, words = ALONE[fault]
    project.issue(7)
    project.write("prompts/first.md.j2", "{{ nothing }}")
    edit(project, old, new)
    if fault == "sandbox":
        programs = tmp_path / "programs"
        programs.mkdir()
        for name in ("git", "bash", "env"):
            (programs / name).symlink_to(f"/usr/bin/{name}")
        project.env["PATH"] = str(programs)
    for verb in (*CONFIG, "run"):
        code, page = shown(project, verb)
        assert (code, words in page) == (EXIT_USAGE, True), f"{verb}: {page}"
    code, page = shown(project, "issues")
    assert (code, words in page) == (EXIT_DONE, False)


# The rules


@cases(
    ("command", "unknown"),
    [
        ("agent {prompt_file} --model {model}", ()),
        ("agent {prompt_fil} {issue}", ("prompt_fil", "issue")),
        ("agent \"{promptfile}\" '{prompt_fil}'", ("promptfile", "prompt_fil")),
        ("jq '{title}' | awk \"{print}\"", ()),
        ("echo ${prompt} {a,b} {} {1..3} \\{x}", ()),
    ],
)
def test_what_stands_like_a_placeholder_and_is_none_is_found(command, unknown):
    assert unknown_placeholders(command) == unknown


@cases(
    ("gates", "setup", "found"),
    [
        ((GateSpec("unit", ".venv/bin/pytest"),), "", ["gate unit"]),
        ((GateSpec("unit", ".venv/bin/pytest"),), "make venv", []),
        ((GateSpec("build", "./build.sh", GateKind.BUILD), GateSpec("unit", "out/tests")), "", []),
        ((GateSpec("unit", "./check.sh"),), "", []),
        ((GateSpec("unit", "no-such-program-here -q"),), "make venv", ["gate unit"]),
        ((GateSpec("unit", "cd src && no-such-program-here"),), "", []),
        ((GateSpec("unit", "! grep -rq FIXME ."),), "", []),
    ],
)
def test_a_gate_that_cannot_start_is_found_without_running_it(gates, setup, found):
    tree = {"check.sh", "build.sh"}
    shown = gate_findings(gates, setup, lambda path: path.removeprefix("./") in tree)
    assert [each.where for each in shown] == found


def test_a_run_that_cannot_start_counts_more_than_what_needs_a_person():
    note, wrong, fatal = (Finding("x", "y", exit_code=code) for code in (EXIT_DONE, EXIT_ATTENTION, EXIT_USAGE))
    assert [exit_code_of(each) for each in ([note], [note, wrong], [wrong, fatal])] == [0, 3, 2]


def unbound(permissions=Permissions.FULL, role="", box="", boxed=True, agent="mini"):
    specs = {"m": ModelSpec("m", agent, permissions=permissions, boxed=boxed)}
    roles = {role: "m", "planner": None} if role else {}
    return [finding.where for finding in box_findings(specs, ["m", "m"], roles, box)]


def test_a_program_that_only_the_sandbox_keeps_from_writing_is_refused_where_there_is_none():
    assert unbound(Permissions.READ_ONLY) == ["model m"]
    assert unbound(Permissions.READ_ONLY, box="/usr/bin/bwrap") == []
    assert unbound(Permissions.READ_ONLY, box="/usr/bin/bwrap", boxed=False) == ["model m"]
    assert unbound(role="reviewer") == ["reviewer m"]
    assert unbound(role="reviewer", agent="claude") == []
