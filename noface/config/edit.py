"""Change one value of noface.toml and keep everything else, comments and order included."""

import contextlib
import os
import secrets
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noface.config.load import parse, tables
from noface.config.toml_edit import Keys, with_value
from noface.errors import ConfigError

if TYPE_CHECKING:
    from noface.config.keys import SectionKeys


def set_value(text: str, key: str, value: str, source: str = "noface.toml") -> str:
    """Return `text` with `key` set to `value`; the result is valid as a whole.

    `key` is dotted: retry.max_total_attempts, models.fast.tier, gates.unit.timeout (by name) or gates.0.timeout,
    retry.ladder.0.attempts, retry.strategies.TIMEOUT.
    `value` is taken as TOML where that is valid there, else as text. Raise ConfigError for an unknown key, a
    wrong value, or a file that would stay invalid.
    """
    path = _resolve(tables(text, source), key, source)
    refusal: ConfigError | None = None
    for candidate in _readings(value):
        changed = with_value(text, path, candidate)
        try:
            parse(changed, source)
        except ConfigError as error:
            # Where the TOML reading is refused too, its error says more: 0 is too small, not "no number".
            refusal = refusal or error
        else:
            return changed
    raise refusal or ConfigError(f"cannot set {key}")


def write(path: Path, text: str) -> None:
    """Replace the file at `path` in one step, keeping its mode; a symlink stays, its target is replaced.

    Raise ConfigError if the folder can't be written; the old file is then untouched.
    """
    target = Path(os.path.realpath(path))
    try:
        _replace(target, text)
    except OSError as error:
        raise ConfigError(
            f"cannot write {path}: {error.strerror}", f"nothing was changed; noface needs to write in {target.parent}"
        ) from error


def _replace(target: Path, text: str) -> None:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    # 0o666 less the umask: what a new file gets from any editor.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            with contextlib.suppress(FileNotFoundError):
                os.fchmod(handle, stat.S_IMODE(target.stat().st_mode))
            os.fsync(handle)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _readings(value: str) -> Iterator[Any]:
    """Yield what `value` may mean: a TOML value, if it is one and only one, then plain text."""
    with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError):
        table = tomllib.loads(f"value = {value}")
        if table.keys() == {"value"}:
            yield table["value"]
    yield value


def _resolve(data: dict[str, Any], key: str, source: str) -> Keys:
    """Return the path in `data` that `key` names; raise ConfigError if noface.toml has no such key."""
    from noface.config.keys import did_you_mean, sections
    from noface.config.lines import split_key

    try:
        first, *rest = split_key(key)
    except ValueError:
        raise ConfigError(f'"{key}" is not a key', "write it dotted, such as retry.max_total_attempts") from None
    section = sections().get(first)
    if section is None:
        raise ConfigError(f'{source} has no section "{first}"', did_you_mean(first, sections()))
    path = _in_section(section, data, rest, key)
    _demand_tables(data, path[:-1], source)
    return path


def _in_section(section: "SectionKeys", data: dict[str, Any], rest: list[str], key: str) -> Keys:
    """Return the path in `data` of what `rest`, the end of `key`, names in `section`."""
    from noface.config.keys import Shape, did_you_mean, holds_names

    name = ".".join(section.name)
    at: Keys = section.name
    if section.shape is not Shape.TABLE and rest:
        item = rest.pop(0)
        at = (*at, _index(_found(data, section.name), name, item) if section.shape is Shape.ARRAY else item)
    if not rest:
        raise ConfigError(f'"{key}" is a table, not a value', f"name one of its keys: {', '.join(section.keys)}")
    if (inner := section.inner.get(rest[0])) is not None:
        return _in_section(inner, data, rest[1:], key)
    if rest[0] not in section.keys:
        raise ConfigError(f'"{key}": there is no key "{rest[0]}" in {name}', did_you_mean(rest[0], section.keys))
    if len(rest) > (2 if holds_names(section.model.model_fields[rest[0]]) else 1):
        raise ConfigError(f'"{key}" goes too deep', f"leave out what follows {rest[0]}")
    return (*at, *rest)


def _found(data: object, names: tuple[str, ...]) -> object:
    """Return what stands in `data` under `names`, None where nothing does."""
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _index(items: object, section: str, item: str) -> int:
    """Return which item of an array of tables `item` means: a gate's name, or a number from 0."""
    from noface.config.keys import did_you_mean

    entries = [entry for entry in items if isinstance(entry, dict)] if isinstance(items, list) else []
    names = [str(entry.get("name", index)) for index, entry in enumerate(entries)]
    if item in names:
        return names.index(item)
    if item.isdecimal() and int(item) < len(names):
        return int(item)
    known = did_you_mean(item, names) if names else "it is empty"
    hint = f"{known}; to add one, write a [[{section}]] table into the file"
    raise ConfigError(f'there is no "{item}" in {section}', hint)


def _demand_tables(data: Any, path: Keys, source: str) -> None:
    for depth, part in enumerate(path):
        if isinstance(part, str) and part not in data:
            return
        data = data[part]
        if not isinstance(data, dict | list):
            where = ".".join(str(one) for one in path[: depth + 1])
            raise ConfigError(f"{source}: {where} is not a table", "mend that by hand first")
