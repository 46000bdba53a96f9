"""The command line: finds the verb, imports its module and no other, and turns errors into messages and exit codes."""

import os
import re
import signal
import sys
from importlib import import_module

import typer

from noface.cli.verb import Group, Verb, Verbs
from noface.data.extras import extra
from noface.errors import EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_USAGE, OF_THE_MACHINE, NofaceError
from noface.process.startup import prepare_streams

EXTRA, EXTRA_GROUP = "extra", "extra.group"
SECTIONS: dict[str, dict[str, str]] = {
    "Set up": {"init": "init", "doctor": "doctor", "config": "config.group", "policy": "policy"},
    "Work": {"issues": "issues.group", "run": "run", "pause": "run", "resume": "run"},
    "Look": {
        "status": "status",
        "report": "report",
        "blocked": "blocked",
        "show": "show",
        "logs": "logs",
        "board": EXTRA,
    },
    "Decide": {"approve": "decide", "reject": "decide", "retry": "retry", "skip": "retry"},
}
"""The verbs as `noface --help` lists them: heading → verb → module of this package, whose function of that name it is.

`.group` makes a verb that has verbs of its own; those of `extra` stand in data/extras.py.
"""

SUBVERBS: dict[str, dict[str, str]] = {
    "config": {"hints": "hints.group"},
    "tools": {
        "demo": "demo",
        "night": EXTRA_GROUP,
        "notify": EXTRA_GROUP,
        "fetch": "tools",
        "worker": EXTRA,
        "fsck": "fsck",
        "clean": "clean",
        "classify": "classify.group",
        "schema": "tools",
    },
}
"""Verbs of verbs that are modules of their own. `tools` has what is set up once, serves scripts, or repairs."""

VERBS = {verb: place for verbs in SECTIONS.values() for verb, place in verbs.items()} | {"tools": "verb.tools"}

EPILOG = (
    "`noface tools` has the rest: a demonstration, nights by a timer, messages, what serves scripts and repairs."
    " Begin with `noface tools demo`, or in your repository with `noface init`."
)


class _All(Verbs):
    sections = SECTIONS


def build(verb: str | None) -> typer.Typer:
    """Return the application with one verb, or with all of them if `verb` is none we know."""
    app = typer.Typer(
        name="noface",
        cls=_All,
        help="Work through a backlog unattended; merge to main only what the project's own gates prove.",
        epilog=EPILOG,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_root)
    for name, place in VERBS.items():
        if verb not in VERBS or name == verb:
            _add(app, name, place)
    return app


def _add(app: typer.Typer, name: str, place: str) -> None:
    module, _, group = place.partition(".")
    made = extra(f"verb {name}") if module == EXTRA else getattr(import_module(f"noface.cli.{module}"), group or name)
    if not group:
        app.command(name, cls=Verb)(made)
        return
    app_of_it = made()
    for inner, its_place in SUBVERBS.get(name, {}).items():
        _add(app_of_it, inner, its_place)
    app.add_typer(app_of_it, name=name, cls=Group)


def _version(asked: bool) -> None:
    if asked:
        from noface import __version__

        typer.echo(f"noface {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
    no_color: bool = typer.Option(False, "--no-color", help="No colours, like NO_COLOR. Works with every command."),
    verbose: bool = typer.Option(False, "--verbose", help="Show a traceback if noface itself fails."),
) -> None:
    del version, no_color, verbose  # taken out of the arguments before parsing, so that they may stand anywhere


def main() -> None:
    """Run noface on the process's arguments and exit with one of the exit codes of docs/configuration.md."""
    prepare_streams()
    arguments = sys.argv[1:]
    verbose = _take(arguments, "--verbose")
    if _take(arguments, "--no-color"):
        os.environ["NO_COLOR"] = "1"
    if sys.platform == "win32":
        sys.exit("noface needs a POSIX system: use it inside WSL (https://learn.microsoft.com/windows/wsl/install).")
    # No parent means these for noface. Where SIGCHLD is ignored the kernel keeps no exit status, and Python takes each
    # child for a successful one. What is ignored for a purpose (`nohup`, `&`) stays ignored.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    verb = next((word for word in arguments if not word.startswith("-")), None)
    try:
        # Without a verb all of them are imported, for the help; the version needs none.
        build("status" if arguments == ["--version"] else verb)(args=arguments, prog_name="noface")
    except NofaceError as error:
        _report(error, as_json="--json" in arguments)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except Exception as error:
        if verbose:
            raise
        if isinstance(error, UnicodeEncodeError) and any(map(_NO_TEXT.search, arguments)):
            _report(NofaceError("what was given is no text in UTF-8", _WRITE_ANEW), as_json="--json" in arguments)
            sys.exit(EXIT_USAGE)
        if isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
            where = f" ({str(error.filename)[:_NAME_CHARS_MAX]})" if error.filename else ""
            problem = NofaceError(f"{error.strerror}{where}", OF_THE_MACHINE[error.errno])
            _report(problem, as_json="--json" in arguments)
            sys.exit(EXIT_FAILURE)
        _report(NofaceError(f"noface itself failed: {type(error).__name__}: {error}", _BUG), as_json=False)
        sys.exit(EXIT_FAILURE)


_NAME_CHARS_MAX = 200
_NO_TEXT = re.compile("[\udc80-\udcff]")
_WRITE_ANEW = "Type it anew, or set the terminal to UTF-8."
_BUG = "This is a bug in noface. Run the command again with --verbose for the traceback to report; no work is lost."


def _take(arguments: list[str], flag: str) -> bool:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    if flag not in arguments[:end]:
        return False
    arguments.remove(flag)
    return True


def _report(error: NofaceError, *, as_json: bool) -> None:
    if as_json:
        import json

        document = {"schema": 1, "error": {"message": error.message, "hint": error.hint, "code": error.exit_code}}
        typer.echo(json.dumps(document))
    typer.echo(f"noface: {error.message}", err=True)
    if error.hint:
        typer.echo(f"  → {error.hint}", err=True)
