"""Tables that are data and no code: one TOML or JSON file each, beside this module.

Nothing is read before it is needed, and nothing twice. The readers are typed and stand beside what uses the table;
`tests/test_tables.py` holds every file against its reader and every rule against its example.
"""

from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@cache
def table(name: str) -> dict[str, Any]:
    """Return the table of `name`.toml. It is shared: do not change it."""
    import tomllib

    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


@cache
def document(name: str) -> dict[str, Any]:
    """Return what `name`.json holds. It is shared: do not change it."""
    import json

    content: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return content
