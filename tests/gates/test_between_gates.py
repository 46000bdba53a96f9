"""What one gate may leave for the next: the change's own code runs in gates, and must let no later one pass."""

import json

import pytest
from support.cases import first_ones

LINT = "! grep -rq BADSTYLE src"
SETUP = """
[project]
setup = "mkdir -p .venv/bin; cp tool.sh .venv/bin/lint; chmod +x .venv/bin/lint"
setup_inputs = ["deps.lock"]
keep = [".venv"]
"""


def gate(name, command, kind="test"):
    return f"\n[[gates]]\nname = {json.dumps(name)}\ncommand = {json.dumps(command)}\nkind = {json.dumps(kind)}\n"


@pytest.fixture
def styled(project):
    """A project whose worker breaks the style, and whose tests run a file of the worker's."""

    def make(test, *gates, setup=""):
        for name, text in {
            "run_tests.sh": ". ./checks/t.sh\n",
            "checks/t.sh": "true\n",
            "deps.lock": "1\n",
            "tool.sh": f"#!/bin/sh\n{LINT}\n",
            "src/a": "fine\n",
        }.items():
            project.write(name, text)
        project.config(setup + "".join(gates), gate="bash run_tests.sh")
        bad = [{"write": "src/a", "text": "BADSTYLE\n"}, {"write": "checks/t.sh", "text": test}]
        project.play(("*", 0, bad))
        project.issue(1, max_attempts=1)
        project.commit()
        return project

    return make


def refused(project):
    project.run(code=3)
    assert project.git("show", "main:src/a") == "fine"
    (attempt,) = project.attempts("1")
    return {gate["name"]: gate["passed"] for gate in attempt["gates"]}


def test_a_tool_in_a_kept_path_that_one_gate_overwrote_is_made_anew_for_the_next(styled):
    forged = "printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/lint\n"
    project = styled(forged, gate("lint", ".venv/bin/lint", "lint"), setup=SETUP)
    assert refused(project) == {"check": True, "lint": False}


def test_what_a_test_gate_leaves_does_not_reach_the_next_gate(styled):
    project = styled("touch skip-lint\nmkdir -p new/deep; touch new/deep/x\n", gate("lint", f"test -e new || {LINT}"))
    assert refused(project) == {"check": True, "lint": False}


def test_the_tree_s_own_files_are_as_committed_for_each_gate(styled):
    project = styled("echo fine > src/a\n", gate("lint", LINT, "lint"))
    assert refused(project) == {"check": False, "lint": False}


@pytest.mark.parametrize(
    "how", first_ones(["echo fine > src/a", "rm -r src; ln -s /nowhere src", "rm src/a; mkdir src/a"])
)
def test_a_build_gate_that_changes_the_tree_s_own_files_proves_nothing(styled, how):
    changes = f"touch made; ! grep -q BADSTYLE src/a || {{ {how}; }}"
    project = styled("true\n")
    project.config(gate("build", changes, "build") + gate("lint", f"test -f made && {LINT}"))
    project.commit()
    assert refused(project)["build"] is False


def test_the_git_that_a_gate_sees_is_not_one_that_the_gate_before_left(styled):
    planted = "git config alias.lint '!true'\n"
    project = styled(planted, gate("lint", f"git lint || {LINT}", "lint"))
    assert refused(project) == {"check": True, "lint": False}


def test_what_a_build_gate_made_is_there_for_all_gates_after_it_and_built_once(project):
    built = project.folder / "built"
    makes = gate("makes", f"mkdir -p out .kept; cp b.txt out/b; touch .kept/x; echo x >> {built}", "build")
    uses = "test -e b.txt && cmp b.txt out/b && test -e .kept/x && touch left && test ! -e rest && touch rest"
    project.config('\n[project]\nkeep = [".kept"]\n' + makes + gate("one", uses) + gate("two", uses))
    project.write("b.txt", "one\n")
    project.issue(1)
    project.commit()
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert built.read_text().split() == ["x", "x"]  # main, and the change; with main's b.txt that is main, which passed


@pytest.mark.thorough
def test_what_a_test_gate_changes_of_a_build_is_built_again(project):
    makes = gate("makes", "mkdir -p out; cp a.txt out/a", "build")
    spoils = gate("spoils", "test ! -e b.txt || echo other > out/a")
    project.config(makes + spoils + gate("uses", "cmp a.txt out/a"))
    project.issue(1)
    project.commit()
    project.run()
    assert project.statuses() == {"1": "merged"}
