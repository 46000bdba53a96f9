"""Which tests a gate ran and how each ended: what passed on main must be there, and pass, on a change.

An exit code says what the code under test wants. The list of tests is harder to bend: ids are alike in all checkouts.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from noface.model.quoting import some


class Outcome(StrEnum):
    """How a test ended. One that is expected to fail counts as skipped: nobody promised that it passes."""

    PASSED = "PASSED"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"


@dataclass(frozen=True, slots=True)
class Inventory:
    """The tests of one run of a gate, by id, in the order of the ids.

    `complete`: every run that reported came to its end. `count` is how many tests passed where only a number is
    known. `unsteady` are the `base_of` of tests whose ids differ between runs of the same code. `told` is how
    many tests passed by each summary that the gate printed, in order.
    """

    tests: tuple[tuple[str, Outcome], ...] = ()
    complete: bool = True
    runners: tuple[str, ...] = ()
    count: int | None = None
    unsteady: tuple[str, ...] = ()
    told: tuple[int, ...] = ()

    @property
    def passed(self) -> int:
        return (self.count or 0) + sum(outcome is Outcome.PASSED for _, outcome in self.tests)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What passed on main and does not now, by id. A test without steady ids stands here by its base, once for each.

    `fewer` is how many passed on main and now, where main's tests are known by number only and there are fewer.
    `broken_off`: main's runs came to their end, and one of these did not.
    """

    gone: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    fewer: tuple[int, int] | None = None
    broken_off: bool = False

    @property
    def short(self) -> bool:
        return bool(self.gone or self.skipped or self.failed or self.fewer or self.broken_off)


_WORSE_LAST = (Outcome.SKIPPED, Outcome.PASSED, Outcome.FAILED)
_BEST_FIRST = (Outcome.PASSED, Outcome.SKIPPED, Outcome.FAILED)
_SHOWN_MAX = 5
_NAME_CHARS_MAX = 200
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r" #\d+$")


def inventory(
    tests: Iterable[tuple[str, Outcome]], runner: str, *, complete: bool = True, count: int | None = None
) -> Inventory:
    """Return the inventory of one run. A name that stands there several times gets a number from the second on.

    The best outcomes get the lowest numbers, so that the order in which tests of one name ran is of no account.
    """
    named: dict[str, list[Outcome]] = {}
    for name, outcome in tests:
        named.setdefault(name, []).append(outcome)
    numbered = [
        (f"{name} #{number}" if number > 1 else name, outcome)
        for name, outcomes in named.items()
        for number, outcome in enumerate(sorted(outcomes, key=_BEST_FIRST.index), 1)
    ]
    return Inventory(tuple(sorted(numbered)), complete, (runner,), count)


def file_of(test: str) -> str:
    return test.partition("::")[0]


def files_of(inventories: Iterable[Inventory | None]) -> frozenset[str]:
    return frozenset(file_of(name) for each in inventories if each is not None for name, _ in each.tests)


def merged(inventories: Iterable[Inventory]) -> Inventory | None:
    """Return the inventory of several runs in one gate, None if there was none.

    A test that several of them ran failed where one of them failed, and passed where one passed and none failed.
    """
    parts = list(inventories)
    if not parts:
        return None
    tests: dict[str, Outcome] = {}
    for part in parts:
        for name, outcome in part.tests:
            tests[name] = max(tests.get(name, outcome), outcome, key=_WORSE_LAST.index)
    counts = [part.count for part in parts if part.count is not None]
    return Inventory(
        tests=tuple(sorted(tests.items())),
        complete=all(part.complete for part in parts),
        runners=tuple(sorted({runner for part in parts for runner in part.runners})),
        count=sum(counts) if counts else None,
        unsteady=tuple(sorted({base for part in parts for base in part.unsteady})),
    )


def base_of(name: str) -> str:
    """Return a test's id without what a parameter makes of it: no part in brackets, every number a 0."""
    place, separator, rest = _NUMBER.sub("", name).partition("::")
    if not separator:
        place, rest = "", place
    return f"{place}{separator}{_DIGITS.sub('0', rest.partition('[')[0])}"


def base_number(name: str) -> str:
    return _NUMBER.sub("", name)


def agreed(first: Inventory, second: Inventory) -> Inventory:
    """Return what two runs of the same code have in common: what a change can be held to.

    A test that passed in only one of them is not required to pass. Where an id stands in only one, all tests of its
    base are compared by their number: their ids hold a time, say, or a random value.
    """
    one, other = dict(first.tests), dict(second.tests)
    bases = {base_of(name) for name in one.keys() ^ other.keys()} | {*first.unsteady, *second.unsteady}
    fewer = {base: min(first, second, key=lambda run: _passed_of(run)[base]) for base in bases}
    tests = {
        name: next((o for o in (outcome, other[name]) if o is not Outcome.PASSED), Outcome.PASSED)
        for name, outcome in one.items()
        if name in other and base_of(name) not in bases
    }
    for run in (first, second):
        tests |= {name: outcome for name, outcome in run.tests if fewer.get(base_of(name)) is run}
    counts = [run.count for run in (first, second) if run.count is not None]
    return Inventory(
        tests=tuple(sorted(tests.items())),
        complete=first.complete and second.complete,
        runners=tuple(sorted({*first.runners, *second.runners})),
        count=min(counts) if counts else None,
        unsteady=tuple(sorted(bases)),
        told=first.told if first.told == second.told else (),
    )


def compared(main: Inventory, now: Inventory | None) -> Shortfall:
    """Return what passed on main and does not pass now; `now` is None if no test was reported at all."""
    now = now or Inventory(complete=False)
    ended, unsteady = dict(now.tests), frozenset(main.unsteady)
    short: dict[Outcome | None, list[str]] = {None: [], Outcome.SKIPPED: [], Outcome.FAILED: []}
    for name, outcome in main.tests:
        if outcome is Outcome.PASSED and base_of(name) not in unsteady:
            is_now = ended.get(name)
            if is_now is not Outcome.PASSED:
                short[is_now].append(name)
    if unsteady:
        for base, outcomes in _lost(main, now, unsteady):
            for outcome_now in outcomes:
                short[outcome_now].append(base)
    fewer = main.count is not None and now.passed < main.count
    return Shortfall(
        gone=tuple(short[None]),
        skipped=tuple(short[Outcome.SKIPPED]),
        failed=tuple(short[Outcome.FAILED]),
        fewer=(main.count, now.passed) if main.count is not None and fewer else None,
        broken_off=main.complete and not now.complete,
    )


def kept(main: Inventory, now: Inventory, names: Mapping[str, str]) -> Shortfall:
    """Compare as `compared` does, but let a test have another of `names`, its file as well, or other parameters.

    With other parameters as many of its base pass as passed on main.
    """
    main = replace(main, tests=tuple(sorted((_named_anew(name, names), outcome) for name, outcome in main.tests)))
    ids = {name for name, _ in main.tests} ^ {name for name, _ in now.tests}
    bases = {base for name in ids if (base := base_of(name)) != base_number(name)}
    return compared(replace(main, unsteady=tuple(sorted({*main.unsteady, *bases}))), now)


def _named_anew(name: str, names: Mapping[str, str]) -> str:
    file, first, rest = name.partition("::")
    place, separator, last = f"{names.get(file, file)}{first}{rest}".rpartition("::")
    test, bracket, parameters = last.partition("[")
    return f"{place}{separator}{names.get(test, test)}{bracket}{parameters}"


def each_once(main: Inventory, now: Inventory) -> bool:
    """True if each test that passed on main passes now at least once, and none fails: a second run may lack."""
    if any(outcome is Outcome.FAILED for _, outcome in now.tests):
        return False
    passes = {_NUMBER.sub("", name) for name, outcome in now.tests if outcome is Outcome.PASSED}
    return all(_NUMBER.sub("", name) in passes for name, outcome in main.tests if outcome is Outcome.PASSED)


def without(short: Shortfall, files: Collection[str]) -> Shortfall:
    """Leave out what stands in `files`, and what does not tell its file, where there are any."""
    ends = (short.gone, short.skipped, short.failed)
    others = [tuple(name for name in names if "::" in name and file_of(name) not in files) for names in ends]
    return Shortfall(gone=others[0], skipped=others[1], failed=others[2]) if files else short


def newly_skipped(main: Inventory, now: Inventory | None) -> tuple[str, ...]:
    """Return the tests that main does not have and that are skipped now: they promise what nobody has tried."""
    known = dict(main.tests)
    skipped = (name for name, outcome in (now.tests if now is not None else ()) if outcome is Outcome.SKIPPED)
    return tuple(name for name in skipped if name not in known and base_of(name) not in main.unsteady)


def _lost(main: Inventory, now: Inventory, unsteady: frozenset[str]) -> Iterable[tuple[str, list[Outcome | None]]]:
    """Yield each base of which fewer tests pass now, with how the missing ones ended, None for gone."""
    passed_main, passed_now = _passed_of(main), _passed_of(now)
    others = [(base_of(name), outcome) for name, outcome in now.tests if outcome is not Outcome.PASSED]
    for base in sorted(unsteady):
        lost = passed_main[base] - passed_now[base]
        if lost > 0:
            ended: list[Outcome | None] = [outcome for name, outcome in others if name == base]
            ended.sort(key=lambda outcome: outcome is not Outcome.FAILED)
            yield base, (ended + [None] * lost)[:lost]


def _passed_of(run: Inventory) -> Counter[str]:
    return Counter(base_of(name) for name, outcome in run.tests if outcome is Outcome.PASSED)


def disagreement(main: Inventory, judged: Inventory, own: Inventory, unsteady: Collection[str] = ()) -> str:
    """Return what speaks against the reports of a change whose gate ended green, "" if all that is known agrees.

    `judged` is its run with main's tests, `own` that with its own, in which `unsteady` tests may be red. A summary that
    counts more than was reported is no disagreement: tests print summaries, too, and some count parts of tests.
    """
    red = tuple(n for n, outcome in own.tests if outcome is Outcome.FAILED and n not in unsteady)
    if red and not any(outcome is Outcome.FAILED for _, outcome in main.tests):
        return f"it ended as if no test had failed, but these did: {some(red, _SHOWN_MAX, _NAME_CHARS_MAX)}"
    short = [_summary_count(run) < _wholes(run) for run in (main, judged)]
    if main.told and short == [False, True]:
        text = f"its summary counts {_summary_count(judged)}" if judged.told else "it printed no summary"
        return f"{_wholes(judged)} tests are reported to have passed, but {text}"
    return ""


def _summary_count(run: Inventory) -> int:
    """Return how many tests the gate printed of: a summary may be of one run of several, or of all."""
    return max((0, *run.told, sum(run.told)))


def _wholes(run: Inventory) -> int:
    names = frozenset(name for name, _ in run.tests)
    passed = (name for name, outcome in run.tests if outcome is Outcome.PASSED)
    return sum("[" not in name or name.partition("[")[0] not in names for name in passed)


NAME_MAX = 2_000
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{5,16}\b")
_TEMPORARY = re.compile(
    r"(?<![\w./-])(?:/private)?(?:/var)?/tmp/[^\s'\"`,;:()\[\]{}<>|]+|/var/folders/[\w+]{2}/[\w+/.-]+"
)
_CONTROL = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x1f\x7f]+")


def steady(name: str, roots: tuple[str, ...] = ()) -> str:
    """Return a test's id without what differs between runs. `roots` are the paths under which the checkout is known."""
    name = _CONTROL.sub(" ", name[:NAME_MAX]).encode("utf-8", "replace").decode().strip()
    for root in roots:
        name = name.replace(f"{root}/", "")
    return _TEMPORARY.sub("…", _ADDRESS.sub("0x…", name))


def joined(root: str, name: str) -> str:
    """Return an id whose path counts from the folder `root` with the whole path, without `.` and `..`."""
    path, separator, rest = name.partition("::")
    parts: list[str] = []
    for part in (path if path.startswith("/") else f"{root}/{path}").split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return f"/{'/'.join(parts)}{separator}{rest}"
