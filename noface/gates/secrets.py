"""Finds keys in what a change adds, by the shapes that mask them everywhere (secrets/shapes.py), and marks them."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from noface.model.failure import Failure
from noface.model.patch import changed_lines, patch_files
from noface.model.taxonomy import FailureKind
from noface.secrets.masking import Masker
from noface.secrets.shapes import PRIVATE_KEY, Key, keys_in

MARK = "[masked by noface: {type}]"
"""What stands for a secret in a patch, and in the commits that hold refused work."""
_MARK_MORE = "[masked by noface]"
_MASKED = re.compile(r"\[masked by noface: (?P<type>[\w ()-]{1,60})\]")
_KIND_CHARS_MAX = 60
_DIFFERENT_CHARS_MIN = 10
_NAMED_MAX = 10
_ALLOWED = re.compile(r"pragma:\s*(allowlist|whitelist)[ -]secret|gitleaks:allow|nosec\b", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"example|sample|fake|dummy|placeholder|redacted|your|test|mock|invalid|(.)\1{5}|123456|0123|abcdef"
    r"|xxxx",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AddedSecret:
    """Where a secret was added, and of what kind; the secret itself is kept nowhere."""

    path: str
    type: str


def keys_of(text: str) -> list[Key]:
    """Return the keys in a text that may be anybody's: none that is cut short, or an example, or that a mark allows."""
    found = []
    for key in keys_in(text):
        if not key.telltale:
            continue
        private = key.name == PRIVATE_KEY
        example = len(set(key.telltale)) < _DIFFERENT_CHARS_MIN or _EXAMPLE.search(key.telltale) is not None
        start, end = text.rfind("\n", 0, key.start), text.find("\n", key.end - 1)
        if private:  # the mark may stand beside it
            start, end = text.rfind("\n", 0, max(0, start)), text.find("\n", end + 1) if end >= 0 else end
        allowed = _ALLOWED.search(text, start + 1, len(text) if end < 0 else end) is not None
        if (private or not example) and not allowed:
            found.append(key)
    return found


def without_secrets(data: bytes, masker: Masker, marked: Collection[str] | None = None) -> bytes:
    """Return a file's contents, or a patch, without secrets, with marks for those of the kinds `marked` (all)."""

    def mark(kind: str) -> str:
        return MARK.format(type=kind[:_KIND_CHARS_MAX]) if marked is None or kind in marked else f"***{kind}***"

    data = masker.content(data, mark)
    if b"\0" in data:
        return masker.masked(data)
    text = data.decode("utf-8", "surrogateescape")
    # From the end, so that the places of those before stay right.
    for key in reversed(keys_of(text)):
        first, *more = text[key.start : key.end].split("\n")
        signs = [line[: len(line) - len(line.lstrip("+- "))] for line in more]  # a patch keeps its lines
        rest = [sign + (_MARK_MORE if sign != line else "") for sign, line in zip(signs, more, strict=True)]
        put = [mark(key.name) if first else "", *rest]
        text = text[: key.start] + "\n".join(put) + text[key.end :]
    return text.encode("utf-8", "surrogateescape")


def told(patch: str) -> tuple[AddedSecret, ...]:
    """Return the secrets that a masked patch adds, as its marks tell: their variables may not be set any more."""
    if "[masked by noface: " not in patch:
        return ()
    lines = [(line.path, line.text) for line in changed_lines(patch) if not line.removed]
    lines += [(file.named, file.named) for file in patch_files(patch)]
    return tuple(AddedSecret(path, match["type"]) for path, text in lines for match in _MASKED.finditer(text))


def shown_path(path: str, masker: Masker) -> str:
    return without_secrets(path.encode("utf-8", "surrogateescape"), masker).decode("utf-8", "replace")


def secret_failure(secrets: tuple[AddedSecret, ...], masker: Masker) -> Failure:
    """Return the failure for added secrets: a boundary, since no retry makes one public that was not meant to be."""
    named = list(dict.fromkeys(f"{secret.type} in {shown_path(secret.path, masker)}" for secret in secrets))
    return Failure(
        FailureKind.BOUNDARY_VIOLATION,
        f"the change adds what looks like a secret: {', '.join(named[:_NAMED_MAX])}; read it from the environment"
        " instead, have a test make its own, or mark the line with `pragma: allowlist secret` if it opens nothing",
        rule="secret-added",
        location=shown_path(secrets[0].path, masker),
        signature="secret-added:" + ",".join(sorted(named)),
        evidence=tuple(named[:_NAMED_MAX]),
    )
