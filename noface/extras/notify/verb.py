"""`noface tools notify test`: send one message to each service of `[notify]`, and say what came of it."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from noface.cli.verb import ConfigFile, VerbResult, answers, grouped
from noface.errors import EXIT_ATTENTION, RemoteError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@answers("What came of each, as JSON.")
def test(config: ConfigFile = None) -> VerbResult:  # noqa: PT028 - no test of pytest's
    """Send a message to each service, look for answers where they come from, and run on_event once."""
    from noface.config.load import load
    from noface.extras.notify.answers import hear
    from noface.extras.notify.notifier import Notifier
    from noface.extras.notify.outbox import run_on_event
    from noface.extras.notify.services import Message, deliver
    from noface.git.locate import locate
    from noface.process.masking import known_secrets

    root = locate(Path.cwd()).root
    loaded = load(root, config)
    notifier = Notifier(loaded, root)
    if not loaded.notify.tells:
        raise UsageError("[notify] names nobody who could be told", "docs/night.md has examples for noface.toml.")
    masker = known_secrets(notifier.secrets)
    message = Message(f"{root.name}: a test", "This is what noface sends. Nothing waits for you.")
    results = [
        _tried(each.name, "took the message", partial(deliver, each, message), masker.text) for each in notifier.urls
    ]
    results += [
        _tried(each.name, "tells its answers", partial(hear, each, "1m"), masker.text) for each in notifier.heard
    ]
    if loaded.notify.on_event:
        problem = run_on_event(loaded.notify.on_event, {"event": "test"}) or ""
        results.append({"service": "on_event", "ok": not problem, "what": problem or "ran"})
    code = EXIT_ATTENTION if any(not each["ok"] for each in results) else 0

    def lines(*_: object) -> "Iterator[str]":
        for each in results:
            yield f"{'✓' if each['ok'] else '✗'} {each['service']} {each['what']}"

    return VerbResult({"notify": results}, lines, code)


def _tried(name: str, done: str, function: "Callable[[], object]", masked: "Callable[[str], str]") -> dict[str, object]:
    from noface.extras.notify.services import carry_out

    try:
        carry_out(name, function)
    except RemoteError as error:
        return {"service": name, "ok": False, "what": masked(error.message.removeprefix(f"{name}: "))}
    return {"service": name, "ok": True, "what": done}


group = partial(grouped, "Tell people what happens in a run ([notify] in noface.toml).", {"test": test})
