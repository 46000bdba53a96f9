"""Finds what is protected from the work on an issue: what the configuration lists, and what main's files name."""

import posixpath
import re

from noface.core.issue import Issue
from noface.core.named_files import named_paths, run_scripts
from noface.core.protection import Protection, protection_of
from noface.core.tampering import is_test_file
from noface.git.plumbing import Plumbing
from noface.loop.context import RunContext

_LINK = "120000"
_READ_BYTES_MAX = 64 * 1024
_AIDER = ".aider.conf.yml"
_AT_THE_TOP = (_AIDER, "AGENTS.md", "AGENT.md", "CLAUDE.md", "CRUSH.md", "GEMINI.md", "QWEN.md", ".cursorrules")
_AIDER_READ = re.compile(r"^read:[ \t]*(?P<here>\S.*)?\n?(?P<below>(?:[ \t]*-[ \t].*\n?)*)", re.MULTILINE)


def protection_for(context: RunContext, issue: Issue, main: str) -> Protection:
    """Return what is protected from an issue's work that begins at the commit `main`."""
    plumbing = context.shop.plumbing
    repository = plumbing.repository
    listed = context.settings.protected + named_instructions(plumbing, main)
    if repository.hooks:
        listed += (repository.hooks,)
    return protection_of(issue, listed, _judges(context, issue, main), any_case=repository.any_case)


def named_instructions(plumbing: Plumbing, main: str) -> tuple[str, ...]:
    """Return the files that agents read as main's instructions under another name.

    They are what a link such as CLAUDE.md leads to, and what .aider.conf.yml has read.
    """
    found = []
    with plumbing.blobs() as blobs:
        for path, (mode, oid) in plumbing.entries(main, _AT_THE_TOP).items():
            if mode != _LINK and path != _AIDER:
                continue
            text = (blobs.read(oid, _READ_BYTES_MAX) or b"").decode("utf-8", "replace")
            found += [text] if mode == _LINK else _read_by_aider(text)
    paths = (posixpath.normpath(name) for name in found if name)
    return tuple(sorted({path for path in paths if not path.startswith(("/", "..")) and path != "."}))


def _read_by_aider(text: str) -> list[str]:
    names: list[str] = []
    for entry in _AIDER_READ.finditer(text):
        here = (entry["here"] or "").partition(" #")[0].strip().strip("[]")
        names += here.split(",") + [line.strip().removeprefix("-") for line in entry["below"].splitlines()]
    return [name.strip().strip("'\"") for name in names]


def _judges(context: RunContext, issue: Issue, main: str) -> tuple[str, ...]:
    """Return the files by which work is judged, or done: they are protected (law 11).

    What `accept` names, and of a folder it names the test files (`pytest src` must not protect the sources); and the
    scripts that gates and workers are, run by themselves or by a shell.
    """
    settings, plumbing = context.settings, context.shop.plumbing
    accept = named_paths(issue.accept)
    commands = tuple(gate.command for gate in settings.gates) + tuple(m.command for m in settings.models.values())
    scripts = run_scripts(commands)
    if not accept and not scripts:
        return ()
    found = plumbing.entries(main, tuple(sorted({*accept, *scripts})))
    return tuple(sorted(p for p in found if p in accept or p in scripts or (is_test_file(p) and _below(p, accept))))


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)
