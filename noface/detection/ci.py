"""What CI checks: its scripts taken apart into commands, followed through tox, nox, make and just to what they run.

A command becomes a check, something to install, or a remark that it was not taken over. Nothing is run.
"""

import re
from dataclasses import replace
from pathlib import Path

from noface.detection.checks import Ci, CiCheck, Kind, kind_by_name, kind_of, looking_only, plain_words, without_doubles
from noface.detection.detected import CI, CiStep, Needs, RunnerSession
from noface.detection.files import is_inner, scripts_in, text_of
from noface.detection.recipes import PRE_COMMIT_FILE, hooks_of, just_recipes, make_targets
from noface.detection.sessions import sessions_of, tool_scripts
from noface.detection.shell import (
    ASSIGNED,
    CONTROL,
    VARIABLE,
    assigned,
    filled_in,
    in_folder,
    inside,
    joined_folder,
    literal,
    plain,
    quoted,
    settled,
    simple_commands,
)
from noface.detection.starters import bare, installed, is_install
from noface.detection.workflows import read_steps

_ASIDE = re.compile(r"(examples?|docs?|website|site|benchmarks?)(/|$)")
_BUILT = re.compile(
    r"^(cmake|ctest|meson|ninja|autoreconf|\./(autogen|bootstrap|buildconf)(\.sh)?|(\.\./)?(\./)?configure|make\b)"
)
_INSTALLS = re.compile(r"\b(pip3?|uv|poetry|pdm)\b.*\b(install|sync)\b")
_BROWSER = re.compile(CI["browsers"]["pattern"])
_PARTS = re.compile(r"[;|&]+|\$\(|^\s*(?:if|elif|while|until)\s|\b(?:then|else|do)\s|\bxargs(?:\s+-\S+)*\s")
_LOCKS = ("package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock")
_FILE = re.compile(r"(?!-)[\w./-]*\w\.\w+")
_MEMBERS = ("-r", "--recursive", "-w", "--workspaces", "--workspace", "--filter", "workspaces")
_DEPTH_MAX = 6


def read_ci(root: Path) -> Ci:
    """Return what the project's CI checks; without any, what tox or nox run by themselves."""
    reader = _CiReader(root)
    for step in read_steps(root):
        reader.step(step)
    if reader.checks and (root / PRE_COMMIT_FILE).is_file():
        reader.hooks(PRE_COMMIT_FILE)
    if not reader.checks and not reader.built:
        for program, files in (("tox", ("tox.ini", "tox.toml")), ("nox", ("noxfile.py",))):
            if file := next((file for file in files if (root / file).is_file()), None):
                reader.step(CiStep(program, file))
                break
    return reader.result()


class _CiReader:
    """Follows the commands of one project; what it finds is kept in order, and once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._targets = make_targets(root)[1]
        self._just = just_recipes(root)
        self._scripts = tool_scripts(root)
        self.checks: dict[tuple[object, ...], CiCheck] = {}
        self.wanted = Needs()
        self._installs: dict[str, Needs] = {}
        self.untaken: dict[str, str] = {}
        self.built: list[tuple[str, str]] = []
        self._unknown: list[CiCheck] = []

    def result(self) -> Ci:
        for check in self._unknown:
            if any(self._makes_for(check, other) for other in self.checks.values()):
                self.untaken.pop(check.text, None)
                self._take(check)
        checks = tuple(self.checks.values())
        plain = tuple(check for check in checks if not self._in_browser(check))
        if any(check.kind == "test" for check in plain):
            for check in checks:
                if check not in plain:
                    self._leave(check.text, f"{check.where}; it needs a browser")
            checks = plain
        for where, wanted in self._installs.items():
            # What jobs install that check nothing, such as one that builds the documentation, no gate needs.
            if any(check.where.partition(": ")[0] == where for check in checks):
                self.wanted += wanted
        return Ci(without_doubles(checks), self.wanted, tuple(self.untaken.items()), tuple(dict.fromkeys(self.built)))

    def step(self, step: CiStep) -> None:
        if step.other:
            if not step.script:
                self._leave(step.other, f"{step.where}: a workflow of another repository")
            elif self._may_check(step.script):
                self._leave(step.script, f"{step.where}: {step.other}")
            return
        script = settled(step.script)
        if CONTROL.search(script):
            if self._may_check(script):
                first = next(line.strip() for line in script.split("\n") if line.strip())
                self._leave(f"{first} …", f"{step.where}: a script with conditions")
        else:
            self._lines(replace(step, script=script, folder=step.folder.strip("/").removeprefix("./")), 0)

    def _makes_for(self, check: CiCheck, other: CiCheck) -> bool:
        """True if a command names a file that is not there yet, and that a check of the same job names too."""
        shared = {word for word in check.words if _FILE.fullmatch(word)}.intersection(other.words)
        same = (check.where, check.folder) == (other.where, other.folder)
        return same and any(not (self._root / check.folder / word).exists() for word in shared)

    def _in_browser(self, check: CiCheck) -> bool:
        """True if a check starts a browser, which is seldom there and never in a sandbox."""
        scripts = scripts_in(self._root / check.folder) if check.of == "node" and inside(check.folder) else {}
        texts = (check.text, *(scripts[word] for word in check.words if word in scripts))
        return any(_BROWSER.search(text) for text in texts)

    def hooks(self, where: str) -> None:
        """Take the hooks of pre-commit."""
        left = []
        for hook in hooks_of(self._root):
            self.wanted += Needs(items=hook.needs)
            if not hook.start:
                left.append(hook.name)
            elif all(check.words[: len(hook.start)] != hook.start for check in self.checks.values()):
                self._take(CiCheck(tuple(map(literal, hook.words)), "lint", "python", f"{where}: {hook.name}"))
        if left and not any(text.startswith("pre-commit") for text in self.untaken):
            self._leave("pre-commit run --all-files", f"{where}; its hooks {', '.join(dict.fromkeys(left))}")

    def _leave(self, text: str, why: str) -> None:
        self.untaken.setdefault(" ".join(text.split()), why)

    def _lines(self, step: CiStep, depth: int) -> None:
        at = step.folder
        # What only a run knows becomes a variable: a command with one becomes a remark, and no gate.
        script = re.sub(r"\$\{\{.*?\}\}", "$UNKNOWN", step.script)
        for line in script.replace("\\\n", " ").split("\n"):
            for words in simple_commands(line):
                if words[0] in {"cd", "pushd"} and len(words) > 1:
                    at = joined_folder(at, words[1])
                elif words[0] == "popd":
                    at = step.folder
                else:
                    self._command(words, replace(step, folder=at), depth)

    def _command(self, given: list[str], step: CiStep, depth: int) -> None:
        command = bare(given, dict(step.env), self._scripts)
        self.wanted += command.wanted
        words, folder = in_folder(command.words, step.folder)
        step, where = replace(step, folder=folder), step.where
        words = looking_only(self._without_setup(words, step, depth))
        if not words or depth > _DEPTH_MAX:
            return
        text = " ".join(words)
        kind = kind_of(text)
        if self._followed(words, step, depth):
            return
        # A makefile that is committed needs nothing to be configured for it.
        own_make = words[0] == "make" and inside(folder) and make_targets(self._root / folder)[0] != ""
        if _BUILT.search(text) and not own_make and not (kind and kind[0] == ""):
            self.built.append((text, where))
            return
        if kind is None:
            kind = self._by_name(words, folder)
            if kind is not None and not kind[0]:
                self._follow_file(words, step)
        if kind is None or (kind[0] and _depends(words, folder)):
            self._leave(_typed(given, folder), where)
            if kind is None and inside(folder) and not _depends(words, folder):
                of = "node" if words[0] in CI["package_managers"] else ""
                self._unknown.append(CiCheck(tuple(words), "build", of, where, folder, tuple(command.env.items())))
        elif kind[1] == "node" and folder and not self._installed_with_root(folder):
            self._leave(_typed(words, folder), where)
        elif kind[0]:
            self._take(CiCheck(tuple(words), kind[0], kind[1], where, folder, tuple(command.env.items())))

    def _take(self, check: CiCheck) -> None:
        words = plain_words(check.words)
        # `npm test` and `npm run test` are one check.
        same = tuple(word for word in words if word != "run") if words[0] in CI["package_managers"] else words
        self.checks.setdefault((same, check.folder, check.env), replace(check, words=words))

    def _followed(self, words: list[str], step: CiStep, depth: int) -> bool:
        """Follow a command that only leads to others; tell whether it did."""
        program, where, folder = words[0], step.where, step.folder
        if is_install(words):
            place = where.partition(": ")[0]
            self._installs[place] = self._installs.get(place, Needs()) + installed(self._root, [*map(plain, words)])
            return True
        if program in {"tox", "nox", "hatch"} or (program in {"pdm", "poe", "rye"} and len(words) > 1):
            sessions = sessions_of(self._root / folder if inside(folder) else self._root, words, self._scripts)
            for session in sessions:
                self._session(session, step, depth)
            if not sessions and program in {"tox", "nox"}:
                self._leave(_typed(words, folder), where)
            return bool(sessions) or program in {"tox", "nox"}
        if program in {"pre-commit", "prek"}:
            self.hooks(where)
            return True
        if program in {"make", "gmake", "just"}:
            names = [word for word in words[1:] if "=" not in word and not word.startswith("-")]
            return self._recipe(program, names, step, depth)
        return False

    def _session(self, session: RunnerSession, step: CiStep, depth: int) -> None:
        before, folder = len(self.checks), step.folder
        at = joined_folder(folder, session.folder) if inside(folder) else folder
        for line in session.lines:
            self._lines(CiStep(line, f"{step.where}: {session.name}", at), depth + 1)
        if len(self.checks) > before:
            self.wanted += session.wanted
        elif any(self._checks(line) for line in session.lines):
            # The same checks with other versions are known already; what more they need is not.
            self.wanted += replace(session.wanted, items=())

    def _checks(self, line: str) -> bool:
        return bool((kind_of(" ".join(bare(line.split(), {}, self._scripts).words)) or ("",))[0])

    def _may_check(self, script: str) -> bool:
        """True if a script that is not taken apart seems to check something."""
        lines = (line for line in script.replace("\\\n", " ").split("\n") if not line.lstrip().startswith("#"))
        commands = (bare(part.split(), {}, self._scripts).words for line in lines for part in _PARTS.split(line))
        kinds = (kind_of(" ".join(words)) or self._by_name(words, "") for words in commands if words)
        return any(kind is not None and kind[0] != "" for kind in kinds)

    def _follow_file(self, words: list[str], step: CiStep) -> None:
        """Read what a script of the project installs; what it asks before it does is not worked out."""
        values: dict[str, str] = {}
        known = inside(step.folder) and is_inner(words[0].removeprefix("./"))
        text = text_of(self._root / step.folder / words[0]) if known else ""
        for line in text.replace("\\\n", " ").split("\n"):
            filled = filled_in(line.strip(), values)
            values |= assigned(filled)
            if _INSTALLS.search(filled):
                # As deep as it goes: what this line installs counts, and no tox or make behind it is followed.
                self._lines(CiStep(filled, step.where, step.folder), _DEPTH_MAX)

    def _recipe(self, program: str, names: list[str], step: CiStep, depth: int) -> bool:
        """Follow targets whose lines are commands of Python's tools; what else they are runs as it is."""
        recipes = self._just if program == "just" else self._targets
        if step.folder or not names or not all(name in recipes for name in names):
            return False
        # A recipe that is understood in part runs as `make NAME`: what was read of it is taken back then.
        before = (dict(self.checks), self.wanted, dict(self.untaken), list(self.built))
        for name in names:
            needs, lines = recipes[name]
            for need in needs if program == "make" else ():
                if need in recipes and recipes[need][1] and kind_by_name(need) != "":
                    self._recipe(program, [need], step, depth + 1)
            for line in (re.sub(r"\{\{.*?\}\}", "", line) for line in lines):
                self._lines(CiStep(line, f"{step.where}: {program} {name}"), depth + 1)
        new = [check for key, check in self.checks.items() if key not in before[0]]
        whole = len(self.untaken) == len(before[2]) and len(self.built) == len(before[3])
        known = new or any(kind_of(line) for line in recipes[names[0]][1])
        if whole and known and all(check.of == "python" for check in new):
            return True
        self.checks, self.wanted, self.untaken, self.built = before
        return False

    def _without_setup(self, words: list[str], step: CiStep, depth: int) -> list[str]:
        """Return a call of make without the targets that only install, if others remain; those are followed."""
        setups = [word for word in words[1:] if kind_by_name(word) == ""]
        rest = [word for word in words if word not in setups]
        if words[:1] not in (["make"], ["gmake"], ["just"]) or all(word.startswith("-") for word in rest[1:]):
            return words
        for name in setups:
            self._recipe(words[0], [name], step, depth)
        return rest

    def _installed_with_root(self, folder: str) -> bool:
        """True if an install at the top is one for a folder: a member of a JavaScript monorepo, or no package."""
        inner = self._root / folder
        own = (inner / "package.json").is_file()
        if own and _ASIDE.match(folder):
            return False
        locked = any((inner / lock).is_file() for lock in _LOCKS)
        package = text_of(self._root / "package.json")
        return not own or (not locked and ('"workspaces"' in package or (self._root / "pnpm-workspace.yaml").is_file()))

    def _by_name(self, words: list[str], folder: str) -> Kind | None:
        """Return what a script of package.json, a target or a file of the project is by its name, or by its text."""
        program, rest = words[0], [word for word in words[1:] if not word.startswith("-")]
        if program in CI["package_managers"]:
            return self._script(words, rest, folder)
        if program in {"make", "just", "task"}:
            target = next((word for word in rest if not ASSIGNED.match(word)), "")
            by_folder = _of_name(folder.rpartition("/")[2], "") if folder else None
            if target or folder:
                return (_of_name(target, "") if target else None) or by_folder
            return ("build", "") if program == "make" else None
        file = next((word for word in words[:2] if "/" in word or word.endswith((".py", ".sh"))), "")
        if file and is_inner(file.removeprefix("./")) and (self._root / folder / file).is_file():
            kind = kind_by_name(Path(file).stem) or kind_by_name(file)
            return None if kind is None else (kind, "python" if program.startswith("python") else "")
        return None

    def _script(self, words: list[str], rest: list[str], folder: str) -> Kind | None:
        """Return what a call of npm and its like checks: a script, a program of a package, or scripts of members."""
        program = words[0]
        name = next((word for word in rest if word not in {"run", "run-script"}), "")
        name = "test" if program == "npm" and rest[:1] in (["t"], ["tst"]) else name
        scripts = scripts_in(self._root / folder if inside(folder) else self._root)
        if name in scripts:
            if (kind := _of_name(name, "node")) is not None:
                return kind
            by_text = kind_of(" ".join(bare(scripts[name].split(), {}, self._scripts).words))
            return (by_text[0], "node") if by_text else None
        if any(word in _MEMBERS or word.startswith(("--filter", "--workspace")) for word in words):
            return _of_name(name, "node") if name else None
        inner = kind_of(" ".join(rest)) if program != "npm" and rest else None
        return inner if inner and inner[1] == "node" else None


def _typed(words: list[str], folder: str) -> str:
    """Return a command as a person may type it, without the variables before it."""
    first = next((index for index, word in enumerate(words) if not ASSIGNED.match(word)), 0)
    text = " ".join(word if re.fullmatch(r"[\w/.${}=-]+", word) else quoted(word) for word in words[first:])
    return f"cd {quoted(folder)} && {text}" if inside(folder) and folder else text


def _depends(words: list[str], folder: str) -> bool:
    """True if a check depends on what files do not say, or needs another toolchain."""
    variable = words[0] != "pytest" and VARIABLE.search(" ".join(words)) is not None
    return variable or not inside(folder) or any(word.partition("=")[0] in {"+nightly", "--target"} for word in words)


def _of_name(name: str, of: str) -> Kind | None:
    kind = kind_by_name(name)
    return None if kind is None else (kind, of)
