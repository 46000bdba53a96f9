"""Removes whatever an agent left behind: unreadable, thousands of folders deep, or no ordinary file.

All goes by directory descriptors: no link is followed below the trusted folder, and no mount is crossed.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from noface.errors import GitError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_FOLDER = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


def remove(path: Path) -> None:
    """Remove whatever stands at a path in a folder that no agent can write. Raises GitError if it stays."""
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in _NO_FOLDER:
            return
        raise _stuck(path, error) from error
    try:
        _remove_entry(folder, path.name, path)
    finally:
        os.close(folder)


def remove_below(root: Path, relative: str) -> None:
    """Remove what is at `relative` below the folder `root`, of which an agent may have made anything.

    Nothing happens if a part of the way is a link or no folder. Raises GitError if it stays, or a mount is in the way.
    """
    with _parent_of(root, relative) as (folder, name):
        if folder is not None:
            _remove_entry(folder, name, root / relative)


def unlink_below(root: Path, relative: str) -> None:
    """Remove a file or link below `root`, reached through no link, and the folders that are empty without it."""
    with _parent_of(root, relative) as (folder, name):
        if folder is None:
            return
        with suppress(FileNotFoundError, IsADirectoryError):
            os.unlink(name, dir_fd=folder)
    for parent in list(Path(relative).parents)[:-1]:
        with _parent_of(root, str(parent)) as (folder, name):
            try:
                os.rmdir(name, dir_fd=folder)
            except OSError:
                return


def mount_points(folder: Path) -> tuple[str, ...]:
    """Return the mount points below a folder, relative to it; none if the system does not list them."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return ()
    top = os.path.realpath(folder).rstrip("/") + "/"
    places = (os.fsdecode(_unescaped(line.split(b" ")[4])) for line in lines)
    return tuple(sorted({place.removeprefix(top) for place in places if place.startswith(top)} - {""}))


def _remove_entry(parent: int, name: str, path: Path) -> None:
    try:
        if stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode):
            _empty(parent, name, path)
            os.rmdir(name, dir_fd=parent)
        else:
            os.unlink(name, dir_fd=parent)
    except FileNotFoundError:
        return
    except OSError as error:
        raise _stuck(path, error) from error


def _empty(parent: int, name: str, path: Path) -> None:
    """Remove everything in a folder. What lies deeper is moved up first: no path is long, and few folders are open."""
    mount = _mount_of(parent)
    top = _enter(parent, name, mount, path)
    try:
        while folders := _unlink_files(top):
            for each in folders:
                below = _enter(top, each, mount, path)
                try:
                    for inner in _unlink_files(below):
                        os.close(_enter(below, inner, mount, path))  # to move a folder is to write in it
                        os.rename(inner, secrets.token_hex(16), src_dir_fd=below, dst_dir_fd=top)
                finally:
                    os.close(below)
                os.rmdir(each, dir_fd=top)
    finally:
        os.close(top)


def _unlink_files(folder: int) -> list[str]:
    folders = []
    with os.scandir(folder) as entries:
        # Read to the end first: a folder that loses entries while it is read may leave some out.
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                os.unlink(entry.name, dir_fd=folder)
    return folders


def _enter(parent: int, name: str, mount: object, path: Path) -> int:
    """Open a folder to be emptied, with its permissions given back; raise GitError if it is another mount."""
    try:
        folder = os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError:
        _permit(parent, name)
        folder = os.open(name, _FOLDER, dir_fd=parent)
    try:
        _refuse_mount(folder, mount, path)
        mode = os.fstat(folder).st_mode
        if mode & stat.S_IRWXU != stat.S_IRWXU:
            os.fchmod(folder, stat.S_IMODE(mode) | stat.S_IRWXU)
    except BaseException:
        os.close(folder)
        raise
    return folder


def _permit(parent: int, name: str) -> None:
    """Make a folder readable that cannot be opened to read; through a descriptor of it if there are such."""
    if not hasattr(os, "O_PATH"):
        os.chmod(name, stat.S_IRWXU, dir_fd=parent)
        return
    # O_PATH opens what may not be read, and chmod through it cannot be led elsewhere by a link put in its place.
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        Path(f"/proc/self/fd/{handle}").chmod(stat.S_IRWXU)
    finally:
        os.close(handle)


@contextmanager
def _parent_of(root: Path, relative: str) -> Iterator[tuple[int | None, str]]:
    """Yield a descriptor of the folder that holds `relative`, and the name in it; None if no folder does."""
    *parents, name = relative.strip("/").split("/")
    if {"", ".", ".."} & {*parents, name}:
        raise GitError(f"{relative!r} is no path below {root}.")
    folder, there = -1, True
    try:
        try:
            folder = os.open(root, _FOLDER)
            mount = _mount_of(folder)
            for part in parents:
                below = os.open(part, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = below
                _refuse_mount(folder, mount, root / relative)
        except OSError as error:
            if error.errno not in _NO_FOLDER:
                raise _stuck(root / relative, error) from error
            there = False
        yield (folder if there else None), name
    finally:
        if folder >= 0:
            os.close(folder)


def _refuse_mount(folder: int, mount: object, path: Path) -> None:
    if _mount_of(folder) != mount:
        raise _stuck(path, OSError(errno.EBUSY, ""))


def _mount_of(folder: int) -> object:
    """Return what tells the mounts of two folders apart: the device, and the mount's id if the system tells it."""
    device = os.fstat(folder).st_dev
    try:
        with open(f"/proc/self/fdinfo/{folder}", "rb", buffering=0) as facts:  # noqa: PTH123 - for each folder
            lines = facts.read(1024).splitlines()
    except OSError:
        return device
    return device, *(line for line in lines if line.startswith(b"mnt_id:"))


def _unescaped(place: bytes) -> bytes:
    for escape, character in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
        place = place.replace(escape, character)
    return place


def _stuck(path: Path, error: OSError) -> GitError:
    if error.errno == errno.EBUSY:
        return GitError(
            f"{path} cannot be removed: it is or contains a mount point.",
            "Nothing was removed from the mount. Find it with `findmnt` and unmount it.",
        )
    reason = error.strerror or str(error)
    return GitError(f"{path} could not be removed: {reason}.", "Remove it by hand; look at its owner and attributes.")
