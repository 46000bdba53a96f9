"""How Claude Code tells that its provider, its key, its model or its own arguments failed; as recorded from it.

Each error ends the run. `{until}` in a text is the time of day and zone, `{seconds}` the seconds, until the end of a
limit; the event `limited` carries the same as a number.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error: its HTTP status (None: no answer came), the text of the result, the CLI's short name for it.

    `limited`: a rejected limit is announced first. `hangs`: the CLI goes on retrying and never ends. `stderr`: it ends
    before it has printed any event, with these words.
    """

    text: str = ""
    status: int | None = None
    name: str = "unknown"
    limited: bool = False
    hangs: bool = False
    stderr: str = ""


ERRORS = {
    "limit_event": ApiError("You've hit your session limit", 429, "rate_limit", limited=True),
    "limit_words": ApiError(
        "API Error: 429 This request would exceed your rate limit. Please try again in {seconds} seconds.",
        429,
        "rate_limit",
    ),
    "overloaded": ApiError(
        "API Error: 529 Overloaded. This is a server-side issue, usually temporary - try again in a moment.",
        529,
        "overloaded",
    ),
    "busy_words": ApiError("API Error: 529 Overloaded. Please retry in {seconds} seconds.", 529, "overloaded"),
    "server_error": ApiError("API Error: 500 Internal server error", 500, "server_error"),
    "unavailable": ApiError("API Error: 503 Service temporarily unavailable", 503, "server_error"),
    "refused": ApiError("API Error: Unable to connect to API (ConnectionRefused)"),
    "reset": ApiError("API Error: Connection reset by peer (ECONNRESET)"),
    "no_name": ApiError("API Error: getaddrinfo EAI_AGAIN api.anthropic.com"),
    "retries_for_ever": ApiError(hangs=True),
    "no_key": ApiError("Not logged in · Please run /login", 401, "authentication_failed"),
    "bad_key": ApiError("Failed to authenticate. API Error: 401 invalid x-api-key", 401, "authentication_failed"),
    "forbidden": ApiError(
        "Failed to authenticate. API Error: 403 Your API key does not have permission to use the specified resource.",
        403,
        "authentication_failed",
    ),
    "no_credit": ApiError("Credit balance is too low", 400, "billing_error"),
    "expired": ApiError(
        "Your access label has expired and could not be refreshed · Please run /login", 401, "authentication_failed"
    ),
    "no_model": ApiError(
        "There's an issue with the selected model (clod-9). It may not exist or you may not have access to it.",
        404,
        "invalid_request",
    ),
    "model_gone": ApiError("API Error: 404 model: clod-1 was not found", 404, "not_found_error"),
    "bad_flag": ApiError(stderr="error: unknown option '--outputformat'"),
    "as_root": ApiError(
        stderr="--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"
    ),
    "bad_settings": ApiError(stderr="Error: failed to load config: settings.json: unexpected end of file"),
}
