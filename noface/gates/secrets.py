"""Finds secrets among the lines a change adds, with the detectors of detect-secrets (the extra `secrets`).

Only detectors of keys that have a shape of their own are used: names and randomness alone (a password field, a hash)
would stop honest work. Nothing is verified over the network: the detectors' patterns are all that runs. Without the
extra nothing is scanned.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module

from noface.data import table
from noface.integrity.tampering import changed_lines
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind

_PRIVATE_KEY = "Private Key"
_KEY_END = re.compile(r"END [A-Z ]*PRIVATE KEY|Private-MAC")
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{16,}")
_LINE_MAX = 4_000
MARK = "[masked by noface: {type}]"
"""What stands for a secret that a patch adds; a patch that holds it has been masked before."""
_NAMED_MAX = 10
_MASK_MORE = "[masked by noface]"
_MASKED = re.compile(r"\[masked by noface: (?P<type>[\w ()-]{1,60})\]")
_ALLOWED = re.compile(r"pragma:\s*(allowlist|whitelist)[ -]secret|gitleaks:allow|nosec\b", re.IGNORECASE)
_EXAMPLE = re.compile(r"EXAMPLE|example|(.)\1{7}|1234567|abcdefg|xxxx|XXXX|\bfake|dummy|\{\{|\$\{|<[a-z]")


Detectors = tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]
"""The type of each kind of secret, and its patterns."""


@dataclass(frozen=True, slots=True)
class AddedSecret:
    """Where a secret was added, and of what kind; the secret itself is kept nowhere."""

    path: str
    type: str
    line: str


@dataclass(frozen=True, slots=True)
class PatchScan:
    """The secrets of a patch, and the patch without them."""

    secrets: tuple[AddedSecret, ...]
    patch: str


def scan(patch: str) -> PatchScan:
    """Find the secrets that a patch adds, and mask them. A patch masked before has the same findings again."""
    detectors = _detectors()
    if not detectors and "[masked by noface: " not in patch:
        return PatchScan((), patch)
    secrets = [
        AddedSecret(row.rpartition(" b/")[2].rstrip('"'), match["type"], row)
        for row in patch.split("\n")
        if row.startswith("diff --git ")
        for match in list(_MASKED.finditer(row))[:1]
    ]  # in the name of a file
    known = {secret for line in changed_lines(patch) if line.removed for secret in _spans(line.text, detectors)}
    masked: dict[str, str] = {}
    in_key = ""
    for line in changed_lines(patch):
        if line.removed:
            continue
        text, types = _masked(line.text, detectors, known)
        if in_key == line.path and not types and _KEY_BODY.search(line.text):
            text = _KEY_BODY.sub(_MASK_MORE, line.text)
        if _PRIVATE_KEY in types:
            in_key = line.path
        if in_key != line.path or _KEY_END.search(line.text):
            in_key = ""
        if text != line.text:
            masked[line.text] = text
        secrets += [AddedSecret(line.path, kind, text.strip()[:_LINE_MAX]) for kind in types]
    rows = (f"+{masked[row[1:]]}" if row[:1] == "+" and row[1:] in masked else row for row in patch.split("\n"))
    return PatchScan(tuple(secrets), "\n".join(rows) if masked else patch)


def secret_failure(secrets: tuple[AddedSecret, ...]) -> Failure:
    """Return the failure for added secrets: a boundary, since no retry makes one public that was not meant to be."""
    named = dict.fromkeys(f"{secret.type} in {secret.path}" for secret in secrets)
    return Failure(
        FailureKind.BOUNDARY_VIOLATION,
        f"the change adds what looks like a secret: {', '.join(list(named)[:_NAMED_MAX])}; read it from the environment"
        " instead, or mark the line with `pragma: allowlist secret` if it is none",
        rule="secret-added",
        location=secrets[0].path,
        signature="secret-added:" + ",".join(sorted(named)),
        evidence=tuple(f"{secret.path}: {secret.line[:200]}" for secret in secrets[:_NAMED_MAX]),
    )


@lru_cache(maxsize=1)
def _detectors() -> Detectors:
    """Return type and patterns of each detector; empty where the extra is not installed."""
    detectors = []
    for module, name in table("secrets")["detectors"].items():
        try:
            detector = getattr(import_module(f"detect_secrets.plugins.{module}"), name)
            detectors.append((str(detector.secret_type), tuple(detector.denylist)))
        except (ImportError, AttributeError):
            continue  # not installed, or a release that no longer has this one
    return tuple(detectors)


def _spans(text: str, detectors: Detectors) -> dict[tuple[str, str], tuple[int, int]]:
    """Return where in a line secrets stand, by kind and text; nothing where a mark in the line allows them."""
    line = text[:_LINE_MAX]
    spans: dict[tuple[str, str], tuple[int, int]] = {}
    if _ALLOWED.search(text):
        return spans
    for kind, patterns in detectors:
        for pattern in patterns:
            for match in pattern.finditer(line):
                whole = match[0]
                if _stands_alone(line, match) and (kind == _PRIVATE_KEY or not _EXAMPLE.search(whole)):
                    spans[kind, whole] = match.span()
    return spans


def _stands_alone(line: str, match: re.Match[str]) -> bool:
    """Tell whether the match is no part of a longer run of letters and digits: a hash, a picture in base64."""
    before, after = line[: match.start()][-1:], line[match.end() :][:1]
    return not (before.isalnum() and match[0][:1].isalnum()) and not (after.isalnum() and match[0][-1:].isalnum())


def _masked(text: str, detectors: Detectors, known: set[tuple[str, str]]) -> tuple[str, list[str]]:
    """Return the line without its new secrets, and the kinds of these; marks of an earlier masking count again."""
    kinds = [match["type"] for match in _MASKED.finditer(text)]
    for (kind, secret), _ in sorted(_spans(text, detectors).items(), key=lambda item: -item[1][0]):
        if (kind, secret) not in known:
            text = text.replace(secret, MARK.format(type=kind))
            kinds.append(kind)
    return text, kinds
