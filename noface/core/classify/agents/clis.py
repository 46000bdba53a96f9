"""What each CLI's own codes mean, and how each says that it could not even start. Rules of a CLI come before all."""

from noface.core.classify.agent_evidence import Resource
from noface.core.classify.agents.rules import AgentRule
from noface.core.taxonomy import FailureKind

_SPENT = FailureKind.RESOURCE_EXHAUSTED
_WRONG_CALL = FailureKind.MISCONFIGURED
NOT_UNDERSTOOD = "not-understood"
"""The code of a program that ended well and printed nothing of what noface knows: another program, or a newer one."""

ASKS = "asks-at-terminal"
"""The code of a program that ended in the middle of a question to a keyboard."""


def _code(
    name: str, kind: FailureKind, code: str, resource: Resource | None = None, *, talk: bool = False
) -> AgentRule:
    return AgentRule(name, kind, codes=frozenset({code}), resource=resource, talk=talk)


_OWN: dict[str, tuple[AgentRule, ...]] = {
    "claude": (
        _code("max-turns", _SPENT, "error_max_turns", Resource.TURNS),
        _code("max-budget", _SPENT, "error_max_budget_usd", Resource.BUDGET),
        _code("structured-output", FailureKind.OUTPUT_FORMAT, "error_max_structured_output_retries"),
        _code("broke-off", FailureKind.NETWORK, "stream-broke-off"),
        AgentRule("max-turns-text", _SPENT, words=r"^Error: Reached max turns", resource=Resource.TURNS),
    ),
    "codex": (),
    "gemini": (
        _code("max-turns", _SPENT, "FatalTurnLimitedError", Resource.TURNS),
        _code("exit-turns", _SPENT, "exit-53", Resource.TURNS),
        _code("exit-auth", FailureKind.AUTH, "exit-41"),
        AgentRule(
            "exit-setup", _WRONG_CALL, codes=frozenset({"exit-42", "exit-44", "exit-52", "exit-55"})
        ),
        _code("answer-cut", _SPENT, "answer-cut", Resource.OUTPUT),
        AgentRule("empty-answer", FailureKind.OUTPUT_FORMAT, words=r"empty response (?:text|with no text)", talk=True),
        AgentRule("answer-broke-off", FailureKind.NETWORK, words=r"incomplete json segment"),
        AgentRule(
            "quota",
            FailureKind.RATE_LIMITED,
            words=r"exhausted your (?:daily )?(?:quota|capacity)|suggested retry after|please retry in",
            refines=frozenset({FailureKind.RATE_LIMITED}),
        ),
    ),
    "opencode": (
        _code("failed-before-first-step", _WRONG_CALL, "UnknownError-before-first-step"),
        _code("answer-broke-off", FailureKind.NETWORK, "finish-unknown"),
    ),
    "aider": (
        _code("context-limit", _SPENT, "token-limit-context", Resource.CONTEXT),
        _code("output-limit", _SPENT, "token-limit-output", Resource.OUTPUT),
        _code("edits-did-not-apply", FailureKind.OUTPUT_FORMAT, "edit-format"),
        _code("empty-answer", FailureKind.OUTPUT_FORMAT, "empty-response", talk=True),
    ),
    "mini": (
        _code("limit-of-turns", _SPENT, "LimitsExceeded-turns", Resource.TURNS),
        _code("limit-of-cost", _SPENT, "LimitsExceeded-cost", Resource.BUDGET),
        _code("output-limit", _SPENT, "RepeatedFormatError-length", Resource.OUTPUT),
        _code("no-tool-call", FailureKind.OUTPUT_FORMAT, "RepeatedFormatError", talk=True),
    ),
}  # fmt: skip

_ASKS = AgentRule("asks-at-terminal", _WRONG_CALL, codes=frozenset({ASKS}))
_STRANGE = AgentRule("not-understood", _WRONG_CALL, codes=frozenset({NOT_UNDERSTOOD}))
CLIS: dict[str, tuple[AgentRule, ...]] = {agent: (*rules, _ASKS, _STRANGE) for agent, rules in _OWN.items()}

STARTING: tuple[AgentRule, ...] = (
    AgentRule(
        "bad-arguments",
        _WRONG_CALL,
        words=r"^.{0,80}\berror: (?:unknown option|unrecognized arguments|unexpected argument|argument |invalid value)"
        r"|^Unknown arguments?:|No such option|^Error: (?:When using|Input must)|^No prompt provided",
    ),
    AgentRule("refuses-root", _WRONG_CALL, words=r"cannot be used with root"),
    AgentRule("untrusted-folder", _WRONG_CALL, words=r"not (?:inside|running in) a trusted directory"),
    AgentRule(
        "bad-settings",
        _WRONG_CALL,
        words=r"^(?:Error: )?(?:error|failed|cannot|could not) .{0,20}load\w* (?:the )?config",
    ),
    AgentRule(
        "not-logged-in",
        FailureKind.AUTH,
        words=r"^(?:Error: )?(?:not logged in|invalid auth method|please set an auth)",
    ),
    AgentRule("module-missing", _WRONG_CALL, words=r"^\W{0,4}(?:ModuleNotFoundError|ImportError): "),
    AgentRule("shows-its-usage", _WRONG_CALL, words=r"^Usage: .*|^Options:$"),
)  # fmt: skip
"""Looked for in standard error, line by line, where a run ended without a word in its typed channel."""
