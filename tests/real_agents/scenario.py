"""A scenario: what the fake model answers, as a TOML file in scenarios/ says.

about = "what it is"
loop = true                   # the answers begin again when they are used up; otherwise the last one repeats
fault = "hang"                # the answer never begins; "truncate": it breaks off; "unended": all of it comes but its end;
                              # "lost": the connection breaks off
status = 429                  # an HTTP error instead of an answer; this and a fault hold from request `fails_from` on
fails_to = 2                  # (default 1) to request `fails_to` (default: for ever)
pause_s = 3                   # how long each answer takes
headers = { retry-after = "2" }
anthropic = { type = "…", message = "…", status = 529 }   # the error as each API words it; status where it differs
openai = { type = "…", code = "…", message = "…" }
gemini = { named = "…", message = "…", reason = "…", retryDelay = "2s", violations = [{ quotaId = "…" }] }

[[answers]]                   # one for each time the model is asked; one key of these each
edit = "b.txt"                # write a file, by a tool, or by an edit block where the agent offers no tools;
                              # in "b?.txt" the ? stands for the digit that the request gives
text = "done"
[[answers]]
run = "sleep 60 &"            # run a shell command
[[answers]]
ends = "SAFETY"               # say nothing more, and end for a reason in the provider's words; "PROMPT SAFETY": because of
                              # the prompt
[[answers]]
say = "Done."                 # answer in prose, which ends the run; where the agent asks for an answer by a schema, with
json = { verdict = "approve" } # this in place of the prose
[[answers]]
call = "ScheduleWakeup"       # call a tool of this name, with
given = { delaySeconds = 60 } # these arguments; where the agent does not offer it, the model calls it all the same
"""

import re
import time
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "scenarios"


@dataclass(frozen=True)
class Answer:
    """One answer of the model: a file to write, a command to run, a tool to call, or prose.

    Aider's edit replaces what it finds by `search`, and adds to the file without it.
    """

    edit: str = ""
    text: str = ""
    search: str = ""
    run: str = ""
    say: str = ""
    json: dict[str, Any] = field(default_factory=dict)
    call: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    ends: str = ""


@dataclass(frozen=True)
class Scenario:
    """What the model does; see the module."""

    name: str
    answers: tuple[Answer, ...] = (Answer(say="Done."),)
    loop: bool = False
    fault: str = ""
    status: int = 0
    fails_from: int = 1
    fails_to: int = 1_000_000
    headers: dict[str, str] = field(default_factory=dict)
    anthropic: dict[str, Any] = field(default_factory=dict)
    openai: dict[str, Any] = field(default_factory=dict)
    gemini: dict[str, Any] = field(default_factory=dict)
    tokens_in: int = 1200
    tokens_out: int = 40
    pause_s: float = 0
    tokens_thought: int = 0

    def answer(self, done: int) -> Answer:
        """Return the answer for a conversation in which `done` tools have run."""
        return self.answers[done % len(self.answers) if self.loop else min(done, len(self.answers) - 1)]

    def about(self, request: str) -> "Scenario":
        named = re.search(r"\bb\d\.txt\b", request)
        if named is None:
            return self
        answers = (replace(each, edit=named[0]) if each.edit == "b?.txt" else each for each in self.answers)
        return replace(self, answers=tuple(answers))

    @property
    def closing(self) -> str:
        return self.answers[-1].say

    def fails(self, request: int) -> bool:
        """Tell whether the request of this number (from 1) is answered by an error."""
        return self.status > 0 and self._at(request)

    def fault_at(self, request: int) -> str:
        """Return what is wrong with the answer to the request of this number (from 1)."""
        return self.fault if self._at(request) else ""

    def _at(self, request: int) -> bool:
        return self.fails_from <= request <= self.fails_to


def scenario(name: str) -> Scenario:
    """Return the scenario of the file `name`.toml."""
    given = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))
    given.pop("about")
    resets_at = int(time.time()) + given.pop("resets_in", 0)
    for part in ("headers", "anthropic", "openai", "gemini"):
        values = given.get(part, {})
        values.update({key: resets_at for key, value in values.items() if value == "RESET"})
    answers = tuple(Answer(**each) for each in given.pop("answers", [{"say": "Done."}]))
    return Scenario(name, answers, **given)
