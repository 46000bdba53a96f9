"""`noface init --ask`: models that answer well, badly, and with harm in mind; main proves what they propose."""

import json
import os
import shutil
import signal

import pytest
from support.processes import wait_for

from noface.config.load import load

CALC = {
    "calc.py": "def add(a, b):\n    return a + b\n",
    "tests/__init__.py": "",
    "tests/check_calc.py": "import unittest\nfrom calc import add\nclass T(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
    ".github/workflows/ci.yml": "on: push\njobs:\n  t:\n    steps:\n    - run: tox -e py\n    - run: docker compose up\n",
}
UNIT = {
    "name": "unit",
    "command": "python3 -m unittest -q tests.check_calc",
    "kind": "test",
    "why": "tox runs it",
    "covers": ["tox -e py"],
}
LEFT = [{"what": "docker compose up", "why": "it needs services"}]


def gate(name, command, kind="lint"):
    return {"name": name, "command": command, "kind": kind, "why": "it is asked for"}


def says(*gates, setup=None, **more):
    return f"Here it is.\n```json\n{json.dumps({'gates': gates, 'setup': setup, **more}, indent=1)}\n```"


@pytest.fixture
def asked(project):
    """A project, and what has a model of it answer `first`, and after a reminder `second`."""
    for name, text in CALC.items():
        project.write(name, text)
    project.commit("a calculator")

    def configure(first, second="", sandbox="none"):
        script = f"if grep -q 'could not be read' \"$NOFACE_PROMPT_FILE\"; then\ncat <<'X'\n{second}\nX\nelse\ncat <<'X'\n{first}\nX\nfi"
        text = (
            f"[models.helper]\nagent = \"command\"\ncommand = '''\n{script}\n'''\n"
            f'[sandbox]\nkind = "{sandbox}"\n[run]\nslots_dir = "{project.folder / "slots"}"\n'
        )
        project.write("noface.toml", text)
        return text

    def ask(first, *options, second="", sandbox="none", **env):
        configure(first, second, sandbox)
        return project.noface("init", "--force", "--ask", "helper", *options, **env)

    project.configure, project.ask = configure, ask
    return project


def commands(project):
    return [each.command for each in load(project.path).gates]


def test_a_good_proposal_is_proven_on_main_and_shown_beside_what_ci_does(asked):
    lint = gate("compile", "python3 -m compileall -q calc.py")
    setup = {"command": "mkdir -p .deps && touch .deps/x", "keep": [".deps"], "inputs": ["calc.py"], "why": "deps"}
    done = asked.ask("I would say pytest.", second=says(UNIT, lint, setup=setup, left_out=LEFT))
    assert done.returncode == 0, done.stderr
    assert commands(asked) == [UNIT["command"], lint["command"]]
    project = load(asked.path).project
    assert (project.setup, project.keep, project.setup_inputs) == (setup["command"], (".deps",), ("calc.py",))
    assert "      test: tox runs it\n      CI: tox -e py\n" in done.stdout
    assert "CI does more, which no gate can:\n  docker compose up: it needs services\n" in done.stdout
    assert "CI runs this" not in done.stdout, "all of it is covered or left out"
    assert (done.stderr.count("Asking helper"), max(map(len, done.stdout.splitlines())) <= 80) == (2, True)
    assert "# CI: tox -e py\n[[gates]]\n" in (asked.path / "noface.toml").read_text()


def test_what_a_hostile_proposal_would_have_done_is_not_done(asked):
    outside = asked.folder / "outside.txt"
    outside.write_text("mine")
    gates = (
        UNIT,
        gate("nothing", "true"),
        gate("deletes", "rm -rf tests"),
        gate("sneaks", "python3 -c \"open('calc.py', 'w')\""),
        gate("away", f"touch {outside}"),
        gate("hidden", f"python3 -c \"import os; os.remove('{outside}'[:])\""),
        gate("blind", "python3 -c 'print(1)'", "test"),
        gate("red", "python3 -m nosuch"),
    )
    setup = {"command": "rm -rf ../../repo", "why": "clean"}
    done = asked.ask(says(*gates, setup=setup), "--json", sandbox="auto")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    refused = {each["name"]: each["refused"] for each in document["gates"]}
    assert (refused.pop("unit"), commands(asked)) == ("", [UNIT["command"]])
    words = {"nothing": "passes whatever", "deletes": "deletes", "away": "outside", "hidden": ""}
    words |= {"sneaks": "changed files", "blind": "stays green", "red": "red on main"}
    assert {name for name, why in refused.items() if words[name] in why and why} == words.keys()
    assert (outside.read_text(), asked.git("status", "--porcelain", "calc.py", "tests")) == ("mine", "")
    assert (document["setups"], "was refused" in document["notes"][0], document["asked"]["model"]) == (
        [],
        True,
        "helper",
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("All is well.", "no JSON object found"),
        (says({**UNIT, "kind": "deploy"}), 'expected one of "build", "lint", "test", got "deploy"'),
        (says(UNIT, setup={"command": "x", "why": "y", "keep": ["../x"]}), "stay inside the repository"),
    ],
)
def test_an_answer_that_stays_of_no_use_ends_it_and_nothing_is_written(asked, answer, said):
    done = asked.ask(answer, second=answer)
    assert (done.returncode, said in done.stderr, "noface init without --ask" in done.stderr) == (2, True, True)
    assert "[models.helper]" in (asked.path / "noface.toml").read_text()
    assert not (asked.path / "noface.toml.bak").exists()


def test_no_gate_that_main_proves_is_told_by_the_exit_code(asked):
    done = asked.ask(says(gate("red", "python3 -m nosuch")))
    assert (done.returncode, commands(asked)) == (3, [])
    assert "No gates found" in done.stdout


def test_where_the_proposed_setup_fails_the_tables_takes_its_place(asked):
    asked.git("rm", "-qr", "tests")
    runs = gate("runs", "python3 -c 'import calc'")
    done = asked.ask(says(runs, setup={"command": "./nosuch", "why": "x"}))
    assert (done.returncode, commands(asked)) == (3, [])
    assert "setup fails on main" in " ".join(done.stdout.split())
    asked.write("go.sum", "")
    programs = asked.folder / "programs"
    programs.mkdir()
    (programs / "go").write_text("#!/bin/sh\n")
    (programs / "go").chmod(0o755)
    asked.commit("it is go as well")
    path = f"{programs}:{os.environ['PATH']}"
    done = asked.ask(says(runs, setup={"command": "./nosuch", "why": "x"}), PATH=path)
    assert (done.returncode, load(asked.path).project.setup) == (0, "go mod download")
    assert "the table's setup stands in its place" in " ".join(done.stdout.split())


def test_what_nothing_confines_is_not_run(asked):
    programs = asked.folder / "programs"
    programs.mkdir()
    for program in ("git", "env", "bash", "cat", "grep"):
        (programs / program).symlink_to(shutil.which(program))
    done = asked.ask(
        says(gate("unit", "cat calc.py && printf x > ran.txt && cat ran.txt")), sandbox="auto", PATH=str(programs)
    )
    assert (done.returncode, commands(asked)) == (3, [])
    assert "nothing confines what it starts here" in " ".join(done.stdout.split())


def test_ctrl_c_ends_what_runs_on_main_and_nothing_is_written(asked):
    slow = gate("slow", 'touch "$NOFACE_STATE/began" && sleep 60 && test -e calc.py')
    text = asked.configure(says(slow))
    started = asked.start("init", "--force", "--ask", "helper")
    wait_for((asked.state / "began").exists)
    started.send_signal(signal.SIGINT)
    assert started.wait(30) == 130
    assert ((asked.path / "noface.toml").read_text(), asked.processes()) == (text, [])


def test_a_model_that_is_not_there_or_does_not_answer_is_named(asked):
    done = asked.ask("", "--json")
    assert done.returncode == 2
    asked.write("noface.toml", '[models.helper]\nagent = "command"\ncommand = "exit 3"\n[sandbox]\nkind = "none"\n')
    done = asked.noface("init", "--force", "--ask", "helper")
    assert (done.returncode, "helper gave no answer" in done.stderr, "doctor --probe" in done.stderr) == (2, True, True)
    done = asked.noface("init", "--force", "--ask", "helpr")
    assert (done.returncode, "helper" in done.stderr) == (2, True)


def test_with_an_agent_on_path_init_tells_how_to_ask_it(asked):
    programs = asked.folder / "programs"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\n")
    (programs / "claude").chmod(0o755)
    (asked.path / "noface.toml").unlink()
    done = asked.noface("init", PATH=f"{programs}:{os.environ['PATH']}")
    assert "claude read your CI and propose gates: noface init --force --ask claude-sonnet" in " ".join(
        done.stdout.split()
    )
    assert "  .github/workflows/ci.yml, t:\n    tox -e py\n    docker compose up\n" in done.stdout
