"""Which paths a model may name: inside the repository, in one spelling, and cheap to match."""

from noface.core.backlog import shown
from noface.core.patterns import matches

PATH_CHARS_MAX = 300
_WILDCARDS_MAX = 4


def path_problem(path: str) -> str | None:
    """Say why a path or a glob must not be used, or None: `src/a.py`, `src/`, `./src/**` are fine."""
    if not path or len(path) > PATH_CHARS_MAX:
        return f"a path of 1 to {PATH_CHARS_MAX} characters is expected, got {len(path)}"
    said = f"the path {shown(path)}"
    if not path.isprintable() or "�" in path or path != path.strip():
        return f"{said} holds control characters, or blanks at an end"
    if "\\" in path:
        return f"{said} holds a backslash; write forward slashes"
    if path.startswith(("/", "~")) or path[1:2] == ":":
        return f"{said} is not relative; name it from the top of the repository"
    parts = canonical(path).split("/")
    if ".." in parts:
        return f'{said} must not hold ".."; stay inside the repository'
    if not any(char.isalnum() for char in path):
        return f"{said} means everything; name files or folders"
    if any(part in ("", ".") for part in parts):
        return f'{said} has an empty part or "."; write it as git does, such as src/a.py'
    if any(part.lower().rstrip(" .") in (".git", "git~1") for part in parts):
        return f"{said} lies in git's own folder, which nobody may touch"
    if _wildcards(path) > _WILDCARDS_MAX:
        return f"{said} has more than {_WILDCARDS_MAX} wildcards; name files or folders"
    return None


def canonical(path: str) -> str:
    """Return the one spelling of a path that has no problem: as git writes it, without `./` and a slash at the end."""
    return path.removeprefix("./").removesuffix("/")


def is_file_name(path: str) -> bool:
    """Tell whether a path reads as one file: no wildcard, and a dot in its last part."""
    return not has_wildcards(path) and "." in path.rpartition("/")[2].strip(".")


def within(path: str, pattern: str) -> bool:
    """Tell whether all that `path` (a file, a folder or a glob) means is surely meant by `pattern` as well.

    Conservative: where it takes thought to see that one glob lies in another, the answer is no.
    """
    inner, outer = path.rstrip("/"), _folder(pattern.strip().removeprefix("./").strip("/"))
    if inner == outer or outer in ("", "."):
        return True
    if not has_wildcards(inner):
        return matches(inner, pattern)
    fixed = "/".join(_before_wildcard(inner.split("/")))
    if fixed and matches(fixed, outer):
        return True  # everything below a folder that is meant is meant
    return "**" not in inner and "?" not in outer and matches(inner, pattern)


def has_wildcards(path: str) -> bool:
    """Tell whether a path is a glob."""
    return _wildcards(path) > 0


def _wildcards(path: str) -> int:
    return path.count("*") + path.count("?")


def _folder(pattern: str) -> str:
    """Return the folder that a pattern means all of, as `src/**` does; the pattern itself where it is another."""
    if pattern in ("*", "**"):
        return ""
    folder = next((pattern.removesuffix(end) for end in ("/**", "/*") if pattern.endswith(end)), pattern)
    return pattern if has_wildcards(folder) else folder


def _before_wildcard(parts: list[str]) -> list[str]:
    plain: list[str] = []
    for part in parts:
        if has_wildcards(part):
            break
        plain.append(part)
    return plain
