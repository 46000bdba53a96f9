"""What mended a failure: the lines by which the attempt that passed differs from the one that failed (S7, N16).

Only failures whose cause lies in the worker's hands are looked at. What a provider, a network or a full disk did goes
away by itself; whoever passed afterwards had not mended it.
"""

from collections import Counter
from dataclasses import dataclass, replace

from noface.diagnosis.known_causes import known_cause, known_causes
from noface.integrity.tampering import is_test_file
from noface.model.failure import Failure
from noface.model.patch import ChangedLine, changed_lines
from noface.model.patterns import file_of
from noface.model.quoting import one_line
from noface.model.taxonomy import Category, DiagnosisStrategy, FailureKind

LINES_MAX = 30
"""A fix of more lines is another solution: which of them mended the failure is not known."""

_SHOWN_LINES_MAX, _SHOWN_CHARS_MAX = 12, 160
_PATH_CHARS_MAX = 100
_TESTS_MAX = 20
_OUT_OF_REACH = (DiagnosisStrategy.SAME, DiagnosisStrategy.ESCALATE)
"""A known cause that is answered so passes by itself, or is a person's to remove."""


@dataclass(frozen=True, slots=True)
class Fix:
    """The lines of a fix, file by file. Empty if the two attempts differ in nothing that a patch shows."""

    lines: tuple[ChangedLine, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line.path for line in self.lines))

    @property
    def telling(self) -> bool:
        return 0 < len(self.lines) <= LINES_MAX and any(line.text.strip() for line in self.lines)

    def excerpt(self) -> str:
        """Return its first lines as a diff shows them, each file's name before its lines."""
        rows: list[str] = []
        lines = [line for line in self.lines if line.text.strip()]
        for path in dict.fromkeys(line.path for line in lines[:_SHOWN_LINES_MAX]):
            rows.append(one_line(path, _PATH_CHARS_MAX))
            rows += [_row(line) for line in lines[:_SHOWN_LINES_MAX] if line.path == path]
        if len(lines) > _SHOWN_LINES_MAX:
            rows.append(f"… and {len(lines) - _SHOWN_LINES_MAX} more lines")
        return "\n".join(rows)


def fix_of(failed_patch: str, passed_patch: str) -> Fix:
    """Return what the attempt that passed has and the failed one has not, from their patches against main."""
    failed, passed = (
        Counter((line.path, line.removed, line.text) for line in changed_lines(patch))
        for patch in (failed_patch, passed_patch)
    )
    lines = [
        *(ChangedLine(path, not gone, text) for (path, gone, text), _ in (failed - passed).items()),
        *(ChangedLine(path, gone, text) for (path, gone, text), _ in (passed - failed).items()),
    ]
    order = {path: at for at, path in enumerate(dict.fromkeys(path for path, _, _ in (*passed, *failed)))}
    return Fix(tuple(sorted(lines, key=lambda line: (order[line.path], not line.removed))))


def in_workers_hands(failure: Failure) -> bool:
    """True if a change of the work can mend a failure: a gate found it, and its cause does not pass by itself."""
    kind = failure.kind
    if kind.category is not Category.CORRECTABLE or kind.info.gate is None or not failure.charged:
        return False
    # What a test prints may be made up: no matter.
    known = known_cause(replace(failure, kind=FailureKind.RUNTIME_ERROR))
    passing = {rule.name for rule in known_causes() if rule.passing}
    return known is None or (known.name not in passing and known.strategy not in _OUT_OF_REACH)


def parts_of(failure: Failure, changed: tuple[str, ...]) -> tuple[str, ...]:
    tests = (name.partition("::")[0].partition(" > ")[0] for name in failure.failing_tests[:_TESTS_MAX])
    named = (file_of(failure.location), *changed, *(path for path in tests if is_test_file(path)))
    return tuple(dict.fromkeys(path for path in named if path))


def _row(line: ChangedLine) -> str:
    text = line.text.expandtabs(4)[:_SHOWN_CHARS_MAX].rstrip()
    return f"{'-' if line.removed else '+'} {''.join(c if c.isprintable() else ' ' for c in text)}"
