"""Paths inside the repository: globs as people write them, which ones may be named, and a file's language."""

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import takewhile

from noface.data import table
from noface.model.quoting import literal

_CROSSING = re.compile(r"((?:^|(?<=/))\*\*/|\*\*)")
_TEXT_CHARS_MAX = 20_000
_WORD = re.compile(r"[^\s\"'`()<>,;]+")
_PATH = re.compile(r"(?:[\w.@+*-]+/)+(?:[\w@+*-][\w.@+*-]*)?|[\w@+*-]{2,}\.[A-Za-z]\w{0,7}")


@lru_cache(maxsize=1024)
def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(_expression(pattern) for pattern in patterns), re.DOTALL)


def _expression(pattern: str, below: str = "(?:/.*)?") -> str:
    """Translate a glob: `*` and `?` stay inside a folder, `**` crosses folders, a bare name also means all below.

    `.` and `/` mean everything; square brackets are plain characters. What stands between two wildcards is taken at the
    first place where it fits, and no other one is tried: strangers write globs.
    """
    text = pattern.strip()
    if text in (".", "./", "/"):
        return ".*"
    text = text.removeprefix("./").lstrip("/").rstrip("/")
    while "**/**/" in text:
        text = text.replace("**/**/", "**/")
    first, *more = _CROSSING.split(text)
    ways = ["", *(".*?" if crossing == "**" else "(?:.*?/)??" for crossing in more[::2])]
    *parts, (way, last) = zip(ways, [first, *more[1::2]], strict=True)
    start, star, end = last.rpartition("*")
    taken = "".join(f"(?>{way}{_in_folder(part)})" for way, part in parts)
    return taken + way + _in_folder(start) + ("[^/]*" if star else "") + _plain(end) + below


def _in_folder(part: str) -> str:
    first, *more = map(_plain, part.split("*"))
    return first + "".join(f"(?>[^/]*?{each})" for each in more)


def _plain(text: str) -> str:
    return "[^/]".join(map(re.escape, text.split("?")))


def matches(path: str, pattern: str) -> bool:
    return _any_of((pattern,)).fullmatch(path) is not None


def matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    return bool(patterns) and _any_of(patterns).fullmatch(path) is not None


def paths_in(text: str) -> tuple[str, ...]:
    words = (word.partition(":")[0].rstrip(".!?").removeprefix("./") for word in _WORD.findall(text[:_TEXT_CHARS_MAX]))
    return tuple(dict.fromkeys(word for word in words if _PATH.fullmatch(word) and ".." not in word))


def resolved(names: Iterable[str], paths: Collection[str]) -> tuple[str, ...]:
    chosen: list[str] = []
    for name in names:
        meant = [name] if name in paths else [path for path in paths if path.endswith(f"/{name}")]
        chosen += meant if len(meant) == 1 else []
    return tuple(dict.fromkeys(chosen))


def is_folder_of(path: str, patterns: tuple[str, ...]) -> bool:
    return _folders(patterns).fullmatch(path) is not None


@lru_cache(maxsize=64)
def _folders(patterns: tuple[str, ...]) -> re.Pattern[str]:
    folders = {}
    for pattern in patterns:
        start = "**/" if pattern.startswith("**/") else ""
        parts = pattern.strip().removeprefix("./").removeprefix(start).strip("/").split("/")
        for end in range(1, len(parts)):
            if "**" in parts[end - 1]:
                break
            folders[start + "/".join(parts[:end])] = True
    return re.compile("|".join(_expression(folder, below="") for folder in folders) or "(?!)", re.DOTALL)


PATH_CHARS_MAX = 300


def path_problem(path: str) -> str | None:
    """Say why a path or a glob must not be used, or None: `src/a.py`, `src/`, `./src/**` are fine."""
    if not path or len(path) > PATH_CHARS_MAX:
        return f"a path of 1 to {PATH_CHARS_MAX} characters is expected, got {len(path)}"
    named = f"the path {literal(path)}"
    if not path.isprintable() or "�" in path or path != path.strip():
        return f"{named} holds control characters, or blanks at an end"
    if "\\" in path:
        return f"{named} holds a backslash; write forward slashes"
    if path.startswith(("/", "~")) or path[1:2] == ":":
        return f"{named} is not relative; name it from the top of the repository"
    parts = canonical(path).split("/")
    if ".." in parts:
        return f'{named} must not hold ".."; stay inside the repository'
    if not any(char.isalnum() for char in path):
        return f"{named} means everything; name files or folders"
    if any(part in ("", ".") for part in parts):
        return f'{named} has an empty part or "."; write it as git does, such as src/a.py'
    if any(part.lower().rstrip(" .") in (".git", "git~1") for part in parts):
        return f"{named} lies in git's own folder, which nobody may touch"
    return None


def canonical(path: str) -> str:
    """Return the one spelling of a path that has no problem: as git writes it, without `./` and a slash at the end."""
    return path.removeprefix("./").removesuffix("/")


def is_file_name(path: str) -> bool:
    return not has_wildcards(path) and "." in path.rpartition("/")[2].strip(".")


def within(path: str, pattern: str) -> bool:
    """True if all that `path` means is surely meant by `pattern` as well; if that takes thought, it is not."""
    inner, outer = path.rstrip("/"), _folder(pattern.strip().removeprefix("./").strip("/"))
    if inner == outer or outer in ("", "."):
        return True
    if not has_wildcards(inner):
        return matches(inner, pattern)
    fixed = "/".join(takewhile(lambda part: not has_wildcards(part), inner.split("/")))
    if fixed and matches(fixed, outer):
        return True  # everything below a folder that is meant is meant
    return "**" not in inner and "?" not in outer and matches(inner, pattern)


def overlap(one: str, other: str) -> bool:
    """True if two patterns may mean the same file. Where it takes thought to see that they do not, they may."""
    one, other = (path.strip().removeprefix("./").strip("/") for path in (one, other))
    if one in ("", ".") or other in ("", "."):
        return True
    if not has_wildcards(one) and not has_wildcards(other):
        return matches(one, other) or matches(other, one)
    first, second = _fixed(one), _fixed(other)
    for path, pattern, fixed in ((one, other, second), (other, one, first)):
        if is_file_name(path):
            return matches(path, pattern) or fixed.startswith(f"{path}/")
    return first.startswith(second) or second.startswith(first)


def _fixed(pattern: str) -> str:
    return re.split(r"[*?]", pattern, maxsplit=1)[0] if has_wildcards(pattern) else f"{pattern}/"


def has_wildcards(path: str) -> bool:
    return "*" in path or "?" in path


def _folder(pattern: str) -> str:
    """Return the folder that a pattern means all of, as `src/**` does; the pattern itself where it is another."""
    if pattern in ("*", "**"):
        return ""
    folder = next((pattern.removesuffix(end) for end in ("/**", "/*") if pattern.endswith(end)), pattern)
    return pattern if has_wildcards(folder) else folder


_POSITION = re.compile(r"(:\d+){1,2}$")


def is_in(language: str, path: str) -> bool:
    name = language.strip().lower()
    return path.endswith(tuple(table("languages").get(name, (f".{name.removeprefix('.')}",))))


def file_of(location: str | None) -> str:
    return _POSITION.sub("", location or "")
