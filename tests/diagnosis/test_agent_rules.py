"""How a worker's failure is decided: codes before statuses before words, and prose last of all."""

import tomllib
from datetime import UTC

import pytest
from support import ROOT
from support.agent_recordings import run
from support.agent_recordings import verdict as verdict_on
from support.cases import cases
from support.corpus_score import RECORDINGS, load

from noface.data import table
from noface.diagnosis.agent import asked_by_program, classify, invents, meaning_of, stops_mid_sentence, without_changes
from noface.diagnosis.agent_errors import AgentError, AgentEvidence, first_words, matches, rules_of, starting_rules
from noface.diagnosis.reset_times import WallClock
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import EndedBy

CLOCK = WallClock(1_000_000.0, UTC)


def judged(error=None, agent="codex", exit_code=1, **more):
    return classify(AgentEvidence(agent, exit_code, error=error, **more), CLOCK)


@cases(
    ("error", "kind"),
    [
        (AgentError("x", ("rate_limit_error",), 500), "RATE_LIMITED"),
        (AgentError("x", ("invalid_request_error", "context_length_exceeded"), 400), "RESOURCE_EXHAUSTED"),
        (AgentError("overloaded, they say", (), 429), "RATE_LIMITED"),
        (AgentError("the model gpt-9 does not exist", (), 401), "AUTH"),
        (AgentError("Your credit balance is too low", (), 429), "AUTH"),
        (AgentError("connection refused", ("server_error",)), "NETWORK"),
        (AgentError("upstream: connection refused", ("server_error",), 500), "OVERLOADED"),
        (AgentError("Prompt is too long", ("invalid_request",), 400), "RESOURCE_EXHAUSTED"),
        (AgentError("flagged as potentially violating our usage policy", ("invalid_request",), 400), "AGENT_REFUSED"),
        (AgentError("payment needed", (), 402), "AUTH"),
        (AgentError("You’ve hit your usage limit."), "RATE_LIMITED"),
        (AgentError("You've hit your weekly limit · resets Nov 24, 3:15am (UTC)"), "RATE_LIMITED"),
        (AgentError("Claude AI usage limit reached|1795490120"), "RATE_LIMITED"),
        (AgentError("Missing environment variable: `OPENAI_API_KEY`."), "AUTH"),
        (AgentError("Missing environment variable: `BASE_URL`."), "MISCONFIGURED"),
        (AgentError("getaddrinfo EAI_AGAIN api.example.com"), "NETWORK"),
        (AgentError("OpenAIException - You are not allowed to access this model", ("BadRequestError",)), "AUTH"),
        (AgentError("something nobody has seen"), "AGENT_CRASH"),
        (AgentError(""), "AGENT_CRASH"),
        (AgentError("line 429, port 500, 403 files"), "AGENT_CRASH"),
    ],
)
def test_codes_come_before_statuses_before_words_unless_words_are_more_exact(error, kind):
    assert judged(error).kind == kind


def test_what_also_matched_is_told_with_the_reason_it_lost():
    verdict = judged(AgentError("rate limit reached", ("authentication_error",), 429))
    assert (verdict.kind, verdict.rule) == ("AUTH", "codex-auth")
    assert [(rule, why) for rule, _, why in verdict.also_matched] == [
        ("codex-rate-limit", "auth is stronger evidence (code over status)")
    ]


def test_only_what_is_transient_has_a_time_to_come_back():
    assert judged(AgentError("try again in 8s", ("rate_limit",))).retry_at == 1_000_008
    assert judged(AgentError("try again in 8s", ("overloaded",))).retry_at == 1_000_008
    assert judged(AgentError("try again in 8s", ("invalid_api_key",))).retry_at is None
    assert judged(AgentError("in 8s", ("rate_limit",), headers=(("Retry-After", "60"),))).retry_at == 1_000_060
    assert judged(AgentError("again in 8s", ("rate_limit",), resets_at=5.0)).retry_at == 5.0


@pytest.mark.parametrize(
    ("ended_by", "kind", "rule"),
    [
        (EndedBy.TIMEOUT, "TIMEOUT", "codex-ended-timeout"),
        (EndedBy.IDLE, "TIMEOUT", "codex-ended-idle"),
        (EndedBy.LOST, "AGENT_CRASH", "codex-ended-lost"),
    ],
)
def test_an_interrupted_run_is_judged_by_who_ended_it(ended_by, kind, rule):
    verdict = judged(ended_by=ended_by, exit_code=0, finished=True)
    assert (verdict.kind, verdict.rule) == (kind, rule)


def test_a_run_that_hung_on_its_provider_blames_the_provider():
    waiting = AgentError("Reconnecting... waiting for network")
    assert judged(retrying=waiting, ended_by=EndedBy.IDLE).kind == "NETWORK"
    assert judged(retrying=waiting, finished=True, exit_code=0).kind is None
    wrong = AgentError("x", ("model_not_found",))
    assert judged(retrying=wrong, ended_by=EndedBy.IDLE).kind == "TIMEOUT", "only what passes by itself is excused"


@pytest.mark.parametrize(
    ("stderr", "kind", "line"),
    [
        ("usage: x [-h]\nx: error: unrecognized arguments: --no", "MISCONFIGURED", "x: error: unrecognized arguments: --no"),
        ("Not logged in\n", "AUTH", "Not logged in"),
        ("Error loading config.toml: bad\nin x", "MISCONFIGURED", "Error loading config.toml: bad"),
        ("panicked at 429\nrate limit\n", "AGENT_CRASH", "rate limit"),
        ("boom\nWarning: old terminal\n", "AGENT_CRASH", "boom"),
        ("", "AGENT_CRASH", ""),
    ],
)  # fmt: skip
def test_a_run_without_a_result_is_judged_by_how_it_failed_to_start(stderr, kind, line):
    verdict = judged(stderr=stderr)
    assert (verdict.kind, verdict.key_line) == (kind, line)


def test_a_signal_is_named():
    assert "died of signal 9" in judged(exit_code=-9).message
    assert "exit code None" in judged(exit_code=None).message


def test_success_needs_the_cli_s_word_and_a_change():
    assert judged(exit_code=0, finished=True, changed=True).kind is None
    assert judged(exit_code=0, finished=True).kind is None, "nobody has looked at the diff"
    assert judged(exit_code=0, finished=True, changed=False, last_words="Done.").kind == "NO_DIFF"
    assert judged(exit_code=0).kind == "AGENT_CRASH"


QUOTES = (
    "API Error: 429 rate_limit_error. You've hit your usage limit, resets 4:28pm (UTC).",
    "litellm.RateLimitError: RateLimitError: 429\nThe API provider has rate limited you.",
    "I can't say why it prints `Invalid API key`; context_length_exceeded is handled now.",
    '{"type":"turn.failed","error":{"message":"Quota exceeded"}}',
)


@pytest.mark.parametrize("words", QUOTES)
def test_prose_that_quotes_errors_decides_nothing(words):
    assert judged(exit_code=0, finished=True, changed=True, last_words=words).kind is None
    assert judged(exit_code=0, finished=True, changed=False, last_words=words).kind == "NO_DIFF"


@cases(
    ("words", "kind"),
    [
        ("", "NO_DIFF"),
        ("I looked at the code and everything seems fine.", "NO_DIFF"),
        ("Everything works. Is there anything else you need?", "NO_DIFF"),
        ("Why does it fail? Because of the cache. I read it all. It is fine. Nothing to do.", "NO_DIFF"),
        ("```python\nassert x  # really?\n```\nThat is the test. It passes. All is fine.", "NO_DIFF"),
        ("Which of the two files is meant?", "AGENT_CONFUSION"),
        ("I found two:\n- Should it be a.py?\n- Or b.py?\n\nI will wait.", "AGENT_CONFUSION"),
        ("The spec is silent. Please clarify the format.", "AGENT_CONFUSION"),
        ("I need more information about the schema to go on.", "AGENT_CONFUSION"),
        ("I'm blocked: the schema is missing.", "AGENT_CONFUSION"),
        ("BLOCKED: no network.", "AGENT_CONFUSION"),
        ("I don't have enough information to do this.", "AGENT_CONFUSION"),
        ("The requirements are not clear to me.", "AGENT_CONFUSION"),
        ("There is insufficient context.", "AGENT_CONFUSION"),
        ("I do not understand which of them is meant.", "AGENT_CONFUSION"),
        ("The task is clear, and nothing is left to do.", "NO_DIFF"),
        ("I cannot proceed without the credentials.", "AGENT_CONFUSION"),
        ('{"status": "done"} and "blocked" no more', "NO_DIFF"),
        ("I can't help with that request.", "AGENT_REFUSED"),
        ("I’m sorry, but I cannot assist with this.", "AGENT_REFUSED"),
        ("I can't help with that. Which other task do you have?", "AGENT_REFUSED"),
        ("The test says: I can't help with that. It passes.", "NO_DIFF"),
    ],
)  # fmt: skip
def test_last_words_tell_a_question_a_block_and_a_refusal_from_talk(words, kind):
    assert meaning_of(words).kind == kind


ASKED = [
    "Which file should I change?", "Should it round down or up?", "Is the amount in cents?", "which file?",
    "Before I start: which of the two tables is meant?", "Which date format do you want?\n- ISO\n- US\n",
    "Do you want amounts in cents or in dollars?", "How should an empty order be priced? The issue does not say.",
    "Looked at a.py.\nI looked at it, but I don't have enough information.", "The requirements are unclear.",
]  # fmt: skip
NOT_ASKED = [
    "Overwrite existing file?", "Do you want to continue?", "Are you sure?", "What is your password?", "Did you mean this?",
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", "What?",
    "psql: error: could not connect\n\tIs the server running on that host and accepting TCP/IP connections?",
    "a.c:3:1: warning: symbol 'x' was not declared. Should it be static?", "Error: which file?", "Did not run...huh?",
    "Can't open 'x' for reading. Does it exist?", "All done. Anything else I can help with?", "Please name a file.", "",
    "Which of them?\nDone.", "Would you like to share usage data about this project?", "All tests passed.",
]  # fmt: skip


def test_what_a_program_asks_about_its_work_is_told_from_what_programs_ask():
    assert [words for words in ASKED if asked_by_program("command", words) is None] == []
    assert [words for words in NOT_ASKED if asked_by_program("command", words) is not None] == []


def test_no_tool_s_output_asks_about_the_work():
    printed = [text for name in RECORDINGS for case in load(name) for text in (case["stdout"], case["stderr"]) if text]
    assert len(printed) > 1000
    assert [text[-300:] for text in printed if asked_by_program("command", text) is not None] == []


def test_questions_are_whole_few_and_each_asked_once():
    asked = meaning_of("Use a.b.c? Use a.b.c? " + " ".join(f"Or {n}?" for n in range(9))).questions
    assert asked == ("Use a.b.c?", "Or 0?", "Or 1?", "Or 2?", "Or 3?")
    assert meaning_of("I'm blocked by the schema.").questions == ("I'm blocked by the schema.",)


def test_without_a_change_an_error_stands_and_talk_gives_way_to_its_words():
    error = Failure(FailureKind.RATE_LIMITED, "m", rule="codex-rate-limit", charged=False)
    assert without_changes("codex", "Which file?", error) is error
    talk = Failure(FailureKind.OUTPUT_FORMAT, "m", rule="mini-no-tool-call")
    asked = without_changes("mini", "Which file?", talk)
    assert (asked.kind, asked.questions, asked.charged) == ("AGENT_CONFUSION", ("Which file?",), True)
    nothing = without_changes("codex", "")
    assert (nothing.kind, nothing.rule) == ("NO_DIFF", "codex-nothing-changed")
    assert nothing.signature == without_changes("codex", "").signature


@pytest.mark.parametrize(
    ("text", "cut"),
    [("This answer is cut", True), ("I will first read the,", True), ("Done.", False), ("All done", False), ("", False),
     ("Is it?", False), ("- one more item", False), ("see `a b c d`", False), ("| a b c | d", False)],
)  # fmt: skip
def test_an_answer_that_stops_mid_sentence_is_seen(text, cut):
    assert stops_mid_sentence(text) is cut


def test_the_same_failure_has_the_same_signature_in_another_run():
    one = judged(AgentError("429 Too Many Requests, request id: 0a1b2c3d4e5f6a7b at 2026-11-20T15:30:00Z", (), 429))
    two = judged(AgentError("429 Too Many Requests, request id: ffeeddccbbaa9988 at 2026-11-21T01:02:03Z", (), 429))
    assert one.signature == two.signature
    assert one.signature != judged(AgentError("Invalid API key", (), 401)).signature


AGENTS = tuple(table("agents"))


def every_rule():
    """Yield each rule once, with an agent that it is a rule of."""
    seen = set()
    for agent in AGENTS:
        for rule in rules_of(agent):
            if rule not in seen:
                seen.add(rule)
                yield pytest.param(agent, rule, id=f"{agent}-{rule.name}")


def judged_by_example(agent, rule):
    """Return the verdict on an error that is a rule's example: one of its codes, or a message."""
    is_code = rule.example in rule.codes
    error = AgentError("", (rule.example,)) if is_code else AgentError(rule.example)
    return judged(error, agent, changed=True)


@pytest.mark.parametrize(("agent", "rule"), [*every_rule()])
def test_a_rule_decides_its_own_example(agent, rule):
    verdict = judged_by_example(agent, rule)
    assert (verdict.rule, verdict.kind, verdict.resource) == (f"{agent}-{rule.name}", rule.kind, rule.resource)


@pytest.mark.parametrize("rule", starting_rules(), ids=lambda rule: rule.name)
def test_a_rule_about_starting_decides_its_own_example(rule):
    verdict = judged(stderr=f"warning: x\n{rule.example}\nmore\n")
    assert (verdict.rule, verdict.kind) == (f"codex-{rule.name}", rule.kind)


@cases("rule", [*(each.values[1] for each in every_rule()), *starting_rules()], ids=lambda r: r.name)
def test_the_recording_that_a_rule_names_is_decided_by_it(rule):
    if rule.recording:
        cli, _, name = rule.recording.partition("/")
        recorded = run(cli, name)
        assert verdict_on(recorded, changed=recorded.edited).rule == f"{cli}-{rule.name}"


def test_no_code_belongs_to_two_rules():
    codes = [code for each in every_rule() for code in each.values[1].codes]
    assert len(codes) == len(set(codes))


def test_a_very_long_message_is_looked_at_in_bounds():
    huge = AgentError("x" * 5_000_000 + " rate limit")
    assert matches(rules_of("codex"), huge) == []
    assert first_words(starting_rules(), "y\n" * 3_000_000 + "Not logged in") is not None
    assert len(judged(huge).message) <= 500


SAID = tomllib.loads((ROOT / "tests/recordings/provider_errors.toml").read_text("utf-8"))


@cases(("kind", "message"), [(kind, message) for kind, messages in SAID.items() for message in messages])
def test_what_each_provider_says_has_its_kind_without_a_code_or_status(kind: str, message: str):
    assert judged(AgentError(message)).kind == kind


@pytest.mark.parametrize(
    ("words", "made_up"),
    [
        ("I made up the exchange rates.", True),
        ("The limits are made up, since none were given.", True),
        ("CHF and JPY have placeholder values.", True),
        ("I invented the error code 4711.", True),
        ("I had to guess the length of a voucher.", True),
        ("The placeholder of the search field is translated.", False),
        ("Removes dummy code; the values come from rates.csv.", False),
        ("The package is made up of three modules.", False),
        ("Assumes UTF-8, as the reader next to it does.", False),
        ("A name is made of letters; set up as before.", False),
    ],
)
def test_a_report_that_says_that_something_is_made_up_is_known(words, made_up):
    """Wrong on 3 of 75,647 messages of commits of 15 public projects, which are honest words about work."""
    assert invents(words) is made_up
