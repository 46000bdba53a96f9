"""Changes values of noface.toml or renews what was detected; all else stays, comments included."""

import contextlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import islice, pairwise, product
from typing import Any

from noface.config.lines import KeyPath, Layout, dotted, split_key
from noface.config.load import parse, tables
from noface.errors import ConfigError

_LIST_WIDTH_MAX = 100
_READINGS_MAX = 64
_HINTS = "failure_hints"
_GATE_KEYS = ("name", "command")


def toml_text(value: object) -> str:
    """Write a value as TOML; a long list gets a line an item, a text single quotes if these spare it escapes."""
    import tomli_w

    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{dotted((key,))} = {toml_text(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        items = [toml_text(item) for item in value]
        line = f"[{', '.join(items)}]"
        return line if len(line) <= _LIST_WIDTH_MAX else "[\n  " + ",\n  ".join(items) + ",\n]"
    if isinstance(value, str) and value.isprintable() and "'" not in value and ("\\" in value or '"' in value):
        return f"'{value}'"
    return tomli_w.dumps({"value": value}).removeprefix("value = ").rstrip("\n")


def with_value(text: str, path: KeyPath, value: object) -> str:
    """Return `text` with `value` at `path`; tables on the way are made, items of arrays must be there.

    Raise ConfigError if the text is written so that this cannot be done to it.
    """
    layout = Layout(text)
    if path in layout.values:
        start, end = layout.values[path]
        changed = text[:start] + toml_text(value) + text[end:]
    elif path in layout.ends and isinstance(value, Mapping):
        changed = text
        for place in sorted((at for key, at in layout.values.items() if key[:-1] == path), reverse=True):
            changed = changed[: changed.rfind("\n", 0, place[0]) + 1] + changed[_line_end(changed, place[1]) :]
        for key, item in value.items():
            changed = with_value(changed, (*path, key), item)
    else:
        changed = _added(text, layout, path, value)
    if tables(changed, "") != _data_with(tables(text, ""), path, value):
        raise ConfigError(f"{dotted(path)} cannot be set in a file that is written like this", "change it by hand")
    return changed


def _data_with(data: Mapping[str, Any], path: KeyPath, value: object) -> object:
    changed: Any = deepcopy(data)
    inner, last = changed, path[-1]
    for part, following in pairwise(path):
        if isinstance(part, str):
            inner.setdefault(part, [] if isinstance(following, int) else {})
        inner = inner[part]
    if isinstance(last, int) and last == len(inner):
        inner.append(value)
    else:
        inner[last] = value
    return changed


def _added(text: str, layout: Layout, path: KeyPath, value: object) -> str:
    around = (path[:size] for size in range(len(path) - 1, 0, -1))
    there = next((outer for outer in around if outer in layout.values or outer in layout.ends), ())
    rest = path[len(there) :]
    if there in layout.values:
        for part in reversed(rest[1:]):
            value = {part: value}
        return _added_inline(text, layout, there, rest[0], value)
    if there in layout.ends and len(rest) == 1:
        at, before = layout.ends[there]
        return _with_lines(text, _line_end(text, at), f"{_line((*before, rest[0]), value)}\n")
    header = path if isinstance(value, Mapping) else path[:-1]
    name = dotted(tuple(part for part in header if isinstance(part, str)))
    keys = value if isinstance(value, Mapping) else {path[-1]: value}
    new = _table(f"[[{name}]]" if isinstance(path[-1], int) else f"[{name}]", keys)
    section = [at for key, (at, _) in layout.ends.items() if key[:1] == path[:1]]
    place = _line_end(text, max(section)) if section else len(text)
    following = text[place:].split("\n", maxsplit=1)[0]
    return _with_lines(text, place, "\n" * bool(text) + new + "\n" * bool(following.strip()))


def _added_inline(text: str, layout: Layout, table: KeyPath, key: str | int, value: object) -> str:
    start, end = layout.values[table]
    if text[start] != ("[" if isinstance(key, int) else "{"):
        raise ConfigError(f"{dotted(table)} is not a table", "leave out what follows it, or repair it by hand first")
    item = _line((key,), value) if text[start] == "{" else toml_text(value)
    last = max((at for path, (_, at) in layout.values.items() if path[:-1] == table), default=0)
    return f"{text[:last]}, {item}{text[last:]}" if last else f"{text[: start + 1]} {item} {text[end - 1 :]}"


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return end + 1 if end >= 0 else len(text)


def _with_lines(text: str, place: int, lines: str) -> str:
    new = f"\n{lines}" if place and text[place - 1] != "\n" else lines
    return text[:place] + (new.replace("\n", "\r\n") if "\r\n" in text else new) + text[place:]


def _line(key: KeyPath, value: object) -> str:
    return f"{dotted(key)} = {toml_text(value)}"


def _table(header: str, values: Mapping[Any, object]) -> str:
    return "".join(f"{line}\n" for line in (header, *(_line((key,), value) for key, value in values.items())))


def set_values(text: str, pairs: Sequence[tuple[str, str]], source: str = "noface.toml") -> str:
    """Return `text` with each key set to its value, all of them or none; the result is valid as a whole.

    A key is dotted: retry.max_total_attempts, gates.unit.timeout (by name) or gates.0.timeout; or a table, whose value
    is one: models.fast '{ agent = … }'. A value is TOML if that is valid there, else text. Raise ConfigError.
    """
    refusal: ConfigError | None = None
    for candidates in islice(product(*(tuple(_readings(value)) for _, value in pairs)), _READINGS_MAX):
        changed = text
        try:
            for (key, _), candidate in zip(pairs, candidates, strict=True):
                data = tables(changed, source)
                changed = with_value(changed, _path_of(data, key, candidate), candidate)
            parse(changed, source)
        except ConfigError as error:
            # Where the TOML reading is refused too, its error says more: 0 is too small, not "no number".
            refusal = refusal or error
        else:
            return changed
    raise refusal or ConfigError("nothing to set")


def _readings(value: str) -> Iterator[Any]:
    with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError):
        table = tomllib.loads(f"value = {value}")
        if table.keys() == {"value"}:
            yield table["value"]
    yield value


def _path_of(data: Mapping[str, Any], key: str, value: object) -> KeyPath:
    from noface.config.problems import Shape, section_at

    try:
        parts = split_key(key)
    except ValueError:
        raise ConfigError(f'"{key}" is not a key', "write it dotted, such as retry.max_total_attempts") from None
    path: KeyPath = ()
    there: Any = data
    for part in parts:
        section, rest = section_at(path)
        of_array = section is not None and not rest and section.shape is Shape.ARRAY and isinstance(path[-1], str)
        step = _index(there if isinstance(there, list) else [], dotted(path), part, value) if of_array else part
        path = (*path, step)
        try:
            there = there[step]
        except (LookupError, TypeError):
            there = None
    section, rest = section_at(path)
    if section is not None and not rest and not isinstance(value, dict):
        raise ConfigError(f'"{key}" is a table, not a value', f"name one of its keys: {', '.join(section.keys)}")
    return path


def _index(entries: list[Any], section: str, item: str, value: object) -> int:
    """Return which item of an array of tables `item` means: a name, a number from 0, or the one that `value` is."""
    from noface.config.problems import did_you_mean

    names = [str(entry.get("name", index)) for index, entry in enumerate(entries) if isinstance(entry, dict)]
    if item in names:
        return names.index(item)
    if item.isdecimal() and int(item) < len(names):
        return int(item)
    if isinstance(value, dict) and value.get("name") == item:
        return len(entries)
    known = did_you_mean(item, names) if names else "it is empty"
    hint = f"{known}; to add one, write a [[{section}]] table into the file"
    raise ConfigError(f'there is no "{item}" in {section}', hint)


def with_own(new: str, old: str, *, but: Sequence[str] = ()) -> str:
    """Return the text `new` with what a person has in `old`: gates, models and every section that `but` does not name.

    Each comes with the comments above it. Of what is in both, gates stay as in `old`, detected keys of [project] as in
    `new`. An `old` that is no TOML has nothing that could be kept.
    """
    try:
        data = tables(old, "")
    except ConfigError:
        return new
    own, detected = _pieces(old), _pieces(new)
    names = list(dict.fromkeys(name for name, _ in own))
    order = list(dict.fromkeys(name for name, _ in detected))
    for before, name in pairwise(names):
        if name not in order:
            order.insert(order.index(before) + 1, name)
    kept = set(names) - {"", "project", *but}
    known = {gate.get(key) for gate in data.get("gates", ()) for key in _GATE_KEYS}
    chosen: list[str] = []
    for name in order:
        chosen += [text for section, text in own if section == name and name in kept]
        texts = [text for section, text in detected if section == name and (name not in kept or name == "gates")]
        if name == "gates":
            texts = [text for text in texts if not known & {tables(text, "")[name][0].get(key) for key in _GATE_KEYS}]
        chosen += texts
    merged = "\n\n".join(text.strip() for text in chosen) + "\n"
    for key in data.get("project", {}).keys() - tables(new, "").get("project", {}).keys():
        merged = with_value(merged, ("project", key), data["project"][key])
    return merged


def _pieces(text: str) -> list[tuple[str, str]]:
    pieces, begins, name = [], 0, ""
    for following, at in [*Layout(text).sections, ("", len(text))]:
        lines = text[begins:at].splitlines(keepends=True)
        end = at
        while following and lines and lines[-1].startswith("#"):
            end -= len(lines.pop())
        pieces.append((name, text[begins:end]))
        begins, name = end, following
    return pieces


def hint_toml(values: Mapping[str, str]) -> str:
    return _table(f"[[{_HINTS}]]", {key: value for key, value in values.items() if value})
