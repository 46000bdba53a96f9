"""Finds keys by their shape, whatever variable or file they come from, in text that goes to prompts and reports (I12).

Only shapes that providers gave their keys on purpose count; mere randomness (a commit id, a checksum) does not. Every
pattern is linear: no text, however hostile, makes one slow.
"""

import re

_SHAPES = tuple(
    (f"***{name}***", hint, re.compile(pattern))
    for name, hint, pattern in (
        ("Anthropic key", "sk-ant-", r"(?<![\w-])sk-ant-[\w-]{16,300}"),
        ("API key", "sk-", r"(?<![\w-])sk-(?=[A-Za-z_-]{0,100}[0-9])[A-Za-z0-9_-]{20,300}"),
        ("GitHub token", "gh", r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{30,255}"),
        ("GitHub token", "github_pat_", r"(?<![A-Za-z0-9])github_pat_\w{22,255}"),
        ("GitLab token", "glpat-", r"(?<![A-Za-z0-9])glpat-[\w-]{20,255}"),
        ("AWS key", "A", r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("Slack token", "xox", r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,300}"),
        ("Slack token", "xapp-", r"(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{20,300}"),
        ("Google key", "AIza", r"(?<![A-Za-z0-9])AIza[\w-]{35}(?![\w-])"),
        ("npm token", "npm_", r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
        ("PyPI token", "pypi-", r"(?<![A-Za-z0-9])pypi-[\w-]{50,300}"),
        ("Hugging Face token", "hf_", r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,100}"),
        ("Stripe key", "k_live_", r"(?<![A-Za-z0-9])[rs]k_live_[A-Za-z0-9]{20,200}"),
    )
)
_PRIVATE_KEY = "***private key***"
_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(r"(?:[\s+>|\"',-]|\\[nr])*(?:[A-Za-z0-9+/=]{16,200}(?:[\s+>|\"',-]|\\[nr])*)+")
_KEY_CHARS_MAX = 20_000


def without_keys(text: str) -> str:
    """Return text without what has the shape of a key, each replaced by what it was."""
    for mark, hint, pattern in _SHAPES:
        if hint in text:
            text = pattern.sub(mark, text)
    return _without_private_keys(text) if "PRIVATE KEY" in text else text


def _without_private_keys(text: str) -> str:
    """Replace each private key from its first to its last line; of one that is cut off, what is there of it."""
    pieces = []
    done = 0
    ends = [match.end() for match in _END.finditer(text)]
    ends.reverse()
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        while ends and ends[-1] <= begin.end():
            ends.pop()
        whole = bool(ends) and ends[-1] - begin.start() <= _KEY_CHARS_MAX
        pieces += [text[done : begin.start()], _PRIVATE_KEY]
        done = ends[-1] if whole else _after_body(text, begin.end())
    pieces.append(text[done:])
    return "".join(pieces)


def _after_body(text: str, position: int) -> int:
    body = _BODY.match(text, position, position + _KEY_CHARS_MAX)
    return body.end() if body is not None else position
