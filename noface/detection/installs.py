"""What CI installs for its checks into Python's environment: extras, groups, files and packages."""

import re
from pathlib import Path

from noface.detection.detected import Wanted
from noface.detection.files import is_inner
from noface.detection.shell import VARIABLE
from noface.detection.steps import CI

_INSTALLS = CI["installs"]
_EXTRAS = re.compile(r"\.(?:/)?\[([\w,. -]+)\]")
_PACKAGE = re.compile(r"[A-Za-z][\w.-]*(\[[\w,-]+\])?\s*([<>=!~].*)?$")


def is_install(words: list[str]) -> bool:
    """Tell whether a command installs what Python's tools need."""
    return words[0] in {"pip", "pip3"} or " ".join(words[:2]) in _INSTALLS["commands"]


def installed(root: Path, words: list[str]) -> Wanted:
    """Return what an install names."""
    managed = words[:2] != ["uv", "pip"] and words[0] not in {"pip", "pip3"}
    if not managed and "install" not in words:
        return Wanted()
    rest = words[words.index("install") + 1 :] if "install" in words else words[2:]
    wanted, index = Wanted(), 0
    while index < len(rest):
        word = rest[index]
        option, _, given = word.partition("=")
        takes = option in _INSTALLS["values"] and not given
        value = given or (rest[index + 1] if index + 1 < len(rest) else "")
        index += 2 if takes else 1
        if VARIABLE.search(word) or (option.startswith("-") and VARIABLE.search(value)):
            continue
        wanted += _of_option(root, option, value, managed=managed) if word.startswith("-") else _of_word(word, managed)
    return wanted


def _of_option(root: Path, option: str, value: str, *, managed: bool) -> Wanted:
    match option:
        case "-r" | "--requirement" if (root / value).is_file() and is_inner(value):
            return Wanted(items=(f"-r {value}",))
        case "--all-extras":
            return Wanted(extras=("*",))
        case "--all-groups":
            return Wanted(groups=("*",))
        case "--extra" | "--extras" | "-E":
            return Wanted(extras=tuple(value.replace(",", " ").split()))
        case "--group":
            return Wanted(groups=tuple(value.split(",")))
        case "--with" | "-G" if managed:
            return Wanted(groups=tuple(value.split(",")))
        case _:
            return Wanted()


def _of_word(word: str, managed: bool) -> Wanted:
    if match := _EXTRAS.fullmatch(word):
        return Wanted(extras=tuple(name.strip() for name in match[1].split(",")))
    is_package = not managed and _PACKAGE.match(word) and word not in _INSTALLS["no_need"]
    return Wanted(items=(word,)) if is_package else Wanted()
