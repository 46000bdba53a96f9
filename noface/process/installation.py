"""How this noface was installed, and so what upgrades it or brings one of its extras: pipx's command, uv's or pip's.

No command names the project at a package index, unless it came from there: of that name anybody could publish.
"""

import json
import re
import shlex
import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

NAME = "noface-loop"
_EXTRA = re.compile(r"""extra\s*==\s*["']([\w.-]+)["']""")
_REQUIRED = re.compile(r"[\w.-]+")


class Installer(StrEnum):
    """What made the environment that noface runs in."""

    PIPX = "pipx"
    UV_TOOL = "uv tool"
    UV = "uv"
    PIP = "pip"


@dataclass(frozen=True, slots=True)
class Installation:
    """An environment with noface in it, called `name` by its installer.

    `source` is where it came from: a folder, a wheel, a URL, "" for a package index. `extras` are those of which all is
    there, `needs` what each asks for.
    """

    installer: Installer
    name: str
    python: str
    source: str
    editable: bool
    extras: tuple[str, ...]
    needs: dict[str, tuple[str, ...]]

    def bringing(self, wanted: str) -> str:
        """Return the command that brings the libraries of an extra."""
        libraries = " ".join(self.needs.get(wanted, ()))
        spec = shlex.quote(f"{self.source or NAME}[{','.join(sorted({*self.extras, wanted}))}]")
        match self.installer:
            case Installer.PIPX if libraries:
                return f"pipx inject {self.name} {libraries}"
            case Installer.PIPX:
                return f"pipx install --force {spec}"
            case Installer.UV_TOOL:
                return f"uv tool install --force {spec}"
            case _:
                return f"{self._pip} {libraries or spec}"

    def upgrade(self) -> str:
        """Return the command that brings a newer noface; of a wheel it has the name of the one that was installed."""
        source, name = shlex.quote(self.source), self.name
        fresh = {
            Installer.PIPX: f"pipx install --force {source}",
            Installer.UV_TOOL: f"uv tool install --force {source}",
        }.get(self.installer, f"{self._pip} --force-reinstall {source}")
        if not self.source:
            ways = {Installer.PIPX: f"pipx upgrade {name}", Installer.UV_TOOL: f"uv tool upgrade {name}"}
            return ways.get(self.installer, f"{self._pip} --upgrade {NAME}")
        if self.source.endswith(".whl"):
            return f"{fresh} (with the path of a newer wheel)"
        again = {Installer.PIPX: f"pipx reinstall {name}", Installer.UV_TOOL: f"uv tool upgrade --reinstall {name}"}
        command = again.get(self.installer, f"{self._pip} {'--editable ' if self.editable else ''}{source}")
        return f"git -C {source} pull && {command}" if (Path(self.source) / ".git").exists() else command

    @property
    def _pip(self) -> str:
        python = shlex.quote(self.python)
        return f"uv pip install --python {python}" if self.installer is Installer.UV else f"{python} -m pip install"


@cache
def installation() -> Installation:
    """Return how the noface that runs was installed; one that nobody installed is taken for its folder."""
    prefix, has_pip = Path(sys.prefix), find_spec("pip") is not None
    try:
        return described(prefix, distribution(NAME), has_pip=has_pip)
    except PackageNotFoundError:
        source = str(Path(__file__).resolve().parents[2])
        return Installation(_installer(prefix, has_pip=has_pip), NAME, sys.executable, source, True, (), {})


def described(prefix: Path, package: Distribution, *, has_pip: bool) -> Installation:
    """Return how what was `package` in the environment at `prefix` was installed."""
    needs: dict[str, tuple[str, ...]] = {}
    for line in package.requires or ():
        if (extra := _EXTRA.search(line)) is not None and (name := _REQUIRED.match(line)) is not None:
            needs[extra[1]] = (*needs.get(extra[1], ()), name[0])
    there = tuple(extra for extra, names in needs.items() if all(map(_is_there, names)) and extra != "dev")
    installer = _installer(prefix, has_pip=has_pip)
    called = prefix.name if installer in (Installer.PIPX, Installer.UV_TOOL) else NAME
    source, editable = _source(package.read_text("direct_url.json") or "")
    return Installation(installer, called, str(prefix / "bin" / "python"), source, editable, there, needs)


def _installer(prefix: Path, *, has_pip: bool) -> Installer:
    if (prefix / "pipx_metadata.json").exists() or prefix.parts[-3:-1] == ("pipx", "venvs"):
        return Installer.PIPX
    if (prefix / "uv-receipt.toml").exists():
        return Installer.UV_TOOL
    return Installer.PIP if has_pip else Installer.UV


def _source(text: str) -> tuple[str, bool]:
    """Return where a distribution came from by its direct_url.json (PEP 610), and whether it is editable there."""
    try:
        known = json.loads(text or "{}")
        url = str(known.get("url", ""))
    except (ValueError, AttributeError):
        return "", False
    if url.startswith("file:"):
        return unquote(urlsplit(url).path), bool(known.get("dir_info", {}).get("editable"))
    return (f"git+{url}" if "vcs_info" in known else url), False


def _is_there(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
