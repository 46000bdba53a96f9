"""Any command as a worker, run by a real shell."""

import re
import subprocess
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.agent_recordings import CLIS, runs
from support.cases import cases
from support.corpus_score import RECORDINGS, load

from noface.agents.base import LAST_WORDS_MAX, LINE_BYTES_MAX, Lines, RunPlace
from noface.agents.command import CommandAgent, passed_over
from noface.diagnosis.known_causes import of_its_provider
from noface.model.attempt import AttemptOrder
from noface.model.issue import Issue
from noface.model.worker_run import ModelSpec

AGENT = CommandAgent()


def invocation(command, prompt_file="/d/prompt.md", model="", args=()):
    spec = ModelSpec("m", "command", model=model, command=command, args=args)
    order = AttemptOrder("r", "t", Issue("1", "One"), 1, spec, "p", "m", "s", 0, "/d", ())
    return AGENT.invocation(order, RunPlace("/w", prompt_file, "/d/order.json", "/d"))


def printed(command, **changes):
    done = subprocess.run(invocation(command, **changes).argv, capture_output=True, text=True, check=True)
    return done.stdout


def judged(exit_code, stderr="", stdout=b""):
    reader = AGENT.reader()
    reader.feed(stdout)
    return reader.verdict(exit_code, stderr)


def test_the_last_words_are_no_fence_and_no_rule():
    assert judged(0, stdout=b"```json\nAll done.\n```\n\n---\n").last_words == "All done."
    assert judged(0, stdout=b"All done.\n```").last_words == "All done."
    assert judged(0, stdout=b"Which one\n?\n").last_words == "?"


# Starting


ODD = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Cs"])
    | st.sampled_from("'\"$`\\ !*{}~\n"),
    max_size=15,
)


@given(ODD, st.sampled_from(["{prompt_file}", '"{prompt_file}"', "'{prompt_file}'"]))
def test_the_shell_sees_the_prompt_s_path_as_one_word_however_it_is_quoted(path, placeholder):
    assert printed(f"printf '[%s]' {placeholder} end", prompt_file=path) == f"[{path}][end]"


def test_a_value_that_looks_like_a_placeholder_is_left_alone():
    assert printed("printf '%s' {prompt_file}", prompt_file="/a/{model}", model="m") == "/a/{model}"
    assert printed("printf '%s' '{other}' '{}'", prompt_file="p") == "{other}{}"


def test_further_arguments_are_quoted_and_come_last():
    assert printed("printf '[%s]' a", args=("b c", "$HOME", "")) == "[a][b c][$HOME][]"


@cases(
    ("command", "program"),
    [
        ("my-agent --fast", "my-agent"),
        ("'/opt/my agent/run' x", "/opt/my agent/run"),
        ("./scripts/agent.sh", "./scripts/agent.sh"),
        ("FOO=1 my-agent", ""),
        ("cd sub && my-agent", ""),
        ("exec my-agent", ""),
        ("source ./env", ""),
        ("~/bin/agent", ""),
        ("{model} x", ""),
        ("my-agent < {prompt_file}", ""),
        ("my-agent 'unclosed", ""),
        ("", ""),
    ],
)
def test_a_program_is_looked_for_only_where_the_command_plainly_names_one(command, program):
    assert AGENT.program(ModelSpec("m", "command", command=command)) == program


# Judging


@pytest.mark.parametrize(
    ("exit_code", "kind", "charged"),
    [
        (75, "OVERLOADED", False),
        (126, "MISCONFIGURED", False),
        (127, "MISCONFIGURED", False),
        (1, "AGENT_CRASH", True),
        (2, "AGENT_CRASH", True),
        (137, "AGENT_CRASH", True),
        (None, "AGENT_CRASH", True),
    ],
)
def test_any_other_exit_code_says_who_is_to_blame(exit_code, kind, charged):
    verdict = judged(exit_code, "first\nno such thing\n")
    assert (verdict.error.kind, verdict.error.charged, verdict.finished) == (kind, charged, False)
    assert "None" not in verdict.error.message
    assert verdict.error.excerpt == "first\nno such thing"
    if exit_code != 75:
        assert "no such thing" in verdict.error.message


def test_a_real_shell_s_codes_are_the_ones_meant(tmp_path):
    (tmp_path / "plain").write_text("")
    for command, kind in (
        ("/nowhere/agent", "MISCONFIGURED"),
        (str(tmp_path / "plain"), "MISCONFIGURED"),
        ("exit 75", "OVERLOADED"),
    ):
        done = subprocess.run(invocation(command).argv, capture_output=True, text=True, check=False)
        assert judged(done.returncode, done.stderr).error.kind == kind


def test_an_interpreter_that_does_not_find_its_script_is_no_worker_that_crashed(tmp_path):
    done = subprocess.run(invocation("python3 /nowhere/agent.py").argv, capture_output=True, text=True, check=False)
    alone = judged(done.returncode, done.stderr).error
    assert (alone.kind, alone.charged) == ("MISCONFIGURED", False)
    assert "/nowhere/agent.py" in alone.message
    assert judged(done.returncode, done.stderr, b"working\n").error.kind == "AGENT_CRASH"
    assert judged(done.returncode, f"a warning\n{done.stderr}").error.kind == "AGENT_CRASH"


def test_the_output_alone_decides_nothing():
    assert judged(0, "429 rate limit, Traceback", b"FAILED\n").error is None


def test_huge_words_are_cut():
    verdict = judged(1, "x" * 100_000, b"y" * 100_000)
    assert len(verdict.error.message) <= LAST_WORDS_MAX
    assert len(verdict.error.excerpt) <= LAST_WORDS_MAX
    assert len(verdict.last_words) <= LAST_WORDS_MAX


# Lines of a stream


def cut_up(data, sizes):
    lines = Lines()
    found = []
    at = 0
    for size in sizes:
        found += lines.feed(data[at : at + size])
        at += size
    found += lines.feed(data[at:])
    return found, lines.rest(), lines.too_long


@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\xc3", b"\xa4", b"\0", b"long "]), max_size=40),
    st.lists(st.integers(0, 5)),
)
def test_lines_are_the_same_however_the_stream_is_cut(pieces, sizes):
    data = b"".join(pieces)
    found, rest, too_long = cut_up(data, sizes)
    *complete, last = data.split(b"\n")
    assert found == [piece.decode("utf-8", "replace").rstrip("\r") for piece in complete]
    assert (rest, too_long) == (last.decode("utf-8", "replace"), 0)


@pytest.mark.parametrize("step", [1 << 16, 1 << 20, LINE_BYTES_MAX, 3 * LINE_BYTES_MAX])
def test_a_line_over_the_limit_is_passed_over_however_it_comes(step):
    data = b"a\n" + b"x" * LINE_BYTES_MAX + b"\n" + b"y" * (LINE_BYTES_MAX + 1) + b"\nb\n" + b"z" * (2 * LINE_BYTES_MAX)
    found, rest, too_long = cut_up(data, [step] * (len(data) // step))
    assert [(line[:1], len(line)) for line in found] == [("a", 1), ("x", LINE_BYTES_MAX), ("b", 1)]
    assert (rest, too_long) == ("", 2)


def test_access_that_is_refused_ends_a_command_as_auth_and_of_273_recorded_runs_those_four_whose_login_was_refused():
    def kind(stderr):
        return str(AGENT.stream().verdict(1, stderr).error.kind)

    assert kind("working\nfatal: could not read Username for 'https://github.com': terminal prompts disabled") == "AUTH"
    assert (
        kind("npm error code E403\nnpm error 403 Forbidden - GET https://npm.corp.io/x\nnpm error A log: x") == "AUTH"
    )
    for other in (
        "The API answered 401.",
        "urllib.error.HTTPError: HTTP Error 401: Unauthorized",
        "npm error code E401\n1\n2\n3\n4",
    ):
        assert kind(other) == "AGENT_CRASH", other
    recorded = [run for cli in CLIS for run in runs(cli)]
    errors = [(run, AGENT.stream().verdict(run.exit_code, run.stderr).error) for run in recorded]
    assert len(recorded) == 273
    assert [(run.cli, run.name) for run, error in errors if error is not None and error.kind == "AUTH"] == [
        ("codex", "auth_api_key_login"),
        ("gemini", "auth401"),
        ("gemini", "credit"),
        ("gemini", "untrusted_and_gateway_auth"),
    ]


POOL = "requests.exceptions.{}: HTTPSConnectionPool(host='{}', port=443): Max retries exceeded with url: /v1 (Caused by {})"
OF_PROVIDERS = {  # the words that programs and libraries of providers end with
    "RATE_LIMITED": [
        "You've hit your session limit · resets 8:43PM",
        'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"x"}}',
        "API Error: 429",
        "API Error: Request rejected (429)",
        "anthropic.RateLimitError",
        "openai.RateLimitError: Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o'}}",
        "google.api_core.exceptions.ResourceExhausted: 429 Resource has been exhausted (e.g. check quota).",
        "botocore.errorfactory.ThrottlingException: An error occurred (ThrottlingException) when calling the InvokeModel",
        "litellm.exceptions.RateLimitError: litellm.RateLimitError: AnthropicException - limited",
        "cohere.errors.too_many_requests_error.TooManyRequestsError: status_code: 429, body: data=None",
        "Error: 429 status code (no body)",
        "ERROR: exceeded retry limit, last status: 429 Too Many Requests",
        "5-hour limit reached ∙ resets 3pm",
    ],
    "OVERLOADED": [
        "API Error: 500 Internal server error",
        "API Error: 529 Overloaded. Try again in a moment.",
        "529 overloaded_error",
        "anthropic._exceptions.OverloadedError: Error code: 529 - {'type': 'error'}",
        "google.genai.errors.ServerError: 503 UNAVAILABLE. {'error': {'code': 503}}",
        "litellm.InternalServerError: AnthropicException - Overloaded.",
        "botocore.errorfactory.ModelNotReadyException: An error occurred: Model is not ready for inference.",
        "openai.APITimeoutError: Request timed out.",
    ],
    "NETWORK": [
        "API Error: Unable to connect to API (ConnectionRefused)",
        "Connection error",
        "Max retries exceeded",
        "anthropic.APIConnectionError: Connection error.",
        POOL.format("ConnectionError", "api.openai.com", "NewConnectionError('Failed to establish a new connection')"),
        POOL.format("SSLError", "api.x.ai", "SSLError(SSLEOFError(8, 'EOF occurred in violation of protocol'))"),
        "httpcore.ConnectError: All connection attempts failed",
        "httpx.RemoteProtocolError: peer closed connection without sending complete message body",
        'botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL: "https://bedrock.x/"',
    ],
    "MISCONFIGURED": ["There's an issue with the selected model (x). It may not exist"],
    "AUTH": [
        "Credit balance is too low",
        "Invalid API key",
        "Please run /login",
        "Invalid API key · Please run /login",
        "anthropic.PermissionDeniedError: Error code: 403 - {'error': {'message': 'Request not allowed'}}",
        "openai.OpenAIError: The api_key client option must be set by the OPENAI_API_KEY environment variable",
        'TypeError: "Could not resolve authentication method. Expected either api_key or auth_token to be set."',
        "google.api_core.exceptions.PermissionDenied: 403 Permission denied on resource project x.",
        "litellm.AuthenticationError: Missing Anthropic API Key",
        "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
        "Error: No API key found for provider openai",
    ],
}


@cases(("kind", "words"), [(kind, words) for kind, lines in OF_PROVIDERS.items() for words in lines])
def test_what_providers_and_their_libraries_say_of_themselves_is_waited_out_or_asked_once(kind, words):
    """On either stream, at any exit code."""
    for on_stdout, code in product((False, True), (1, 2, 255)):
        reader = AGENT.stream()
        reader.feed(f"I begin.\n{words if on_stdout else 'Bye.'}\n".encode())
        error = of_its_provider(reader.verdict(code, "" if on_stdout else f"Traceback:\n{words}\n").error)
        assert (error.kind, error.charged) == (kind, False)


@cases(
    ("words", "kind"),
    [
        ("API Error: 429 rate_limit_error", "RATE_LIMITED"),
        ("Invalid API key · Please run /login", "AUTH"),
        ("anthropic.APIConnectionError: Connection error.", "NETWORK"),
        ("I added the rate limit: Too Many Requests is answered with 429.", None),
        ("Error: expected 3, got 4", None),
        ("The endpoint answers 503 while it is overloaded.", None),
        ("Error: connection refused by localhost:5432", None),
    ],
)
def test_a_program_that_ends_well_has_an_error_where_it_announces_one_of_its_provider(words, kind):
    error = passed_over(words)
    assert (error.kind if error is not None else None) == kind


@cases(
    "words",
    [
        POOL.format("RetryError", "localhost", "ResponseError('too many 500 error responses')"),
        "AssertionError: expected 200, got status code 429",
        "E   assert 429 == 200",
        "src/api.py:3: error: code 403 is never returned",
    ],
)
def test_what_the_work_says_of_such_errors_is_no_provider_s(words):
    error = of_its_provider(AGENT.stream().verdict(1, f"{words}\n").error)
    assert (error.kind, error.charged) == ("AGENT_CRASH", True)


def test_of_1370_red_recordings_of_other_programs_one_is_taken_for_a_provider_s():
    verdicts = {}
    for record in (record for name in RECORDINGS for record in load(name) if record["exit_code"]):
        reader = AGENT.stream()
        reader.feed(record["stdout"].encode())
        verdicts[record["id"]] = reader.verdict(record["exit_code"], record["stderr"]).error
    assert len(verdicts) == 1370
    missing = re.compile(r"command-(?:exit-\d+|no-script)")
    assert [name for name, error in verdicts.items() if not error.charged and not missing.fullmatch(error.rule)] == [
        "js-nyc-extends"
    ]
