"""Finds weakened tests (law 11), by their bodies (`strength`) and a patch, and words what runs with main's find."""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import takewhile

from noface.data import pattern
from noface.integrity.inventory import Shortfall
from noface.integrity.strength import AS_STRONG, Weaker
from noface.model.attempt import FileChange
from noface.model.failure import Failure
from noface.model.gate import GateSpec
from noface.model.patch import ChangedLine, changed_lines, decoded
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind

_COMMENT = re.compile(r"^\s*(#(?![\[!])|//|/\*|--)")


_CHARS_MAX = 2_000
"""No assertion is longer, and what a program wrote in one line may be."""


def _tests(key: str) -> re.Pattern[str]:
    """Return what integrity.toml looks for in tests; what an assertion asks for is written in any case."""
    return pattern("integrity", "tests", key, re.IGNORECASE if key in ("exact", "partly") else 0)


def is_code(path: str) -> bool:
    return _tests("code").search(path) is not None


def is_test_file(path: str) -> bool:
    return _tests("path").search(path) is not None and _tests("code").search(path) is not None


def asserts(text: str) -> bool:
    return any(map(_is_assertion, text.splitlines()))


def assertions(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if _is_assertion(line) or begins_test(line))


def _is_assertion(line: str) -> bool:
    short = line[:_CHARS_MAX]
    return _tests("assertion").search(short) is not None and not _tests("no_assertion").search(short)


def begins_test(text: str) -> bool:
    return any(_tests("case").search(line[:_CHARS_MAX]) for line in text.splitlines())


def has_functions(text: str) -> bool:
    return any("=>" in line or _tests("function").search(line[:_CHARS_MAX]) for line in text.splitlines())


@dataclass(frozen=True, slots=True)
class Weakened:
    """What was weakened in tests, each as a short phrase.

    `rewritten`: nothing else is found than what who knows the tests by their ids can tell when they have run:
    assertions are fewer, and tests were added, parametrised perhaps; or tests are skipped, perhaps only if they
    cannot run. `taken`: nothing else is found than that these tests are gone or assert less; `emptied`: one of them has
    lost all or most of it.
    """

    reasons: tuple[str, ...] = ()
    rewritten: bool = False
    taken: tuple[str, ...] = ()
    emptied: bool = False


def weakened_tests(changes: tuple[FileChange, ...], patch: str, weaker: Weaker = AS_STRONG) -> Weakened:
    """Return what was weakened in the tests of a change; `weaker` is what its bodies have lost."""
    tests = {decoded(change.path): change for change in changes if is_test_file(change.path)}
    if not tests and not weaker.lost:
        return Weakened()
    lines = [line._replace(text=line.text[:_CHARS_MAX]) for line in changed_lines(patch) if line.path in tests]
    balance = _weighed(lines)
    gone = [loss for loss in weaker.lost if loss.gone]
    files = [path for path, change in tests.items() if change.status == "D"]
    names_gone = [decoded(loss.test) for loss in gone if decoded(loss.path) not in files]
    which = some((*names_gone, *files), _SHOWN_MAX)
    reasons = [f"{_count(len(gone), 'test')} deleted: {which}"] if gone else []
    reasons += [f"{loss.test} {loss.how}" for loss in weaker.lost if not loss.gone]
    if weaker.fewer and not weaker.lost:
        reasons.append(f"{_count(weaker.fewer, 'assertion')} fewer")
    taken = len(reasons)
    settled = not weaker.lost and (not weaker.fewer or balance["cases added"] > 0)
    # A skip on a new test weakens nothing; but where tests were removed too, it may be on one of them, moved.
    skips = balance["skips"] - (0 if balance["cases removed"] else balance["skips on new tests"]) + balance["focused"]
    if skips > 0:
        reasons.append(f"{_count(skips, 'test')} newly skipped, focused or expected to fail")
        settled = settled and balance["focused"] <= 0
    counted = len(reasons)
    reasons += _made_weaker(lines)
    elsewhere = {change.new_oid for change in changes if change.status == "A"}
    deleted = [path for path, change in tests.items() if change.status == "D" and change.old_oid not in elsewhere]
    if deleted and not balance["cases removed"]:  # tests of a kind that cannot be counted, as in a shell script
        reasons.append(f"test file{'s' if len(deleted) != 1 else ''} deleted: {', '.join(deleted)}")
    unread = (path for path, each in tests.items() if each.added is None and each.old_oid != each.new_oid)
    opaque = [path for path in unread if tests[path].status == "M"]
    if opaque:
        reasons.append(f"tests that can no longer be compared as text: {', '.join(opaque)}")
    rewritten = bool(reasons) and len(reasons) == counted and settled
    names = dict.fromkeys((*(loss.test for loss in weaker.lost), *weaker.less)) if len(reasons) == taken else ()
    return Weakened(tuple(reasons), rewritten, tuple(names), bool(weaker.lost))


def renamed_tests(patch: str) -> dict[str, str]:
    """Return the tests that a patch gives another name, old to new: lines that begin a test in each other's place."""
    begins: dict[tuple[str, int], list[str]] = {}
    for line in changed_lines(patch):
        if _tests("case").search(line.text) and (name := _name(line.text)):
            begins.setdefault((line.path, line.stretch), []).append(name)
    pairs = (pair for path, at in sorted(begins) for pair in zip(begins[path, at], begins.get((path, at + 1), ())))  # noqa: B905
    return {old: new for old, new in pairs if old != new}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def _made_weaker(lines: list[ChangedLine]) -> list[str]:
    """Return the assertions that take the place of more exact ones, where as many stand there as before."""
    words: dict[tuple[str, int], list[list[str]]] = {}
    for line in lines:
        here = words.setdefault((line.path, line.stretch), [])
        if _COMMENT.search(line.text) or _tests("no_assertion").search(line.text):
            continue
        if _tests("assertion").search(line.text):
            here.append(line.text.split())
        elif here:  # an assertion goes on over several lines
            here[-1] += line.text.split()
    stretches = {place: [" ".join(each) for each in texts] for place, texts in words.items()}
    removed = {(line.path, line.stretch) for line in lines if line.removed}
    gone = {text for place, texts in stretches.items() if place in removed for text in texts}
    moved = gone & {text for place, texts in stretches.items() if place not in removed for text in texts}
    result = []
    for (path, stretch), old_texts in stretches.items():
        before = [text for text in old_texts if text not in moved]
        after = [text for text in stretches.get((path, stretch + 1), []) if text not in moved]
        if (path, stretch) in removed and (path, stretch + 1) not in removed and len(before) == len(after):
            pairs = ((old, new) for old, new in zip(before, after, strict=True) if _exactness(new) < _exactness(old))
            result += [f"{path}: `{old}` became `{new}`, which asks for less" for old, new in pairs]
    return result


def _exactness(assertion: str) -> int:
    return 2 if _tests("exact").search(assertion) else 1 if _tests("partly").search(assertion) else 0


def _weighed(lines: list[ChangedLine]) -> Counter[str]:
    balance = Counter[str]()
    for index, line in enumerate(lines):
        if _COMMENT.search(line.text):
            continue
        step = -1 if line.removed else 1
        balance["cases removed" if line.removed else "cases added"] += _tests("case").search(line.text) is not None
        balance["focused"] += step * (_tests("focus").search(line.text) is not None)
        if _tests("skip").search(line.text):
            balance["skips"] += step
            balance["skips on new tests"] += not line.removed and _on_new_test(lines, index)
    return balance


def _name(line: str) -> str:
    match = _tests("case_name").search(line)
    return next(filter(None, match.groups()), "") if match is not None else ""


def _on_new_test(lines: list[ChangedLine], index: int) -> bool:
    """True if the added skip at `index` stands above, or in, a test added in the same stretch of lines."""
    above = _tests("skip_above").search(lines[index].text)
    others = lines[index + 1 :] if above else reversed(lines[:index])
    near = takewhile(lambda each: each.stretch == lines[index].stretch, others)
    return any(_tests("case").search(each.text) for each in near)


ALTERED = "judge-altered"
"""The rule of a change that is green with its own tests or settings, and red with main's."""
MISSING = "tests-missing"
CONTRADICTED = "tests-contradicted"
"""The rule of a change that keeps all tests of main and alters what some of them ask for: its issue may want that."""
UNBELIEVED = "report-disagrees"
"""The rule of a change on which what test runners report does not agree with how they are, ended, or printed."""
EMPTIED = "tests-emptied"
"""The rule of tests that are gone or have lost all or most of what they ask for, with nothing else against them."""
FEWER_ASSERTIONS = "assertions-fewer"
"""The rule of tests of which none has lost most, with fewer assertions over all and nothing else against them."""
BY_BODY = (EMPTIED, FEWER_ASSERTIONS)
"""The rules of what the bodies of main's tests have lost, whether or not main's versions of them pass."""
BY_MAIN = (ALTERED, MISSING, CONTRADICTED, UNBELIEVED)

_SHOWN_MAX = 10
_NAME_CHARS_MAX = 200


def altered(paths: tuple[str, ...], failure: Failure) -> Failure:
    """Return the failure of a change that is green only with its own `paths`."""
    tests, decoded = failure.failing_tests, paths[:_SHOWN_MAX]
    theirs = tuple(path for path in paths if any(test.partition("::")[0].endswith(path) for test in tests)) or paths
    fails = f"{_few(tests)} fail{'s' if len(tests) == 1 else ''}" if tests else f"it fails ({failure.message})"
    return Failure(
        FailureKind.GATE_TAMPERING,
        f"{fails} with main's version of {_few(theirs)}, and with its own it is green (gate {failure.gate})",
        rule=ALTERED,
        location=theirs[0] if theirs else None,
        signature=f"{ALTERED}:{','.join(sorted(tests or paths))}",
        evidence=(*(f"altered: {path}" for path in decoded), *(f"fails: {test}" for test in tests[:_SHOWN_MAX])),
        excerpt=failure.excerpt,
        failing_tests=tests,
        gate=failure.gate,
    )


def _ended_green(gate: GateSpec, rule: str, what: str, evidence: tuple[str, ...], tests: tuple[str, ...]) -> Failure:
    return Failure(
        FailureKind.GATE_TAMPERING,
        f"gate {gate.name} ended green{what}",
        rule=rule,
        signature=f"{rule}:{','.join(sorted(tests)[:_SHOWN_MAX]) or what}",
        evidence=evidence,
        failing_tests=tests,
        gate=gate.name,
    )


def unbelieved(gate: GateSpec, why: str) -> Failure:
    """Return the failure of a change on which the report of a green gate is not to be believed; `why` says what."""
    return _ended_green(gate, UNBELIEVED, f", but {why}. On main that is not so", (why,), ())


def named_among(test: str, bodies: Collection[str]) -> bool:
    """True if a test, by its id, is one of the bodies of a file, by file and name."""
    file, _, name = test.rpartition("::") if "::" in test else ("", "", test)
    name = name.partition("[")[0]
    owner = file.partition("::")[0]
    for body in bodies:
        path, _, own = body.partition("::")
        # Go's runner names the package, cargo the crate before the file.
        of_go = path.endswith("_test.go") and f"/{owner}".endswith(f"/{path.rpartition('/')[0]}".rstrip("/"))
        same_file = owner in (path, "") or "/" not in f"{file}{path}" or owner.endswith(f" {path}") or of_go
        if same_file and (own == name or not own or name.endswith((f" {own}", f"> {own}", f"/{own}"))):
            return True
    return False


def contradicted(failure: Failure) -> Failure:
    """Return the failure of a change for which main's tests, all of them kept, ask for something else."""
    words = f"it changes what tests of main ask for: {failure.message}"
    return replace(failure, rule=CONTRADICTED, message=words)


def with_bodies(failure: Failure, by_body: Failure | None) -> Failure:
    """Return what main's tests contradict, with the tests that have lost what they ask for and do not contradict it.

    If a test is emptied or gone, the issue has to ask for that, not only for what the others expect now.
    """
    if by_body is None:
        return failure
    others = tuple(t for t in by_body.failing_tests if not any(named_among(f, (t,)) for f in failure.failing_tests))
    if by_body.rule != EMPTIED and not others:
        return failure
    message, tests = f"{by_body.message}; {failure.message}", (*failure.failing_tests, *others)
    return replace(by_body, message=message, failing_tests=tests, excerpt=failure.excerpt)


def missing(gate: GateSpec, paths: tuple[str, ...], short: Shortfall) -> Failure:
    """Return the failure of a change on which tests of main's are gone, skipped or red, though the gate is green."""
    ends = ((short.gone, "did not run"), (short.skipped, "skipped"), (short.failed, "failed"))
    losses = [f"{_few(names)} {how}" for names, how in ends if names]
    if short.fewer is not None:
        losses.append(f"{short.fewer[1]} tests pass where {short.fewer[0]} passed on main")
    if short.broken_off and not losses:
        losses.append("the test run broke off before its end")
    also = f" with main's version of {_few(paths)}" if paths else ""
    what = f"{also}, but of the tests that pass on main: {'; '.join(losses)}"
    return _ended_green(gate, MISSING, what, tuple(losses), (*short.failed, *short.skipped, *short.gone))


def skipped(gate: GateSpec, names: tuple[str, ...]) -> Failure:
    evidence = tuple(f"skipped: {name}" for name in names[:_SHOWN_MAX])
    return _ended_green(gate, MISSING, f", but new tests are skipped: {_few(names)}", evidence, names)


def _few(names: tuple[str, ...]) -> str:
    return some(names, _SHOWN_MAX, _NAME_CHARS_MAX)
