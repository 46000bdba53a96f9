"""`noface notify test`: send one message to each service of `[notify]`, and say what came of it."""

import os
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from noface.cli.verb import ConfigFile, VerbResult, answers, grouped
from noface.errors import EXIT_ATTENTION, RemoteError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from noface.config.sections import Config
    from noface.engine.context import RunContext
    from noface.notify.outbox import Outbox
    from noface.notify.services import Service


@answers("What came of each, as JSON.")
def test(config: ConfigFile = None) -> VerbResult:  # noqa: PT028 - no test of pytest's
    """Send a message to each service, look for answers where they come from, and run on_event once."""
    from noface.config.load import load
    from noface.git.locate import locate
    from noface.notify.answers import hear
    from noface.notify.outbox import run_on_event
    from noface.notify.services import Message, deliver
    from noface.process.log_masking import known_secrets

    root = locate(Path.cwd()).root
    loaded = load(root, config)
    urls, heard = notify_services(loaded, root)
    if not (urls or heard or loaded.notify.on_event):
        raise UsageError("[notify] names nobody who could be told", "docs/night.md has examples for noface.toml.")
    masker = known_secrets(notify_secrets(loaded), None).masker
    message = Message(f"{root.name}: a test", "This is what noface sends. Nothing waits for you.")
    results = [_tried(each.name, "took the message", partial(deliver, each, message), masker.text) for each in urls]
    results += [_tried(each.name, "tells its answers", partial(hear, each, "1m"), masker.text) for each in heard]
    if loaded.notify.on_event:
        problem = run_on_event(loaded.notify.on_event, {"event": "test"}) or ""
        results.append({"service": "on_event", "ok": not problem, "what": problem or "ran"})
    code = EXIT_ATTENTION if any(not each["ok"] for each in results) else 0

    def lines(*_: object) -> "Iterator[str]":
        for each in results:
            yield f"{'✓' if each['ok'] else '✗'} {each['service']} {each['what']}"

    return VerbResult({"notify": results}, lines, code)


def _tried(name: str, done: str, function: "Callable[[], object]", masked: "Callable[[str], str]") -> dict[str, object]:
    from noface.notify.services import carry_out

    try:
        carry_out(name, function)
    except RemoteError as error:
        return {"service": name, "ok": False, "what": masked(error.message.removeprefix(f"{name}: "))}
    return {"service": name, "ok": True, "what": done}


def notify_services(config: "Config", root: Path) -> "tuple[Sequence[Service], Sequence[Service]]":
    """Return where messages go and where answers come from. Raises UsageError if that cannot be, as it stands."""
    from noface.notify.services import services

    urls = services(config.notify.urls, os.environ)
    heard = services(config.notify.answers, os.environ, heard=True)
    try:
        words = shlex.split(config.notify.on_event)
    except ValueError as error:
        raise UsageError(f"[notify] on_event is no shell command: {error}", "Look at its quotes.") from None
    for word in words:
        path = Path(root, Path(word).expanduser())
        if path.is_file() and path.resolve().is_relative_to(root.resolve()):
            raise UsageError(
                f"[notify] on_event runs {path}, outside the sandbox, and agents change the repository's files",
                "Keep it elsewhere, such as in ~/bin.",
            )
    return urls, heard


def notify_secrets(config: "Config") -> tuple[tuple[str, str], ...]:
    """Return what of the addresses nobody is to be shown, with the name that stands for it."""
    from noface.notify.services import secrets_in, services

    return secrets_in(services((*config.notify.urls, *config.notify.answers), os.environ))


def outbox_of(config: "Config", context: "RunContext", root: Path) -> "Outbox":
    """Return what tells people of a run."""
    from noface.notify.messages import NotifyRules
    from noface.notify.outbox import Outbox

    rules = config.notify.record(NotifyRules)
    return Outbox(context, rules, *notify_services(config, root), config.notify.on_event)


group = partial(grouped, "Tell people what happens in a run ([notify] in noface.toml).", {"test": test})
