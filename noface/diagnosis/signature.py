"""The same failure has the same name: a hash over what stays the same from run to run."""

import re
from hashlib import blake2b

from noface.model.taxonomy import FailureKind

_STEPS = (
    (re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"), "<time>"),
    (re.compile(r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\b0x[0-9a-f]+\b", re.IGNORECASE), "<addr>"),
    (re.compile(r"(?<![\w.])(?:file://)?(?:[A-Za-z]:)?/(?:[^\s/:'\"()<>\[\],;]+/)+(?=[^\s/:'\"()<>\[\],;])"), ""),
    (re.compile(r"(?i)\b(?:pid|thread|worker|process|gw|seed)[ =:#]*\d+\b"), "<id>"),
    (re.compile(r"==\d+=="), "==<id>=="),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,64}\b", re.IGNORECASE), "<hash>"),
    (re.compile(r"\btmp[\w-]{4,}\b"), "<tmp>"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|µs|us|ns|s|secs?|seconds?|milliseconds?|minutes?|m)\b"), "<duration>"),
    (re.compile(r"(?<=[\w)]):\d+(?::\d+)?(?=[:\s),]|$)"), ":<n>"),
    (re.compile(r"\((\d+)(?:,\d+)?\)"), "(<n>)"),
    (re.compile(r"(?i)\bline \d+"), "line <n>"),
    (re.compile(r"\[\d+,\d+\]"), "[<n>]"),
    (re.compile(r"^\s*\d+:\d+"), "<n>"),
    (re.compile(r"\s+"), " "),
)
_LINE_MAX = 600


def normalise(line: str) -> str:
    """Return a line without what differs between two runs of the same failure."""
    text = line[:_LINE_MAX]
    for pattern, replacement in _STEPS:
        text = pattern.sub(replacement, text)
    return text.strip()


def signature_of(kind: FailureKind, key_line: str, failing: tuple[str, ...]) -> str:
    """Sixteen hexadecimal digits over the kind, the decisive line and the failing tests."""
    tests = sorted({normalise(name) for name in failing})
    body = "\n".join([kind.value, normalise(key_line), *tests])
    return blake2b(body.encode("utf-8", "replace"), digest_size=8).hexdigest()
