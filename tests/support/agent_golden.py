"""What is read of every recorded run, exactly: its events, cost, tokens and session, and the verdict on it.

`so_far` is what was known of its cost and tokens before its last line came. A verdict is its kind, its rule, the line
that decided (at least its beginning), and the rules that matched as well.

`PYTHONPATH=tests python -m support.agent_golden` writes recordings/golden.json and verdicts.json anew; look at their
diff before you keep it.
"""

import json

from noface.agents.base import AGENTS

from . import TESTS
from .agent_recordings import CLIS, runs, verdict

FILE = TESTS / "recordings" / "golden.json"
VERDICTS = FILE.with_name("verdicts.json")
_SHOWN_MAX = 100


def read(each):
    """Return what the adapter reads of a run, as JSON values; an event is its kind and the beginning of its text."""
    reader = AGENTS[each.cli].reader()
    events = reader.feed(each.stdout + b"\n")
    usage = reader.evidence(each.exit_code, each.stderr).usage
    cut = AGENTS[each.cli].reader()
    cut.feed(each.stdout.rstrip(b"\n").rpartition(b"\n")[0] + b"\n")
    so_far = cut.used()
    return {
        "cost_usd": usage.cost_usd,
        "tokens": [usage.tokens_in, usage.tokens_out, usage.tokens_cached],
        "so_far": [so_far.cost_usd, so_far.tokens_in, so_far.tokens_out, so_far.tokens_cached],
        "session": usage.session_id,
        "events": [f"{event.kind}: {event.text[:_SHOWN_MAX]}" for event in events],
    }


def judge(each):
    """Return the verdict on a run as JSON values: as its diff was, and as if nobody had looked at the diff."""
    verdicts = [verdict(each, changed=each.edited), verdict(each)]
    return [
        [
            each.kind and each.kind.value,
            each.rule,
            each.key_line[:_SHOWN_MAX],
            [rule for rule, _, _ in each.also_matched],
        ]
        for each in (verdicts if verdicts[0] != verdicts[1] else verdicts[:1])
    ]


def stored(file=FILE):
    """Return what is stored of every run, by CLI and name."""
    return json.loads(file.read_text("utf-8"))


if __name__ == "__main__":
    for file, look in ((FILE, read), (VERDICTS, judge)):
        golden = {cli: {each.name: look(each) for each in runs(cli)} for cli in CLIS}
        file.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n", "utf-8")
