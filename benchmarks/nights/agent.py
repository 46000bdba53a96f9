"""Stands in for Claude Code: reads the prompt, plays the first turn of its issue whose conditions hold, and says so.

    claude WORLD [arguments of claude]

What it does is data (`data/*.toml`): a script for the shell, how it ends, its report. It knows only what a real agent
could know: the prompt, the checkout, its model, whether its session was resumed. The provider may refuse first.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from nights.world import World, seconds

_HANGS_S = 60.0
_USAGE = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}

ERRORS: dict[str, dict[str, Any]] = {
    "overloaded": {"text": "API Error: 529 Overloaded. This is a server-side issue, usually temporary - try again in a"
                   " moment.", "status": 529, "name": "overloaded"},
    "limit": {"text": "You've hit your session limit · resets {reset}", "status": 429, "name": "rate_limit",
              "limit": "five_hour"},
    "weekly": {"text": "You've hit your weekly limit · resets {reset}", "status": 429, "name": "rate_limit",
               "limit": "seven_day"},
    "refused": {"text": "API Error: Unable to connect to API (ConnectionRefused)"},
    "curl": {"text": "curl: (7) Failed to connect to api.example.com port 443 after 3 ms: Connection refused"},
    "busy": {"text": "API Error: Server is temporarily limiting requests (not your usage limit)", "status": 429,
             "name": "rate_limit"},
    "server": {"text": "API Error: 500 Internal server error", "status": 500, "name": "server_error"},
    "dns": {"text": "API Error: Unable to connect to API: getaddrinfo ENOTFOUND api.anthropic.com"},
    "credit": {"text": "Credit balance is too low", "status": 400, "name": "billing_error"},
    "context": {"text": "Prompt is too long", "status": 400, "name": "invalid_request"},
    "expired": {"text": "OAuth token has expired · Please run /login", "status": 401,
                "name": "authentication_failed"},
}  # fmt: skip
"""How Claude Code tells its provider's errors, as recorded from it."""


class Stream:
    """The program's standard output: stream-json, or plain text where that was not asked for."""

    def __init__(self, session: str, *, typed: bool) -> None:
        self._session = session
        self._typed = typed

    def begin(self) -> None:
        """Say that the session has begun."""
        self.line({"type": "system", "subtype": "init", "cwd": ".", "tools": ["Edit", "Bash"]})

    def say(self, text: str) -> None:
        """Say something."""
        self.line({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}})

    def result(self, text: str, cost: float, tokens: int, **facts: object) -> None:
        """Print the last line."""
        entry = {"subtype": "success", "is_error": False, "result": text, "stop_reason": "end_turn", **facts}
        usage = {**_USAGE, "input_tokens": tokens, "output_tokens": 60}
        self.line({"type": "result", "num_turns": 2, "total_cost_usd": cost, "usage": usage, **entry})
        if not self._typed:
            print(text, flush=True)

    def line(self, entry: dict[str, object]) -> None:
        """Print an entry."""
        if self._typed:
            print(json.dumps({**entry, "session_id": self._session}), flush=True)


def main(argv: list[str]) -> int:
    """Do one run of the agent; return its exit code."""
    world, night = World(Path(argv[0])), World(Path(argv[0])).night
    issue, role = os.environ["NOFACE_ISSUE_ID"], os.environ.get("NOFACE_TOPIC") or "worker"
    prompt, model = sys.stdin.read(), _value(argv, "--model")
    resumed = _value(argv, "--resume")
    number = world.count("sessions")
    session = resumed or f"5e1f7e57-0000-4000-8000-{number:012d}"
    stream = Stream(session, typed="stream-json" in argv)
    prompt = _heard(world, session, prompt)
    facts = {"issue": issue, "role": role, "model": model, "resumed": bool(resumed)}
    refusal = _refusal(night, world, model)
    if refusal is not None:
        world.call(**facts, kind="refused")
        return _fail(stream, refusal[0], refusal[1])
    if role != "worker":
        world.call(**facts, kind="asked")
        stream.begin()
        own = next((one for one in night["issue"] if one["id"] == issue), {}).get("roles", {})
        answer = {**night.get("roles", {}), **own}.get(role, '{"answers": [], "summary": "I have no idea."}')
        stream.result(f"```json\n{answer}\n```", 0.01, 1200)
        return 0
    work = world.count(f"work-{issue}")
    turn = _turn(night, issue, prompt, work, model, resumed)
    if "program" in turn:
        call = ["--issue", issue, "--model", model, "--call", str(work), "--resumed", str(int(bool(resumed)))]
        return _stranger(turn, [*call, "--seed", night["name"]], prompt, stream, world, facts)
    world.call(**facts, kind="work", truth=turn.get("truth", ""))
    return _play(turn, issue, prompt, stream, world, resumed)


def _heard(world: World, session: str, prompt: str) -> str:
    """Return what an agent was told in its session so far; a prompt stays in it even if the provider refuses then."""
    kept = world.folder / "sessions" / session
    kept.parent.mkdir(exist_ok=True)
    with kept.open("a+") as file:
        file.write(f"{prompt}\n")
        file.seek(0)
        return file.read()


def _value(argv: list[str], name: str) -> str:
    return argv[argv.index(name) + 1] if name in argv[:-1] else ""


def _refusal(night: dict[str, Any], world: World, model: str) -> tuple[str, float | None] | None:
    """Return the provider's error and when it says that it ends, None where it answers."""
    now, elapsed = world.now(), world.elapsed()
    calls = sum(call["kind"] == "work" for call in world.calls())
    for number, outage in enumerate(night.get("provider", ())):
        concerned = model in outage.get("models", [model]) and os.environ.get("NIGHT_KEY", "") in outage.get(
            "keys", [os.environ.get("NIGHT_KEY", "")]
        )
        until = seconds(outage.get("until", "9000d"))
        begun = elapsed >= seconds(outage.get("from", 0)) and calls >= outage.get("after_calls", 0)
        over = elapsed >= until or outage.get("until_noted", "-") in world.notes()
        over = over or (concerned and begun and "times" in outage and world.count(f"outage-{number}") > outage["times"])
        if concerned and begun and not over:
            return outage["error"], now - elapsed + until if outage.get("told") else None
    return None


def _fail(stream: Stream, name: str, until: float | None, cost: float = 0.0) -> int:
    error = ERRORS[name]
    stream.begin()
    if "limit" in error:
        told = {"resetsAt": int(until)} if until else {}
        stream.line({"type": "rate_limit_event",
                     "rate_limit_info": {"status": "rejected", "rateLimitType": error["limit"], **told}})  # fmt: skip
    text = error["text"].replace(" · resets {reset}", "" if until is None else f" · resets {_clock(until)}")
    message = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": text}]}
    stream.line({"type": "assistant", "message": message, "error": error.get("name", "unknown")})
    stream.result(text, cost, 0, is_error=True, api_error_status=error.get("status"))
    sys.stderr.write(f"{text}\n")
    return 1


def _clock(at: float) -> str:
    """Return a time as Claude Code tells it."""
    return time.strftime("%b %d, %I:%M%p (UTC)", time.gmtime(at)).replace(" 0", " ")


def _turn(night: dict[str, Any], issue: str, prompt: str, work: int, model: str, resumed: str) -> dict[str, Any]:
    for turn in next((one for one in night["issue"] if one["id"] == issue), {}).get("turn", ()):
        wanted = turn.get("if", {})
        texts = {path: Path(path).read_text() if Path(path).is_file() else "" for path in wanted.get("has", {})}
        if (
            work in wanted.get("call", [work])
            and model in wanted.get("model", [model])
            and bool(resumed) == wanted.get("resumed", bool(resumed))
            and re.search(wanted.get("told", ""), prompt, re.IGNORECASE | re.DOTALL)
            and not ("untold" in wanted and re.search(wanted["untold"], prompt, re.IGNORECASE | re.DOTALL))
            and all(re.search(pattern, texts[path]) for path, pattern in wanted.get("has", {}).items())
            and all(Path(path).exists() for path in wanted.get("there", ()))
        ):
            return turn
    return {"do": f"feature {issue}"}


def _stranger(
    turn: dict[str, Any], call: list[str], prompt: str, stream: Stream, world: World, facts: dict[str, Any]
) -> int:
    """Have a program of its own be the agent: it tells the truth of what it leaves, and what would be harm, in files."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["bash", "-c", turn.get("do", "")], check=False, **quiet)
    told = world.folder / f"truth-{'-'.join(call[1::2])}"
    memory = world.folder / "memory"
    memory.mkdir(exist_ok=True)
    stream.begin()
    env = {**os.environ, "TRUTH": str(told), "HARM": str(world.folder / "harm"), "MEMORY": str(memory)}
    world.call(**facts, kind="work", told=str(told))
    done = subprocess.run([sys.executable, turn["program"], *call], input=prompt, text=True, check=False, env=env,
                          stdout=subprocess.PIPE, errors="replace")  # fmt: skip
    world.wait(seconds("3m"))
    if done.returncode == 0:
        stream.result(done.stdout, 0.05, 1200)
    else:
        stream.say(done.stdout)
    return abs(done.returncode)


def _play(turn: dict[str, Any], issue: str, prompt: str, stream: Stream, world: World, resumed: str) -> int:
    stream.begin()
    stream.say("I begin by reading.")
    for number in range(turn.get("noise_mb", 0)):
        stream.say(f"{number} {'lorem ipsum ' * 87_000}")
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["bash", "-c", turn.get("do", "")], check=False, **quiet)
    world.wait(seconds(turn.get("takes", "3m")))
    cost, tokens = turn.get("cost", 0.05), turn.get("tokens", 1200)
    words = turn.get("words", f"Issue {issue} is done, and its tests pass.")
    match turn.get("ends", "well"):
        case "well":
            report = turn.get("report", json.dumps({"status": "done", "summary": words}))
            asked = '"status"' in prompt or bool(resumed)
            stream.result(f"{words}\n\n```json\n{report}\n```" if asked and report else words, cost, tokens)
            return 0
        case "hangs":
            time.sleep(_HANGS_S)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "crash":
            sys.stderr.write(f"{words}\n")
        case error:
            until = world.now() + seconds(turn["reset"]) if "reset" in turn else None
            return _fail(stream, error, until, cost)
    return 1
