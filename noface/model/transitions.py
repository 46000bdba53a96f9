"""How issues, pull requests and landings may change their states. The table is `data/transitions.toml`."""

from dataclasses import dataclass

from noface import data

UNEXPECTED_STEPS = "unexpected_steps"
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
