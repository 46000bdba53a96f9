"""The tokens in the files that Gemini CLI (seen with 0.61.0) keeps of a session.

They lie in `.gemini/tmp/PROJECT/chats` below the home or GEMINI_CLI_HOME: `session-TIME-ABCDEF01.jsonl`, named by the
first eight digits of the session's id, and `ID/*.jsonl` for each of its subagents. A line is a message or a `$set` that
gives all anew; a message comes again when its tools have run, so that its id says what is counted.
"""

import os
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from noface.agents.session_log import GrowingFile, SessionLog
from noface.model.json_record import JsonRecord, json_value, total
from noface.model.worker_run import Usage
from noface.process.files import is_folder, open_regular

_FOLDERS_MAX = 5_000
_FILES_MAX = 20_000
_SUBAGENTS_MAX = 200
_MESSAGES_MAX = 100_000
_FIRST_LINE_BYTES = 64_000
_ID_DIGITS = 8

_Counts = tuple[int | None, int | None, int | None]


class GeminiLog(SessionLog):
    """What a session has used by its files; `env` is Gemini CLI's environment, without a home there are none."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__()
        home = env.get("GEMINI_CLI_HOME") or env.get("HOME", "")
        self._projects = Path(home, ".gemini", "tmp") if home.startswith("/") else None
        self._main: Path | None = None
        self._files: dict[Path, GrowingFile] = {}
        self._counts: dict[str, _Counts] = {}

    def look(self, session: str) -> Usage | None:
        """Return the sum of the messages' tokens, None before there are any."""
        if self._main is None and self._projects is not None:
            self._main = _file_of(session, self._projects)
        if self._main is None:
            return None
        folder = self._main.parent / session
        names = _listed(folder, _SUBAGENTS_MAX) if is_folder(folder) else ()
        for path in (self._main, *(folder / name for name in names if name.endswith(".jsonl"))):
            for line in self._files.setdefault(path, GrowingFile(path)).new_lines():
                # Most lines are tools and their results, and long: they are not parsed.
                if '"tokens"' in line:
                    self._take(JsonRecord.of(json_value(line)))
        if not self._counts:
            return None
        sent, received, cached = (total(*counts) for counts in zip(*self._counts.values(), strict=True))
        return Usage(tokens_in=sent, tokens_out=received, tokens_cached=cached)

    def _take(self, line: JsonRecord) -> None:
        for message in (line, *line.inside("$set").objects("messages")):
            tokens, identity = message.inside("tokens"), message.text("id")
            if tokens and identity and (identity in self._counts or len(self._counts) < _MESSAGES_MAX):
                sent = tokens.total("input", "tool")
                self._counts[identity] = (sent, tokens.total("output", "thoughts"), tokens.whole("cached"))


def _file_of(session: str, projects: Path) -> Path | None:
    for project in _listed(projects, _FOLDERS_MAX):
        chats = projects / project / "chats"
        if not (is_folder(projects / project) and is_folder(chats)):
            continue
        for name in _listed(chats, _FILES_MAX):
            named = name.startswith("session-") and name.endswith(f"-{session[:_ID_DIGITS]}.jsonl")
            if named and _session_in(chats / name) == session:
                return chats / name
    return None


def _session_in(path: Path) -> str:
    descriptor = open_regular(path)
    if descriptor is None:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        line = file.readline(_FIRST_LINE_BYTES).decode("utf-8", "replace")
    return JsonRecord.of(json_value(line)).text("sessionId")


def _listed(folder: Path, most: int) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in islice(entries, most)]
    except FileNotFoundError:
        return []
