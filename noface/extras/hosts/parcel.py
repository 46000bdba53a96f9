"""What travels between home, the machine of the run, and a host: texts, numbers and bytes, nothing that is a program.

An order goes out with the commits that it begins on, and work comes back with its commits and the attempt's files.
"""

import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from noface.agents.base import SESSION
from noface.attempt.attempt import PATCH_FILE
from noface.attempt.environment import AttemptProgress, MainSeen, put
from noface.extras.hosts.hello import code_digest
from noface.git.command import Identity
from noface.git.repository import Repository
from noface.model.attempt import AttemptOrder, Work
from noface.model.codec import decode, encode
from noface.model.failure import Failure
from noface.model.worker_run import Usage
from noface.process.environment import Variables
from noface.process.files import read_regular, real_folder

_FILE_BYTES_MAX = 256 << 20
_FILES_BYTES_MAX = 512 << 20
_FILES_MAX = 2_000
_DEPTH_MAX = 4
_NAME_CHARS_MAX = 100
_NUMBER_MAX = 10**12
PARCEL_BYTES_MAX = 1 << 30
"""So many bytes at most come back of an attempt."""
OF_HOME = ("work.json", "report.json", PATCH_FILE)
"""Files of an attempt's folder that home makes of what it has taken in: a host's own say nothing."""
_TEXTS = ("token", "issue_id", "held", "aside", "error")


@dataclass(frozen=True, slots=True)
class ProjectParcel:
    """A project as a host has to know it: `id` names the repository at home, `config` is noface.toml as JSON."""

    id: str
    name: str
    main: str
    config: str
    identity: Identity = field(default_factory=Identity)
    object_format: str = "sha1"
    excludes: str = ""
    code: str = field(default_factory=code_digest)

    def repository(self, folder: Path) -> Repository:
        root = folder / self.name
        return Repository(root, root / ".git", self.main, self.identity, self.object_format, excludes=self.excludes)


@dataclass(frozen=True, slots=True)
class OrderParcel:
    """An order on its way to a host; its agent gets the `variables`, and `pack` holds the commits it begins on."""

    project: ProjectParcel
    order: AttemptOrder
    variables: Variables
    pack: bytes

    def packed(self) -> dict[str, Any]:
        order = replace(self.order, seal="")  # home seals what it has taken in
        texts = {"project": encode(self.project), "order": encode(order), "variables": encode(self.variables)}
        return {"text": json.dumps(texts), "pack": self.pack}

    @classmethod
    def unpacked(cls, parcel: Mapping[str, Any]) -> "OrderParcel":
        texts = json.loads(parcel["text"])
        variables = tuple((name, value) for name, value in texts["variables"])
        order, project = decode(AttemptOrder, texts["order"]), decode(ProjectParcel, texts["project"])
        return cls(project, order, variables, parcel["pack"])


@dataclass(frozen=True, slots=True)
class WorkParcel:
    """What came of an order: `work`, or the `failure` for which no worker ran; neither if it was ended before.

    `lacking`: the commits that it begins on are not there. `held` and `aside` are the commits of its two refs, in
    `pack` with all that they need. `files` are those of the attempt's folder, `error` what broke noface itself there.
    """

    token: str
    issue_id: str = ""
    number: int = 0
    work: Work | None = None
    failure: Failure | None = None
    held: str = ""
    aside: str = ""
    error: str = ""
    lacking: bool = False
    pack: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)

    def packed(self) -> dict[str, Any]:
        small = {name: encode(getattr(self, name)) for name in (*_TEXTS, "number", "lacking", "work", "failure")}
        return {"text": json.dumps(small), "pack": self.pack, "files": dict(self.files)}

    @classmethod
    def unpacked(cls, parcel: Mapping[str, Any]) -> "WorkParcel":
        """Return it from plain values, as a stranger's. Raises TypeError, ValueError and KeyError if they are none."""
        small, pack, files = _strangers(parcel["text"]), parcel["pack"], parcel["files"]
        if not (isinstance(pack, bytes) and isinstance(files, dict) and len(files) <= _FILES_MAX) or not all(
            isinstance(name, str) and isinstance(data, bytes) for name, data in files.items()
        ):
            raise TypeError("a parcel holds something else than bytes")
        texts, number = {name: small[name] for name in _TEXTS}, small["number"]
        if not all(isinstance(text, str) for text in texts.values()) or not isinstance(number, int):
            raise TypeError("a parcel holds something else than texts")
        work = decode(Work, small["work"]) if small["work"] is not None else None
        failure = decode(Failure, small["failure"]) if small["failure"] is not None else None
        if work is not None:
            _check_used(work.agent.usage)
        lacking = small["lacking"] is True
        return cls(work=work, failure=failure, pack=pack, files=files, number=number, lacking=lacking, **texts)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the regular files of an attempt's folder by name; an agent's session stays on its host."""
    files: dict[str, bytes] = {}
    size = 0
    for path in _regular(folder, folder) if folder.is_dir() else ():
        data = read_regular(path, _FILE_BYTES_MAX) or b""
        size += len(data)
        if size > _FILES_BYTES_MAX or len(files) >= _FILES_MAX:
            break
        files[str(path.relative_to(folder))] = data
    return files


def _regular(folder: Path, top: Path) -> Iterator[Path]:
    if len(folder.relative_to(top).parts) >= _DEPTH_MAX:
        return
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or (path.name == SESSION and folder == top):
            continue
        if path.is_dir():
            yield from _regular(path, top)
        elif path.is_file():
            yield path


def _strangers(text: object) -> Any:
    """Return what a stranger's JSON says. Raises ValueError also for numbers that are none, or beyond all use."""
    if not isinstance(text, str):
        raise TypeError("a parcel holds something else than texts")

    def number(digits: str) -> float:
        if not abs(value := float(digits)) <= _NUMBER_MAX:
            raise ValueError(f"it holds the number {digits[:20]}")
        return int(digits) if digits.lstrip("-").isdigit() else value

    try:
        return json.loads(text, parse_float=number, parse_int=number, parse_constant=number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _check_used(used: Usage) -> None:
    counts = (used.cost_usd, used.tokens_in, used.tokens_out, used.tokens_cached)
    if any(count is not None and not 0 <= count < math.inf for count in counts):
        raise ValueError("its worker used less than nothing")


def closed(packed: Mapping[str, Any]) -> bytes:
    import msgpack  # it comes with dask.distributed

    return zlib.compress(msgpack.packb(packed), level=1)


def opened(data: bytes) -> Mapping[str, Any]:
    """Return plain values from such bytes, as a stranger's. Raises TypeError and ValueError if they are none."""
    import msgpack

    try:
        reader = zlib.decompressobj()
        value = msgpack.unpackb(reader.decompress(data, PARCEL_BYTES_MAX))
    except (zlib.error, msgpack.UnpackException, RecursionError) as error:
        raise ValueError(f"it cannot be read: {error}") from error
    if reader.unconsumed_tail or not isinstance(value, dict):
        raise ValueError("it is no parcel, or a larger one than any attempt's")
    return value


def put_files(folder: Path, root: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a parcel into an attempt's folder, which lies below `root`.

    Names are left that lead out, or that an attempt's files do not have; and what home makes itself of the commits.
    """
    for name, data in files.items():
        path = Path(name)
        parts = path.parts
        whole = 0 < len(parts) <= _DEPTH_MAX and not path.is_absolute() and ".." not in parts
        fits = whole and all(len(part) <= _NAME_CHARS_MAX and part.isascii() and part.isprintable() for part in parts)
        if not fits or name in OF_HOME:
            continue
        put(real_folder((folder / path).parent, root) / path.name, data)


def progress_text(message: object) -> str | None:
    if isinstance(message, MainSeen):
        return json.dumps({"phase": "setup", "text": message.text, "used": {"cost_usd": None}})
    return json.dumps(encode(message)) if isinstance(message, AttemptProgress) else None


def progress_of(text: str, order: AttemptOrder) -> AttemptProgress:
    """Return what such a text tells of an order's attempt. Raises TypeError and ValueError for any other."""
    fields = {**_strangers(text), "issue_id": order.issue.id, "number": order.number}
    progress = decode(AttemptProgress, fields)
    _check_used(progress.used)
    return progress
