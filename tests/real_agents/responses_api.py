"""OpenAI's Responses API, as much of it as Codex uses.

Models of the gpt-6 family are given their tools in the conversation (an item `additional_tools`), and call them from a
few lines of JavaScript, the input of the custom tool `exec`; moves.py writes those lines.
"""

import json
import re
import time
from typing import Any

from moves import identity, move, waiting
from scenario import Scenario

ERRORS = "openai"
RUNNING = re.compile(r"(?P<what>Script|Process) running with (?:cell|session) ID (?P<id>\w+)")
"""What a script that takes longer than half a minute gives first, and a command that takes longer than ten seconds."""


def error(_status: int, given: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"param": None, "code": None, **given}}


def offered(items: list[dict[str, Any]]) -> set[str]:
    """Return the names of the tools among these items, in namespaces as outside of them."""
    names = set()
    for item in items:
        within = item.get("tools") if item.get("type") in ("additional_tools", "namespace") else None
        if within is not None:
            names |= offered(within)
        elif item.get("type") in ("function", "custom"):
            names.add(str(item.get("name")))
    return names


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
    given = body.get("input")
    items = given if isinstance(given, list) else []
    tools = offered([*(body.get("tools") or []), *items])
    asked = max((at for at, item in enumerate(items) if item.get("role") == "user"), default=0)
    outputs = [item for item in items[asked:] if str(item.get("type")).endswith("call_output")]
    running = [RUNNING.search(json.dumps(item)) for item in outputs]
    answer = played.answer(running.count(None))
    still = next(iter(running[-1:]), None)
    made = waiting(still["what"], still["id"]) if still else move(answer, tools, played.closing)
    by_schema = answer.json and body.get("text", {}).get("format", {}).get("type") == "json_schema"
    text = json.dumps(answer.json) if by_schema else made.text
    part = {"type": "output_text", "text": text, "annotations": []}
    said = {"type": "message", "id": identity("msg"), "role": "assistant", "status": "completed", "content": [part]}
    output: list[dict[str, Any]] = [said]
    if made.script:
        call = {"type": "custom_tool_call", "id": identity("ctc"), "call_id": identity("call"), "name": made.tool}
        output.append({**call, "input": made.script, "status": "completed"})
    elif made.tool:
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
