"""Which repository noface's state belongs to: its id, since its name can be given to another one.

On GitHub a name that became free by a rename, a transfer or a deletion can be taken by anyone. Its issues have the same
numbers, so without this their text would be worked on as that of the repository before.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from noface.errors import ForgeError
from noface.forge.location import Location
from noface.process.files import read_regular, write_atomic

FILE = "github-repository.json"
_BYTES_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class Register:
    """The ids of the repositories that this state has worked with, by API and name, in a file of its folder."""

    folder: Path

    def check(self, location: Location, own_id: object) -> None:
        """Remember the id of the repository; raise ForgeError if it was another one before."""
        name = f"{location.api} {location.repository.lower()}"
        known = self._known()
        before = known.get(name)
        if not isinstance(own_id, int) or before == own_id:
            return
        if before is not None:
            raise ForgeError(
                f"{location.repository} is another repository than the one that noface has worked with here: its id is"
                f" {own_id}, and it was {before}.",
                "If yours was renamed, set the git remote's address, or [github] repository, to the new name. If it"
                f" was made anew, begin anew here too: move {self.folder} away.",
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomic(self.folder / FILE, json.dumps({**known, name: own_id}), durable=False)

    def _known(self) -> dict[str, object]:
        try:
            stored = json.loads(read_regular(self.folder / FILE, _BYTES_MAX) or b"{}")
        except (OSError, ValueError, RecursionError):
            return {}
        return stored if isinstance(stored, dict) else {}
