"""Records what threads tell of gates and of main while they work."""

from noface.attempt.environment import GateAgain, GateRan, MainSeen, UnsteadySeen
from noface.engine.context import RunContext


def record_news(context: RunContext, message: object) -> bool:
    """Record a message that changes nothing of what can start next; False if it is none of these."""
    now = context.clock.now()
    match message:
        case MainSeen():
            context.tell_progress(message)
        case GateRan(issue_id, number, result, key, tests):
            if result.flaky:
                failure = result.first_failure.message if result.first_failure else ""
                more = {"message": failure, "tree": result.tree, "tests": list(result.unsteady)}
                context.log_event("gate_flaky", issue_id or None, number=number, gate=result.gate.name, **more)
            if key:
                context.env.memory.remember(key, result)
                context.journal.gate_recorded(now, key, result, tests)
        case GateAgain(issue_id, number, gate, line, beside=()):
            context.log_event("gate_repeated", issue_id or None, number=number, gate=gate, message=line)
        case GateAgain(issue_id, number, gate, line, beside):
            context.log_event("gate_met", issue_id or None, number=number, gate=gate, beside=beside, message=line)
        case UnsteadySeen(issue_id, gate, tests):
            context.journal.unsteady(now, issue_id, gate, tests, context.env.memory.all_unsteady())
        case _:
            return False
    return True
