"""Turns events into sentences: the one place for what a person reads while noface runs."""

import time
from collections import Counter
from dataclasses import dataclass

from noface.store.reader import Reader
from noface.views.text import clean, fit

_TITLE_MAX = 48
_TEXT_MAX = 300
_NOTHING_THERE = 'The backlog is empty: noface issue add "What should be done".'


@dataclass(frozen=True, slots=True)
class Line:
    """A line to show: a mark, the text, and a style for terminals that have colours."""

    mark: str
    text: str
    style: str = ""


def printable(text: object, chars_max: int = _TEXT_MAX) -> str:
    """Return text on one line without control characters, so that an agent's words cannot steer the terminal."""
    return fit(clean(str(text)), chars_max)


class Narrator:
    """Finds the words for events; titles come from the issue rows."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._held: dict[str, str] = {}
        self._waiting_said = 0.0

    def title(self, issue_id: str | None) -> str:
        """Return an issue's title, shortened."""
        row = self._reader.issue(issue_id) if issue_id is not None else None
        return printable(row["title"], _TITLE_MAX) if row is not None else ""

    def line(self, kind: str, issue_id: str | None, data: dict[str, object]) -> Line | None:
        """Return the line for an event, None where it is nothing to tell."""
        reason = printable(data.get("reason", ""))
        match kind:
            case "preflight":
                return Line("·", f"what passes lands on {data.get('main')}; checking the gates there first", "dim")
            case "processes_swept":
                return Line("·", f"ended {data.get('count')} process(es) that a killed run had left", "yellow")
            case "issue_running":
                return Line("▶", f"{issue_id} {reason}: {self.title(issue_id)}", "cyan")
            case "attempt_finished":
                return self._finished(issue_id, data)
            case "attempt_overruled":
                return Line("✗", f"{issue_id} {data.get('outcome')}: {printable(data.get('message', ''))}", "yellow")
            case "action" if data.get("action") not in ("Land", "Block"):
                return Line("→", f"{issue_id} {data.get('action')}: {reason}", "dim")
            case "issue_merged":
                return Line("✔", f"{issue_id} {reason}: {self.title(issue_id)}", "bold green")
            case "issue_blocked":
                return Line("■", f"{issue_id} blocked: {reason}: {self.title(issue_id)}", "bold red")
            case "issue_skipped":
                return Line("-", f"{issue_id} skipped: {reason}", "dim")
            case "issue_waiting":
                return Line("…", f"{issue_id} waits: {reason}", "yellow")
            case "issue_landing" if not reason.startswith("passed"):
                return Line("!", f"{issue_id} cannot land: {reason}", "bold yellow")
            case "gate_flaky":
                where = f"{issue_id} " if issue_id else "main: "
                text = f"{where}gate {data.get('gate')} is flaky: it failed, and passed when run again"
                return Line("~", f"{text} ({printable(data.get('message', ''))})", "yellow")
            case "waiting":
                return self._wait(data)
            case "stopping":
                return Line(
                    "·",
                    "stopping: workers are being ended, what they did is kept; Ctrl-C again stops at once",
                    "yellow",
                )
            case _:
                return None

    def _finished(self, issue_id: str | None, data: dict[str, object]) -> Line:
        number, outcome = data.get("number"), data.get("outcome")
        if outcome == "PASSED":
            return Line("✓", f"{issue_id} attempt {number} passed every gate", "green")
        message = printable(data.get("message", ""))
        return Line("✗", f"{issue_id} attempt {number} {outcome}" + (f": {message}" if message else ""), "yellow")

    def _wait(self, data: dict[str, object]) -> Line | None:
        until = float(str(data.get("until", 0.0)))
        if until == self._waiting_said:
            return None
        self._waiting_said = until
        return Line("…", f"nothing to do until {time.strftime('%H:%M:%S', time.localtime(until))}", "dim")

    def counts(self) -> Counter[str]:
        """Count the issues by status."""
        return Counter(row["status"] for row in self._reader.issues() if row["present"])

    def summary(self, why: str) -> list[str]:
        """Return the closing lines: what came of the run, and what to do next."""
        rows = [row for row in self._reader.issues() if row["present"]]
        counts = Counter(row["status"] for row in rows)
        told = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        lines = ["", f"{why[:1].upper()}{why[1:]}.", f"The backlog: {told}." if told else _NOTHING_THERE]
        lines += [f"  ■ {r['id']} {printable(r['title'], _TITLE_MAX)}" for r in rows if r["status"] == "blocked"][:20]
        lines += [f"  ! {r['id']} cannot land: {printable(r['reason'])}" for r in rows if r["status"] == "landing"]
        faults = self._reader.faults()
        lines += [f"  ? {fault.source}: {printable(fault.problem)}" for fault in faults[:20]]
        flaky = self._reader.flaky_gates()
        if flaky:
            named = ", ".join(f"{gate} ({times} time{'s' if times > 1 else ''})" for gate, times in flaky.items())
            lines.append(f"{len(flaky)} flaky gate{'s' if len(flaky) > 1 else ''}: {named}")
        if counts["blocked"]:
            lines.append("What they need from you: noface blocked")
        costs = [row["cost_usd"] for row in rows if row["cost_usd"] is not None]
        if costs:
            lines.append(f"Cost so far, as the agents report it: ${sum(costs):.2f}")
        return lines
