"""The program that stands in for Claude Code: started by noface in a checkout, with a prompt; edits, speaks, ends.

    python worker.py WORLD [arguments of claude]

It is the world's part of a worker run (the provider, the streams, the files); what is done is decided by `mind`.
Exit code 2: it was started by something else than a selftest.
"""

import os
import re
import sys
from pathlib import Path

from noface.selftest.catalogue import find
from noface.selftest.colleague import interfere
from noface.selftest.hands import work
from noface.selftest.mind import Deed, Sight, decide, reads
from noface.selftest.provider_errors import ERRORS
from noface.selftest.scenario import Scenario, Wrong, product_of, whole_id
from noface.selftest.specialist import reply
from noface.selftest.speech import Speaker
from noface.selftest.world import World

_BREAKS_OFF = frozenset({Wrong.STALLS, Wrong.CHATTERS, Wrong.CRASHES, Wrong.KILLED, Wrong.MALFORMED, Wrong.TURNS,
                         Wrong.CONTEXT})  # fmt: skip
"""What ends a run before its end; with all else that is wrong it ends as if all were well."""


def main(argv: list[str]) -> int:
    """Do one worker run, or answer one question; return the exit code."""
    world, speaker = World(Path(argv[0])), Speaker(typed="stream-json" in argv)
    try:
        issue, attempt = os.environ["NOFACE_ISSUE_ID"], int(os.environ["NOFACE_ATTEMPT"])
        prompt = Path(os.environ["NOFACE_PROMPT_FILE"]).read_text()
        scenario = find(whole_id(issue))
    except (OSError, KeyError, ValueError) as problem:
        sys.stderr.write(f"this program plays a worker in `noface selftest` only: {problem!r}\n")
        return 2
    role = os.environ.get("NOFACE_ROLE", "worker")
    if role != "worker":
        speaker.begin()
        answer = "".join(_files((product_of(issue),)).values())
        return speaker.finish(reply(role, prompt, scenario, world, answer))
    away = _away(scenario, world, os.environ.get("NOFACE_MODEL", ""))
    if away is not None:
        return speaker.fail(ERRORS[away[0]], away[1])
    speaker.begin()
    speaker.say("I begin by reading.")
    sight = Sight(
        issue,
        prompt,
        os.environ.get("SELFTEST_STRENGTH", ""),
        bool(os.environ.get("NOFACE_THINK")),
        _files(reads(scenario, issue)),
    )
    deed = decide(scenario, sight)
    work(deed, scenario, issue, Path.cwd(), world)
    if attempt <= scenario.colleague:
        interfere(scenario, world, attempt)
    return _end(deed, scenario, speaker, world, asked='"status"' in prompt)


def _away(scenario: Scenario, world: World, model: str) -> tuple[str, float | None] | None:
    """Return the provider's error and until when it lasts, None where it answers."""
    outage = scenario.outage
    if outage is None or model in outage.spared:
        return None
    if outage.window_s is not None:
        until = world.quiet_until(f"provider-{scenario.id}", outage.window_s, outage.times)
        return (outage.form, until) if until is not None else None
    calls = world.count(f"calls-{scenario.id}")
    return (outage.form, None) if outage.calls is None or calls <= outage.calls else None


def _files(names: tuple[str, ...]) -> dict[str, str]:
    """Return the texts of those files that are there."""
    found = {}
    for name in names:
        try:
            found[name] = Path(name).read_text()
        except OSError:
            continue
    return found


def _end(deed: Deed, scenario: Scenario, speaker: Speaker, world: World, *, asked: bool) -> int:
    """End the run as the deed says; a report is given only where the prompt asks for one."""
    step = deed.missing
    if step is None:
        learnt = ", ".join(deed.known) or "nothing new"
        return speaker.finish(_with_report(f"The labels are written: {learnt}.", _done(learnt), asked=asked))
    words = world.filled(scenario.id, step.words)
    if step.wrong in _BREAKS_OFF:
        return speaker.go_wrong(step.wrong, words)
    prose, brace, report = words.partition("{")
    if brace:
        return speaker.finish(_with_report(prose, brace + report, asked=asked))
    return speaker.finish(words or "I wrote what I think the label is.")


def _with_report(prose: str, report: str, *, asked: bool) -> str:
    return f"{prose}\n\n```json\n{report}\n```" if asked else prose


def _done(learnt: str) -> str:
    words = re.sub(r"[^\w, -]", "", learnt)
    return f'{{"status": "done", "summary": "The label desk takes {words}.", "confidence": 0.9}}'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
