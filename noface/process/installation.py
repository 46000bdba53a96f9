"""The command of pipx, uv or pip that brings the libraries of an extra to this installation of noface.

It names these libraries, not the project at a package index: of that name anybody could publish.
"""

import re
import shlex
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

NAME = "noface-loop"
_NEEDED = re.compile(r"""^([\w.-]++).*extra\s*==\s*["']([\w.-]+)["']""")


def bringing(extra: str) -> str:
    try:
        package = distribution(NAME)
    except PackageNotFoundError:  # nobody installed it: it is its folder
        package = None
    return command_for(extra, Path(sys.prefix), package, has_pip=find_spec("pip") is not None)


def command_for(extra: str, prefix: Path, package: Distribution | None, *, has_pip: bool) -> str:
    """Return the command for what was installed as `package` in the environment at `prefix`."""
    needed = (_NEEDED.match(line) for line in (package.requires if package is not None else None) or ())
    libraries = " ".join(each[1] for each in needed if each is not None and each[2] == extra)
    wanted = libraries or shlex.quote(f"{Path(__file__).resolve().parents[2]}[{extra}]")
    if libraries and ((prefix / "pipx_metadata.json").exists() or prefix.parts[-3:-1] == ("pipx", "venvs")):
        return f"pipx inject {prefix.name} {libraries}"
    python = shlex.quote(str(prefix / "bin" / "python"))
    return f"{python} -m pip install {wanted}" if has_pip else f"uv pip install --python {python} {wanted}"
