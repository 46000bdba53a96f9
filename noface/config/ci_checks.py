"""What CI checks: its scripts taken apart into commands, followed through tox, nox, make and just to what they run.

A command becomes a check, something to install, or a remark that it was not taken over. Nothing is run.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from noface import data
from noface.config.ci_workflows import CiStep, read_steps, read_yaml
from noface.config.detection import GateKindName, Wanted, is_inner, scripts_in, table, text_of, texts
from noface.config.python_runners import session_runs, tool_scripts

_CI = data.table("ci")
_COMMANDS = tuple((each["kind"], each.get("of", ""), re.compile(each["pattern"])) for each in _CI["commands"])
_NAMES = tuple((each["kind"], re.compile(each["pattern"])) for each in _CI["names"])
_CONTROL = re.compile(
    r"^\s*(if|for|while|until|case|function|select)\b|<<-?\s*['\"]?\w|\$\(\(|^\s*\w+\s*\(\)", re.MULTILINE
)
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_VARIABLE = re.compile(r"\$(?!PWD\b)[\w{(@*]|\$\{\{|\{\{|`")
_TARGET = re.compile(
    r"^([\w./-]+)([ \t]+[^:\n]*?)?::?(?![=:])([^\n=]*)\n((?:\t.*\n?|[ ]{2,}.*\n?|[ \t]*\n)*)", re.MULTILINE
)
_ASIDE = re.compile(r"(examples?|docs?|website|site|benchmarks?)(/|$)")
_BUILT = re.compile(
    r"^(cmake|ctest|meson|ninja|autoreconf|\./(autogen|bootstrap|buildconf)(\.sh)?|(\.\./)?(\./)?configure|make\b)"
)
_DEPTH_MAX = 6
_VALUES = {
    "uv": (
        "--group",
        "--extra",
        "--with",
        "--python",
        "-p",
        "--package",
        "--directory",
        "--project",
        "--only-group",
        "--with-requirements",
    ),
    "uvx": ("--with", "--from", "--python", "-p"),
    "poetry": ("--with", "--extras", "-E", "--only"),
    "pdm": ("-p", "-G"),
    "npx": ("-p", "--package"),
    "coverage": ("--source", "--rcfile", "--data-file", "--omit", "--include", "--context", "--concurrency"),
}
_PACKAGE_MANAGERS = ("npm", "pnpm", "yarn", "bun")


@dataclass(frozen=True, slots=True)
class Check:
    """A command that CI runs on a change: `words` without what only starts it, `of` the ecosystem it runs in."""

    words: tuple[str, ...]
    kind: GateKindName
    of: str
    where: str
    folder: str = ""
    env: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The command as the shell reads it."""
        return " ".join(quoted(word) for word in self.words)

    @property
    def name(self) -> str:
        """What a gate of it is called: the tool, and its part."""
        program, *rest = self.words
        rest = rest[1:] if rest[:1] in (["run"], ["run-script"]) else rest
        parts = [
            word for word in rest[:1] if re.fullmatch(r"[A-Za-z][\w:-]*", word) and (program, word) != ("ruff", "check")
        ]
        with_part = program in {
            "npm",
            "pnpm",
            "yarn",
            "bun",
            "cargo",
            "go",
            "make",
            "just",
            "ruff",
            "deno",
            "task",
            "dotnet",
            "mix",
            "gradle",
            "./gradlew",
        }
        words = [program.rsplit("/", 1)[-1], *(parts if with_part else ())]
        return re.sub(r"[^A-Za-z0-9]+", "-", "-".join(words)).strip("-").lower()

    @property
    def why(self) -> str:
        """Where CI runs it."""
        return f"CI runs it ({self.where})"

    def shell(self, command: str) -> str:
        """Return a command as it runs at the top of a checkout: with the check's variables, in its folder."""
        variables = "".join(f"{name}={quoted(value)} " for name, value in self.env)
        return f"cd {quoted(self.folder)} && {variables}{command}" if self.folder else f"{variables}{command}"


@dataclass(frozen=True)
class Ci:
    """What CI checks, what it installs for that into Python's environment, and which commands were not understood."""

    checks: tuple[Check, ...] = ()
    wanted: Wanted = field(default_factory=Wanted)
    untaken: tuple[tuple[str, str], ...] = ()  # command, and where it stands
    built: tuple[
        tuple[str, str], ...
    ] = ()  # commands that configure, build and test in C's manner, and where they stand

    def tests(self, of: str) -> bool:
        """Tell whether there is a test of an ecosystem, or of the shell, which may be one of it."""
        return any(check.kind == "test" and check.of in {of, ""} for check in self.checks)


def quoted(word: str) -> str:
    """Return a word as the shell reads it; globs stay globs."""
    return word if re.fullmatch(r"[\w@%+=:,./*?\[\]~-]+", word) else shlex.quote(word)


def read_ci(root: Path) -> Ci:
    """Return what the project's CI checks; without any, what tox or nox run by themselves."""
    reader = _Reader(root)
    for step in read_steps(root):
        reader.step(step)
    if reader.checks and (root / ".pre-commit-config.yaml").is_file():
        reader.hooks(".pre-commit-config.yaml")
    if not reader.checks and not reader.built:
        for program, files in (("tox", ("tox.ini", "tox.toml")), ("nox", ("noxfile.py",))):
            if file := next((file for file in files if (root / file).is_file()), None):
                reader.step(CiStep(program, file))
                break
    return reader.result()


def make_targets(root: Path) -> tuple[str, dict[str, tuple[tuple[str, ...], tuple[str, ...]]]]:
    """Return the makefile's name, and of each target what it needs and its lines."""
    file = next((name for name in ("GNUmakefile", "makefile", "Makefile") if (root / name).is_file()), "")
    return file, _recipes(text_of(root / file)) if file else {}


def _recipes(text: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    found = {}
    for match in _TARGET.finditer(text.replace("\\\n", " ")):
        lines = tuple(
            line.strip().lstrip("@-")
            for line in match[4].split("\n")
            if line.strip() and not line.strip().startswith("#")
        )
        for name in (match[1], *(word for word in (match[2] or "").split() if re.fullmatch(r"[\w./-]+", word))):
            found[name] = (tuple(match[3].split("#")[0].split()), lines)
    return found


class _Reader:
    """Follows the commands of one project; what it finds is kept in order, and once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._make, self._targets = make_targets(root)
        just = next((name for name in ("justfile", "Justfile", ".justfile") if (root / name).is_file()), "")
        self._just = _recipes(text_of(root / just)) if just else {}
        self._scripts = tool_scripts(root)
        self.checks: dict[tuple[object, ...], Check] = {}
        self.wanted = Wanted()
        self._installs: dict[str, Wanted] = {}
        self.untaken: dict[str, str] = {}
        self.built: list[tuple[str, str]] = []

    def result(self) -> Ci:
        checks = tuple(self.checks.values())
        for where, wanted in self._installs.items():
            if any(check.where.partition(": ")[0] == where for check in checks):
                self.wanted += wanted
        return Ci(_without_doubles(checks), self.wanted, tuple(self.untaken.items()), tuple(dict.fromkeys(self.built)))

    def step(self, step: CiStep) -> None:
        if step.other:
            if not step.script or self._worth(step.script):
                self._leave(step.script or step.where, f"{step.where}: {step.other}")
            return
        if _CONTROL.search(step.script):
            if self._worth(step.script):
                first = next(line.strip() for line in step.script.split("\n") if line.strip())
                self.untaken.setdefault(step.where, f"a script with conditions: {first}")
            return
        self._lines(step.script, step.where, step.folder.strip("/").removeprefix("./"), dict(step.env), 0)

    def _worth(self, script: str) -> bool:
        """Tell whether a script that is not taken apart seems to check something."""
        lines = script.replace("\\\n", " ").split("\n")
        return any(
            _kind(" ".join(line.split())) is not None
            for line in lines
            if line.strip() and not line.lstrip().startswith("#")
        )

    def _leave(self, text: str, why: str) -> None:
        self.untaken.setdefault(" ".join(text.split()), why)

    def _lines(self, script: str, where: str, folder: str, env: Mapping[str, str], depth: int) -> None:
        at = folder
        script = re.sub(r"\$\{\{.*?\}\}", "$UNKNOWN", script)
        for line in script.replace("\\\n", " ").split("\n"):
            for words in _commands(line):
                if words[0] in {"cd", "pushd"} and len(words) > 1:
                    at = _joined(at, words[1])
                elif words[0] == "popd":
                    at = folder
                else:
                    self._command(words, where, at, env, depth)

    def _command(self, words: list[str], where: str, folder: str, env: Mapping[str, str], depth: int) -> None:
        words, env = self._bare(words, dict(env))
        if not words or depth > _DEPTH_MAX:
            return
        text = " ".join(words)
        kind = _kind(text)
        if self._followed(words, where, folder, depth):
            return
        if _BUILT.search(text) and not self._own_make(words, folder) and not (kind and kind[0] == ""):
            self.built.append((text, where))
            return
        if kind is None:
            kind = self._by_name(words, folder)
        if kind is None or (
            kind[0]
            and (
                _VARIABLE.search(_without_values(words))
                or not _inside(folder)
                or {"+nightly", "--target"} & set(words)
                or "--target=" in text
            )
        ):
            self._leave(" ".join(word for word in words if not _ASSIGNED.match(word)), where)
            return
        if kind[1] == "node" and folder and not self._installed_with_root(folder):
            self._leave(f"cd {folder} && {text}", where)
        elif kind[0]:
            self._take(Check(tuple(words), kind[0], kind[1], where, folder, tuple(env.items())))

    def _take(self, check: Check) -> None:
        words = _pytest_words(check.words) if check.words[0] == "pytest" else _quiet(check.words)
        check = replace(check, words=words)
        self.checks.setdefault((words, check.folder, check.env), check)

    def _bare(self, words: list[str], env: dict[str, str]) -> tuple[list[str], dict[str, str]]:
        """Return a command without its variables and what only starts it."""
        while words:
            program = words[0]
            if _ASSIGNED.match(program):
                name, _, value = program.partition("=")
                env |= (
                    {name: value} if not _VARIABLE.search(value) and not re.match(_CI["noise"]["pattern"], name) else {}
                )
                words = words[1:]
            elif program == "corepack":
                words = words[1:] if words[1:2] and words[1] in _PACKAGE_MANAGERS else []
            elif program in {"env", "time", "exec", "command", "xvfb-run", "nice", "bunx", "npx", "winpty"}:
                words = self._after_options(words, "npx")
            elif program in {"c8", "nyc"} and (inner := self._after_options(words, program)) and inner[0] != "report":
                words = inner
            elif program == "timeout":
                words = self._after_options(words, program)[1:]
            elif program == "uvx" or words[:3] == ["uv", "tool", "run"]:
                words = self._after_options(words if program == "uvx" else words[2:], "uvx")
            elif words[:2] in (["uv", "run"], ["poetry", "run"], ["pdm", "run"], ["rye", "run"], ["pipenv", "run"]):
                if words[0] in {"pdm", "rye"} and words[2:3] and words[2] in self._scripts:
                    break
                words = self._after_options(words[1:], words[0])
            elif words[:2] in (
                ["pnpm", "exec"],
                ["pnpm", "dlx"],
                ["yarn", "dlx"],
                ["yarn", "exec"],
                ["npm", "exec"],
                ["bun", "x"],
            ):
                words = self._after_options(words[1:], "npx")
                words = words[1:] if words[:1] == ["--"] else words
            elif (
                re.fullmatch(r"(\S*/)?python[\d.]*|\{envpython\}|py", program)
                and (module := _module(words)) is not None
            ):
                words = module
            elif program == "coverage" and words[1:2] == ["run"]:
                words = self._after_options(words[1:], "coverage", keep_module=True)
                words = words[1:] if words[:1] == ["-m"] else ["python", *words]
                if words[:1] == ["python"]:
                    break
            elif program == "py.test":
                words = ["pytest", *words[1:]]
            else:
                break
        return words, env

    def _after_options(self, words: list[str], program: str, *, keep_module: bool = False) -> list[str]:
        rest = words[1:]
        while rest and rest[0].startswith("-") and rest[0] != "-":
            option, _, value = rest[0].partition("=")
            if keep_module and option == "-m":
                break
            takes = option in _VALUES.get(program, ())
            given = value or (rest[1] if takes and len(rest) > 1 else "")
            if option in {"--all-extras", "--all-groups"}:
                self.wanted += Wanted(("*",), ()) if option == "--all-extras" else Wanted((), ("*",))
            if program in {"uv", "uvx", "poetry"} and given:
                self._want_option(option, given)
            if option in {"-m", "--module"} and program == "uv":
                return rest[1:]
            rest = rest[2:] if takes and not value else rest[1:]
            if option == "--":
                break
        return rest

    def _want_option(self, option: str, value: str) -> None:
        match option:
            case "--group" | "--only-group":
                self.wanted += Wanted(groups=(value,))
            case "--extra" | "--extras" | "-E":
                self.wanted += Wanted(extras=tuple(value.replace(",", " ").split()))
            case "--with" if not value.startswith("tox"):
                self.wanted += Wanted(items=tuple(value.split(",")))
            case _:
                pass

    def _followed(self, words: list[str], where: str, folder: str, depth: int) -> bool:
        """Follow a command that only leads to others; tell whether it did."""
        program = words[0]
        if (
            program in {"pip", "pip3"}
            or words[:2] == ["uv", "pip"]
            or words[:2] in (["uv", "sync"], ["poetry", "install"], ["pdm", "install"])
        ):
            place = where.partition(": ")[0]
            self._installs[place] = self._installs.get(place, Wanted()) + self._installed(words)
            return True
        if program in {"tox", "nox", "hatch"} or (program in {"pdm", "poe", "rye"} and len(words) > 1):
            runs = session_runs(self._root / folder if _inside(folder) else self._root, words, self._scripts)
            for run in runs:
                before = len(self.checks)
                for line in run.lines:
                    self._lines(line, f"{where}: {run.name}", folder, {}, depth + 1)
                # The same checks with other versions are known already; what more they need is not.
                known = any(
                    (kind := _kind(" ".join(self._bare(line.split(), {})[0]))) and kind[0] for line in run.lines
                )
                self.wanted += (
                    run.wanted if len(self.checks) > before else replace(run.wanted, items=()) if known else Wanted()
                )
            if not runs and program in {"tox", "nox"}:
                self._leave(" ".join(words), where)
            return bool(runs) or program in {"tox", "nox"}
        if program in {"pre-commit", "prek"}:
            self.hooks(where)
            return True
        if program in {"make", "gmake", "just"}:
            return self._recipe(
                program,
                [word for word in words[1:] if "=" not in word and not word.startswith("-")],
                where,
                folder,
                depth,
            )
        return False

    def _recipe(self, program: str, names: list[str], where: str, folder: str, depth: int) -> bool:
        """Follow targets whose lines are commands of Python's tools; what else they are runs as it is."""
        recipes = self._just if program == "just" else self._targets
        if folder or not names or not all(name in recipes for name in names):
            return False
        before = (dict(self.checks), self.wanted, dict(self.untaken), list(self.built))
        for name in names:
            needs, lines = recipes[name]
            for need in needs if program == "make" else ():
                if need in recipes and recipes[need][1] and not _is_setup(need):
                    self._recipe(program, [need], where, folder, depth + 1)
            for line in (re.sub(r"\{\{.*?\}\}", "", line) for line in lines):
                self._lines(line, f"{where}: {program} {name}", folder, {}, depth + 1)
        new = [check for key, check in self.checks.items() if key not in before[0]]
        whole = len(self.untaken) == len(before[2]) and len(self.built) == len(before[3])
        if (
            whole
            and all(check.of == "python" for check in new)
            and (new or any(_kind(line) for line in recipes[names[0]][1]))
        ):
            return True
        self.checks, self.wanted, self.untaken, self.built = before
        return False

    def _own_make(self, words: list[str], folder: str) -> bool:
        """Tell whether make has a makefile that is committed, which nothing has to be configured for."""
        return words[0] == "make" and bool(self._make) and not folder

    def _installed_with_root(self, folder: str) -> bool:
        """Tell whether an install at the top is one for a folder: a member of a JavaScript monorepo, or no package."""
        inner = self._root / folder
        own = (inner / "package.json").is_file()
        if own and _ASIDE.match(folder):
            return False
        locked = any(
            (inner / lock).is_file() for lock in ("package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock")
        )
        package = text_of(self._root / "package.json")
        return not own or (not locked and ('"workspaces"' in package or (self._root / "pnpm-workspace.yaml").is_file()))

    def _by_name(self, words: list[str], folder: str) -> tuple[Any, str] | None:
        """Return what a script of package.json, a target or a file of the project is by its name, or by its text."""
        program, rest = words[0], [word for word in words[1:] if not word.startswith("-")]
        if program in _PACKAGE_MANAGERS:
            name = next((word for word in rest if word not in {"run", "run-script"}), "")
            name = "test" if program == "npm" and rest[:1] in (["t"], ["tst"]) else name
            texts = scripts_in(self._root / folder if _inside(folder) else self._root)
            if name not in texts:
                of_member = any(
                    word in {"-r", "--recursive", "-w", "--workspaces", "--workspace", "--filter", "workspaces"}
                    or word.startswith(("--filter", "--workspace"))
                    for word in words
                )
                inner = _kind(" ".join(rest)) if program in {"yarn", "pnpm", "bun"} and rest and not of_member else None
                return (
                    inner
                    if inner and inner[1] == "node"
                    else (_named(name), "node")
                    if of_member and name and _named(name) is not None
                    else None
                )
            kind = _named(name)
            if kind is None:
                first = _kind(" ".join(self._bare(texts[name].split(), {})[0]))
                kind = first[0] if first else kind
            return (kind, "node") if kind is not None else None
        if program in {"make", "just", "task"} and rest:
            kind = _named(rest[0])
            return (kind, "") if kind is not None else None
        if program in {"make", "just"}:
            return ("build", "") if program == "make" else None
        file = next((word for word in words[:2] if "/" in word or word.endswith((".py", ".sh"))), "")
        if file and is_inner(file.removeprefix("./")) and (self._root / folder / file).is_file():
            kind = _named(Path(file).stem) or _named(file)
            return (kind, "python" if program.startswith("python") else "") if kind is not None else None
        return None

    def _installed(self, words: list[str]) -> Wanted:
        """Return what an install by CI names: extras, groups, files and packages."""
        managed = words[:2] != ["uv", "pip"] and words[0] not in {"pip", "pip3"}
        if not managed and "install" not in words:
            return Wanted()
        rest = words[words.index("install") + 1 :] if "install" in words else words[2:]
        wanted, index = Wanted(), 0
        while index < len(rest):
            word, value = rest[index], rest[index + 1] if index + 1 < len(rest) else ""
            option, _, given = word.partition("=")
            index += 1
            if (
                option
                in {
                    "-r",
                    "--requirement",
                    "--group",
                    "--extra",
                    "--extras",
                    "-E",
                    "--with",
                    "-G",
                    "-c",
                    "--constraint",
                    "-i",
                    "--index-url",
                    "--python",
                    "-p",
                    "--no-binary",
                    "--only-binary",
                    "-e",
                }
                and not given
            ):
                index += option != "-e"
            target = given or value
            if _VARIABLE.search(word) or _VARIABLE.search(target if option.startswith("-") else ""):
                continue
            if option in {"-r", "--requirement"} and (self._root / target).is_file() and is_inner(target):
                wanted += Wanted(items=(f"-r {target}",))
            elif option == "--all-extras":
                wanted += Wanted(extras=("*",))
            elif option == "--all-groups":
                wanted += Wanted(groups=("*",))
            elif option == "--group" or (managed and option in {"--with", "-G"}):
                wanted += Wanted(groups=tuple(target.split(",")))
            elif option in {"--extra", "--extras", "-E"}:
                wanted += Wanted(extras=tuple(target.replace(",", " ").split()))
            elif match := re.fullmatch(r"\.(?:/)?\[([\w,. -]+)\]", word):
                wanted += Wanted(extras=tuple(name.strip() for name in match[1].split(",")))
            elif (
                not managed
                and re.match(r"[A-Za-z][\w.-]*(\[[\w,-]+\])?\s*([<>=!~].*)?$", word)
                and word
                not in {
                    "install",
                    "pip",
                    "setuptools",
                    "wheel",
                    "tox",
                    "nox",
                    "build",
                    "twine",
                    "uv",
                    "poetry",
                    "hatch",
                    "coveralls",
                    "codecov",
                    "pipenv",
                    "tox-gh-actions",
                    "virtualenv",
                }
            ):
                wanted += Wanted(items=(word,))
        return wanted

    def hooks(self, where: str) -> None:
        """Take the hooks of pre-commit whose tools are known, as commands that change nothing."""
        repos = read_yaml(self._root / ".pre-commit-config.yaml").get("repos")
        listed = [table(repo).get("hooks") for repo in repos] if isinstance(repos, list) else []
        left = []
        for hook in (hook for hooks in listed if isinstance(hooks, list) for hook in hooks if isinstance(hook, dict)):
            name = str(hook.get("id"))
            if name not in _CI["hooks"]:
                left.append(name)
                continue
            base = shlex.split(_CI["hooks"][name])
            start, places = (base[:-1], base[-1:]) if base[-1] == "." else (base, [])
            self.wanted += Wanted(
                items=tuple(item for item in texts(hook.get("additional_dependencies")) if item[:1].isalpha())
            )
            if any(list(check.words[: len(start)]) == start for check in self.checks.values()):
                continue
            given = [word for word in texts(hook.get("args")) if not re.match(_CI["hook_mends"]["pattern"], word)]
            places = list(_folders(self._root, str(hook.get("files") or ""))) if name == "mypy" else places
            self._take(Check((*start, *given, *places), "lint", "python", f"{where}: {name}"))
        if left and not any(text.startswith("pre-commit") for text in self.untaken):
            self._leave("pre-commit run --all-files", f"{where}; its hooks {', '.join(dict.fromkeys(left))}")


def _folders(root: Path, pattern: str) -> tuple[str, ...]:
    """Return the folders that the pattern of a hook's files names, none where it names something else."""
    match = re.fullmatch(r"\^?\(?([\w./|-]+?)\)?/?(\.\*)?\$?", pattern)
    names = [name.strip("/") for name in match[1].split("|")] if match else []
    return tuple(names) if names and all(is_inner(name) and (root / name).exists() for name in names) else ()


def _quiet(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without what only has it say more, and without options that are empty."""
    if words[0] not in {"cargo", "go"}:
        return words
    kept = [word for word in words if not re.fullmatch(r"-vv?|--verbose|-cover(profile=.*|mode=.*)?", word)]
    return tuple(
        word
        for index, word in enumerate(kept)
        if word and not (word == "--features" and not "".join(kept[index + 1 : index + 2]))
    )


def _without_values(words: list[str]) -> str:
    return " ".join(words) if words[0] != "pytest" else ""


def _without_doubles(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """Leave out what another check does anyway: a build of what its tests build, the same tests with their coverage."""
    all_words = {(check.words, check.folder) for check in checks}

    def is_double(check: Check) -> bool:
        words = check.words
        less = tuple(word for word in words if not word.startswith("--coverage"))
        if less != words and (less, check.folder) in all_words:
            return True
        builds = words[0] in {"cargo", "go"} and words[1:2] in (("build",), ("check",))
        return builds and ((words[0], "test", *words[2:]), check.folder) in all_words

    # The same command with other variables tries other versions, which an earlier step installs.
    plainest: dict[object, Check] = {}
    for check in checks:
        known = plainest.setdefault((check.words, check.folder), check)
        if len(check.env) < len(known.env):
            plainest[check.words, check.folder] = check
    return tuple(check for check in plainest.values() if not is_double(check))


def _joined(folder: str, to: str) -> str:
    if _VARIABLE.search(to):
        return "?"
    if to.startswith("/"):
        return "?"
    parts: list[str] = [part for part in folder.split("/") if part]
    for part in to.split("/"):
        if part == "..":
            if not parts:
                return "?"
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _inside(folder: str) -> bool:
    return not folder or ("?" not in folder and "$" not in folder and is_inner(folder))


def _module(words: list[str]) -> list[str] | None:
    """Return what `python -m` starts, None where it starts something else."""
    rest = words[1:]
    while rest and re.fullmatch(r"-[a-zA-Z]+", rest[0]):
        option = rest[0]
        if option.endswith("m"):
            return rest[1:]
        if option.endswith("c"):
            return None
        rest = rest[2:] if option[-1] in "WX" else rest[1:]
    return None


def _kind(text: str) -> tuple[Any, str] | None:
    """Return kind and ecosystem of a command, kind "" if it checks nothing; None where nothing knows it."""
    return next(((kind, of) for kind, of, pattern in _COMMANDS if pattern.search(text)), None)


def _named(name: str) -> str | None:
    return next((kind for kind, pattern in _NAMES if pattern.search(name)), None)


def _is_setup(name: str) -> bool:
    return _named(name) == ""


def _commands(line: str) -> Iterator[list[str]]:
    """Yield the simple commands of a line of shell, as words; a pipe's first command stands for it."""
    text = line.strip()
    if not text or text.startswith("#"):
        return
    try:
        lexer = shlex.shlex(text, posix=True, punctuation_chars="();<>|&")
        lexer.whitespace_split = True
        tokens = list(lexer)
    except ValueError:
        return
    words: list[str] = []
    skipping = False
    for token in [*tokens, ";"]:
        if token in {";", "&&", "||", "&", "(", ")", "|"}:
            if words:
                yield words
            words, skipping = [], token in {"|", "||"}
        elif re.fullmatch(r"[<>&]+", token):
            skipping = True
            words = words[:-1] if words and words[-1].isdigit() else words
        elif not skipping:
            words.append(token)


def _pytest_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return pytest's words without those that only say how it prints, measures or hurries."""
    drop, takes = _CI["pytest"]["drop"], _CI["pytest"]["takes"]
    kept: list[str] = []
    skip = False
    for index, word in enumerate(words[1:], 1):
        if skip:
            skip = False
        elif re.match(drop, word) or "{" in word or _VARIABLE.search(word):
            skip = re.match(takes, word) is not None and index + 1 < len(words) and not words[index + 1].startswith("-")
        elif word not in {".", "./"}:
            kept.append(word)
    return ("pytest", "-q", *kept)
