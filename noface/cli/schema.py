"""`noface schema`: the JSON Schemas of what other programs read from noface and write for it."""

import typer

from noface.cli.verb import Answer, answers
from noface.errors import UsageError


@answers("The list as JSON; a schema is JSON anyway.")
def schema(
    name: str = typer.Argument("", metavar="[NAME]", show_default=False, help="Which one; without it, all are listed."),
) -> Answer | None:
    """Print the JSON Schema of orders, reports, or `--json` output.

    The schemas follow draft 2020-12.
    """
    import json

    from noface.ui import page
    from noface.ui.published import SCHEMAS, list_of_schemas, published, schemas_page

    if name:
        page.show([json.dumps(published(_meant(name, list(SCHEMAS))), indent=2)])
        return None
    return Answer({"schemas": list_of_schemas()}, schemas_page)


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
