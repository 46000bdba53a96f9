"""Names made of issue ids: refs, branches, folders."""

import hashlib
import re

_PLAIN_CHARS_MAX = 40
_HASH_CHARS = 12
_LOOKS_HASHED = re.compile(rf"-[0-9a-f]{{{_HASH_CHARS}}}")


def slug(issue_id: str) -> str:
    """Return a name for refs and folders made of an issue id: safe for git, and different for different ids.

    git accepts ids such as `-x` or 300 characters, and file systems fold case; so anything but a short plain
    lower-case id gets a hash. What looks as if it had one gets one too, or an id could take another's name.
    """
    plain = re.sub(r"[^a-z0-9_-]+", "-", issue_id.lower()).strip("-")[:_PLAIN_CHARS_MAX]
    if plain and plain == issue_id and _LOOKS_HASHED.search(plain[-_HASH_CHARS - 1 :]) is None:
        return plain
    digest = hashlib.sha256(issue_id.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]
    return f"{plain or 'issue'}-{digest}"


def scratch_branch(issue_id: str) -> str:
    """Return the full ref of an issue's scratch branch (N10)."""
    return f"refs/heads/noface/{slug(issue_id)}"


def hold_ref(issue_id: str, what: str) -> str:
    """Return the ref that keeps an issue's object from being pruned: an attempt number, `base` or `merge`."""
    return f"refs/noface/issues/{slug(issue_id)}/{what}"
