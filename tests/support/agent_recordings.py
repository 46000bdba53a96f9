"""Runs of the real agent CLIs, as they were recorded, with the kind that each is labelled with."""

import json
import tarfile
from dataclasses import dataclass, replace
from datetime import UTC
from functools import cache

from noface.agents.base import AGENTS
from noface.agents.json_stream import named_zone
from noface.data import table
from noface.diagnosis.agent import classify
from noface.diagnosis.reset_times import WallClock

from . import TESTS

FOLDER = TESTS / "recordings"
CLIS = tuple(sorted(name for name in AGENTS if table("agents")[name].get("install")))
"""The agents that are programs of others; a new one has to be in the tests that go over these."""
RECORDED_AT = 1_795_188_600.0  # 2026-11-20 15:30 UTC
CLOCK = WallClock(RECORDED_AT, UTC, named_zone)

MISLABELLED = {("codex", "no_websocket_builtin_retries0"): "MISCONFIGURED"}
"""The label tells the scenario that was meant; codex refused its configuration and never asked the model anything.

To take that for an overload would be to try it again for ever. tests/real_agents does the same with the real program.
"""


@dataclass(frozen=True)
class Run:
    """One recorded run. `expected` are the kinds that count as right, () where nobody labelled it."""

    cli: str
    name: str
    stdout: bytes
    stderr: str
    exit_code: int
    edited: bool | None = None
    expected: tuple[str, ...] = ()


def of_each(what, entries):
    """Return `entries`, or tell which agents have none: a table by agent, or rows that begin with one.

    `what` says what an entry is.
    """
    named = set(entries) if isinstance(entries, dict) else {cli for cli, *_ in entries}
    lacking = [cli for cli in CLIS if cli not in named]
    assert not lacking, f"{what}: add an entry for {', '.join(lacking)}"
    return entries


@cache
def runs(cli):
    assert (FOLDER / cli / "runs.tar.xz").exists(), f"tests/recordings/{cli}/runs.tar.xz: record runs of {cli} there"
    with tarfile.open(FOLDER / cli / "runs.tar.xz") as archive:
        files = {name: archive.extractfile(name).read() for name in archive.getnames()}
    labels = json.loads(files.pop("labels.json"))
    found = []
    for name in sorted({path.split("/")[0] for path in files}):
        label = labels.get(name, {})
        expected = (label["kind"], *label["accept"]) if label else ()
        expected = (MISLABELLED[cli, name],) if (cli, name) in MISLABELLED else expected
        found.append(
            Run(
                cli,
                name,
                files[f"{name}/stdout"],
                files[f"{name}/stderr"].decode("utf-8", "replace"),
                int(files[f"{name}/exit_code"].split()[0]),
                label.get("edited"),
                expected,
            )
        )
    return tuple(found)


def run(cli, name):
    return next(each for each in runs(cli) if each.name == name)


def evidence(each, chunk=None, **changes):
    reader = AGENTS[each.cli].reader()
    size = chunk or max(len(each.stdout), 1)
    for at in range(0, len(each.stdout), size):
        reader.feed(each.stdout[at : at + size])
    return replace(reader.evidence(each.exit_code, each.stderr), **changes)


def verdict(each, chunk=None, **changes):
    return classify(evidence(each, chunk, **changes), CLOCK)
