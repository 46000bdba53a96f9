"""What the adapters read of every recorded run, exactly: its events, cost, tokens and session.

`so_far` is what was known of its cost and tokens before its last line came.

`python tests/agent_golden.py` writes recordings/golden.json anew; look at its diff before you keep it.
"""

import json
from pathlib import Path

from agent_recordings import CLIS, runs

from noface.agents.table import AGENTS

FILE = Path(__file__).parent / "recordings" / "golden.json"
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


def stored():
    """Return what is stored of every run, by CLI and name."""
    return json.loads(FILE.read_text("utf-8"))


if __name__ == "__main__":
    golden = {cli: {each.name: read(each) for each in runs(cli)} for cli in CLIS}
    FILE.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n", "utf-8")
