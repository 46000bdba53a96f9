"""Has the processes of a test gate write down which lines of a change they run, and reads that.

It comes with the run that proves the change: Python's processes note it in the code of the files that are touched
(`reporters/python_lines.py`), Node's engine counts by itself (NODE_V8_COVERAGE), `go test` is told by GOFLAGS. What a
process does not tell (a copy that is installed, code that a tool has transformed) is unknown. As all that processes of
the gate write, it is read through no link, and within bounds.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from noface.integrity.covered import Count, Covered, FollowedFile, by_ranges, counted, joined
from noface.process.environment import Variables
from noface.process.files import read_regular

COVERED = "covered"
"""The folder in that of the reports that this is written to."""
FILES_MAX = 2_000
BYTES_MAX = 200_000_000
_SCRIPTS = (".js", ".cjs", ".mjs")
_PROFILE = "go.out"
_BLOCK = re.compile(r"^([^:\n]++):(\d++)\.(\d++),(\d++)\.(\d++) \d++ (\d++)$", re.MULTILINE)
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_HOOK = "import import_hook"
_WAITING = "line_hook.py"
_START = (
    f'with open(__file__.rpartition("/")[0] + "/{_WAITING}", encoding="utf-8") as file:\n'
    '            exec(compile(file.read(), "<noface>", "exec"), {"__file__": file.name, "__name__": "noface"})'
)
"""Run under a name that tools which measure coverage pass over, and that no module of the project can take."""
_GO = re.compile(r"\bgo[ \t]++(\w++)")


def followed(
    env: Variables, folder: Path, checkout: Path, files: tuple[FollowedFile, ...], package: str = "", command: str = ""
) -> Variables:
    """Return a gate's environment with what has its processes tell of these files of `checkout`.

    `folder` is that of the reporters. `package` is Go's name of the checkout's module, if its coverage is wanted.
    Go is told so only if the `command` is one `go test` that measures no coverage itself: GOFLAGS holds for every go.
    """
    values, into = dict(env), folder / "reports" / COVERED
    into.mkdir()
    if any(file.path.endswith(".py") for file in files):
        preload = folder / "follow"
        preload.mkdir()
        sources = Path(__file__).parent / "reporters"
        start = (sources / "sitecustomize.py.txt").read_text(encoding="utf-8").replace("(3, 7)", "(3, 8)")
        (preload / "sitecustomize.py").write_text(start.replace(_HOOK, _START), encoding="utf-8")
        for name in (_WAITING, "python_lines.py"):
            (preload / name).write_bytes((sources / name).read_bytes())
        asked = {
            file.path: {"lines": sorted(file.lines), "conditions": [each.place for each in file.conditions]}
            for file in files
            if file.path.endswith(".py")
        }
        (preload / "follow.txt").write_text("\0".join((str(checkout), *asked)), encoding="utf-8")
        settings = {"into": str(into), "files": asked}
        (preload / "follow.json").write_text(json.dumps(settings), encoding="utf-8")
        values["PYTHONPATH"] = os.pathsep.join(filter(None, (values.get("PYTHONPATH"), str(preload))))
    if any(file.path.endswith(_SCRIPTS) for file in files) and "NODE_V8_COVERAGE" not in values:
        values["NODE_V8_COVERAGE"] = str(into)
    folders = {os.path.dirname(file.path) for file in files if file.path.endswith(".go")}  # noqa: PTH120
    packages = ",".join(sorted(f"{package}/{name}".rstrip("/") for name in folders))
    alone = _GO.findall(command) == ["test"] and "-cover" not in f"{command} {values.get('GOFLAGS', '')}"
    if package and folders and alone and " " not in f"{into}{packages}":
        flags = f"-covermode=atomic -coverpkg={packages} -coverprofile={into / _PROFILE}"
        values["GOFLAGS"] = f"{values.get('GOFLAGS', '')} {flags}".strip()
    return tuple(values.items())


def read_covered(
    folder: Path, checkout: Path, files: tuple[FollowedFile, ...], package: str = ""
) -> dict[str, Covered]:
    """Return what the gate's processes have told of these files; a file of which none has told anything is left out."""
    by_file = defaultdict[str, list[Covered]](list)
    counts = defaultdict[str, list[Count]](list)
    known = {file.path: file for file in files}
    for name, text in _written(folder / "reports" / COVERED):
        if name.endswith(".jsonl"):
            for path, run in _of_python(text):
                by_file[path].append(run)
        elif name == _PROFILE:
            for file in files:
                own = [m for m in _BLOCK.finditer(text) if m[1] == f"{package}/{file.path}"]
                if own:
                    by_file[file.path].append(counted(file, by_ranges(_blocks(file.text, own))))
        elif name.endswith(".json"):
            for path, ranges in _of_node(text, checkout, known):
                counts[path].append(by_ranges(ranges))
    for path, each in counts.items():
        by_file[path].append(counted(known[path], _sum(each)))
    return {path: joined(runs) for path, runs in by_file.items() if path in known}


def _sum(counts: list[Count]) -> Count:
    """Return how often a place was run in all of these processes."""

    def count(at: int) -> int | None:
        known = [times for each in counts if (times := each(at)) is not None]
        return sum(known) if known else None

    return count


def _written(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file that was written, as far as they are read."""
    if folder.is_symlink() or not folder.is_dir():
        return
    left = BYTES_MAX
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            data = read_regular(Path(entry.path), left + 1) if number < FILES_MAX else None
            left -= len(data or b"")
            if data is not None and left >= 0:
                yield entry.name, data.decode("utf-8", "replace")


def _of_python(text: str) -> Iterator[tuple[str, Covered]]:
    """Yield what one process of Python has run of each file that it has loaded."""
    probes: dict[int, tuple[str, str, tuple[int, ...]]] = {}
    hits, sides = set[int](), defaultdict[int, set[bool]](set)
    for line in text.splitlines():
        try:
            record = json.loads(line)
            if "file" in record:
                for number, (kind, where) in enumerate(record["probes"], record["first"]):
                    probes[number] = (record["file"], kind, tuple(map(int, where)))
            elif "is" in record:
                sides[record["hit"]].add(record["is"] is True)
            else:
                hits.add(record["hit"])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
    for path in {path for path, _, _ in probes.values()}:
        mine = {number: (kind, where) for number, (name, kind, where) in probes.items() if name == path}
        lines = {n: where for n, (kind, where) in mine.items() if kind == "lines"}
        run = frozenset(line for number, where in lines.items() if number in hits for line in where)
        outcomes = defaultdict[Any, frozenset[bool]](frozenset)
        for number, (kind, where) in mine.items():
            if kind == "condition" and number in sides:
                outcomes[where] |= sides[number]
        yield path, Covered(run, frozenset(line for where in lines.values() for line in where) - run, dict(outcomes))


def _of_node(
    text: str, checkout: Path, known: dict[str, FollowedFile]
) -> Iterator[tuple[str, list[tuple[int, int, int]]]]:
    """Yield how often one process of Node has run the stretches of each of these files, if it ran them as they are."""
    roots = {str(checkout), str(checkout.resolve())}
    try:
        scripts = json.loads(text)["result"]
        for script in scripts:
            name = unquote(urlsplit(script["url"]).path)
            path = next((name[len(root) + 1 :] for root in roots if name.startswith(f"{root}/")), "")
            ranges = [
                (each["startOffset"], each["endOffset"], each["count"])
                for function in script["functions"]
                for each in function["ranges"]
            ]
            whole = path in known and not _ASTRAL.search(known[path].text) and len(known[path].text)
            if whole and max((end for _, end, _ in ranges), default=0) == whole:
                yield path, ranges
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return


def _blocks(text: str, matches: list[re.Match[str]]) -> Iterator[tuple[int, int, int]]:
    """Yield the blocks of a profile of Go as offsets in the text; its columns count bytes."""
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def offset(line: str, column: str) -> int:
        row = min(int(line), len(lines)) - 1
        return starts[row] + len(lines[row].encode()[: int(column) - 1].decode("utf-8", "replace"))

    times = defaultdict[tuple[int, int], int](int)  # each test binary tells of each block
    for match in matches:
        times[offset(match[2], match[3]), offset(match[4], match[5])] += int(match[6])
    for (start, end), count in times.items():
        yield start, end, count
