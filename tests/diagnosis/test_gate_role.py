"""What a gate is for decides what the words of an unknown tool mean."""

import pytest
from support.cases import cases
from support.corpus_score import class_of

from noface.diagnosis.context import context_of
from noface.diagnosis.evidence import GateEvidence, GateVerdict
from noface.diagnosis.gate import classify
from noface.diagnosis.role import GateRole, role_of
from noface.diagnosis.text import read_log
from noface.model.gate import GateKind
from noface.model.quoting import to_the_point

FILES = ("shop/cart.py", "src/cart.sh", "tests/run.sh", "tests/expected.txt")


def verdict(command: str, out: str, *, kind: GateKind | None = None, code: int = 1) -> GateVerdict:
    return classify(GateEvidence(command, code, out, "", 1.0, 90.0, kind=kind, repo_files=FILES))


@cases(
    ("command", "role"),
    [
        ("npm run lint:css", GateRole.LINT),
        ("klinglint src", GateRole.LINT),
        ("make fmt-check", GateRole.LINT),
        ("npx knip", GateRole.LINT),
        ("bash tests/run.sh", GateRole.TEST),
        ("make -s check", GateRole.TEST),
        ("perl t/cart.t", GateRole.TEST),
        ("npx jest && npx eslint .", GateRole.TEST),
        ("tests/run.sh | diff -u tests/expected.txt -", GateRole.DIFFERENCE),
        ("nginx -t -c tests/nginx.conf", GateRole.CHECK),
        ("promtool test rules conf/rules.yml", GateRole.TEST),
        ("./build.sh", GateRole.UNKNOWN),
        ("test ! -e bad || { echo strange; exit 3; }", GateRole.UNKNOWN),
        ("if ! test -e good; then exit 3; fi", GateRole.UNKNOWN),
        ("cd shop && npm test", GateRole.TEST),
    ],
)
def test_the_command_tells_what_a_gate_is_for(command: str, role: GateRole):
    assert role_of(context_of(GateEvidence(command, 1, "", ""), read_log("", ""))) is role


def test_what_the_configuration_says_a_gate_is_for_comes_first():
    out = "✖ two totals\n"
    assert class_of(verdict("bash tests/run.sh", out)) == "TEST_FAILURE"
    assert class_of(verdict("bash tests/run.sh", out, kind=GateKind.LINT)) == "LINT_FAILURE"


def test_what_a_gate_is_that_says_no_kind_tells_nothing_of_a_command_that_nobody_knows():
    assert class_of(verdict("./build.sh", "strange\n", kind=GateKind.TEST)) == "UNKNOWN"
    assert class_of(verdict("bash tests/run.sh", "strange\n", kind=GateKind.TEST)) == "TEST_FAILURE"
    assert class_of(verdict("klinglint src", "✖ two totals\n", kind=GateKind.TEST)) == "LINT_FAILURE"


@cases(
    ("line", "kind"),
    [
        ("shop/cart.py: not tidy enough", "LINT_FAILURE"),
        ("ERROR: cart is not nice", "LINT_FAILURE"),
        ("No ruleset has been found.", "ENVIRONMENT"),
        ("Failed to load plugin 'nice': it is not installed", "ENVIRONMENT"),
        ("ERROR: Ruleset /repo/.nicerc is not valid", "SYNTAX_ERROR"),
        ("Error parsing the config file .nicerc", "SYNTAX_ERROR"),
        ("Error: folder 'source' does not exist", "ENVIRONMENT"),
    ],
)
def test_a_linter_that_nobody_knows_finds_faults_or_cannot_run(line: str, kind: str):
    assert class_of(verdict("nicelint source", line + "\n")) == kind


@pytest.mark.parametrize(
    "out",
    [
        "--- tests/expected.txt\n+++ -\n@@ -1,2 +1 @@\n-error: no such file or directory\n-Traceback (most recent\n+ok\n",
        "1,2c1\n< fatal: cannot parse the configuration\n---\n> ok\n",
    ],
    ids=["unified", "plain"],
)
def test_the_words_of_a_difference_are_data(out: str):
    found = verdict("src/cart.sh | diff tests/expected.txt -", out)
    assert (class_of(found), found.rule) == ("TEST_FAILURE", "difference.shown")


TRACE = 'Traceback (most recent call last):\n  File "{file}", line 3, in load\n    parse(text)\n{error}\n'


@cases(
    ("file", "error", "kind"),
    [
        ("/usr/lib/python3/dist-packages/nice.py", "nice.ConfigError: unknown rule 'x'", "SYNTAX_ERROR"),
        ("/usr/lib/python3/dist-packages/nice.py", "FileNotFoundError: [Errno 2] No such file: 'a'", "ENVIRONMENT"),
        ("/usr/lib/python3/dist-packages/nice.py", "KeyError: 'x'", "RUNTIME_ERROR"),
        ("/repo/shop/cart.py", "shop.ConfigError: unknown rule 'x'", "RUNTIME_ERROR"),
    ],
)
def test_an_error_in_a_linter_s_own_code_is_read_by_what_it_says(file: str, error: str, kind: str):
    assert class_of(verdict("nicelint shop", TRACE.format(file=file, error=error))) == kind


def test_no_failures_are_no_sign_that_nothing_ran():
    assert class_of(verdict("bash tests/run.sh", "done: failures 0, errors 0\n", code=0)) == "PASS"


@cases(
    ("printed", "message"),
    [
        ("checking\nthe moon is not full\n\n", "exit code 3; the last that it printed: the moon is not full"),
        ("\n\n", "exit code 3; it printed nothing"),
        ("", "exit code 3; it printed nothing"),
        ("x" * 500 + "\n", f"exit code 3; the last that it printed: {'x' * 100} … {'x' * 196}"),
    ],
)
def test_where_no_line_says_why_the_last_that_was_printed_is_told(printed, message):
    told = verdict("./build.sh", printed, code=3)
    assert told.message == message
    assert told.evidence == tuple(to_the_point(line, 300) for line in printed.split("\n") if line)


def test_where_only_the_purpose_of_a_gate_has_picked_a_line_those_before_it_are_told_too():
    told = verdict("bash tests/run.sh", "loading rules\nthe moon is not full\n")
    assert told.rule == "role.test"
    assert told.evidence == ("loading rules", "the moon is not full")


def test_a_line_that_only_draws_is_not_what_a_gate_says():
    assert verdict("nicelint shop", "the moon is not full\n-------\n\n").key_line == "the moon is not full"


def test_the_warnings_of_one_linter_are_not_why_the_next_one_failed():
    warned = "/repo/src/x.js\n  1:3  warning  Unexpected continue  no-continue\n\n✖ 1 problem (0 errors, 1 warning)\n"
    told = verdict("npm run lint", f"{warned}\nshop/cart.py\n  13:80  ❌ invalid line length: 99\n")
    assert (told.key_line.strip(), told.location) == ("13:80  ❌ invalid line length: 99", "shop/cart.py:13")
    assert verdict("npm run lint", warned).rule == "eslint.warning"


def test_the_title_of_a_test_that_passed_is_not_why_a_later_step_failed():
    ran = "TAP version 13\nok 1 handles unterminated inner groups without throwing\n\n1..1\n# tests 1\n# pass  1\n"
    told = verdict("npm test", f"{ran}\nnpm error audit endpoint returned an error\n")
    assert (class_of(told), told.rule) == ("ENVIRONMENT", "npm.audit-endpoint")
