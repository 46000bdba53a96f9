"""Google's Gemini API, as much of it as Gemini CLI uses. What is asked for stands in the path, not in the body."""

import json
from typing import Any

from moves import move
from scenario import Scenario

ERRORS = "gemini"


def error(status: int, given: dict[str, Any]) -> dict[str, Any]:
    """Return an error's document; the time to wait, where one is given, stands in its details."""
    told = dict(given)
    details = []
    for name, kind in (("reason", "ErrorInfo"), ("retryDelay", "RetryInfo"), ("violations", "QuotaFailure")):
        if name in told:
            details.append({"@type": f"type.googleapis.com/google.rpc.{kind}", name: told.pop(name)})
    if details and "reason" in details[0]:
        details[0]["domain"] = "googleapis.com"
    document = {"code": status, "message": told["message"], "status": told["named"]}
    return {"error": {**document, "details": details} if details else document}


def stream(body: dict[str, Any], played: Scenario) -> list[str]:
    """Return the server-sent events of an answer: its parts one by one, the last with the reason of its end."""
    answer = whole(body, played)
    if not answer["candidates"]:
        return [f"data: {json.dumps(answer)}\r\n\r\n"]
    (candidate,) = answer["candidates"]
    chunks = []
    for part in candidate["content"]["parts"]:
        begun = {"content": {"role": "model", "parts": [part]}, "index": 0}
        chunks.append({**answer, "candidates": [begun]})
    chunks.append({**answer, "candidates": [{**candidate, "content": {"role": "model", "parts": [{"text": ""}]}}]})
    return [f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in chunks]


def whole(body: dict[str, Any], played: Scenario) -> dict[str, Any]:
    """Return an answer's document."""
    offered = [each for tool in body.get("tools") or [] for each in tool.get("functionDeclarations") or []]
    said = [part for content in body.get("contents") or [] for part in content.get("parts") or []]
    done = sum("functionResponse" in part for part in said)
    answer = played.answer(done)
    made = move(answer, {str(each.get("name")) for each in offered}, played.closing)
    parts: list[dict[str, Any]] = [{"text": made.text}]
    if made.tool:
        parts.append({"functionCall": {"name": made.tool, "args": made.given}})
    blocked = answer.ends.startswith("PROMPT ")
    parts = [{"text": answer.say}] if answer.ends else parts
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": answer.ends or "STOP", "index": 0}
    return {
        **({"promptFeedback": {"blockReason": answer.ends.removeprefix("PROMPT ")}} if blocked else {}),
        "candidates": [] if blocked else [candidate],
        "usageMetadata": {
            "promptTokenCount": played.tokens_in,
            "candidatesTokenCount": played.tokens_out,
            "thoughtsTokenCount": played.tokens_thought,
            "totalTokenCount": played.tokens_in + played.tokens_out + played.tokens_thought,
        },
        "modelVersion": "test",
    }
