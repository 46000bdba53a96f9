"""Changes values of noface.toml, adds a hint or renews what was detected; keeps comments, order and line ends."""

import contextlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise, product
from typing import TYPE_CHECKING, Any

from noface.config.lines import KeyPath, line_numbers, split_key
from noface.config.load import parse, tables
from noface.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import Item, Table

    from noface.config.problems import SectionKeys

_HEADER = re.compile(r"""\s*\[\[?\s*("[^"]+"|'[^']+'|[\w-]+)""")
_LIST_WIDTH_MAX = 100
_READINGS_MAX = 64


def toml_text(value: object) -> str:
    """Write a value as TOML; a long list gets a line an item."""
    import tomlkit

    if isinstance(value, dict):
        table = tomlkit.inline_table()
        table.update(value)
        return table.as_string()
    if isinstance(value, list | tuple):
        items = [toml_text(item) for item in value]
        line = f"[{', '.join(items)}]"
        return line if len(line) <= _LIST_WIDTH_MAX else "[\n  " + ",\n  ".join(items) + ",\n]"
    return tomlkit.item(value).as_string()


def with_value(text: str, path: KeyPath, value: object) -> str:
    """Return `text` with `value` at `path`; tables on the way are made, items of arrays must be there."""
    import tomlkit
    from tomlkit.items import InlineTable

    document = tomlkit.parse(text)
    *outer, name = path
    table: Any = document
    if (piece := _piece(document, path)) is not None:
        table, outer = piece, outer[1:]
    for part in outer:
        if isinstance(part, str) and part not in table:
            # An inline table holds inline tables only.
            new = tomlkit.aot() if isinstance(name, int) else tomlkit.table(is_super_table=isinstance(value, dict))
            _append(table, part, tomlkit.inline_table() if isinstance(table, InlineTable) else new)
        table = table[part]
    if isinstance(name, int) and name == len(table):
        table.append(tomlkit.item(value))
    elif isinstance(name, int) or name in table:
        table[name] = value
    else:
        _append(table, str(name), tomlkit.item(value))
    return tomlkit.dumps(document)


def _piece(document: "TOMLDocument", path: KeyPath) -> Any:
    """Return the piece of a section that a plain key goes into, where the section is written in several pieces.

    [retry], [run], [[retry.ladder]] are such: tomlkit would put a new key of [retry] in front of [run], as if the
    comment there spoke of it. None if the question does not arise.
    """
    from tomlkit.items import Table

    first, *rest = path
    pieces = [entry for key, entry in document.body if key is not None and key.key == first]
    own = [entry for entry in pieces if isinstance(entry, Table) and not entry.is_super_table()]
    return own[0] if len(pieces) > 1 and len(rest) == 1 and own and rest[0] not in document[str(first)] else None


def _append(table: Any, key: str, item: "Item") -> None:
    """Add a key right after the table's last one, before the tables within it.

    tomlkit by itself would put it after the comments that follow, which usually speak of the next table.
    """
    from tomlkit.items import AoT, Table

    if not isinstance(table, Table):
        table[key] = item
        return
    body = table.value.body
    inner = next((place for place, (_, entry) in enumerate(body) if isinstance(entry, Table | AoT)), len(body))
    if isinstance(item, Table) or inner == len(body):
        comments = _taken_comments(_last_body(table))
        table.append(key, item)
        body.extend(comments)
        return
    following = body[inner][1]
    indent = following.trivia.indent
    table.append(key, item)
    # tomlkit begins a table that follows a new key with an empty line, and keeps the places of keys by number.
    following.trivia.indent = indent
    start = inner
    while start and body[start - 1][0] is None:
        start -= 1
    body[start : inner + 1] = [body[inner], *body[start:inner]]


def _last_body(table: "Item") -> list[Any]:
    """Return the entries of the table that is written last within `table`, perhaps its own."""
    from tomlkit.items import AoT, Table

    while True:
        last = table.body[-1] if isinstance(table, AoT) else table
        body: list[Any] = last.value.body
        tables = [entry for _, entry in body if isinstance(entry, Table | AoT)]
        if not tables:
            return body
        table = tables[-1]


def _taken_comments(body: list[Any]) -> list[Any]:
    """Take the comments and empty lines at the end of a table's entries out of it, and return them."""
    end = len(body)
    while end and body[end - 1][0] is None:
        end -= 1
    taken = body[end:]
    del body[end:]
    return taken


def set_values(text: str, pairs: Sequence[tuple[str, str]], source: str = "noface.toml") -> str:
    """Return `text` with each key set to its value, all of them or none; the result is valid as a whole.

    A key is dotted: retry.max_total_attempts, models.fast.tier, gates.unit.timeout (by name) or gates.0.timeout,
    retry.ladder.0.attempts, retry.strategies.TIMEOUT; or a table, whose value is one: models.fast '{ agent = … }'.
    A value is taken as TOML if that is valid there, else as text. Raise ConfigError for an unknown key, a
    wrong value, or a file that would stay invalid.
    """
    refusal: ConfigError | None = None
    for candidates in islice(product(*(tuple(_readings(value)) for _, value in pairs)), _READINGS_MAX):
        changed = text
        try:
            for (key, _), candidate in zip(pairs, candidates, strict=True):
                data = tables(changed, source)
                changed = with_value(changed, _resolve(data, key, source, candidate), candidate)
            parse(changed, source)
        except ConfigError as error:
            # Where the TOML reading is refused too, its error says more: 0 is too small, not "no number".
            refusal = refusal or error
        else:
            return changed
    raise refusal or ConfigError("nothing to set")


def _readings(value: str) -> Iterator[Any]:
    """Yield what `value` may mean: a TOML value, if it is one and only one, then plain text."""
    with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError):
        table = tomllib.loads(f"value = {value}")
        if table.keys() == {"value"}:
            yield table["value"]
    yield value


def _resolve(data: Mapping[str, object], key: str, source: str, value: object) -> KeyPath:
    """Return the path in `data` that `key` names for `value`; raise ConfigError if noface.toml has no such key."""
    from noface.config.problems import did_you_mean, sections

    try:
        first, *rest = split_key(key)
    except ValueError:
        raise ConfigError(f'"{key}" is not a key', "write it dotted, such as retry.max_total_attempts") from None
    section = sections().get(first)
    if section is None:
        raise ConfigError(f'{source} has no section "{first}"', did_you_mean(first, sections()))
    path = _in_section(section, data, rest, key, value)
    _demand_tables(data, path[:-1], source)
    return path


def _in_section(
    section: "SectionKeys", data: Mapping[str, object], rest: list[str], key: str, value: object
) -> KeyPath:
    """Return the path in `data` of what `rest`, the end of `key`, names in `section`."""
    from noface.config.problems import Shape, did_you_mean, holds_names

    name = ".".join(section.name)
    at: KeyPath = section.name
    if section.shape is not Shape.TABLE and rest:
        item = rest.pop(0)
        there = _value_at(data, section.name)
        if section.shape is Shape.ARRAY and not rest and _is_new(there, item, value):
            return (*at, len(there) if isinstance(there, list) else 0)
        at = (*at, _index(there, name, item) if section.shape is Shape.ARRAY else item)
    if not rest and isinstance(value, dict) and (section.shape is Shape.TABLE or len(at) > len(section.name)):
        return at
    if not rest:
        raise ConfigError(f'"{key}" is a table, not a value', f"name one of its keys: {', '.join(section.keys)}")
    if (inner := section.inner.get(rest[0])) is not None:
        return _in_section(inner, data, rest[1:], key, value)
    if rest[0] not in section.keys:
        raise ConfigError(f'"{key}": there is no key "{rest[0]}" in {name}', did_you_mean(rest[0], section.keys))
    if len(rest) > (2 if holds_names(section.model.model_fields[rest[0]]) else 1):
        raise ConfigError(f'"{key}" goes too deep', f"leave out what follows {rest[0]}")
    return (*at, *rest)


def _value_at(data: object, names: tuple[str, ...]) -> object:
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _is_new(items: object, item: str, value: object) -> bool:
    """True if `value` is the table of an entry that the array does not have, under its own name."""
    names = [entry.get("name") for entry in items if isinstance(entry, dict)] if isinstance(items, list) else []
    return isinstance(value, dict) and value.get("name") == item and item not in names


def _index(items: object, section: str, item: str) -> int:
    """Return which item of an array of tables `item` means: a gate's name, or a number from 0."""
    from noface.config.problems import did_you_mean

    entries = [entry for entry in items if isinstance(entry, dict)] if isinstance(items, list) else []
    names = [str(entry.get("name", index)) for index, entry in enumerate(entries)]
    if item in names:
        return names.index(item)
    if item.isdecimal() and int(item) < len(names):
        return int(item)
    known = did_you_mean(item, names) if names else "it is empty"
    hint = f"{known}; to add one, write a [[{section}]] table into the file"
    raise ConfigError(f'there is no "{item}" in {section}', hint)


def _demand_tables(data: Any, path: KeyPath, source: str) -> None:
    for depth, part in enumerate(path):
        if isinstance(part, str) and part not in data:
            return
        data = data[part]
        if not isinstance(data, dict | list):
            where = ".".join(str(one) for one in path[: depth + 1])
            raise ConfigError(f"{source}: {where} is not a table", "repair that by hand first")


def with_own(new: str, old: str, *, but: Sequence[str] = ()) -> str:
    """Return the text `new` with what a person has in `old`: gates, models and every section that `but` does not name.

    Of [project] and the gates that are in both, by name or command, the gates stay as they are in `old`, and the
    detected keys of [project] as they are in `new`. An `old` that is no TOML has nothing that could be kept.
    """
    import tomlkit
    from tomlkit.exceptions import ParseError

    try:
        mine = tomlkit.parse(old)
    except ParseError:
        return new
    document = tomlkit.parse(new)
    for section, kept in mine.items():
        if section == "project" and isinstance(kept, dict):
            for key in kept.keys() - document["project"].keys():
                document["project"].append(key, kept[key])
        elif section == "gates" and isinstance(kept, list):
            _keep_gates(document, kept)
        elif section not in but:
            document[section] = kept
    merged = tomlkit.dumps(document)
    with contextlib.suppress(ConfigError, ParseError):
        placed = _placed(new, old, {*but, "project"})
        for key in mine.get("project", {}).keys() - tables(new, "").get("project", {}).keys():
            placed = with_value(placed, ("project", key), mine["project"][key])
        if tables(placed, "") == tables(merged, ""):
            return placed
    return merged


def _placed(new: str, old: str, but: set[str]) -> str:
    """Return `new` with the sections of `old`, each below the comments that speak of it.

    tomlkit takes these for the end of the table before. Texts that can't be taken apart by their lines come out
    wrong, which the caller sees.
    """
    own, detected = _pieces(old), _pieces(new)
    names, there = list(dict.fromkeys(name for name, _ in own)), [name for name, _ in detected]
    order = list(dict.fromkeys(there))
    for before, name in pairwise(names):
        if name not in order:
            order.insert(order.index(before) + 1, name)
    kept = {name for name in names if name and name not in but}
    keys = ("name", "command")
    known = {gate.get(key) for gate in tables(old, "").get("gates", []) for key in keys}
    chosen: list[str] = []
    for name in order:
        chosen += [text for section, text in own if section == name and name in kept]
        texts = [text for section, text in detected if section == name]
        if name == "gates":
            texts = [text for text in texts if not known & {tables(text, "")[name][0].get(key) for key in keys}]
        chosen += texts if name not in kept or name == "gates" else []
    return "\n\n".join(text.strip() for text in chosen) + "\n"


def _pieces(text: str) -> list[tuple[str, str]]:
    """Divide a text at its headers, each with the comment right above it; the name is that of the outermost table."""
    lines = text.splitlines(keepends=True)
    pieces: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        if header := _HEADER.match(line):
            body = pieces[-1][1]
            start = len(body)
            while start and body[start - 1].startswith("#"):
                start -= 1
            pieces.append((header[1].strip("\"'"), body[start:]))
            del body[start:]
        pieces[-1][1].append(line)
    return [(name, "".join(body)) for name, body in pieces]


def _keep_gates(document: "TOMLDocument", kept: list[Any]) -> None:
    import tomlkit

    own = {gate.get(key) for gate in kept for key in ("name", "command")}
    gates = tomlkit.aot()
    detected = document.get("gates", [])
    for gate in (*kept, *(gate for gate in detected if not own & {gate.get("name"), gate.get("command")})):
        gates.append(gate)
    document["gates"] = gates


_SECTION = "failure_hints"


def with_hint(text: str, values: Mapping[str, str], source: str = "noface.toml") -> str:
    """Return `text` with one more hint behind those there are; the result is valid as a whole.

    `values` are the keys of the entry that are set. Raise UsageError for a value that cannot be used, naming the
    option that gave it, and ConfigError for a file that is not valid to begin with.
    """
    parse(text, source)
    _check(values)
    ends = "\r\n" if "\r\n" in text else "\n"
    changed = _appended(text.replace("\r\n", "\n"), values)
    parse(changed, source)
    return changed.replace("\n", ends)


def hint_toml(values: Mapping[str, str]) -> str:
    """Return the entry as it is written into the file."""
    return f"[[{_SECTION}]]\n{_table(values).as_string()}"


def _check(values: Mapping[str, str]) -> None:
    from pydantic import ValidationError

    from noface.config.model_sections import HINT_CONDITIONS, FailureHint

    if not any(values.get(name) for name in HINT_CONDITIONS):
        options = ", ".join(_option(name) for name in HINT_CONDITIONS)
        raise UsageError("when does this hint apply? A condition is missing", f"Give one or more of {options}.")
    for name, value in values.items():
        if not value.isascii() and value.encode("utf-8", "replace").decode() != value:
            raise UsageError(f"{_option(name)} is not UTF-8 text", "noface.toml can hold nothing else.")
    try:
        FailureHint.model_validate(dict(values))
    except ValidationError as error:
        wrong = [f"{_option(str(each['loc'][0]))}: expected {each['msg']}" for each in error.errors()]
        raise UsageError("; ".join(wrong), "Nothing was added.") from None


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _appended(text: str, values: Mapping[str, str]) -> str:
    """Return `text`, whose lines end with a newline alone, with the entry in it."""
    there = tables(text, "").get(_SECTION, [])
    lines = text.split("\n")
    line = _end_of_hints(lines, there)
    if line is None:
        return _in_array(text, values)
    before, after = "\n".join(lines[:line]).rstrip("\n"), "\n".join(lines[line:]).lstrip("\n")
    parts = (before, hint_toml(values).rstrip("\n"), after)
    return "\n\n".join(part for part in parts if part).rstrip("\n") + "\n"


def _end_of_hints(lines: list[str], there: list[Any]) -> int | None:
    """Return how many lines there are up to the end of the last hint; all of them without one.

    None if the hints are written as a list of inline tables.
    """
    if not there:
        return len(lines)
    known = line_numbers("\n".join(lines))
    last = max((line for path, line in known.items() if path[:2] == (_SECTION, len(there) - 1)), default=len(lines))
    for line in range(last, len(lines) + 1):  # a text of several lines begins there and ends later
        with contextlib.suppress(tomllib.TOMLDecodeError):
            if tomllib.loads("\n".join(lines[:line])).get(_SECTION) == there:
                return None if _inline(lines, line) else line
    return None


def _inline(lines: list[str], line: int) -> bool:
    """True if another table cannot follow: the hints are a list, which is closed."""
    try:
        tomllib.loads("\n".join([*lines[:line], f"[[{_SECTION}]]"]))
    except tomllib.TOMLDecodeError:
        return True
    return False


def _in_array(text: str, values: Mapping[str, str]) -> str:
    """Add the entry to `failure_hints = [{ … }]`."""
    import tomlkit

    document = tomlkit.parse(text)
    entry = tomlkit.inline_table()
    entry.update({name: _string(value) for name, value in values.items()})
    document[_SECTION].append(entry)
    return tomlkit.dumps(document)


def _table(values: Mapping[str, str]) -> "Table":
    import tomlkit

    table = tomlkit.table()
    for name, value in values.items():
        if value:
            table.append(name, _string(value))
    return table


def _string(value: str) -> Any:
    """Write a text so that it is easy to read: in single quotes if that spares it from being escaped."""
    import tomlkit

    plain = value.isprintable() and "'" not in value
    return tomlkit.string(value, literal=plain and ("\\" in value or '"' in value))
