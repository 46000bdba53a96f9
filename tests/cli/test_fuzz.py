"""Whatever stands in the place of an argument or an option, a verb answers as a program does: never with its own fault.

Verbs, arguments and options are those that the program declares, so a new one is here as soon as it is there.
"""

from collections.abc import Iterator

import pytest
from typer.main import get_command

from noface.cli.main import build

STRANGE = ("a" * 5000, "\udcff\udcfe", "../../etc/passwd", "é\n\x1b[31m", "%s{0}٣ *", "")
LASTING = {"board", "demo", "worker", "night", "notify", "fetch", "run", "init", "doctor"}
"""What serves, works or looks at the whole machine: it is asked with one strange word each."""


def verbs(command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from verbs(inner, (*path, name))
    else:
        yield path, command


ALL = dict(verbs(get_command(build(None))))


def lines_of(command, words: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield the words after a verb: each strange word for all arguments, and for each option that takes one."""
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and each.opts[0] != "--config"]
    taking = [each for each in options if not each.is_flag]
    yield from ([word] * len(arguments) for word in words)
    yield from ([option.opts[0], word, *["1"] * len(arguments)] for option in taking for word in words[:2])


@pytest.fixture
def shop(project):
    project.issue(1)
    project.config()
    project.commit()
    project.run()
    return project


@pytest.mark.parametrize("part", range(3))
def test_a_verb_answers_whatever_it_is_given(shop, part):
    for path in [path for path in ALL if not LASTING & {*path}][part::3]:
        for words in lines_of(ALL[path], STRANGE):
            done = shop.noface(*path, *words)
            assert done.returncode in (0, 1, 2, 3), (path, words, done.stdout, done.stderr)
            assert "noface itself failed" not in done.stdout + done.stderr, (path, words)
            assert "Traceback" not in done.stderr, (path, words)


def test_a_verb_that_works_refuses_what_it_cannot_read(shop):
    for path in [path for path in ALL if {"run", "doctor", "fetch"} & {*path}]:
        for words in lines_of(ALL[path], STRANGE[:2]):
            done = shop.noface(*path, *(["--dry-run"] if path == ("run",) else []), *words)
            assert "noface itself failed" not in done.stdout + done.stderr, (path, words)
