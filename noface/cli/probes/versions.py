"""What `noface doctor` says of the version of an agent's program, and of the Node that runs it.

A version that is newer than the tested one mostly works; where a run then fails strangely, this is why. agents.toml
has the versions.
"""

import json
import re
from pathlib import Path
from typing import Any

from noface.data import table
from noface.ui.doctor import Point, State

VERSION = re.compile(r"\d{1,6}(?:\.\d{1,10}){1,4}")
_NODE_RANGE = re.compile(r"\s*(?:>=|\^|~)?\s*v?(\d{1,6}(?:\.\d{1,6}){0,2})")
_FOLDERS_UP_MAX = 4
_PACKAGE_BYTES_MAX = 1_000_000


def version_problems(agent: str, version: str, path: str, node: str) -> list[Point]:
    """Return what is worth knowing of an agent's `version` of the program at `path`; `node` is the version on PATH.

    "" is a version that nobody knows, and says nothing.
    """
    entry = table("agents").get(agent, {})
    if not version or "tested" not in entry:
        return []
    return [*_age(agent, version, entry), *_node(agent, version, path, node, entry)]


def _age(agent: str, version: str, entry: dict[str, Any]) -> list[Point]:
    tested, oldest = entry["tested"], entry.get("oldest")
    again = f"install the tested one: {entry['install_tested']}"
    if parts(version) > parts(tested):
        what = f"{agent} {version} is newer than {tested}, the newest that noface was tested with"
        return [Point("version", State.NOTE, what, f"If its runs fail where they should not, {again}")]
    if oldest is not None and parts(version) < parts(oldest["version"]):
        what = f"{agent} {version} is older than {oldest['version']}: {oldest['reason']}"
        return [Point("version", State.NOTE, what, again[:1].upper() + again[1:])]
    return []


def _node(agent: str, version: str, path: str, node: str, entry: dict[str, Any]) -> list[Point]:
    """Tell where the Node on PATH is too old for this version of the program, or for newer ones than this."""
    if not node:
        return []
    asked, newer = node_asked_for(path), entry.get("node")
    if asked and parts(node) < parts(asked):
        what = f"the package of {agent} {version} asks for Node {asked} or newer; `node` on PATH is {node}"
        why = "with an older one, npm updates it only to the newest that runs there, and does not say so"
        return [Point("node", State.NOTE, what, f"Install Node {asked.partition('.')[0]}: {why}.")]
    if newer is not None and parts(version) < parts(newer["from"]) and parts(node) < parts(newer["version"]):
        what = f"npm installs no newer {agent} than {version} with Node {node}, and does not say so"
        fix = f"Install Node {newer['version']}, which {agent} asks for from {newer['from']} on; then install it anew."
        return [Point("node", State.NOTE, what, fix)]
    return []


def node_asked_for(path: str) -> str:
    """Return the oldest Node that the npm package of the program at `path` asks for; "" if none is known."""
    try:
        folders = Path(path).resolve(strict=True).parents[:_FOLDERS_UP_MAX]
        manifest = next((each for folder in folders if (each := folder / "package.json").is_file()), None)
        if manifest is None or manifest.stat().st_size > _PACKAGE_BYTES_MAX:
            return ""
        engines = json.loads(manifest.read_text("utf-8"))["engines"]["node"]
        oldest = [match[1] for each in engines.split("||") if (match := _NODE_RANGE.match(each)) is not None]
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return ""
    return min(oldest, key=parts, default="")


def parts(version: str) -> tuple[int, ...]:
    """Return a version as its numbers, without zeros at its end: 22 is 22.0.0."""
    numbers = [int(each) for each in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
