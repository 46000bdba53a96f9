"""`noface tools schema`: the JSON Schemas of what other programs read from noface and write for it."""

import typer

from noface.cli.verb import VerbResult, answers, meant


@answers("The list as JSON; a schema is JSON anyway.")
def schema(
    name: str = typer.Argument("", metavar="[NAME]", show_default=False, help="Which one; without it, all are listed."),
) -> VerbResult | None:
    """Print the JSON Schema of orders, reports, or `--json` output.

    The schemas follow draft 2020-12.
    """
    import json

    from noface.ui import page
    from noface.ui.published import SCHEMAS, list_of_schemas, published, schemas_page

    if name:
        page.show([json.dumps(published(meant(name, SCHEMAS, "schema", "schemas")), indent=2)])
        return None
    return VerbResult({"schemas": list_of_schemas()}, schemas_page)
