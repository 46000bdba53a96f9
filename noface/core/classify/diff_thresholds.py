"""Finds lowered thresholds: what a coverage or lint tool is told to ask for at least, or to put up with at most.

Only the balance over all files counts: a threshold that moves to another file with the same value is none.
"""

import re
from collections import defaultdict
from collections.abc import Iterable

from noface.core.patch_lines import Line

_FILES = re.compile(
    r"\.(toml|cfg|ini|json|jsonc|ya?ml|xml|gradle|kts|properties|mk|rb|exs?|[cm]?[jt]s|neon|sbt|php)$"
    r"|(^|/)([Mm]akefile[^/]*|GNUmakefile|Rakefile|\.coveragerc|\.nycrc|\.c8rc|\.simplecov|noxfile\.py|setup\.py)$"
)
_JEST_FILES = re.compile(r"(^|/)(package\.json|\.nycrc[^/]*|\.c8rc[^/]*|(jest|vitest|vite)\.config\.[a-z]+)$")
_NUMBER = r"[\"'\s:=>(]*(?P<value>-?\d+(?:\.\d+)?)"
# Higher is stricter.
_LEAST = re.compile(
    r"(?P<key>fail[_-]under(?:[_-](?:line|branch))?|cov-fail-under|minimum_coverage(?:_by_file)?|min[_-]?coverage"
    r"|coverage[_-]?threshold|minimum(?=\s*=\s*0?\.\d)|min-?score|fail-on-score|min-?msi|mutation-?score-?threshold"
    r"|COVEREDRATIO.*?<minimum)" + _NUMBER,
    re.IGNORECASE,
)
_JEST = re.compile(r"[\"']?\b(?P<key>branches|functions|lines|statements)\b[\"']?\s*:\s*(?P<value>-?\d+(?:\.\d+)?)")
# Lower is stricter.
_MOST = re.compile(r"(?P<key>--max-warnings|max[_-]?complexity)" + _NUMBER, re.IGNORECASE)
_COMMENT = re.compile(r"^\s*(#|//|;|<!--|\*|/\*)")


def may_hold_threshold(path: str) -> bool:
    """Tell whether a file is of a kind that tools read thresholds from."""
    return _FILES.search(path) is not None


def lowered_thresholds(lines: Iterable[Line]) -> tuple[str, ...]:
    """Return the thresholds that were lowered or taken away, each as a short phrase."""
    old: dict[tuple[str, int], list[float]] = defaultdict(list)
    new: dict[tuple[str, int], list[float]] = defaultdict(list)
    for line in lines:
        if may_hold_threshold(line.path) and not _COMMENT.match(line.text):
            for key, sign, value in _values(line):
                (old if line.removed else new)[key, sign].append(sign * value)
    found = []
    for (key, sign), before in old.items():
        after = sorted(new.get((key, sign), ()))
        if len(after) < len(before):
            found.append(f"the threshold {key} was taken away ({_shown(before, sign)})")
        elif any(now < was for now, was in zip(after, sorted(before), strict=False)):
            found.append(
                f"the threshold {key} was {'lowered' if sign > 0 else 'raised'}: {_change(before, after, sign)}"
            )
    return tuple(found)


def _values(line: Line) -> list[tuple[str, int, float]]:
    found = [(_key(match["key"]), 1, float(match["value"])) for match in _LEAST.finditer(line.text)]
    found += [(_key(match["key"]), -1, float(match["value"])) for match in _MOST.finditer(line.text)]
    if _JEST_FILES.search(line.path):
        found += [(match["key"], 1, float(match["value"])) for match in _JEST.finditer(line.text)]
    return found


def _key(key: str) -> str:
    """Return one name for a threshold's spellings: `--cov-fail-under` overrules `fail_under`."""
    return key.lower().lstrip("-").replace("-", "_").removeprefix("cov_")


def _change(before: list[float], after: list[float], sign: int) -> str:
    return f"{_shown(before, sign)} to {_shown(after, sign)}"


def _shown(values: list[float], sign: int) -> str:
    return ", ".join(f"{sign * value:g}" for value in sorted(values))
