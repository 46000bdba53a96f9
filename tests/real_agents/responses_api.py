"""OpenAI's Responses API, as much of it as Codex uses."""

import json
import time
from typing import Any

from moves import identity, move
from scenario import Scenario

ERRORS = "openai"


def error(_status: int, given: dict[str, Any]) -> dict[str, Any]:
    """Return an error's document."""
    return {"error": {"param": None, "code": None, **given}}


def stream(body: dict[str, Any], played: Scenario) -> list[str]:
    """Return the server-sent events of an answer."""
    response = whole(body, played)
    begun = {**response, "status": "in_progress", "output": []}
    begun.pop("usage")
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(response["output"]):
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": {**item, "status": "in_progress"}},
            {"type": "response.output_item.done", "output_index": index, "item": item},
        ]
    events.append({"type": "response.completed", "response": response})
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]


def whole(body: dict[str, Any], played: Scenario) -> dict[str, Any]:
    """Return an answer's document."""
    tools = {str(tool.get("name") or tool.get("type")) for tool in body.get("tools") or []}
    given = body.get("input")
    items = given if isinstance(given, list) else []
    done = sum(str(item.get("type")).endswith("call_output") for item in items)
    made = move(played.answer(done), tools, played.closing)
    answer = played.answer(done)
    by_schema = answer.json and body.get("text", {}).get("format", {}).get("type") == "json_schema"
    text = json.dumps(answer.json) if by_schema else made.text
    part = {"type": "output_text", "text": text, "annotations": []}
    said = {"type": "message", "id": identity("msg"), "role": "assistant", "status": "completed", "content": [part]}
    output: list[dict[str, Any]] = [said]
    if made.tool:
        call = {"type": "function_call", "id": identity("fc"), "call_id": identity("call"), "name": made.tool}
        output.append({**call, "arguments": json.dumps(made.given), "status": "completed"})
    return {
        "id": identity("resp"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "model": body.get("model"),
        "output": output,
        "usage": {
            "input_tokens": played.tokens_in,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": played.tokens_out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": played.tokens_in + played.tokens_out,
        },
    }
