"""Which files of the project a command names or runs, and where names lead to in git's tree, through links as well."""

import posixpath
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

_SEPARATORS = re.compile(r"&&|\|\||[;|&\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_NUMBER = re.compile(r"\d+(\.\d+)?[smhd]?")
_RUNS_ANOTHER = ("time", "timeout", "nice", "xargs", "command", "!", "{", "(", "if", "then", "do", "while")
_MODULE = re.compile(r"(?<=\s)-m[\s\"',]+([A-Za-z_][\w.]*)")
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "source", ".", "exec", "env")


def named_paths(commands: tuple[str, ...]) -> tuple[str, ...]:
    return _inner(word.split("::", 1)[0] for command in commands for word in _words(command))


def run_scripts(commands: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of `commands` that may be scripts of the repository; `python app.py` runs the work itself."""
    scripts = []
    for part in (part for command in commands for part in simple_commands(command)):
        words, by_shell = part, False
        while words and words[0].rpartition("/")[2] in _SHELLS:
            words = [word for word in words[1:] if not word.startswith("-")]
            by_shell = True
        if words and (by_shell or "/" in words[0]):  # a bare name is looked up on PATH, not in the checkout
            scripts.append(words[0])
    return _inner(scripts)


def modules_run(text: str, paths: Collection[str]) -> tuple[str, ...]:
    """Return the files among `paths` that a command or a script's text has Python run by their names (`-m a.b`)."""
    modules = (name.replace(".", "/") for name in _MODULE.findall(text))
    files = (f"{top}{name}{end}" for name in modules for top in ("", "src/") for end in (".py", "/__main__.py"))
    return tuple(path for path in dict.fromkeys(files) if path in paths)


def called_programs(command: str) -> tuple[str, ...]:
    """Return the names of programs that a shell command calls, as far as its words show; "sh -c" texts are not read."""
    programs = []
    for part in simple_commands(command):
        words = part
        while words and words[0].rpartition("/")[2] in (*_SHELLS, *_RUNS_ANOTHER):
            programs.append(words[0])
            words = [word for word in words[1:] if not word.startswith("-") and not _NUMBER.fullmatch(word)]
        programs += words[:1]
    return tuple(dict.fromkeys(name.lstrip("({!") for name in programs if name.lstrip("({!")))


def simple_commands(command: str) -> Iterator[list[str]]:
    for part in _SEPARATORS.split(command):
        yield [word for word in _words(part) if not _ASSIGNMENT.match(word)]


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _inner(words: Iterable[str]) -> tuple[str, ...]:
    names = {word.removeprefix("./").rstrip("/") for word in words}
    return tuple(sorted(name for name in names if name and not name.startswith(("/", ".", "-", "~"))))


_HOPS_MAX = 40
_WORD = re.compile(r"[\w.@+/-]+")
_PATTERN = re.compile(r"[\w.@+/*?-]++")
_SCRIPTS = (".sh", ".bash", ".zsh", ".ksh", ".bats")


@dataclass(frozen=True, slots=True)
class Tree:
    """The paths of all files of a tree, and of those that are links where they lead to, as git keeps it."""

    paths: frozenset[str]
    links: Mapping[str, str] = field(default_factory=dict)

    def places(self, path: str) -> tuple[str, ...]:
        """Return the links on the way from `path` to what it stands for, and that itself if it is in the tree."""
        result: list[str] = []
        for _ in range(_HOPS_MAX):
            parts = path.split("/")
            link = next((p for p in ("/".join(parts[:n]) for n in range(1, len(parts) + 1)) if p in self.links), None)
            if link is None:
                return (*result, path)
            result.append(link)
            path = posixpath.normpath(posixpath.join(posixpath.dirname(link), self.links[link], path[len(link) + 1 :]))
            if path.startswith(("/", "..")) or path == ".":
                break
        return tuple(result)

    def files_named(self, text: str, folders: Iterable[str] = ("",)) -> tuple[str, ...]:
        """Return the files that words of a script or of settings name, seen from `folders`, with the links to them."""
        result: dict[str, None] = {}
        for word in dict.fromkeys(_WORD.findall(text)):
            for name in (word.strip("/"), word.partition("/")[2].strip("/")):
                for folder in folders if name else ():
                    places = self.places(posixpath.normpath(posixpath.join(folder, name)))
                    if places[-1] in self.paths:
                        result.update(dict.fromkeys(places))
        return tuple(result)

    def scripts_matching(self, text: str) -> tuple[str, ...]:
        """Return the shell scripts, by their endings, that a pattern in a command or a script means: `checks/*.sh`."""
        patterns = [word.removeprefix("./") for word in _PATTERN.findall(text) if "*" in word and "/" in word]
        scripts = (path for path in self.paths if path.endswith(_SCRIPTS)) if patterns else ()
        return tuple(sorted(path for path in scripts if any(fnmatchcase(path, each) for each in patterns)))
