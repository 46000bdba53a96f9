"""What providers' errors mean, by the codes of their APIs and of litellm, by HTTP status, and by their words.

Sources: the error references of the Anthropic, OpenAI and Gemini APIs, litellm's exception classes, and recordings of
the CLIs. The words are looked for in the error channel only, never in an agent's prose.
"""

from noface.core.classify.agent_evidence import Resource
from noface.core.classify.agents.rules import AgentRule
from noface.core.taxonomy import FailureKind

_OVERLOAD_STATUSES = frozenset({408, *range(500, 600)})

PROVIDER: tuple[AgentRule, ...] = (
    AgentRule(
        "billing",
        FailureKind.AUTH,
        codes=frozenset({"insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active"}),
        statuses=frozenset({402}),
        words=r"credit balance is too low|credits? (?:are|is|have been) (?:depleted|exhausted)|plan and billing"
        r"|insufficient (?:credits?|funds|balance|quota)|payment required|billing (?:hard )?limit",
        refines=frozenset({FailureKind.RATE_LIMITED}),
    ),
    AgentRule(
        "budget",
        FailureKind.RESOURCE_EXHAUSTED,
        codes=frozenset({"BudgetExceededError"}),
        resource=Resource.BUDGET,
    ),
    AgentRule(
        "context",
        FailureKind.RESOURCE_EXHAUSTED,
        codes=frozenset({
            "context_length_exceeded", "context_window_exceeded", "ContextWindowExceededError", "prompt_too_long",
            "ContextOverflowError",
        }),
        statuses=frozenset({413}),
        words=r"maximum context length|prompt is too long|input is too long|model['’]s context window"
        r"|input token count.{0,40}exceeds|exceed\w* (?:the )?(?:model['’]?s? )?(?:maximum )?context",
        resource=Resource.CONTEXT,
    ),
    AgentRule(
        "output-cap",
        FailureKind.RESOURCE_EXHAUSTED,
        codes=frozenset({"max_output_tokens", "MAX_TOKENS", "length"}),
        words=r"output token (?:maximum|limit)|reason: max_output_tokens",
        resource=Resource.OUTPUT,
    ),
    AgentRule(
        "refused",
        FailureKind.AGENT_REFUSED,
        codes=frozenset({
            "refusal", "content_filter", "content_policy_violation", "ContentPolicyViolationError", "invalid_prompt",
            "SAFETY", "PROHIBITED_CONTENT", "cyber_policy",
        }),
        words=r"flagged as potentially violating|violat\w+ (?:of )?(?:our|the) (?:usage|content|acceptable use) polic"
        r"|content management policy|blocked (?:for|by|due to) safety",
    ),
    AgentRule(
        "rate-limit",
        FailureKind.RATE_LIMITED,
        codes=frozenset({
            "rate_limit", "rate_limit_error", "rate_limit_exceeded", "usage_limit_reached", "usage_limit_exceeded",
            "too_many_requests", "RateLimitError", "RESOURCE_EXHAUSTED", "usage_not_included",
        }),
        statuses=frozenset({429}),
        words=r"usage limit|hit your .{0,30}limit|rate.?limit|too many requests|exhausted your .{0,30}quota"
        r"|quota exceeded|limit will reset",
    ),
    AgentRule(
        "auth",
        FailureKind.AUTH,
        codes=frozenset({
            "authentication_failed", "authentication_error", "permission_error", "oauth_org_not_allowed",
            "invalid_api_key", "API_KEY_INVALID", "UNAUTHENTICATED", "PERMISSION_DENIED", "AuthenticationError",
            "PermissionDeniedError", "account_deactivated", "ProviderAuthError",
        }),
        statuses=frozenset({401, 403}),
        words=r"not logged in|please run /login|(?:invalid|incorrect|missing) (?:api key|x-api-key|auth\w*)"
        r"|api key (?:not valid|is (?:not set|missing|invalid))|unauthori[sz]ed|failed to authenticate"
        r"|missing environment variable: \W?\w*(?:KEY|TOKEN)|(?:access|refresh) token .{0,60}(?:expired|refreshed)"
        r"|not (?:allowed|permitted) to (?:access|use) (?:this|the) (?:model|resource|api)",
    ),
    AgentRule(
        "not-found",
        FailureKind.MISCONFIGURED,
        codes=frozenset({"model_not_found", "not_found_error", "NotFoundError", "NOT_FOUND", "ModelNotFoundError"}),
        statuses=frozenset({404}),
        words=r"model\b.{0,120}(?:does not exist|not found|is not supported|may not exist)|is not found for API version"
        r"|missing environment variable|LLM Provider NOT provided",
    ),
    AgentRule(
        "network",
        FailureKind.NETWORK,
        codes=frozenset({"APIConnectionError", "ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "ETIMEDOUT", "EAI_AGAIN"}),
        words=r"connection (?:error|refused|reset|failed|closed|aborted|to the api was lost)|ConnectionRefused"
        r"|\bE(?:CONN[A-Z]+|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH|NETUNREACH|PIPE)\b|unable to connect"
        r"|waiting for network|stream closed before|idle timeout waiting|fetch failed|name resolution|socket hang up"
        r"|without a finish reason|empty or malformed response|certificate",
        refines=frozenset({FailureKind.OVERLOADED}),
        only_without_status=True,
    ),
    AgentRule(
        "overloaded",
        FailureKind.OVERLOADED,
        codes=frozenset({
            "overloaded", "overloaded_error", "server_error", "api_error", "server_is_overloaded", "server_overloaded",
            "internal_server_error", "InternalServerError", "ServiceUnavailableError", "BadGatewayError", "Timeout",
            "APITimeoutError", "UNAVAILABLE", "INTERNAL", "DEADLINE_EXCEEDED", "timeout_error",
        }),
        statuses=_OVERLOAD_STATUSES,
        words=r"overloaded|at capacity|high demand|internal (?:server )?error|temporarily unavailable|timed out"
        r"|an error (?:has )?occurred while processing your request|server had an error",
    ),
    AgentRule("broken-stream", FailureKind.NETWORK, words=r"stream (?:disconnected|error)"),
    AgentRule(
        "malformed-answer",
        FailureKind.OUTPUT_FORMAT,
        codes=frozenset({"APIResponseValidationError", "JSONSchemaValidationError", "MALFORMED_FUNCTION_CALL"}),
        words=r"tool call could not be parsed|malformed (?:function|tool) call|unexpected tool call",
    ),
)  # fmt: skip
