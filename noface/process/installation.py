"""The command of pipx, uv or pip that brings the libraries of an extra to this installation of noface.

None names the project at a package index unless it came from there: of that name anybody could publish.
"""

import json
import re
import shlex
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

NAME = "noface-loop"
_EXTRA = re.compile(r"""extra\s*==\s*["']([\w.-]+)["']""")
_REQUIRED = re.compile(r"[\w.-]+")


def bringing(extra: str) -> str:
    """Return the command that brings the libraries of an extra to the noface that runs."""
    try:
        package = distribution(NAME)
    except PackageNotFoundError:  # nobody installed it: it is its folder
        package = None
    return command_for(extra, Path(sys.prefix), package, has_pip=find_spec("pip") is not None)


def command_for(extra: str, prefix: Path, package: Distribution | None, *, has_pip: bool) -> str:
    """Return the command for what was installed as `package` in the environment at `prefix`."""
    needs: dict[str, list[str]] = {}
    for line in (package.requires if package is not None else None) or ():
        if (named := _EXTRA.search(line)) is not None and (library := _REQUIRED.match(line)) is not None:
            needs.setdefault(named[1], []).append(library[0])
    there = {name for name, libraries in needs.items() if name != "dev" and all(map(_is_there, libraries))}
    source = _source(package) if package is not None else str(Path(__file__).resolve().parents[2])
    libraries = " ".join(needs.get(extra, ()))
    spec = shlex.quote(f"{source or NAME}[{','.join(sorted({*there, extra}))}]")
    python = shlex.quote(str(prefix / "bin" / "python"))
    if (prefix / "pipx_metadata.json").exists() or prefix.parts[-3:-1] == ("pipx", "venvs"):
        return f"pipx inject {prefix.name} {libraries}" if libraries else f"pipx install --force {spec}"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install --force {spec}"
    pip = f"{python} -m pip install" if has_pip else f"uv pip install --python {python}"
    return f"{pip} {libraries or spec}"


def _source(package: Distribution) -> str:
    try:
        known = json.loads(package.read_text("direct_url.json") or "{}")
        url = str(known.get("url", ""))
    except (ValueError, AttributeError):
        return ""
    return unquote(urlsplit(url).path) if url.startswith("file:") else f"git+{url}" if "vcs_info" in known else url


def _is_there(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
