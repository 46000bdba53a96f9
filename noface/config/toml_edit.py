"""Put a value into a TOML text where a person would have written it, and leave every other line alone."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tomlkit import TOMLDocument
    from tomlkit.items import Item

Keys = tuple[str | int, ...]
"""The way to a value: names of tables and keys, numbers of items."""


def with_value(text: str, path: Keys, value: object) -> str:
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
            _append(table, part, tomlkit.inline_table() if isinstance(table, InlineTable) else tomlkit.table())
        table = table[part]
    if name in table:
        table[name] = value
    else:
        _append(table, str(name), tomlkit.item(value))
    return tomlkit.dumps(document)


def _piece(document: "TOMLDocument", path: Keys) -> Any:
    """Return the piece of a section that a plain key goes into, where the section is written in several pieces.

    [retry], [run], [[retry.ladder]] are such: tomlkit would put a new key of [retry] in front of [run], as if the
    comment there spoke of it. None where the question does not arise.
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
