"""Runs a selftest: makes a project for each variant, runs `noface run` on all of them, and collects the events."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from noface.errors import EXIT_ATTENTION, EXIT_DONE, NofaceError
from noface.selftest.project import REPOSITORY, TOOLS, Variant, make, missing_on_main
from noface.selftest.scenario import Scenario, chosen
from noface.selftest.score import RunLog, document, results
from noface.selftest.world import draw

_SECONDS_MAX = 900.0
_LINE_EVERY_S = 15.0
_TICK_S = 0.5
_MESSAGE_MAX = 1000


def run_selftest(kinds: tuple[str, ...], *, baselines: bool, keep: bool, workers: int) -> dict[str, Any]:
    """Run the scenarios of some kinds (all where none is named) and return the document of `score`.

    The folder of the projects is removed, unless it is to be kept or something went wrong; then `kept` names it.
    Raises NofaceError where a project cannot be made, or a run of noface breaks.
    """
    scenarios = chosen(kinds)
    variants = tuple(Variant) if baselines else (Variant.NOFACE,)
    folder = Path(tempfile.mkdtemp(prefix="noface-selftest-"))
    started = time.monotonic()
    kept = keep
    try:
        projects = _projects(variants, scenarios, folder, workers)
        logs = _run_all(projects, _ProgressLine(scenarios, started))
        wanted = tuple(one for one in scenarios if not kinds or one.kind in kinds)
        by_variant = {
            variant: results(logs[variant], wanted, missing_on_main(project, wanted))
            for variant, project in projects.items()
        }
        report = document(by_variant, time.monotonic() - started)
        kept = kept or not report["ok"]
        for trouble in report["troubles"]:
            trouble["folder"] = str(projects[Variant.NOFACE] / REPOSITORY)
        return {**report, "kept": str(folder) if kept else None}
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


def _projects(
    variants: tuple[Variant, ...], scenarios: tuple[Scenario, ...], folder: Path, workers: int
) -> dict[Variant, Path]:
    secrets = draw(scenarios)
    try:
        for variant in variants:
            make(variant, scenarios, secrets, folder / variant, sys.executable, workers)
    except RuntimeError as error:
        raise NofaceError(f"the selftest's project could not be made: {error}") from error
    return {variant: folder / variant for variant in variants}


class _ProgressLine:
    """Shows on standard error how far the runs are: in place on a terminal, a line now and then elsewhere."""

    def __init__(self, scenarios: tuple[Scenario, ...], started: float) -> None:
        self._scenarios = scenarios
        self._started = self._last = started
        self._live = sys.stderr.isatty()

    def show(self, logs: Mapping[Variant, RunLog]) -> None:
        """Show it, where it is time for that. Raises NofaceError once all of it takes too long."""
        now = time.monotonic()
        if now - self._started > _SECONDS_MAX:
            raise NofaceError(f"the selftest was stopped after {_SECONDS_MAX:.0f} seconds: a run did not end")
        if not self._live and now - self._last < _LINE_EVERY_S:
            return
        self._last = now
        settled = ", ".join(f"{variant} {one.settled(self._scenarios)}" for variant, one in logs.items())
        runs = sum(one.runs for one in logs.values())
        text = f"settled of {len(self._scenarios)}: {settled}; {runs} worker runs, {now - self._started:.0f} s"
        sys.stderr.write(f"\r{text}" if self._live else f"{text}\n")
        sys.stderr.flush()

    def clear(self) -> None:
        """Leave an empty line to whatever comes next."""
        if self._live:
            sys.stderr.write("\r\033[K")


def _run_all(projects: Mapping[Variant, Path], line: _ProgressLine) -> dict[Variant, RunLog]:
    """Run noface on all projects at once: each of them waits a good part of its time."""
    logs = {variant: RunLog() for variant in projects}
    with _started(projects) as running:
        threads = [threading.Thread(target=_listen, args=(running[one], logs[one]), daemon=True) for one in logs]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads) and not _broken(running):
            time.sleep(_TICK_S)
            line.show(logs)
        line.clear()
        broken = _broken(running)
    for variant in broken:
        message = (projects[variant] / "errors").read_text(errors="replace").strip()[-_MESSAGE_MAX:]
        why = message or logs[variant].why or "no reason was given"
        code = running[variant].returncode
        raise NofaceError(f"the {variant} run of noface ended with exit code {code}: {why}")
    return logs


def _broken(running: Mapping[Variant, "subprocess.Popen[str]"]) -> tuple[Variant, ...]:
    """Return the variants whose run has ended as no run should."""
    fine = (None, EXIT_DONE, EXIT_ATTENTION)
    return tuple(variant for variant, process in running.items() if process.poll() not in fine)


@contextmanager
def _started(projects: Mapping[Variant, Path]) -> Iterator[dict[Variant, "subprocess.Popen[str]"]]:
    """Start a run of noface on each project; whatever happens, none of them is left."""
    running: dict[Variant, subprocess.Popen[str]] = {}
    try:
        for variant, project in projects.items():
            with (project / "errors").open("w") as errors:
                running[variant] = subprocess.Popen(
                    [sys.executable, "-P", "-m", "noface", "run", "--json"],
                    cwd=project / REPOSITORY,
                    env=_environment(project),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                )
        yield running
    finally:
        for process in running.values():
            if process.poll() is None:
                process.terminate()
        for process in running.values():
            process.wait()


def _environment(project: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "NOFACE_"))}
    path = f"{project / TOOLS}{os.pathsep}{kept.get('PATH', os.defpath)}"
    return {**kept, "PATH": path, "XDG_CACHE_HOME": str(project / "cache")}


def _listen(process: "subprocess.Popen[str]", log: RunLog) -> None:
    for line in process.stdout or ():
        log.add(line)
    process.wait()
