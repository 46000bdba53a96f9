"""Which Python modules the gates have from outside the tree: those of the language, and what is installed."""

import sys
from pathlib import Path

from noface.loop.checkouts import environments
from noface.loop.workshop import LANDING_SLOT, Workshop
from noface.system.environment import gate_environment
from noface.system.programs import package_folders


def outside_modules(shop: Workshop) -> frozenset[str]:
    """Return the names of modules of the standard library, of environments on PATH, and of those that setup made."""
    slot = shop.gate_folder(LANDING_SLOT)
    prefixes = [*environments(dict(gate_environment()), ("/",)), *(str(slot / path) for path in shop.setup.keep)]
    folders = [folder for prefix in prefixes for folder in package_folders(Path(prefix))]
    installed = {entry.name.partition(".")[0] for folder in folders for entry in folder.iterdir() if _is_module(entry)}
    return frozenset(installed | sys.stdlib_module_names)


def _is_module(entry: Path) -> bool:
    return entry.suffix in (".py", ".so") or (entry / "__init__.py").exists()
