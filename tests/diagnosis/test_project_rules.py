"""`[[gate_rules]]`: the project names what its own gates print. They explain a red gate and never make one green."""

import json

import pytest

from noface.diagnosis.evidence import GateEvidence
from noface.diagnosis.gate import classify
from noface.diagnosis.rules import LineRule
from noface.diagnosis.scan import ProjectRules, rule_id
from noface.gates.run import names_suffice, search
from noface.model.taxonomy import FailureKind, gate_kinds

RED_TESTS = """\
=================================== FAILURES ===================================
___________________________________ test_add ___________________________________
E       assert 3 == 2
tests/test_calc.py:5: AssertionError
----------------------------- Captured stdout call -----------------------------
depot: closed
=========================== short test summary info ============================
FAILED tests/test_calc.py::test_add - assert 3 == 2
1 failed in 0.02s
"""
CONFIG = """
[[gate_rules]]
name = "depot"
kind = "ENVIRONMENT"
pattern = '^depot: closed'
example = "depot: closed"
"""


def judged(stdout, *rules, code=1, **evidence):
    return classify(GateEvidence("./check", code, stdout, "", **evidence), ProjectRules(rules, search))


def rule(pattern="^depot: closed", kind=FailureKind.ENVIRONMENT, **more):
    return LineRule("depot", kind, (), pattern, "depot: closed", **more)


def test_a_rule_names_what_nothing_else_does():
    bare = judged("all well\ndepot: closed\n")
    verdict = judged("all well\ndepot: closed\n", rule())
    assert bare.kind is FailureKind.UNKNOWN
    assert (verdict.kind, verdict.rule, verdict.key_line) == (FailureKind.ENVIRONMENT, "project:depot", "depot: closed")
    assert verdict.signature != bare.signature


@pytest.mark.parametrize("kind", FailureKind)
def test_a_rule_may_name_any_kind(kind):
    assert judged("depot: closed\n", rule(kind=kind)).kind is kind


def test_of_equal_findings_the_kind_with_the_lower_number_wins_and_one_without_comes_last():
    kinds = (FailureKind.UNKNOWN, FailureKind.NETWORK, *gate_kinds())
    lines = "".join(f"{kind} happened\n" for kind in kinds)
    rules = [LineRule(f"rule-{kind}".lower(), kind, (), f"^{kind} happened", f"{kind} happened") for kind in kinds]
    assert judged(lines, *rules).kind is FailureKind.TIMEOUT
    assert judged(lines, *rules[:2]).kind is FailureKind.NETWORK
    others = [each for each in rules if each.kind is not FailureKind.TIMEOUT]
    assert judged(lines, *others).kind is FailureKind.ENVIRONMENT


def test_no_two_kinds_have_the_same_number():
    numbers = [kind.precedence for kind in gate_kinds()]
    assert len(set(numbers)) == len(numbers), "two kinds have the same `gate` in data/kinds.toml"


def test_a_rule_wins_over_one_of_noface_that_is_as_strong_and_says_so():
    output = "src/a.c:3:5: error: expected ';'\ndepot: closed\n"
    assert judged(output).kind is FailureKind.SYNTAX_ERROR
    verdict = judged(output, rule())
    assert verdict.rule == "project:depot"
    assert [(rule, why) for rule, _, why in verdict.also_matched] == [
        ("diagnostic.error", "project:depot is the project's own rule"),
        ("words.runtime", "project:depot is stronger evidence (diagnostic over words)"),
    ]


def test_what_a_runner_says_of_its_tests_is_stronger_unless_the_rule_counts_there_too():
    verdict = judged(RED_TESTS, rule())
    assert verdict.kind is FailureKind.TEST_FAILURE
    assert "project:depot" in [rule for rule, _, _ in verdict.also_matched]
    aided = judged(RED_TESTS, rule(even_in_tests=True))
    assert (aided.kind, aided.rule) == (FailureKind.ENVIRONMENT, "project:depot")
    assert aided.failing_tests == verdict.failing_tests


@pytest.mark.parametrize("kind", [FailureKind.NO_TESTS, FailureKind.ENVIRONMENT])
def test_a_gate_that_passed_or_ran_out_of_time_is_not_asked(kind):
    loud = rule(kind=kind, even_in_tests=True)
    assert judged("depot: closed\n", loud, code=0) == judged("depot: closed\n", code=0)
    assert judged("depot: closed\n", loud, code=None, timed_out=True).kind is FailureKind.TIMEOUT


def test_a_failure_that_a_rule_names_is_never_one_that_main_has_already():
    names = ("tests/test_calc.py::test_add",)
    assert names_suffice(FailureKind.TEST_FAILURE, "pytest.failed", 1, names)
    assert not names_suffice(FailureKind.TEST_FAILURE, rule_id(rule()), 1, names)


def test_the_place_is_that_of_the_groups_or_the_nearest_one():
    there = {"repo_files": ("src/a.py", "src/b.py")}
    grouped = rule(r"^depot: (?P<file>\S+)#(?P<line>\d+)")
    assert judged("depot: src/a.py#7\n", grouped, **there).location == "src/a.py:7"
    assert judged("depot: closed\n  at src/b.py:9\n", rule(), **there).location == "src/b.py:9"


def test_a_pattern_that_takes_too_long_is_passed_over_and_said():
    verdict = judged("depot: closed\n" + "a" * 100 + "!\n", rule("(a|aa)+$"))
    assert verdict.kind is FailureKind.UNKNOWN
    assert [(rule, why) for rule, _, why in verdict.also_matched] == [
        ("project:depot", "its pattern took too long on this output; simplify it in [[gate_rules]]")
    ]


def test_a_run_and_its_pages_name_the_rule(project):
    project.play(
        ("7", 1, [{"write": "bad", "text": "x"}]), ("7", 2, [{"delete": "bad"}, {"write": "c.txt", "text": "c"}])
    )
    rules = CONFIG.replace('"ENVIRONMENT"', '"LINT_FAILURE"')
    project.config(rules, gate="test ! -e bad || { echo; echo 'depot: closed'; exit 1; }")
    project.issue(7)
    project.commit()
    project.run()
    first, second = project.attempts("7")
    assert (first["outcome"], second["outcome"]) == ("LINT_FAILURE", "PASSED")
    failure = project.shown("show", "7", "1")["failure"]
    assert (failure["rule"], failure["evidence"]) == ("project:depot", ["depot: closed"])
    assert "by the rule project:depot" in project.noface("show", "7", "1").stdout
    assert "by the rule project:depot" in project.noface("show", "7").stdout
    log = project.write("recorded.log", "depot: closed\n")
    done = project.noface("tools", "classify", "gate", "--exit-code", "1", "--stdout", str(log))
    assert json.loads(done.stdout)["rule"] == "project:depot"
    project.config(CONFIG.replace("'^depot: closed'", "'^shop: closed'"))
    broken = json.loads(project.noface("tools", "classify", "gate", "--exit-code", "1", "--stdout", str(log)).stdout)
    assert broken["rule"] != "project:depot"
    assert "the [[gate_rules]] of noface.toml are not used" in broken["notes"][0]
    checked = project.noface("config", "check")
    assert checked.returncode == 2
    assert "gate_rules[0].pattern" in checked.stderr or "gate_rules.0.pattern" in checked.stderr
    assert "the rule's own example" in checked.stderr


def test_an_accept_command_that_fails_by_a_rule_for_the_machine_is_asked_about_before_a_worker_is_paid(project):
    project.config(CONFIG)
    project.issue(1, accept=["echo 'depot: closed'; exit 1"])
    project.commit()
    project.run(code=3)
    shown = project.shown("show", "1")
    assert (shown["status"], shown["attempts"]) == ("blocked", [])
    assert "depot: closed" in shown["reason"]
