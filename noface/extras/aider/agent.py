"""aider (seen with 0.86.2): `aider --message-file F`.

It keeps no login; ~/.aider holds nothing but caches and OpenRouter's key. Its own retries end by themselves after about
85 seconds. It has no session to go on with: `--restore-chat-history` only quotes the text of an earlier chat.

Answers are never streamed: of a stream that breaks off aider makes a whole answer, without a word. It prints no reason
for which an answer ended but the limit of its length. It exits with 0 whatever happened. What follows the newest
"Tokens: … sent, … received." is aider's own: that line ends every answer of the model.
"""

import re

from noface.agents.base import (
    LAST_WORDS_MAX,
    Agent,
    AgentEvent,
    EventKind,
    Invocation,
    RunPlace,
    TextTail,
    defaults,
    may_edit,
    option,
)
from noface.agents.json_stream import TEXT_MAX, LineReader, dollars, litellm_codes, unescaped
from noface.data import table
from noface.diagnosis.agent_errors import AgentError, AgentEvidence, Amounts, Resource
from noface.model.access import Settings
from noface.model.attempt import AttemptOrder
from noface.model.worker_run import Usage

_COLUMNS = "20000"  # it breaks its lines, and a report in one line of JSON has to stay whole
_TOKENS = re.compile(
    r"Tokens: ([\d.,]+)([kM]?) sent\b.{0,200}?\b([\d.,]+)([kM]?) received\.?"
    r"(?:.{0,100}?\$([\d.]+) session)?"
)
_HEADER_ENDS = re.compile(r"Repo-map: ")
_GIVEN = re.compile(r"Added .{1,4000} to the chat(?: \(read-only\))?\.")
_EDIT = re.compile(r"Applied edit to (.+)")
_ERROR = re.compile(r"litellm\.\w+: ")
_RETRIES = re.compile(r"Retrying in |litellm\.\w+: |The API provider\b")
_ERROR_ENDS = re.compile(r"(?:The API provider\b|Retrying in |https?://|\s*$)")
_OVER_LIMIT = "has hit a token limit!"
_EDIT_FORMAT = "The LLM did not conform to the edit format."
_EMPTY = "Empty response received from LLM. Check your provider account?"
_NOTHING_SAID = "The answer was empty; the provider may have held it back."
_ANSWER_TOKENS_MAX = 100_000_000
_SCALE = {"": 1, "k": 1_000, "M": 1_000_000}


class AiderReader(LineReader):
    """Cuts the text into answers, and keeps what follows the newest of them."""

    agent = "aider"

    def __init__(self) -> None:
        super().__init__()
        self._since = TextTail()
        self._answer = ""
        self._answered = self._begun = False
        self._sent = self._received = self._answer_tokens = 0

    def line(self, line: str) -> list[AgentEvent]:
        """Return the event of a line, if it is not empty."""
        plain = unescaped(line).rstrip()
        tokens = _TOKENS.match(plain)
        if tokens is not None:
            self._sent += _amount(tokens[1], tokens[2])
            self._answer_tokens = _amount(tokens[3], tokens[4])
            self._received += self._answer_tokens
            self._cost = dollars(tokens[5], self._cost)
            self._answer, self._answered = self._since.text, True
            self._clear()
            return [AgentEvent(EventKind.RESULT, plain[:TEXT_MAX])]
        if not self._answered and _HEADER_ENDS.match(plain):
            self._clear()
            return []
        if not self._begun and _GIVEN.fullmatch(plain):
            return []
        self._begun = self._begun or plain != ""
        self._since.append(plain)
        if edit := _EDIT.match(plain):
            return [AgentEvent(EventKind.EDIT, f"edited {edit[1]}"[:TEXT_MAX])]
        kind = EventKind.RETRY if _RETRIES.match(plain) else EventKind.TEXT
        return [AgentEvent(kind, plain[:TEXT_MAX])] if plain else []

    def ending(self, exit_code: int | None, stderr: str) -> AgentEvidence:
        error = self._failure(self._since.lines)
        words = self._answer if error is None or self._answer != "" else self._since.text
        finished = error is None and exit_code == 0 and self._answered
        last_words = "" if words.endswith(_EMPTY) else words
        return AgentEvidence(self.agent, exit_code, stderr, error, finished=finished, last_words=last_words)

    def used(self) -> Usage:
        counted = self._answered or None
        return Usage(self._cost, counted and self._sent, counted and self._received)

    def amounts(self) -> Amounts:
        own = "\n".join(self._since.lines)
        return {resource: _of_limit(own, name) for resource, name in _COUNTED.items()}

    def _failure(self, since: list[str]) -> AgentError | None:
        own = "\n".join(since)
        starts = [number for number, line in enumerate(since) if _ERROR.match(line)]
        if starts:
            lines = since[starts[-1] :]
            end = next((n for n, line in enumerate(lines) if n and _ERROR_ENDS.match(line)), len(lines))
            return AgentError(" ".join(lines[:end])[:LAST_WORDS_MAX], litellm_codes(lines[0]))
        if _OVER_LIMIT in own:
            message = next(line for line in since if _OVER_LIMIT in line)
            # aider counts what was received, and nothing was if the input was too long
            received = _of_limit(own, _COUNTED[Resource.OUTPUT])[0]
            which = "output" if received or "possibly exceeded output limit" in own else "context"
            return AgentError(message[:LAST_WORDS_MAX], (f"token-limit-{which}",))
        if _EDIT_FORMAT in own:
            return AgentError(f"{_EDIT_FORMAT} {since[-1][:LAST_WORDS_MAX]}".strip(), ("edit-format",))
        if self._answered and (self._answer.endswith(_EMPTY) or not self._answer_tokens):
            return AgentError(_EMPTY if self._answer.endswith(_EMPTY) else _NOTHING_SAID, ("empty-response",))
        return None

    def _clear(self) -> None:
        self._since.clear()
        self._begun = False


_COUNTED = {Resource.CONTEXT: "Total", Resource.OUTPUT: "Output"}


def _of_limit(text: str, name: str) -> tuple[float | None, float | None]:
    """Return a count of tokens and its limit, as in "Output tokens: ~4 of 16,384"; None if there is none."""
    counted = re.search(rf"^{name} tokens: ~?(\d[\d,]{{0,14}})(?: of (\d[\d,]{{0,14}}))?", text, re.MULTILINE)
    used, most = (_amount(digits or "", "") for digits in counted.groups()) if counted else (0, 0)
    return used or None, most or None


def _amount(digits: str, scale: str) -> int:
    try:
        amount = round(float(digits.replace(",", "")) * _SCALE[scale])
    except (ValueError, OverflowError):
        return 0
    return amount if amount <= _ANSWER_TOKENS_MAX else 0


class AiderAgent(Agent):
    """Translates orders to aider's command line."""

    name = "aider"
    stream = AiderReader

    def invocation(self, order: AttemptOrder, place: RunPlace) -> Invocation:
        """Return the command line; histories go to the attempt's folder, wide lines keep messages whole."""
        model, options = order.model, table("agents")["aider"]["access"]
        argv = [self.program(order.model), "--message-file", place.prompt_file]
        argv += option("--model", order.model.model)
        chat, typed = f"{place.directory}/aider.chat.md", f"{place.directory}/aider.input"
        argv += [*options["always"], "--chat-history-file", chat, "--input-history-file", typed]
        argv += () if model.settings is Settings.USER else options["no_commands"]
        argv += () if may_edit(model) else options["read_only"]
        argv += [part for path in order.files for part in ("--file", f"{place.seen}/{path}")]
        paths = [path if path.startswith(("/", "~")) else f"{place.seen}/{path}" for path in order.files_to_read]
        if not paths and order.model.settings is not Settings.USER:
            paths = [f"{place.directory}/nothing-to-read"]
        argv += [part for path in paths for part in ("--read", path)]
        argv += options["think"] if order.think else ()
        env = defaults(order.model, ("COLUMNS", _COLUMNS), ("LITELLM_LOCAL_MODEL_COST_MAP", "True"))
        return Invocation((*argv, *order.model.args), None, env)


AGENT: Agent = AiderAgent()
