"""How `--help` is laid out: the verbs under a heading each for what a person wants, values by plain names."""

from collections.abc import Mapping
from typing import Any, ClassVar

from typer.core import TyperArgument, TyperCommand, TyperGroup

_AROUND_CELLS = 6
"""The indent of a verb's line and the blanks behind its name."""
_VALUES = {"path": "FILE", "str": "TEXT", "text": "TEXT"}
"""What a value is called by the name of its type; a number is N."""
_OF_OPTION = {
    **dict.fromkeys(("issue", "depends_on"), "ID"),
    **dict.fromkeys(("model", "gate", "label", "language", "zone"), "NAME"),
    "max_cost": "USD",
    "accept": "COMMAND",
    "path": "GLOB",
    "kind": "KIND",
    "main": "BRANCH",
    "ended_by": "HOW",
}


def _name_values(command: Any) -> None:
    """Call values by what they are, where typer names types: `--issue ID`, not `--issue <str>`."""
    for param in command.params:
        takes_value = not isinstance(param, TyperArgument) and not getattr(param, "is_flag", True)
        if takes_value and param.metavar is None:
            param.metavar = _OF_OPTION.get(str(param.name)) or _VALUES.get(param.type.name, "N")


class Verb(TyperCommand):
    """A verb."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        _name_values(self)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the pieces of the usage line: a required argument without the braces that typer puts around it."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


class Group(TyperGroup):
    """A verb with verbs of its own."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        _name_values(self)


class Verbs(TyperGroup):
    """All verbs; `sections` are their names by the headings that they are listed under."""

    sections: ClassVar[Mapping[str, Mapping[str, str]]] = {}

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each heading; the columns are those of the longest name."""
        del ctx
        cells = max(map(len, self.commands), default=0)
        for title, verbs in self.sections.items():
            known = [name for name in verbs if name in self.commands]
            rows = [
                (name.ljust(cells), self.commands[name].get_short_help_str(formatter.width - _AROUND_CELLS - cells))
                for name in known
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
