"""What a worker is told: the order noface leaves in the file $NOFACE_ORDER_FILE (JSON, schema 1)."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Earlier:
    """An attempt that failed before this one."""

    number: int
    model: str
    kind: str
    failing_tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """The part of an order that the repair worker uses.

    `test_gates` are the commands of the gates of kind test, hard ones first. `main` is main's commit: files an
    earlier attempt changed are compared with it.
    """

    issue_id: str
    attempt: int
    model: str
    paths: tuple[str, ...]
    accept: tuple[str, ...]
    test_gates: tuple[str, ...]
    earlier: tuple[Earlier, ...]
    main: str

    @property
    def blind_retries(self) -> int:
        """How many attempts of this model ended without a patch since feedback last named a failing test.

        Such attempts saw what this one sees, so this one has to go on where they stopped.
        """
        count = 0
        for one in reversed(self.earlier):
            if one.failing_tests:
                break
            count += one.model == self.model
        return count


def read_order(path: Path) -> Order:
    """Parse an order; raises ValueError with the key that is missing or wrong."""
    try:
        raw = json.loads(path.read_bytes())
        if raw["schema"] != SCHEMA:
            raise ValueError(f"{path}: this worker reads orders of schema {SCHEMA}, not {raw['schema']!r}")
        issue = raw["issue"]
        gates = sorted((g for g in raw["gates"] if g["kind"] == "test"), key=lambda gate: not gate.get("hard", True))
        return Order(
            issue_id=str(issue["id"]),
            attempt=int(raw["attempt"]),
            model=str(raw["model"]["name"]),
            paths=tuple(issue.get("paths", ())),
            accept=tuple(raw["accept"] or issue.get("accept", ())),
            test_gates=tuple(gate["command"] for gate in gates),
            earlier=tuple(_earlier(one) for one in raw.get("earlier", ())),
            main=str(raw.get("main") or ""),
        )
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"{path}: not an order as noface writes it: {problem!r}") from problem


def _earlier(raw: dict[str, Any]) -> Earlier:
    return Earlier(
        number=int(raw["number"]),
        model=str(raw["model"]),
        kind=str(raw["kind"]),
        failing_tests=tuple(raw.get("failing_tests") or ()),
    )
