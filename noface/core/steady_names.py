"""Makes a test's id the same in each checkout and run: no folder of the checkout, no address, no temporary path."""

import re

NAME_MAX = 2_000
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{5,16}\b")
_TEMPORARY = re.compile(
    r"(?<![\w./-])(?:/private)?(?:/var)?/tmp/[^\s'\"`,;:()\[\]{}<>|]+|/var/folders/[\w+]{2}/[\w+/.-]+"
)
_CONTROL = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x1f\x7f]+")


def steady(name: str, roots: tuple[str, ...] = ()) -> str:
    """Return a test's id without what differs between runs. `roots` are the paths under which the checkout is known."""
    name = _shown(name[:NAME_MAX])
    for root in roots:
        name = name.replace(f"{root}/", "")
    return _TEMPORARY.sub("…", _ADDRESS.sub("0x…", name))


def joined(root: str, name: str) -> str:
    """Return an id whose path counts from the folder `root` with the whole path, without `.` and `..`."""
    path, separator, rest = name.partition("::")
    parts: list[str] = []
    for part in (path if path.startswith("/") else f"{root}/{path}").split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return f"/{'/'.join(parts)}{separator}{rest}"


def _shown(name: str) -> str:
    return _CONTROL.sub(" ", name).encode("utf-8", "replace").decode().strip()
