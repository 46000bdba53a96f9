"""The selftest's worker: it fails each scenario as long as it is not told, and masters it once it is."""

import ast
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.cases import cases

from noface.data import table
from noface.diagnosis.evidence import GateEvidence
from noface.diagnosis.gate import classify
from noface.model.taxonomy import FailureKind
from noface.selftest import behaviour
from noface.selftest.behaviour import Observation, decide
from noface.selftest.project import FORMS, Variant, make
from noface.selftest.scenario import By, Scenario, Step, Wrong, catalogue, chosen, data, draft_of, find, product_of
from noface.selftest.score import LEFT_OUT
from noface.selftest.world import ANYONE, World, draw

HOPELESS = {"AUTH", "MISCONFIGURED", "ENVIRONMENT"}
RECOVERABLE = [one for one in chosen() if not one.hopeless]
SAID = "\n".join((
    *(entry.get("instruction", "") for name in ("kinds", "actions") for entry in table(name).values()),
    "E       AssertionError: a shelf fell down",
    "This was wrong with the form: /label must be boolean.",
    "the worker changed only protected files, which were put back: conftest.py",
    "diff size: it changes 2,601 lines",
    "tests were weakened: 2 assertions fewer",
    "tests were weakened: 1 test newly skipped, focused or expected to fail",
    "changed outside the issue's paths (work/*): notes/boundary-violation-3.txt",
))  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    scenarios = chosen()
    folder = tmp_path_factory.mktemp("selftest") / "noface"
    make(Variant.NOFACE, scenarios, draw(scenarios), folder, sys.executable, 2)
    return folder


@pytest.fixture(scope="module")
def world(project):
    return World(project / "world")


def ids(scenario: Scenario) -> str:
    return scenario.id


def needed(scenario: Scenario) -> list[Step]:
    """The steps that the worker does not master by itself."""
    return [
        step for step in scenario.steps if step.by is not By.PATIENCE and not (step.by is By.SAID and not step.says)
    ]


def sight(scenario: Scenario, world: World, without: Step | None = None) -> Observation:
    """What the worker sees when everything but one thing has reached it."""
    prompt, files, strength, thinks = [], {}, "", False
    for step in scenario.steps:
        if step is without:
            continue
        match step.by:
            case By.TOLD | By.PART:
                prompt.append(world.secret(scenario.id, step.label))
            case By.DRAFT:
                prompt.append(world.draft(scenario.id))
            case By.NAMED:
                prompt.append(step.says)
                files[step.says] = world.secret(scenario.id, step.label)
            case By.FILE:
                owner = "agent-confusion-desk" if "desk" in step.says else scenario.id
                files[step.says] = world.secret(owner, step.label)
            case By.STRENGTH:
                strength = world.secret(ANYONE, "strength")
            case By.THINKING:
                thinks = True
            case By.SAID:
                prompt.append(SAID)
            case By.TRIED:
                prompt += [f"the {word} way does not lead to a shelf" for word in step.says.split()[:2]]
    return Observation(scenario.id, "\n".join(prompt), strength, thinks=thinks, files=files)


def judged(project, scenario: Scenario, text: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the scenario's gate, as noface would, on an answer."""
    path = folder / product_of(scenario.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    tool, *words = (scenario.tool or "pytest").split()
    return subprocess.run(
        [project / "tools" / tool, *words, scenario.id, *more],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def run_worker(project, scenario: Scenario, prompt: str, folder: Path, *args: str, **env: str):
    (folder / "prompt.md").write_text(prompt)
    told = {
        "NOFACE_ISSUE_ID": scenario.id,
        "NOFACE_ATTEMPT": "1",
        "NOFACE_MODEL": scenario.own_model or "small",
        "NOFACE_PROMPT_FILE": str(folder / "prompt.md"),
    }
    work = folder / "checkout"
    work.mkdir(exist_ok=True)
    return subprocess.run(
        [project / "tools" / "claude", "-p", "--output-format", *(args or ("stream-json",))],
        cwd=work,
        env={**os.environ, **told, **env},
        capture_output=True,
        text=True,
        check=False,
    )


def lines(done) -> list[dict]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_kind_of_failure_has_five_scenarios():
    counted = {kind: [one for one in every if not one.support] for kind, every in catalogue().items()}
    assert {kind for kind, every in counted.items() if len(every) < 5} == set()
    assert {kind for kind, every in counted.items() if sum(not one.hopeless for one in every) < 5} == HOPELESS
    assert {kind for kind, every in counted.items() if not any(one.hopeless for one in every)} == set()


def test_every_kind_of_the_taxonomy_has_scenarios_or_is_said_to_have_none():
    assert {kind.value for kind in FailureKind} == set(catalogue()) | set(LEFT_OUT)


def test_the_data_names_nothing_that_the_code_does_not_know():
    behaviour = data("behaviour")
    assert set(behaviour["damage"]) <= set(Wrong)
    assert {one.outage.form for one in chosen() if one.outage} == set(behaviour["errors"])
    assert {step.form for one in chosen() for step in one.steps} == set(FORMS)


def test_scenarios_are_found_by_their_ids():
    every = chosen()
    assert len({one.id for one in every}) == len(every)
    assert all(find(one.id) == one for one in every)


@pytest.mark.parametrize("scenario", RECOVERABLE, ids=ids)
def test_the_worker_masters_a_scenario_once_it_is_told_everything(scenario, project, world, tmp_path):
    behaviour = decide(scenario, sight(scenario, world))
    parts = any(step.by is By.PART for step in scenario.steps)
    tried = any(step.by is By.TRIED for step in scenario.steps)
    if parts:  # it cannot do the whole, whatever it is told, but each part
        assert behaviour.missing is not None
        told = sight(scenario, world)
        behaviour = decide(scenario, replace(told, issue=f"{scenario.id}.1"))
    assert tried or behaviour.missing is None
    text = behaviour.answer
    assert world.first_missing(scenario, text) is None
    if not any(step.by is By.PATIENCE for step in scenario.steps):
        done = judged(project, scenario, text, tmp_path)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("scenario", RECOVERABLE, ids=ids)
def test_the_worker_fails_a_scenario_without_any_one_thing_that_it_needs(scenario, project, world, tmp_path):
    for step in needed(scenario):
        behaviour = decide(scenario, sight(scenario, world, without=step))
        assert behaviour.missing is not None
        text = behaviour.answer
        assert world.first_missing(scenario, text) is not None
        done = judged(project, scenario, text, tmp_path)
        assert done.returncode != 0 or step.objection


@pytest.mark.parametrize("scenario", [one for one in chosen() if one.hopeless and needed(one)], ids=ids)
def test_nothing_of_what_noface_says_helps_in_a_hopeless_scenario(scenario, world):
    secret = [step for step in scenario.steps if step.label == "never"]
    behaviour = decide(scenario, Observation(scenario.id, SAID, "strength-bcdfghjk", thinks=True))
    assert not secret or behaviour.missing is not None


def test_a_part_is_done_by_its_own_secret_and_its_gate_asks_for_no_more(project, world, tmp_path):
    scenario = find("timeout-2")
    text = world.filled(scenario.id, "Write the label {one}.")
    behaviour = decide(scenario, Observation("timeout-2.1", text))
    assert behaviour.missing is None
    (tmp_path / "work").mkdir()
    (tmp_path / "work/timeout-2.1.txt").write_text(behaviour.answer)
    gate = [project / "tools" / "pytest", "timeout-2"]
    assert subprocess.run([*gate, "--only", "one"], cwd=tmp_path, check=False).returncode == 0
    assert subprocess.run([*gate, "--only", "two"], cwd=tmp_path, check=False).returncode == 1
    assert subprocess.run(gate, cwd=tmp_path, check=False).returncode == 1
    (tmp_path / "work/timeout-2.2.txt").write_text(world.filled(scenario.id, "{two}\n"))
    assert subprocess.run(gate, cwd=tmp_path, check=False).returncode == 0


def test_what_a_worker_breaks_beside_its_issue_turns_the_projects_own_suite_red(project, tmp_path):
    scenario = find("test-failure-12")
    done = run_worker(project, scenario, "Write the label.", tmp_path)
    suite = [project / "tools" / "suite"]
    assert done.returncode == 0
    assert subprocess.run(suite, cwd=tmp_path / "checkout", check=False).returncode == 1
    assert subprocess.run(suite, cwd=tmp_path, check=False).returncode == 0


def test_a_draft_counts_only_where_an_earlier_attempt_made_it(project, world, tmp_path):
    scenario = find("agent-crash-2")
    crashed = run_worker(project, scenario, "Write the label.", tmp_path)
    draft = (tmp_path / "checkout" / draft_of(scenario.id)).read_text()
    assert (crashed.returncode, "FATAL: out of memory" in crashed.stderr) == (1, True)
    assert not (tmp_path / "checkout" / product_of(scenario.id)).exists()
    behaviour = decide(scenario, Observation(scenario.id, f"```diff\n+{draft}\n```"))
    assert world.first_missing(scenario, behaviour.answer) is None
    made_up = replace(behaviour, known=("agent-crash-2-draft-bbbbbbbb",))
    assert world.first_missing(scenario, made_up.answer) is not None


def test_the_mind_can_look_nowhere_but_into_what_it_is_given():
    tree = ast.parse(Path(behaviour.__file__).read_text())
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    found |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert found == {"re", "collections.abc", "dataclasses", "noface.selftest.scenario"}
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called.isdisjoint({"open", "eval", "exec", "__import__", "globals", "vars"})


def test_the_selftests_package_knows_nothing_of_noface():
    """But for run.py, which runs it all from outside: no worker and no scenario imports that."""
    paths = [path for path in Path(behaviour.__file__).parent.rglob("*.py") if path.name != "run.py"]
    trees = [ast.parse(path.read_text()) for path in paths]
    found = {n.module for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
    assert "noface.selftest.run" not in found
    assert {name for name in found if name.startswith("noface.") and not name.startswith("noface.selftest")} == {
        "noface.demo.sample"  # makes repositories
    }


def test_no_secret_lies_where_a_worker_could_find_it_by_itself(project, world):
    secrets = json.loads((project / "world/secrets.json").read_text())
    words = {word for own in secrets.values() for word in own.values() if "-" in word}
    texts = [path.read_text() for path in (project / "repository").rglob("*.md") if path.parent.name != "docs"]
    texts += [path.read_text() for path in (project / "repository").glob("shared/*")]
    package = Path(behaviour.__file__).parent
    texts += [path.read_text() for path in package.iterdir() if path.is_file()]
    assert len(words) > 150
    assert [word for word in words for text in texts if word in text] == []


def test_secrets_are_drawn_anew():
    scenarios = chosen(("NO_DIFF",))
    assert draw(scenarios)["no-diff-3"] != draw(scenarios)["no-diff-3"]


GUESSING = [
    o for o in chosen() if o.steps[0].wrong is Wrong.GUESS and not o.colleague and not o.outage and not o.reviewed
]


@pytest.mark.parametrize("scenario", GUESSING, ids=ids)
def test_the_gate_of_a_scenario_is_read_as_the_kind_it_stands_for(scenario, project, tmp_path):
    done = judged(project, scenario, "guess\n", tmp_path)
    verdict = classify(GateEvidence(f"{scenario.tool} {scenario.id}", done.returncode, done.stdout, done.stderr))
    expected = {"NO_PROGRESS": "TEST_FAILURE", "AGENT_CONFUSION": "TEST_FAILURE"}.get(scenario.kind, scenario.kind)
    assert verdict.kind == expected


@cases("name", sorted(FORMS))
def test_a_green_gate_tells_of_tests_where_its_red_one_did(name):
    form = FORMS[name]
    red = classify(GateEvidence("pytest x", form["code"], form["red"], ""))
    green = classify(GateEvidence("pytest x", 0, form["green"], ""))
    assert green.kind is None
    assert not red.tests_run or green.tests_run


AWAY = [one for one in RECOVERABLE if one.outage and one.outage.form != "retries_for_ever"]


@pytest.mark.parametrize("scenario", AWAY, ids=ids)
def test_a_provider_that_is_away_ends_the_run_before_anything_is_written(scenario, project, tmp_path):
    done = run_worker(project, scenario, "Write the label.", tmp_path)
    last = lines(done)[-1]
    assert done.returncode == 1
    assert (last["type"], last["is_error"]) == ("result", True)
    assert list((tmp_path / "checkout").iterdir()) == []


def test_a_rate_limit_lasts_anew_for_whoever_comes_too_early(tmp_path, world):
    first = world.quiet_until("test-early", 30.0, 1)
    again = world.quiet_until("test-early", 60.0, 1)
    assert first is not None
    assert again is not None
    assert again > first
    assert world.quiet_until("test-over", 0.0, 0) is None


def test_a_stand_in_has_another_provider(project, tmp_path):
    scenario = find("overloaded-2")
    done = run_worker(project, scenario, "Write the label.", tmp_path, NOFACE_MODEL="south")
    assert done.returncode == 0
    assert (tmp_path / "checkout" / product_of(scenario.id)).read_text() == "written\nfinished\n"


def test_a_plain_loop_sees_plain_words_and_an_exit_code(project, tmp_path):
    scenario = find("resource-exhausted-1")
    done = run_worker(project, scenario, "Write the label.", tmp_path, "text")
    assert done.returncode == 1
    assert "Reached max turns" in done.stderr
    assert "{" not in done.stdout


def test_a_planner_that_was_not_quoted_the_question_has_no_answer(project, world, tmp_path):
    scenario = find("agent-confusion-3")
    asked = world.filled(scenario.id, "Which label does slip {slip} need?")
    secret = world.secret(scenario.id, "code")
    quoted = run_worker(project, scenario, asked, tmp_path, NOFACE_ROLE="clarification")
    not_quoted = run_worker(project, scenario, "It asks something.", tmp_path, NOFACE_ROLE="clarification")
    assert secret in quoted.stdout
    assert secret not in not_quoted.stdout


def test_a_reviewer_is_content_only_with_a_complete_answer(project, world, tmp_path):
    scenario = find("review-rejected-1")
    product = tmp_path / "checkout" / product_of(scenario.id)
    product.parent.mkdir(parents=True)
    product.write_text("written\nguess\n")
    first = run_worker(project, scenario, "Review it.", tmp_path, NOFACE_ROLE="review")
    product.write_text(world.filled(scenario.id, "written\n{code}\nfinished\n"))
    second = run_worker(project, scenario, "Review it.", tmp_path, NOFACE_ROLE="review")
    assert "request_changes" in first.stdout
    assert "approve" in second.stdout


def test_the_program_says_so_where_nobody_gave_it_an_order(project, tmp_path):
    done = subprocess.run(
        [project / "tools" / "claude"], cwd=tmp_path, env={}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "noface selftest" in done.stderr
