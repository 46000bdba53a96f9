"""Whether an attempt may have killed noface: it would run, and cost, again at every start.

A stop by signal is recorded and is no death; nor is one with the machine. What is left needs evidence (law 8): the
kernel counts kills for want of memory, or no walls kept the only attempt at work from sending a signal. Suspects work
alone; after DEATHS_MAX deaths in a row alone one waits for a person.
"""

import json
from collections.abc import Sequence

from noface.engine.context import RunContext
from noface.engine.dispatch import block, history
from noface.model.actions import Block
from noface.model.attempt import AttemptOrder
from noface.model.codec import decode, encode
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.process.memory import OomKills, oom_kills
from noface.process.supervisor import Containment

DEATHS_MAX = 3
_BOOT = "boot"
_OOM_KILLS = "kernel_kills"


EVIDENCE = {
    "memory": "and each time the kernel had killed for want of memory meanwhile: set [limits] memory_max",
    "signal": "killed by a signal: neither the sandbox nor a PID namespace keeps its programs from sending it",
}
"""What speaks for an attempt having killed noface, in words."""


def evidence_of(oom_kills: int, *, contained: bool, alone: bool) -> str | None:
    """Say what speaks for an attempt: the kernel's kills since it began, or that only it could have sent a signal."""
    return "memory" if oom_kills else "signal" if alone and not contained else None


def died_unexplained(context: RunContext) -> bool:
    """Remember this start of the machine; True if the noface before died within it, leaving work open."""
    before, now = context.reader.fact(_BOOT), context.boot
    context.journal.fact(_BOOT, now)
    return bool(now) and before == now and context.reader.cut_off_before(context.run_id)


def remember_oom_kills(context: RunContext) -> None:
    """Remember the kernel's count as an attempt begins: what comes later may be that attempt's."""
    counted = json.dumps(encode(oom_kills()))
    if counted != context.reader.fact(_OOM_KILLS):
        context.journal.fact(_OOM_KILLS, counted)


def find_suspects(context: RunContext, attempts: Sequence[AttemptOrder], *, died: bool) -> dict[str, str]:
    """Record what a death says of the attempts left open; return why an issue now waits for a person, by id."""
    if died:
        _record_death(context, attempts)
    deaths = context.reader.deaths()
    context.suspects |= deaths.keys()
    return {
        name: f"noface itself died {times} times in a row while this issue alone was worked on, {EVIDENCE[evidence]}"
        for name, (times, evidence) in deaths.items()
        if times >= DEATHS_MAX
    }


def _record_death(context: RunContext, attempts: Sequence[AttemptOrder]) -> None:
    env, before = context.env, context.reader.deaths()
    contained = env.sandbox.kind != "none" or env.launcher.containment() is Containment.NAMESPACE
    landing = any(row.status == IssueStatus.LANDING for row in context.reader.issues())
    alone = len(attempts) == 1 and not landing
    counted = context.reader.fact(_OOM_KILLS)
    then = decode(OomKills, json.loads(counted)) if counted else None
    kills = oom_kills(then.group).since(then) if then is not None else 0
    evidence = evidence_of(kills, contained=contained, alone=alone)
    for attempt in attempts:
        epoch = context.reader.state(attempt.issue.id).epoch
        deaths = before.get(attempt.issue.id, (0, ""))[0] + (alone and evidence is not None)
        facts = {"epoch": epoch, "deaths": deaths, "evidence": evidence}
        context.log_event("noface_died", attempt.issue.id, number=attempt.number, **facts)


def block_killer(context: RunContext, attempt: AttemptOrder, why: str) -> None:
    reason = f"{why}. Look at {attempt.directory}; then `noface retry {attempt.issue.id}`"
    block(context, history(context, attempt.issue), Block(FailureKind.AGENT_CRASH, reason))
