"""`noface schema`: the JSON Schemas of what other programs read from noface and write for it."""

import typer

from noface.errors import UsageError


def schema(
    name: str = typer.Argument("", metavar="[NAME]", show_default=False, help="Which one; without it, all are listed."),
    as_json: bool = typer.Option(False, "--json", help="The list as JSON; a schema is JSON anyway."),
) -> None:
    """Print the JSON Schema of orders, reports, or `--json` output.

    The schemas follow draft 2020-12.
    """
    import json

    from noface.ui import page
    from noface.ui.published import SCHEMAS, published
    from noface.ui.text import hanging

    if name:
        page.show([json.dumps(published(_meant(name, list(SCHEMAS))), indent=2)])
    elif as_json:
        listed = [{"name": each, "describes": entry.describes} for each, entry in SCHEMAS.items()]
        page.show_json({"schemas": listed})
    else:
        room = max(map(len, SCHEMAS))
        for each, entry in SCHEMAS.items():
            first, *more = hanging(entry.describes, page.width() - room - 2)
            page.show([f"{page.paint(each, 'title')}{' ' * (room - len(each) + 2)}{first}"])
            page.show(f"{' ' * (room + 2)}{line}" for line in more)


def _meant(word: str, known: list[str]) -> str:
    """Return the name that is meant, in whatever case it is written."""
    from difflib import get_close_matches

    from noface.ui.text import clean

    name = word.strip().lower()
    if name in known:
        return name
    near = get_close_matches(name[:80], known, n=1, cutoff=0.5)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise UsageError(f"there is no schema {clean(word)[:80]}", f"{meant}The schemas: {', '.join(known)}.")
