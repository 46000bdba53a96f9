"""The program that stands in for Claude Code: started by noface in a checkout, with a prompt; edits, speaks, ends.

    python worker.py WORLD [arguments of claude]

It is the world's part of a worker run (the provider, the streams, the files); what is done is decided by `behaviour`.
Exit code 2: it was started by something else than a selftest.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from noface.selftest.behaviour import Behaviour, Observation, decide, reads
from noface.selftest.output import ApiError, Speaker
from noface.selftest.scenario import Scenario, Wrong, data, draft_of, product_of, shared_file, whole_id
from noface.selftest.world import World

_BREAKS_OFF = frozenset({Wrong.STALLS, Wrong.CHATTERS, Wrong.CRASHES, Wrong.KILLED, Wrong.MALFORMED, Wrong.TURNS,
                         Wrong.CONTEXT})  # fmt: skip
"""What ends a run before its end; with all else that is wrong it ends as if all were well."""
_SILENT = _BREAKS_OFF | {Wrong.NOTHING, Wrong.PROTECTED}
"""What leaves no answer behind."""
_MENDED = (Wrong.BREAKS, Wrong.BROKEN_PYTHON, Wrong.BROKEN_JSON, Wrong.TOO_MUCH)
_REMINDED = ("could not be read", "could not be used")


def main(argv: list[str]) -> int:
    """Do one worker run, or answer one question; return the exit code."""
    try:
        world, speaker = World(Path(argv[0])), Speaker(typed="stream-json" in argv)
        issue, attempt = os.environ["NOFACE_ISSUE_ID"], int(os.environ["NOFACE_ATTEMPT"])
        prompt = Path(os.environ["NOFACE_PROMPT_FILE"]).read_text()
        scenario = world.scenario(whole_id(issue))
    except (OSError, LookupError, ValueError) as problem:
        sys.stderr.write(f"this program plays a worker in `noface selftest` only: {problem!r}\n")
        return 2
    role = os.environ.get("NOFACE_ROLE", "worker")
    if role != "worker":
        speaker.begin()
        answer = "".join(_texts((product_of(issue),)).values())
        return speaker.finish(_advise(role, prompt, scenario, world, answer))
    away = _outage(scenario, world, os.environ.get("NOFACE_MODEL", ""))
    if away is not None:
        return speaker.fail(*away)
    speaker.begin()
    speaker.say("I begin by reading.")
    strength, thinks = os.environ.get("SELFTEST_STRENGTH", ""), bool(os.environ.get("NOFACE_THINK"))
    behaviour = decide(scenario, Observation(issue, prompt, strength, thinks, _texts(reads(scenario, issue))))
    _work(behaviour, scenario, issue, world)
    if attempt <= scenario.colleague:
        _interfere(scenario, world, attempt)
    return _end(behaviour, scenario, speaker, world, asked='"status"' in prompt)


def _texts(names: tuple[str, ...]) -> dict[str, str]:
    """Return the texts of those files that are there."""
    return {name: Path(name).read_text() for name in names if Path(name).is_file()}


def _outage(scenario: Scenario, world: World, model: str) -> tuple[ApiError, float | None] | None:
    """Return the provider's error and until when it lasts, None if it answers."""
    outage = scenario.outage
    if outage is None or model in outage.spared:
        return None
    error = ApiError(**data("behaviour")["errors"][outage.form])
    if outage.window_s is not None:
        until = world.quiet_until(f"provider-{scenario.id}", outage.window_s, outage.times)
        return (error, until) if until is not None else None
    calls = world.count(f"calls-{scenario.id}")
    return (error, None) if outage.calls is None or calls <= outage.calls else None


def _work(behaviour: Behaviour, scenario: Scenario, issue: str, world: World) -> None:
    """Change the files of the checkout as the worker does, with what goes wrong beside its answer."""
    step = behaviour.missing
    for one in scenario.steps:
        if one.wrong in _MENDED and one is not step:
            _damaged(one.wrong, issue).unlink(missing_ok=True)  # it knows by now that it broke something
    if scenario.colleague:
        _write(shared_file(scenario.id), "".join(f"{line}\n" for line in (*behaviour.known, f"line of {issue}", "end")))
    if step is not None and step.drafts:
        _write(draft_of(issue), f"half of it\n{world.draft(scenario.id)}\n")
    if step is None or step.wrong not in _SILENT:
        _write(product_of(issue), behaviour.answer)
    damage = data("behaviour")["damage"].get(step.wrong) if step is not None else None
    if step is None or damage is None:
        return
    path = _damaged(step.wrong, issue)
    if "find" in damage:
        text = re.sub(damage["find"], damage["put"], path.read_text())
    else:
        text = "".join(damage["text"].replace("{number}", str(number)) for number in range(damage.get("times", 1)))
        text = text.replace("{draft}", world.draft(scenario.id)) if "{draft}" in text else text
    _write(path, text)


def _damaged(wrong: Wrong, issue: str) -> Path:
    """Return the file in which it goes wrong so."""
    path: str = data("behaviour")["damage"][wrong]["path"]
    return Path(path.replace("{id}", issue).replace("{name}", issue.replace("-", "_")))


def _write(path: str | Path, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def _interfere(scenario: Scenario, world: World, attempt: int) -> None:
    """Have somebody else change the same lines on main while this worker is at it."""
    subprocess.run(
        ["sh", Path(__file__).with_name("colleague.sh"), shared_file(scenario.id), scenario.id],
        cwd=world.repository,
        # The worker's own would lead git to its workspace.
        env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        input=f"{world.secret(scenario.id, 'main')}\nversion {attempt} of a colleague\nend\n",
        text=True,
        check=True,
    )


def _advise(topic: str, prompt: str, scenario: Scenario, world: World, answer: str) -> str:
    """Return what is answered to a question of noface's: planner, diagnoser, resolver, architect, reviewer.

    They know what the scenario lets them know; a reviewer looks at the worker's `answer`.
    """
    no_idea = data("behaviour")["no_idea"]
    text = _review(scenario, world, answer) if topic == "review" else json.dumps(no_idea[topic], indent=1)
    for advice in scenario.advice:
        if advice.topic != topic:
            continue
        if advice.prose_first and not any(words in prompt for words in _REMINDED):
            return "I would rather tell you in my own words that the label is known to the planner."
        if not advice.needs or world.secret(scenario.id, advice.needs) in prompt:
            text = advice.answer or text
            break
    return f"I looked at the project.\n\n```json\n{world.filled(scenario.id, text)}\n```"


def _review(scenario: Scenario, world: World, answer: str) -> str:
    missing = world.first_missing(scenario, answer)
    if missing is None:
        return '{"verdict": "approve", "summary": "The label is as it should be."}'
    points = [{"file": product_of(scenario.id), "line": 1, "problem": missing.objection}]
    return json.dumps({"verdict": "request_changes", "summary": "The label is not fit to be read.", "points": points})


def _end(behaviour: Behaviour, scenario: Scenario, speaker: Speaker, world: World, *, asked: bool) -> int:
    """End the run; a report is given only if the prompt asks for one."""
    step = behaviour.missing
    if step is None:
        learnt = ", ".join(behaviour.known) or "nothing new"
        plain = re.sub(r"[^\w, -]", "", learnt)
        report = {"status": "done", "summary": f"The label desk takes {plain}.", "confidence": 0.9}
        return speaker.finish(_with_report(f"The labels are written: {learnt}.", json.dumps(report), asked=asked))
    words = world.filled(scenario.id, step.words)
    if step.wrong in _BREAKS_OFF:
        return speaker.break_off(step.wrong, words)
    prose, brace, report_text = words.partition("{")
    if brace:
        return speaker.finish(_with_report(prose, brace + report_text, asked=asked))
    return speaker.finish(words or "I wrote what I think the label is.")


def _with_report(prose: str, report: str, *, asked: bool) -> str:
    return f"{prose}\n\n```json\n{report}\n```" if asked else prose


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
