"""OpenAI's Chat Completions API, as much of it as aider, mini-swe-agent and OpenCode use."""

import json
import time
from typing import Any

from moves import identity, move
from responses_api import ERRORS, error
from scenario import Scenario

__all__ = ["ERRORS", "error", "stream", "whole"]


def stream(body: dict[str, Any], played: Scenario) -> list[str]:
    """Return the server-sent events of an answer: half of them are an answer that has not come to its end."""
    answer = whole(body, played)
    (choice,) = answer["choices"]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, {"content": choice["message"]["content"]}]
    for index, call in enumerate(choice["message"].get("tool_calls", [])):
        begun = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
        rest = {"index": index, "function": {"arguments": call["function"]["arguments"]}}
        deltas += [{"tool_calls": [begun]}, {"tool_calls": [rest]}]
    endings = [None] * len(deltas) + [choice["finish_reason"]]
    base = {**answer, "object": "chat.completion.chunk"}
    chunks = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": ending}], "usage": None}
        for delta, ending in zip([*deltas, {}], endings, strict=True)
    ]
    chunks.append({**base, "choices": []})
    return [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"]


def whole(body: dict[str, Any], played: Scenario) -> dict[str, Any]:
    """Return an answer's document."""
    tools = {str(tool.get("function", {}).get("name")) for tool in body.get("tools") or []}
    done = sum(message.get("role") == "tool" for message in body.get("messages", []))
    answer = played.answer(done)
    made = move(answer, tools, played.closing, json.dumps(body))
    message: dict[str, Any] = {"role": "assistant", "content": made.text}
    if made.tool:
        function = {"name": made.tool, "arguments": json.dumps(made.given)}
        message["tool_calls"] = [{"id": identity("call"), "type": "function", "function": function}]
    return {
        "id": identity("chatcmpl"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body.get("model"),
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if made.tool else answer.ends or "stop"}
        ],
        "usage": {
            "prompt_tokens": played.tokens_in,
            "completion_tokens": played.tokens_out,
            "total_tokens": played.tokens_in + played.tokens_out,
        },
    }
