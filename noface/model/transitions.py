"""How issues, pull requests and landings may change their states. The table is `data/transitions.toml`."""

from dataclasses import dataclass
from textwrap import wrap

from noface import data

UNEXPECTED_STEPS = "unexpected_steps"
_WIDTH = 118
NEW = "new"


@dataclass(frozen=True, slots=True)
class UnexpectedStep:
    """A change of state that is not in the table: a mistake of noface's. `of` is what has changed, `name` which one."""

    of: str
    name: str
    before: str
    after: str


def unexpected(of: str, name: str, before: str, after: str) -> UnexpectedStep | None:
    rows = data.table("transitions")[of]
    known = before == after or any(after == row["to"] and before in row["from"] for row in rows)
    return None if known else UnexpectedStep(of, name, before, after)


def drawn() -> str:
    """Return the table as docs/design.md shows it."""
    lines = []
    for of in ("issue", "pull_request", "landing"):
        lines.append(of.replace("_", " "))
        for row in data.table("transitions")[of]:
            lines.append(f"  {', '.join(row['from'])} -> {row['to']}")
            lines += wrap(f"{row['why']} ({row['by']})", _WIDTH, initial_indent="      ", subsequent_indent="      ")
    return "\n".join(lines) + "\n"
