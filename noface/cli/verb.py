"""What a verb is: it returns its document, and here alone that is printed, as lines or with `--json`; `--help`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from noface.errors import EXIT_DONE, UsageError
from noface.ui import page
from noface.ui.text import clean

ConfigFile = Annotated[Path | None, typer.Option("--config", help="The configuration file, if it is not noface.toml.")]
"""The option of whatever reads noface.toml."""


@dataclass(frozen=True, slots=True)
class VerbResult:
    """What a verb returns: its document, the lines that a terminal of some width shows of it, its exit code."""

    document: object
    lines: Callable[[Any, int], Iterable[str]]
    exit_code: int = EXIT_DONE


def tell(answer: VerbResult, *, as_json: bool) -> None:
    if as_json:
        page.show_json(answer.document)
    else:
        page.show(answer.lines(answer.document, page.width()))
    if answer.exit_code:
        raise typer.Exit(answer.exit_code)


def answers(json_help: str = "As JSON.") -> Callable[[Callable[..., VerbResult | None]], Callable[..., None]]:
    """Return what makes a verb of a function: it gets `--json`, and its answer is printed as that asks for.

    Without an answer nothing is printed: the function has done so itself. One that has to know takes `as_json`.
    """

    def verb_of(function: Callable[..., VerbResult | None]) -> Callable[..., None]:
        given = signature(function).parameters
        wants_to_know = "as_json" in given

        @wraps(function)
        def verb(*values: Any, as_json: bool = False, **options: Any) -> None:
            answer = function(*values, **options, **({"as_json": as_json} if wants_to_know else {}))
            if answer is not None:
                tell(answer, as_json=as_json)

        asked = typer.Option(False, "--json", help=json_help)
        options = {name: each.replace(kind=Parameter.KEYWORD_ONLY) for name, each in given.items()}
        options["as_json"] = Parameter("as_json", Parameter.KEYWORD_ONLY, default=asked, annotation=bool)
        if [*given][-1:] == ["config"]:
            options["config"] = options.pop("config")  # it stays last
        verb.__dict__["__signature__"] = Signature(list(options.values()))
        # Without what it returns, which may be imported for types only.
        verb.__annotations__ = {name: each.annotation for name, each in options.items()}
        return verb

    return verb_of


def meant(word: str, known: Iterable[str], what: str, listed: str) -> str:
    """Return which of the known names a word means, in any case. Raises UsageError, which calls a name `what`."""
    from difflib import get_close_matches

    names = {name.lower(): name for name in known}
    folded = word.strip().lower().replace("-", "_")
    if folded in names:
        return names[folded]
    near = get_close_matches(folded[:80], names, n=1, cutoff=0.5)
    nearest = f"Did you mean {names[near[0]]}? " if near else ""
    raise UsageError(f"there is no {what} {clean(word)[:80]}", f"{nearest}The {listed}: {', '.join(names.values())}.")


def grouped(
    help_text: str, verbs: Mapping[str, Callable[..., None]], bare: Callable[..., None] | None = None
) -> typer.Typer:
    app = typer.Typer(help=help_text, rich_markup_mode=None)
    app.callback(invoke_without_command=True)(_bare(bare))
    for name, verb in verbs.items():
        app.command(name, cls=Verb)(verb)
    return app


tools = partial(grouped, "Set up nights, try noface, serve scripts, and repair.", {})
"""The verb `tools`; its verbs stand in the table of `cli/main.py`."""


def _bare(function: Callable[..., None] | None) -> Callable[..., None]:
    def bare(context: typer.Context, **options: Any) -> None:
        if context.invoked_subcommand is not None:
            if any(options.values()):
                words = f"{context.command_path} {context.invoked_subcommand}"
                raise UsageError(f"options of {words} come after its name", f"For example: {words} --help")
        elif function is None:
            typer.echo(context.get_help())
        else:
            function(**options)

    given = signature(function).parameters if function is not None else {}
    taken = Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    bare.__dict__["__signature__"] = Signature([taken, *given.values()])
    bare.__annotations__ = {"context": typer.Context, **(function.__annotations__ if function is not None else {})}
    return bare


_AROUND_CELLS = 6
"""The indent of a verb's line and the blanks behind its name."""
_SENTENCE_CELLS_MAX = 1_000
_VALUES = {"path": "FILE", "str": "TEXT", "text": "TEXT"}
"""What a value is called by the name of its type; a number is N."""
_OF_OPTION = {
    **dict.fromkeys(("issue", "depends_on"), "ID"),
    **dict.fromkeys(("model", "gate", "label"), "NAME"),
    "max_cost": "USD",
    "accept": "COMMAND",
    "path": "GLOB",
    "kind": "KIND",
    "main": "BRANCH",
}


def _name_values(command: Any) -> None:
    """Call values by what they are, in place of the types that typer names: `--issue ID`, not `--issue <str>`."""
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

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a whole sentence for each verb: typer cuts what takes more than a line."""
        del ctx
        rows = [(name, verb.get_short_help_str(_SENTENCE_CELLS_MAX)) for name, verb in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class Verbs(TyperGroup):
    """All verbs; `sections` are their names by headings."""

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
