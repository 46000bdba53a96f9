"""The environment and the programs of what noface starts, by the rules of `secrets.environment`."""

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from noface.model.worker_run import ModelSpec
from noface.process.files import started_with
from noface.secrets import environment as rules

Variables = tuple[tuple[str, str], ...]


_OUTSIDE = ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_STATE_HOME")
TEMPORARY = ("TMPDIR", "TMP", "TEMP")
_PACKAGES = ("lib/python*/site-packages", "lib/python*/dist-packages")


def agent_environment(own: Iterable[str], model: ModelSpec, extra: Iterable[tuple[str, str]] = ()) -> Variables:
    """Return an agent's environment without the model's `env`. `own` are its adapter's patterns; `extra` comes last."""
    return tuple((rules.for_agents(os.environ, own, model) | dict(extra)).items())


def variables_of(own: Iterable[str], model: ModelSpec) -> Variables:
    """Return the variables that an agent's program reads or `env_pass` names, but for those that name a place here."""
    patterns = (*own, *model.env_pass)
    named = ((name, value) for name, value in os.environ.items() if rules.fits(name, patterns))
    return tuple((name, value) for name, value in named if not value.startswith(("/", "~", "./", "../")))


def gate_environment(env_pass: tuple[str, ...] = ()) -> Variables:
    return tuple(rules.for_gates(os.environ, env_pass).items())


def without_places(
    environment: Variables, folders: tuple[str, ...], kept: tuple[str, ...], env_pass: tuple[str, ...] = ()
) -> Variables:
    return tuple(rules.without_places(dict(environment), folders, kept, env_pass).items())


def passed_digest(env_pass: Iterable[str]) -> str:
    """Return a digest of the variables that `env_pass` names, so that a gate's result counts for these values only."""
    named = sorted((name, value) for name, value in os.environ.items() if rules.fits(name, tuple(env_pass)))
    return hashlib.sha256(repr(named).encode("utf-8", "surrogateescape")).hexdigest() if named else ""


def boxed(environment: Variables, kept: Iterable[str] = ()) -> Variables:
    """Return an environment as it is in a sandbox, where /tmp is private; names in `kept` have a person's own value."""
    own = set(kept)
    left_out = {name for name in _OUTSIDE if name not in own}
    values = {name: value for name, value in environment if name not in left_out}
    return tuple((values | {name: "/tmp" for name in TEMPORARY if name not in own}).items())  # noqa: S108 - it is private


def programs_digest(names: Iterable[str]) -> str:
    """Return a digest of where the programs lead to, and when that, or the packages beside it, last changed.

    Names with a slash are of the checkout, whose tree is in the key of a gate's result.
    """
    digest = hashlib.sha256()
    for name in sorted(set(names)):
        # What changes with the tree is in the key of a gate's result by the tree itself.
        if "/" in name and not name.startswith("/"):
            continue
        digest.update(repr((name, *_facts(shutil.which(name)))).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:16]


def _facts(program: str | None) -> tuple[object, ...]:
    if program is None:
        return ()
    facts: list[object] = []
    for path in dict.fromkeys((program, *started_with(program)[:1])):
        try:
            real = os.path.realpath(path)
            status = Path(real).stat()
        except OSError:
            facts.append((path, "gone"))
            continue
        facts.append((path, real, status.st_size, status.st_mtime_ns))
        # A package changes what Python runs without changing its program; adding one changes its folder's time.
        if Path(path).name.startswith(("python", "pypy")):
            folders = package_folders(Path(path).parent.parent)
            facts += sorted((str(folder), folder.stat().st_mtime_ns) for folder in folders)
    return tuple(facts)


def package_folders(prefix: Path) -> list[Path]:
    return [folder for pattern in _PACKAGES for folder in sorted(prefix.glob(pattern)) if folder.is_dir()]
