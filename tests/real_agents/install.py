"""Installs the agent programs of clis.toml, each into a folder of its own below .agents/: their newest versions.

The variable AGENTS says otherwise: "tested" takes the versions that noface/data/agents.toml names as tested,
"installed" what is there. A registry that cannot be reached changes nothing: what is installed is tested, or else the
version that was.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from noface.data import table

FOLDER = Path(__file__).resolve().parents[2] / ".agents"
CLIS = Path(__file__).parent / "clis.toml"
ENVIRONMENT = "AGENTS"
NEWEST, TESTED, INSTALLED = "newest", "tested", "installed"
_ANSWER_S = 60
_NAMED_BY_PIP = re.compile(r"\((\d[\w.]*)\)")
_NODE_FROM = re.compile(r"\s*(?:>=|\^)\s*v?(\d+)")


class UnreachableError(Exception):
    """A registry did not say what it has."""


@dataclass(frozen=True)
class Cli:
    """An agent program: where it comes from, which version, and where its file is once it is installed."""

    name: str
    source: str
    package: str
    version: str
    program: Path
    also: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def stamp(self) -> Path:
        return self.folder / "installed.json"

    @property
    def stamped(self) -> str:
        return json.dumps([self.source, self.package, self.version, self.also])

    @property
    def tested(self) -> str:
        return str(table("agents")[self.name]["tested"])

    @property
    def shown(self) -> str:
        """The program with its version, and how that compares to the one that was tested."""
        order = (_parts(self.version) > _parts(self.tested)) - (_parts(self.version) < _parts(self.tested))
        words = {0: "as tested", 1: f"newer than tested ({self.tested})", -1: f"older than tested ({self.tested})"}
        return f"{self.name} {self.version}, {words[order]}"


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", version))


def clis() -> dict[str, Cli]:
    """Return the programs by name, each in the version that is installed, or else the one that was tested."""
    entries = tomllib.loads(CLIS.read_text("utf-8"))
    found = {}
    for name, entry in entries.items():
        also = tuple(entry.get("also", ()))
        cli = Cli(name, entry["from"], entry["package"], "", FOLDER / name / entry["program"], also)
        found[name] = replace(cli, version=_installed(cli) or cli.tested)
    return found


def _installed(cli: Cli) -> str:
    """Return the version that is installed, "" where none is."""
    if not (cli.program.exists() and cli.stamp.exists()):
        return ""
    _, _, version, _ = json.loads(cli.stamp.read_text("utf-8"))
    return str(version)


def wanted(cli: Cli, which: str) -> tuple[Cli, str]:
    """Return the program in the version to install, and what there is to say about that."""
    if which == TESTED:
        return replace(cli, version=cli.tested), ""
    if which == INSTALLED:
        return cli, ""
    try:
        version, note = (_newest_of_npm if cli.source == "npm" else _newest_of_pypi)(cli.package)
    except UnreachableError as problem:
        return cli, f"{cli.package}: its newest version is not known ({problem}); {cli.version} is taken"
    return replace(cli, version=version), note


def _newest_of_npm(package: str) -> tuple[str, str]:
    """Return the version that npm calls latest. npm itself takes an older one where the package asks for another Node."""
    found = json.loads(_asked("npm", "view", f"{package}@latest", "version", "engines", "--json"))
    if isinstance(found, str):  # npm leaves out what a package does not say, and then the names too
        return found, ""
    version, engines = str(found["version"]), found.get("engines") or {}
    asks = _NODE_FROM.match(str(engines.get("node", "")))
    node = _asked("node", "--version").strip()
    if asks is None or _parts(node) >= (int(asks[1]),):
        return version, ""
    return version, f"{package} {version} asks for Node {engines['node']}, this is {node}: it is run with that"


def _newest_of_pypi(package: str) -> tuple[str, str]:
    named = _NAMED_BY_PIP.search(_asked(sys.executable, "-m", "pip", "index", "versions", package))
    if named is None:
        raise UnreachableError("pip names no version")
    return named[1], ""


def _asked(*argv: str) -> str:
    """Return what a program prints. Raises UnreachableError where it fails, takes too long, or is not there."""
    try:
        done = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=_ANSWER_S)
    except subprocess.CalledProcessError as problem:
        raise UnreachableError((problem.stderr.strip().splitlines() or ["no reason given"])[-1]) from problem
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise UnreachableError(str(problem)) from problem
    return done.stdout


def install(cli: Cli) -> None:
    """Install one program, unless this very version is there. Raises CalledProcessError where that fails.

    A version that is named is what npm takes, whatever Node it asks for.
    """
    if cli.program.exists() and cli.stamp.exists() and cli.stamp.read_text("utf-8") == cli.stamped:
        return
    print(f"installing {cli.package} {cli.version} …", flush=True)
    shutil.rmtree(cli.folder, ignore_errors=True)
    cli.folder.mkdir(parents=True)
    if cli.source == "npm":
        quiet = ("--no-audit", "--no-fund", "--loglevel=error")
        subprocess.run(["npm", "install", *quiet, "--prefix", cli.folder, f"{cli.package}@{cli.version}"], check=True)
    else:
        subprocess.run([sys.executable, "-m", "venv", cli.folder], check=True)
        pip = (cli.folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check")
        subprocess.run([*pip, f"{cli.package}=={cli.version}", *cli.also], check=True)
    elsewhere = {**os.environ, "HOME": str(cli.folder)}  # some write settings when they are first started
    tried = subprocess.run(
        [cli.program, "--help"], check=False, env=elsewhere, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if tried.returncode != 0:
        print(tried.stdout, tried.stderr, file=sys.stderr)
        tried.check_returncode()
    cli.stamp.write_text(cli.stamped, "utf-8")


def install_all(which: str) -> list[str]:
    """Install every program and say what is tested; the names of those that could not be."""
    failed = []
    known = clis().values()
    with ThreadPoolExecutor(len(known)) as asking:
        choices = list(asking.map(lambda cli: wanted(cli, which), known))
    for cli, note in choices:
        if note:
            print(note, file=sys.stderr)
        try:
            install(cli)
        except (OSError, subprocess.CalledProcessError) as problem:
            print(f"{cli.package} {cli.version} could not be installed: {problem}", file=sys.stderr)
            failed.append(cli.name)
        else:
            print(cli.shown, flush=True)
    return failed
