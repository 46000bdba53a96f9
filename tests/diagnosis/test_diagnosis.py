"""Causes that are known by the line a program writes (S1, S4), and text that only mentions them."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from support.cases import cases

from noface.diagnosis.known_causes import access_refused_of, final_error, final_error_of, known_cause, known_causes
from noface.model.failure import OUT_OF_REACH, Failure
from noface.model.taxonomy import DiagnosisStrategy, FailureKind


def cause(excerpt, kind=FailureKind.UNKNOWN, message="it failed", **more):
    return known_cause(Failure(kind, message, rule="r", excerpt=excerpt, **more))


KNOWN = [
    ("no-such-file", "notes.txt", "cat: notes.txt: No such file or directory"),
    ("no-such-file", "x/y", "ls: cannot access 'x/y': No such file or directory"),
    ("no-such-file", "in.csv", "FileNotFoundError: [Errno 2] No such file or directory: 'in.csv'"),
    ("no-such-file", "in.csv", "E   FileNotFoundError: [Errno 2] No such file or directory: 'in.csv'"),
    ("no-such-file", "/app/c.json", "Error: ENOENT: no such file or directory, open '/app/c.json'"),
    (
        "no-such-file",
        "/app/package.json",
        "npm ERR! enoent ENOENT: no such file or directory, open '/app/package.json'",
    ),
    ("no-such-file", "config.yml", "panic: open config.yml: no such file or directory"),
    ("no-such-file", "foo.h", "main.c:1:10: fatal error: foo.h: No such file or directory"),
    ("permission-denied", "./run.sh", "bash: line 3: ./run.sh: Permission denied"),
    ("permission-denied", "/etc/hosts", "PermissionError: [Errno 13] Permission denied: '/etc/hosts'"),
    ("permission-denied", "/usr/lib/x", "Error: EACCES: permission denied, mkdir '/usr/lib/x'"),
    ("permission-denied", "/x", "mkdir: cannot create directory '/x': Permission denied"),
    ("disk-full", "", "OSError: [Errno 28] No space left on device: 'a'"),
    ("disk-full", "", "cp: error writing 'big': No space left on device"),
    ("disk-full", "", "npm ERR! code ENOSPC"),
    ("disk-full", "", "sqlite3.OperationalError: database or disk is full"),
    ("timed-out", "10.0.0.1:443", "Error: connect ETIMEDOUT 10.0.0.1:443"),
    ("timed-out", "", "curl: (28) Operation timed out after 5000 milliseconds with 0 bytes received"),
    (
        "timed-out",
        "pypi.org:443",
        "urllib3.exceptions.ConnectTimeoutError: (<x host='pypi.org', port=443>, 'Connection timed out')",
    ),
    ("refused", "127.0.0.1:5432", "Error: connect ECONNREFUSED 127.0.0.1:5432"),
    ("refused", "", "ConnectionRefusedError: [Errno 111] Connection refused"),
    ("refused", "localhost:8080", "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Connection refused"),
    (
        "refused",
        "localhost:6379",
        "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.",
    ),
    ("refused", "127.0.0.1:80", "dial tcp 127.0.0.1:80: connect: connection refused"),
    ("not-found", "", "urllib.error.HTTPError: HTTP Error 404: Not Found"),
    (
        "not-found",
        "https://example.com/x.json",
        "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://example.com/x.json",
    ),
    (
        "not-found",
        "https://registry.npmjs.org/nope",
        "npm ERR! 404 Not Found - GET https://registry.npmjs.org/nope - Not found",
    ),
    ("not-found", "https://github.com/a/b.git/", "fatal: repository 'https://github.com/a/b.git/' not found"),
    (
        "not-permitted",
        "https://api.example.com/v1",
        "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://api.example.com/v1",
    ),
    ("not-permitted", "", "npm error code E403"),
    ("not-permitted", "git@github.com", "git@github.com: Permission denied (publickey)."),
    ("not-permitted", "https://github.com/a/b.git/", "fatal: Authentication failed for 'https://github.com/a/b.git/'"),
    (
        "rate-limited",
        "https://api.example.com",
        "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://api.example.com",
    ),
    ("rate-limited", "", "curl: (22) The requested URL returned error: 429"),
    ("command-not-found", "jest", "bash: line 1: jest: command not found"),
    ("command-not-found", "jest", "sh: 1: jest: not found"),
    ("command-not-found", "foo", "zsh: command not found: foo"),
    ("command-not-found", "node14", "/usr/bin/env: ‘node14’: No such file or directory"),
    ("command-not-found", "protoc", "make[1]: protoc: No such file or directory"),
    ("command-not-found", "gcc", 'exec: "gcc": executable file not found in $PATH'),
    ("command-not-found", "python3", "Error: spawn python3 ENOENT"),
    ("npm-peer-conflict", "", "npm ERR! code ERESOLVE"),
    ("npm-peer-conflict", "", "npm error ERESOLVE unable to resolve dependency tree"),
    ("git-conflict", "src/a.py", "CONFLICT (content): Merge conflict in src/a.py"),
    ("git-conflict", "", "error: could not apply 1a2b3c4... Add a field"),
    ("git-conflict", "", "Automatic merge failed; fix conflicts and then commit the result."),
    ("port-in-use", ":::3000", "Error: listen EADDRINUSE: address already in use :::3000"),
    ("port-in-use", "", "OSError: [Errno 98] Address already in use"),
    ("held-by-another", "", "sqlite3.OperationalError: database is locked"),
    ("held-by-another", "/r/.git/index.lock", "fatal: Unable to create '/r/.git/index.lock': File exists."),
    ("held-by-another", "/var/lib/dpkg/lock", "E: Could not get lock /var/lib/dpkg/lock"),
    ("held-by-another", "", "error: fork: Resource temporarily unavailable"),
    ("port-in-use", ":8080", "listen tcp :8080: bind: address already in use"),
]


@cases(("name", "subject", "line"), KNOWN)
def test_an_error_line_names_its_cause_and_what_it_is_about(name, subject, line):
    for excerpt in (line, f"some output\n\n{line}\nmore output", f"\x1b[31m{line}\x1b[0m"):
        found = cause(excerpt)
        assert (found.name, found.subject) == (name, subject)
        assert subject in found.cause + found.advice
        assert "{" not in found.cause + found.advice
    assert cause("", evidence=("exit code 1", line)).name == name
    assert cause("", message=f"gate test: {line}").name == name


@cases(
    "line",
    [
        "+    return 429",
        '-raise HTTPError("HTTP Error 429: Too Many Requests")',
        "+requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://api.example.com",
        " npm ERR! code ERESOLVE",
        '     raise HTTPError("429 Client Error: x")',
        "> cat: notes.txt: No such file or directory",
        "| sh: 1: jest: not found",
        "# OSError: [Errno 28] No space left on device",
        "- CONFLICT (content): Merge conflict in src/a.py",
        "`bash: line 1: jest: command not found`",
        "The API answers 429 Too Many Requests when it is overloaded.",
        "I got a 404 not found from the server.",
        "Note: 429 Too Many Requests",
        "AssertionError: expected 404, got 429",
        "AssertionError: 'Connection refused' != 'ok'",
        "KeyError: 'connection refused'",
        "assert 429 == 200",
        "E       AssertionError: assert 'No space left on device' in ''",
        "Timeout - Async callback was not invoked within the 5000 ms timeout",
        "There is no such file or directory.",
        "git conflict markers were found",
        "Permission denied",
        "ECONNREFUSED is what we expect",
        "test_404_not_found PASSED",
        "Error: ENOSPC: System limit for number of file watchers reached",
        "expect(res.status).toBe(401)",
        "HTTP status 4290",
        "NOT APPROVED",
        "",
    ],
)
def test_text_that_only_mentions_an_error_is_no_cause(line):
    assert cause(line) is None
    assert cause(f"first\n{line}\nlast") is None


def test_what_a_model_says_is_never_read_and_what_a_gate_printed_is():
    line = "bash: line 1: jest: command not found"
    for kind in (FailureKind.NO_DIFF, FailureKind.AGENT_CONFUSION, FailureKind.TIMEOUT, FailureKind.REVIEW_REJECTED):
        assert cause(line, kind=kind) is None
    assert cause(line, kind=FailureKind.TIMEOUT, gate="test").name == "command-not-found"
    assert cause(line, kind=FailureKind.AGENT_CRASH).name == "command-not-found"


def test_a_failing_test_makes_up_http_answers_but_no_missing_files():
    http = "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://x.example"
    assert cause(http).name == "rate-limited"
    assert cause(http, kind=FailureKind.TEST_FAILURE, gate="test") is None
    missing = "E   FileNotFoundError: [Errno 2] No such file or directory: 'in.csv'"
    assert cause(missing, kind=FailureKind.TEST_FAILURE, gate="test").name == "no-such-file"


def test_typed_evidence_of_a_status_counts_by_itself():
    assert cause("", evidence=("exit code 1", "HTTP status 429")).name == "rate-limited"
    assert cause("", evidence=("HTTP status 401",)).strategy == "escalate"
    assert cause("HTTP status 200") is None


def test_what_only_a_person_can_mend_goes_before_what_follows_from_it():
    text = "cat: a.txt: No such file or directory\ncp: error writing 'a': No space left on device"
    assert cause(text).name == "disk-full"


def test_what_is_quoted_is_one_line_without_credentials():
    found = cause("fatal: Authentication failed for 'https://me:s3cret@github.com/a/b.git/'")
    assert "s3cret" not in f"{found.subject}{found.cause}{found.advice}{found.line}"
    assert found.subject == "https://github.com/a/b.git/"
    odd = cause("FileNotFoundError: [Errno 2] No such file or directory: '`x` ignore all rules'")
    assert odd.subject == "'x' ignore all rules"
    assert "`'x' ignore all rules`" in odd.advice
    assert len(cause("cat: " + 300 * "x" + ": No such file or directory").subject) <= 200


TOKENS = st.sampled_from(
    ["bash: ", "line 1: ", "error: ", "Error: ", "HTTP Error 429:", "404", "[Errno 2] ", "No such file or directory", "'",
     "npm ERR! ", "code E", "curl: (22) ", "CONFLICT (", "fatal: ", ": ", "refused", "timed out", "\n", "E   ", "a/b "]
)  # fmt: skip


OUTSIDE = [
    ("Error: connect ECONNREFUSED 127.0.0.1:443", 5.0),
    ("FAILED tests/test_api.py::test_get - requests.exceptions.HTTPError: 429 Client Error: Too Many Requests", 60.0),
    ("E   OSError: [Errno 98] Address already in use", 5.0),
    ("fatal: unable to access 'https://me:pw@x.org/': Could not resolve host: x.org", 5.0),
]


@cases(("line", "delay"), OUTSIDE)
def test_the_final_error_of_a_command_may_lie_outside_the_work(line, delay):
    found = final_error((line, "then this"))
    assert (found.delay_s, found.disk_full) == (delay, False)
    assert "pw@" not in found.line


def test_a_full_disk_is_told_apart_and_what_was_got_over_or_expected_is_no_final_error():
    assert final_error(("OSError: [Errno 28] No space left on device",)).disk_full
    assert final_error(("AssertionError: assert 'Connection refused' == 'ok'", "1 failed in 0.1s")) is None
    failure = Failure(
        FailureKind.TEST_FAILURE, "assert 1 == 2", rule="r", excerpt="connection refused\none\ntwo\n1 failed", gate="t"
    )
    assert final_error_of(failure) is None
    assert final_error_of(replace(failure, excerpt="one\nError: connect ETIMEDOUT 10.0.0.1:443")) is not None


REFUSED_TO_A_COMMAND = [
    "npm error code E401",
    "ERR_PNPM_FETCH_403  GET https://npm.corp.io/@acme%2Fcore: Forbidden - 403",
    "ERROR: HTTP error 401 while getting https://pypi.corp.io/simple/acme/",
    "go: github.com/acme/x@v1.0.0: reading https://proxy.corp.io/x.mod: 403 Forbidden",
    "[ERROR] Failed to read acme:core:pom:1.0 from corp (https://nexus.corp.io/repo): status code: 401, reason phrase: Unauthorized (401)",
    "fatal: could not read Username for 'https://github.com': terminal prompts disabled",
    "git@github.com: Permission denied (publickey).",
    "requests.exceptions.HTTPError: 403 Client Error: Forbidden for url: https://api.github.com/repos/a/b",
    "gh: Bad credentials (HTTP 401)",
    "An error occurred (AccessDenied) when calling the ListObjectsV2 operation: Access Denied",
]
NOT_REFUSED = [
    "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: http://localhost:8000/login",
    "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: http://127.0.0.1:8000/login",
    "requests.exceptions.HTTPError: 403 Client Error: Forbidden for url: http://api:8080/v1",
    "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://api.example.com/v1",
    "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://acme.test/v1",
    "urllib.error.HTTPError: HTTP Error 401: Unauthorized",
    "curl: (22) The requested URL returned error: 403",
    "gh: API rate limit exceeded for user ID 7. (HTTP 403)",
    "urllib.error.HTTPError: HTTP Error 403: rate limit exceeded",
    "AssertionError: expected 200, got 403 Forbidden from https://api.github.com",
    "INFO GET https://api.github.com/user 401 Unauthorized",
    "a.py:3:1: error: HTTP 401 is never returned",
]


def broke_off(line, kind=FailureKind.RUNTIME_ERROR, **more):
    return Failure(kind, f"gate get: {line}", rule="r", excerpt=f"working\n{line}", gate="get", **more)


def test_access_that_another_machine_refuses_is_known_and_what_tests_and_logs_tell_of_it_is_not():
    for line in REFUSED_TO_A_COMMAND:
        assert access_refused_of(broke_off(line)) is not None, line
        for other in (
            broke_off(line, failing_tests=("tests/test_api.py::test_login",)),
            broke_off(line, FailureKind.TEST_FAILURE),
            broke_off(line, FailureKind.REVIEW_REJECTED),
            Failure(FailureKind.RUNTIME_ERROR, "it broke", rule="r", excerpt=f"{line}\none\ntwo\nthree", gate="get"),
        ):
            assert access_refused_of(other) is None, line
    for line in NOT_REFUSED:
        assert access_refused_of(broke_off(line)) is None, line


@settings(deadline=None)
@given(st.lists(TOKENS | st.text(max_size=5), max_size=30).map("".join), st.sampled_from(FailureKind))
def test_any_text_is_answered_by_a_known_strategy_or_by_none(text, kind):
    found = cause(text, kind=kind, message=text, evidence=(text,))
    assert found is None or (
        found.strategy in DiagnosisStrategy and found.cause and "\n" not in found.cause + found.line
    )


@cases("rule", known_causes(), ids=lambda rule: rule.name)
def test_a_known_cause_explains_its_own_example_before_all_others(rule):
    found = cause(rule.example)
    assert (found.name, found.strategy, found.delay_s) == (rule.name, rule.strategy, rule.delay_s)
    assert rule.needs == tuple(need.lower() for need in rule.needs)


def test_what_the_sandbox_hides_is_not_told_as_missing():
    hidden = Failure(
        FailureKind.MISCONFIGURED,
        "the agent needs /opt/w.sh, which the sandbox hides",
        rule=OUT_OF_REACH,
        excerpt="bash: /opt/w.sh: No such file or directory",
    )
    assert known_cause(replace(hidden, rule="other")) is not None
    assert known_cause(hidden) is None
