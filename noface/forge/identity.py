"""Which repository noface's state belongs to: its id, since on GitHub anyone can take a name that became free.

Issues of that other repository have the same numbers, and would be worked on as those of the one before.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from noface.errors import ForgeError
from noface.forge.location import Location
from noface.model.json_record import JsonRecord, json_value
from noface.process.files import read_regular, write_atomic

FILE = "github-repository.json"
_BYTES_MAX = 1 << 20


def check_identity(folder: Path, location: Location, own_id: object) -> None:
    """Remember the id of the repository in noface's state; raise ForgeError if it was another before."""
    name = f"{location.api} {location.repository.lower()}"
    known = _known(folder)
    before = known.get(name)
    if not isinstance(own_id, int) or before == own_id:
        return
    if before is not None:
        raise ForgeError(
            f"{location.repository} is another repository than the one that noface has worked with here: its id is"
            f" {own_id}, and it was {before}.",
            "If yours was renamed, set the git remote's address, or [github] repository, to the new name. If it"
            f" was made anew, begin anew here too: move {folder} away.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_atomic(folder / FILE, json.dumps({**known, name: own_id}), durable=False)


def _known(folder: Path) -> Mapping[str, object]:
    try:
        return JsonRecord.of(json_value(read_regular(folder / FILE, _BYTES_MAX) or b"")).values
    except OSError:
        return {}
