"""Finds a project's own commands, and writes them into the noface.toml that `noface init` makes.

What CI runs comes first, then what the files at the top say; nothing is run. The result is a suggestion for a person to
check: `init` runs the gates on main before it trusts them.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from shlex import quote

from noface import data
from noface.config.edit import toml_text
from noface.detection.checks import Ci
from noface.detection.ci import read_ci
from noface.detection.detected import CI, DetectedGate, DetectedSetup, Detection, Surroundings, joined
from noface.detection.files import ignore_lines, is_committed, is_inner, present, text_of, toml_of
from noface.detection.node import detect_node
from noface.detection.python import detect_python, environment
from noface.detection.recipes import make_targets
from noface.detection.shell import quoted, simple_commands
from noface.detection.toolchains import toolchain_notes

_MODELS = ("claude-sonnet", "claude-opus")
_CARGO_WHY = (
    "Fetches what Cargo.lock names, so that gates find it there; what they build lies in the workspace and is gone\n"
    "with its next checkout. Runs again when a file of setup_inputs changes."
)
_GO_WHY = "Downloads what the modules need, so that gates find it there; again when a file of setup_inputs changes."
_COMMENT_WIDTH_MAX = 108
_USE = re.compile(r"^\s*(?:use\s+)?(\./?[^\s()]*)\s*(?://.*)?$", re.MULTILINE)


def _cargo(root: Path, ci: Ci) -> Detection:
    if not (root / "Cargo.toml").is_file():
        return Detection()
    manifest = toml_of(root / "Cargo.toml")
    locked = is_committed(root, "Cargo.lock")
    # A target folder that all checkouts share would hold what an agent has built.
    here = ["--locked", "--target-dir", "target"] if locked else []
    words = ["cargo", "test", *(["--workspace"] if {"workspace", "package"} <= manifest.keys() else []), *here]
    gates = tuple(_of_ci(ci, "cargo", here))
    if not ci.tests("cargo"):
        gates = (DetectedGate("cargo-test", " ".join(words), "test", "Cargo.toml is there", ("cargo",)), *gates)
    configuration = present(root, (".cargo/config.toml", ".cargo/config"))
    vendored = any("vendored-sources" in text_of(root / file) for file in configuration)
    if not locked or vendored:
        return Detection(gates)
    inputs = ("Cargo.lock", "**/Cargo.toml", *present(root, ("rust-toolchain", "rust-toolchain.toml")), *configuration)
    return Detection(gates, (DetectedSetup("cargo fetch --locked", inputs, (), _CARGO_WHY, ("cargo",)),))


def _of_ci(ci: Ci, of: str, more: Sequence[str] = ()) -> Iterator[DetectedGate]:
    """Yield what CI runs in an ecosystem; `more` are options for cargo's commands that build."""
    for check in ci.checks:
        if check.of != of:
            continue
        program, *rest = check.words
        builds = rest[:1] and rest[0] in {"test", "check", "clippy", "build", "doc"}
        command = " ".join((quoted(program), *map(quoted, rest[:1]), *(more if builds else ()), *map(quoted, rest[1:])))
        part = f"cargo-{rest[0]}" if program == "cargo" and rest else ""
        needs = (program, *((part,) if part and rest[0] not in _CARGOS_OWN else ())) if "/" not in program else ()
        yield DetectedGate(check.name, check.shell(command), check.kind, check.why, needs)


def _go(root: Path, ci: Ci) -> Detection:
    files = present(root, ("go.mod", "go.work"))
    if not files:
        return Detection()
    # `./...` alone does not reach the modules of a go.work.
    used = (place.rstrip("/") for place in _USE.findall(text_of(root / "go.work")))
    inner = [place for place in dict.fromkeys(used) if place == "." or is_inner(place)]
    places = " ".join(quote(f"{place}/...") for place in inner) or "./..."
    gates = tuple(_of_ci(ci, "go"))
    if not ci.tests("go"):
        gates = (DetectedGate("go-test", f"go test {places}", "test", f"{files[-1]} is there", ("go",)), *gates)
    if not ci.checks:
        gates = (*gates, DetectedGate("go-vet", f"go vet {places}", "lint", f"{files[-1]} is there", ("go",)))
    if (root / "vendor" / "modules.txt").is_file() or not (is_committed(root, "go.sum") or "go.work" in files):
        return Detection(gates)
    inputs = ("**/go.mod", "**/go.sum", *present(root, ("go.work", "go.work.sum")))
    return Detection(gates, (DetectedSetup("go mod download", inputs, (), _GO_WHY, ("go",)),))


_ANYWHERE = Surroundings()
_MANIFESTS = ("pyproject.toml", "setup.py", "package.json", "Cargo.toml", "go.mod", "pom.xml", "CMakeLists.txt")
_FOLDERS_MAX = 8
_UNTAKEN_MAX = 12
_NAMED_MAX = 3
_CARGOS_OWN = ("test", "check", "build", "doc", "rustdoc", "bench", "run")
_DEFINED = re.compile(r"-D\w+(:\w+)?=[\w./+-]+")
_TEST_OPTION = re.compile(
    r"^\s*option\s*\(\s*(\w*(?:BUILD|ENABLE|WITH)_TEST(?:S|ING)?)\s+\"[^\"]*\"\s+OFF", re.MULTILINE | re.IGNORECASE
)
_RUNS_TESTS = re.compile(r"ctest\b|(make|ninja)\b.*\s(test|check)$|cmake --build .*\s(-t|--target)[ =](test|check)\b")
_WATCHES = re.compile(r"COMPILER|SANITI|FUZZ|COVERAGE|VALGRIND|TOOLCHAIN", re.IGNORECASE)
_CTESTS = re.compile(r"^\s*(enable_testing|include\s*\(\s*CTest|add_test)\b", re.IGNORECASE | re.MULTILINE)


def detect(root: Path, surroundings: Surroundings = _ANYWHERE) -> Detection:
    """Look at the project at `root` and return the gates and the setup it probably wants.

    What CI runs comes first; if that is not known, the project's files say it. What needs a program that is not
    there is among them, and marked so.
    """
    ci = read_ci(root)
    detection = detect_python(root, surroundings, ci) + detect_node(root, surroundings, ci)
    detection += _cargo(root, ci) + _go(root, ci) + (Detection() if ci.tests("") else _wrapped(root))
    first = environment(detection)
    detection += Detection(tuple(replace(gate, command=f"{first}{gate.command}") for gate in _of_ci(ci, "")))
    detection += _make(root, ci, detection)
    native = _native_build(root, ci, detection)
    left = (*ci.untaken, *(() if native.gates else ci.built))
    detection += native
    if not detection.gates and not detection.setups:
        detection = _in_folders(root, surroundings)
        detection += Detection() if detection.gates else _made(root)
    # What builds comes first: a red build keeps the gates after it from running.
    gates = tuple(_named_once(sorted(detection.gates, key=lambda gate: gate.kind != "build")))
    detection = replace(detection, gates=gates, notes=(*detection.notes, *_untaken(left), *_unread(root, ci)))
    return detection + Detection(notes=tuple(toolchain_notes(root, surroundings))) + _missing(detection, surroundings)


def _named_once(gates: Iterable[DetectedGate]) -> Iterator[DetectedGate]:
    names: dict[str, int] = {}
    commands = set()
    for gate in gates:
        if gate.command in commands:
            continue
        commands.add(gate.command)
        names[gate.name] = names.get(gate.name, 0) + 1
        yield replace(gate, name=f"{gate.name}-{names[gate.name]}") if names[gate.name] > 1 else gate


def _unread(root: Path, ci: Ci) -> Iterator[str]:
    """Name the CI of a kind that is not read, if nothing that is read checks anything."""
    if (files := present(root, CI["unread"])) and not ci.checks and not ci.built:
        yield f"CI is described in {', '.join(files)}, which is not read: compare the gates with it."


def _untaken(commands: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Say what CI runs besides, a job at a time: what a job does in many steps is one thing to look at."""
    jobs: dict[str, list[str]] = {}
    for what, where in commands:
        jobs.setdefault(where, []).append(what)
    for where, each in islice(jobs.items(), _UNTAKEN_MAX):
        named = ", ".join(f"`{what}`" for what in each[:_NAMED_MAX])
        more = f" and {len(each) - _NAMED_MAX} more" if len(each) > _NAMED_MAX else ""
        them, one, hold = ("it", "one", "it must hold") if len(each) == 1 else ("them", "gates", "they must hold")
        yield f"CI also runs {named}{more} ({where}): no gate does. Add {them} as {one} if {hold}."
    if left := sum(map(len, list(jobs.values())[_UNTAKEN_MAX:])):
        yield f"CI runs {left} further commands that no gate does."


def _missing(detection: Detection, surroundings: Surroundings) -> Detection:
    """Say which programs are not there. What only a part of the checks needs is left to a person, as a comment."""
    needs = [*(gate.needs for gate in detection.gates), *(setup.needs for setup in detection.setups)]
    programs = dict.fromkeys(program for each in needs for program in each)
    missing = [program for program in programs if not surroundings.has(program)]
    tested = any(gate.kind == "test" and not set(missing) & set(gate.needs) for gate in detection.gates)
    extra = frozenset(program for program in missing if not _carries(detection, program, tested=tested))
    notes = []
    for program in missing:
        gates = ", ".join(f"`{gate.command}`" for gate in detection.gates if program in gate.needs) or "none"
        written = "in comments: take the # away then" if program in extra else "as they are, and can't pass until then"
        notes.append(f"{program} is not installed; with it the gates would be {gates}. They are written {written}.")
    return Detection(notes=tuple(notes), missing=extra)


def _carries(detection: Detection, program: str, *, tested: bool) -> bool:
    """True if the setup, a build or, if no others are left, tests need a program."""
    kinds = {"build"} if tested else {"build", "test"}
    gates = (gate.needs for gate in detection.gates if gate.kind in kinds)
    return any(program in needs for needs in (*gates, *(setup.needs for setup in detection.setups)))


def _wrapped(root: Path) -> Detection:
    gates = []
    for entry in data.table("ecosystems")["wrapped"]:
        file = next((file for file in entry["files"] if (root / file).is_file()), None)
        if file is None:
            continue
        wrapped, program = (root / entry["wrapper"]).is_file(), entry["program"]
        start = f"./{entry['wrapper']}" if wrapped else program
        needs = () if wrapped else (program,)
        command = f"{start} {entry['arguments']}"
        gates.append(DetectedGate(f"{program}-test", command, "test", f"{file} is there", needs))
    return Detection(tuple(gates))


def _programs(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the tools that the lines of a target call by their names."""
    called = (words[0] for line in lines for words in simple_commands(line))
    linters = data.table("programs")["linters"]
    return tuple(dict.fromkeys(program for program in called if program in linters))


def _make(root: Path, ci: Ci, detection: Detection) -> Detection:
    """Take make's targets for what nothing more specific does; `check` only if there is no test at all.

    What is not linted in CI may never have been clean.
    """
    file, targets = make_targets(root)
    if not file or (root / "CMakeLists.txt").is_file():
        return Detection()
    first = environment(detection)
    gates = []
    if "lint" in targets and not ci.checks and not detection.has("lint"):
        needs = ("make", *(() if first else _programs(targets["lint"][1])))
        gates.append(DetectedGate("make-lint", f"{first}make lint", "lint", f"{file} has the target lint", needs))
    test = next((target for target in ("test", "tests", "check") if target in targets), None)
    if test and not detection.has("test"):
        why = f"{file} has the target {test}"
        gates.append(DetectedGate(f"make-{test}", f"{first}make {test}", "test", why, ("make",)))
    return Detection(tuple(gates))


def _made(root: Path) -> Detection:
    """Return what make builds, if there is nothing else to tell good work by."""
    file, targets = make_targets(root)
    target = next((target for target in ("all", "build") if target in targets), None)
    gate = DetectedGate(f"make-{target}", f"make {target}", "build", f"{file} has the target {target}", ("make",))
    return Detection((gate,) if target else ())


def _native_build(root: Path, ci: Ci, detection: Detection) -> Detection:
    """Return how a project that CMake, autoconf or meson configures is built and tested, if nothing else tests it.

    It is built in a folder that git ignores, else beside the checkout.
    """
    if detection.has("test"):
        return Detection()
    ignored = {line.strip("/*") for line in ignore_lines(root)}
    folder = next((name for name in ("build", "_build", "out", "cmake-build-debug") if name in ignored), "")
    start = "" if folder else 'build="$(mktemp -d)" && '
    at = folder or '"$build"'
    if (root / "CMakeLists.txt").is_file() and (_CTESTS.search(text_of(root / "CMakeLists.txt")) or _tested(ci)):
        asked = [f"-D{name}=ON" for name in _TEST_OPTION.findall(text_of(root / "CMakeLists.txt"))]
        given = "".join(f" {option}" for option in dict.fromkeys([*_configured(ci), *asked]))
        why = "CI builds it so" if ci.built else "CMakeLists.txt has tests"
        build = f"{start}cmake -S . -B {at}{given} && cmake --build {at} -j 4"
        test = f"ctest --test-dir {at} --output-on-failure --no-tests=error"
        if not folder:
            return Detection((DetectedGate("ctest", f"{build} && {test}", "test", why, ("cmake", "ctest")),))
        build_gate = DetectedGate("cmake", build, "build", why, ("cmake",))
        return Detection((build_gate, DetectedGate("ctest", test, "test", why, ("ctest",))))
    if (root / "meson.build").is_file():
        command = f"{start}meson setup {at} && meson test -C {at} --print-errorlogs"
        return Detection((DetectedGate("meson", command, "test", "meson.build is there", ("meson",)),))
    if file := next((name for name in ("configure.ac", "configure.in") if (root / name).is_file()), ""):
        command = "autoreconf -fi && ./configure && make -j 4 && make check"
        return Detection((DetectedGate("make-check", command, "test", f"{file} is there", ("autoreconf", "make")),))
    return Detection()


def _tested(ci: Ci) -> set[str]:
    """Return the jobs of CI that run CMake's tests."""
    return {where for text, where in ci.built if _RUNS_TESTS.match(text)}


def _configured(ci: Ci) -> list[str]:
    """Return what the jobs that run CMake's tests define, but for compilers and what only watches the tests.

    Of several ways it is the first of those that watch least.
    """
    jobs = _tested(ci)
    configures = (
        [match[0] for match in _DEFINED.finditer(text)]
        for text, where in ci.built
        if where in jobs and text.startswith("cmake ") and "--build" not in text
    )
    switched_on = ("=ON", "=1", "=TRUE", "=YES")

    def watched(options: list[str]) -> int:
        return sum(bool(_WATCHES.search(option)) and option.upper().endswith(switched_on) for option in options)

    return [option for option in min(configures, key=watched, default=[]) if not _WATCHES.search(option)]


def _in_folders(root: Path, surroundings: Surroundings) -> Detection:
    """Return what the folders of a project want that has nothing at its top."""
    whole = Detection()
    folders = sorted(path for path in root.iterdir() if path.is_dir() and present(path, _MANIFESTS))
    for folder in folders[:_FOLDERS_MAX]:
        name, inner = folder.name, detect(folder, surroundings)
        if not is_inner(name) or not inner.gates:
            continue
        into = f"cd {quote(name)}"
        gates = [replace(gate, name=f"{name}-{gate.name}", command=f"{into} && {gate.command}") for gate in inner.gates]
        setups = []
        for setup in inner.setups:
            inputs, keep = (tuple(f"{name}/{path}" for path in paths) for paths in (setup.inputs, setup.keep))
            setups.append(replace(setup, command=f"({into} && {setup.command})", inputs=inputs, keep=keep))
        whole += Detection(tuple(gates), tuple(setups))
    return whole


def render(
    detection: Detection, main_branch: str, *, github: bool = False, models: Sequence[str] = _MODELS, worker: str = ""
) -> str:
    """Return a commented noface.toml that loads as it stands; `main_branch` "" leaves the branch open.

    With `github` issues come from there, and work becomes pull requests. `models` are the one to begin with and the
    stronger one, if there is one; `worker` is a command that works instead of them.
    """
    texts = data.table("config_files")["init"]
    parts = ["\n".join(_project(detection, main_branch)), "\n".join(_gates(detection, texts))]
    parts += [texts["github"]] if github else []
    parts += [texts["worker"].format(command=toml_text(worker)).replace("{{", "{").replace("}}", "}")] if worker else []
    names = [toml_text(name) for name in (("worker",) if worker else models)]
    default, stronger = names[0], names[-1]
    parts.append(texts["two_models" if len(names) > 1 else "one_model"].format(default=default, stronger=stronger))
    return "\n".join((texts["intro"], *parts, texts["rest"].lstrip("\n")))


def _project(detection: Detection, main_branch: str) -> Iterator[str]:
    yield "[project]"
    yield f"main = {toml_text(main_branch)}" if main_branch else '#main = "main"'
    # The key can be given once, so one setup does all that can be done here.
    if setup := joined(each for each in detection.setups if detection.usable(each)):
        yield from _setup(setup, "")
    for each in detection.setups:
        if not detection.usable(each):
            yield from _setup(each, "#")
    yield ""


def _setup(setup: DetectedSetup, mark: str) -> Iterator[str]:
    yield ""
    yield from (f"# {line}" for line in setup.why.split("\n"))
    yield from _marked(f"setup = {toml_text(setup.command)}", mark)
    if setup.inputs:
        yield from _marked(f"setup_inputs = {toml_text(setup.inputs)}", mark)
    if setup.keep:
        yield from _marked(f"keep = {toml_text(setup.keep)}", mark)


def _comment(text: str) -> Iterator[str]:
    """Yield a text as comments that are no longer than the lines of most projects may be."""
    lines = textwrap.wrap(text, _COMMENT_WIDTH_MAX, break_long_words=False, break_on_hyphens=False)
    return (f"# {'  ' if index else ''}{line}" for index, line in enumerate(lines))


def _marked(text: str, mark: str) -> Iterator[str]:
    return (f"{mark}{line}" for line in text.split("\n"))


def _gates(detection: Detection, texts: Mapping[str, str]) -> Iterator[str]:
    for note in detection.notes:
        yield from _comment(note)
    if detection.notes:
        yield ""
    if not detection.gates:
        yield texts["no_gates"]
        return
    yield texts["gates"]
    for gate in detection.gates:
        mark = "" if detection.usable(gate) else "#"
        yield from _comment(gate.why)
        yield f"{mark}[[gates]]"
        yield f"{mark}name = {toml_text(gate.name)}"
        yield f"{mark}command = {toml_text(gate.command)}"
        yield f"{mark}kind = {toml_text(gate.kind)}"
        yield ""
    if not any(gate.kind == "test" and detection.usable(gate) for gate in detection.gates):
        yield texts["no_test"]
