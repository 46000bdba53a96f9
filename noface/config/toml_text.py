"""Values as they are written in a TOML file."""

_LIST_WIDTH_MAX = 100


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
