"""Anthropic's Messages API, as much of it as Claude Code uses."""

import json
from typing import Any

from moves import Move, identity, move
from scenario import Scenario

ERRORS = "anthropic"


def error(_status: int, given: dict[str, Any]) -> dict[str, Any]:
    return {"type": "error", "error": given, "request_id": "req_test"}


def stream(body: dict[str, Any], played: Scenario) -> list[str]:
    """Return the server-sent events of an answer."""
    message = whole(body, played)
    blocks = message["content"]
    start = {**message, "content": [], "stop_reason": None}
    start["usage"] = {**message["usage"], "output_tokens": 1}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(blocks):
        text = block["type"] == "text"
        empty = {**block, "text": ""} if text else {**block, "input": {}}
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if text
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        )
        events += [
            {"type": "content_block_start", "index": index, "content_block": empty},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": ending, "usage": {"output_tokens": played.tokens_out}},
        {"type": "message_stop"},
    ]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def whole(body: dict[str, Any], played: Scenario) -> dict[str, Any]:
    """Return an answer's document."""
    tools = {str(tool.get("name")) for tool in body.get("tools") or []}
    made = move(played.answer(_done(body)), tools, played.closing, json.dumps(body))
    return {
        "id": identity("msg"),
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": _content(made),
        "stop_reason": "tool_use" if made.tool else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": played.tokens_in,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": played.tokens_out,
        },
    }


def _content(made: Move) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": made.text}]
    if made.tool:
        blocks.append({"type": "tool_use", "id": identity("toolu"), "name": made.tool, "input": made.given})
    return blocks


def _done(body: dict[str, Any]) -> int:
    """Return how many tools have run since the person last said something: a session may go on with an earlier one."""
    done = 0
    for message in body.get("messages", []):
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"type": "text"}]
        results = sum(part.get("type") == "tool_result" for part in parts)
        said = message.get("role") == "user" and not results
        done = 0 if said else done + results
    return done
