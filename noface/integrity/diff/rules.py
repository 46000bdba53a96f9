"""Judges a change by its diff, before any gate runs: what it touched, how much, and whether it is work at all."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from noface.data import table
from noface.integrity.diff.gates import lowered_thresholds
from noface.integrity.diff.names import Unfit, UnfitRule
from noface.integrity.rubbish import generated, is_generated
from noface.integrity.strength import AS_STRONG, Weaker
from noface.integrity.tampering import BY_BODY, EMPTIED, FEWER_ASSERTIONS, weakened_tests
from noface.model.attempt import FileChange
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.patch import changed_lines, decoded
from noface.model.patterns import matches_any
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind

REWRITTEN = "tests-rewritten"
"""The rule of tests that ask for less as text, and may be as many when they run."""
_SHOWN_MAX = 10
_NAME_CHARS_MAX = 1_000
_LINES_MAX = 30
_GRAVITY = (
    FailureKind.BOUNDARY_VIOLATION,
    FailureKind.GATE_TAMPERING,
    FailureKind.SYNTAX_ERROR,
    FailureKind.LINT_FAILURE,
    FailureKind.RESOURCE_EXHAUSTED,
    FailureKind.NO_DIFF,
)


BINARY_BYTES_MAX = 1_000_000
"""A binary file above this is no source: build output, a core dump, data that belongs elsewhere."""


@dataclass(frozen=True, slots=True)
class DiffLimits:
    """How much one change may hold; generated files don't count. `test_keys` are globs of files that may hold keys."""

    files_max: int = 200
    lines_max: int = 20_000
    test_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Diff:
    """A change against main; the patch may have been cut.

    `paths` are those the issue may touch (none: all), `accepted` tells that the issue has commands of its own to prove
    it; `sizes` has the bytes of binary files, `gates` what no longer is as the gates call it (see diff_gates),
    `mere_text` the files in which conflict markers are none, `repositories` the folders that the change makes into git
    repositories, `unfit` what could not be pushed (see diff_names), `lifted` the files that judge and that the issue is
    about, `on_main` main's paths, if any path is added, `weaker` what the bodies of tests have lost, those of `lifted`
    files left out. `only_form`: all files are only laid out anew, and the issue does not ask for that. `made_asked`: it
    asks for what tools write.
    """

    changes: tuple[FileChange, ...]
    patch: str
    paths: tuple[str, ...] = ()
    accepted: bool = False
    sizes: Mapping[str, int] = field(default_factory=dict)
    gates: tuple[str, ...] = ()
    mere_text: frozenset[str] = frozenset()
    repositories: tuple[str, ...] = ()
    lifted: frozenset[str] = frozenset()
    unfit: tuple[Unfit, ...] = ()
    on_main: Collection[str] = ()
    only_form: bool = False
    made_asked: bool = False
    weaker: Weaker = AS_STRONG


def examine(diff: Diff, limits: DiffLimits) -> tuple[Failure, ...]:
    """Return what speaks against the change, the gravest first; empty if nothing does."""
    return tuple(
        failure
        for failure in (
            _outside(diff),
            _repository(diff),
            *unfit_failures(diff.unfit),
            _tampering(diff),
            _markers(diff),
            _binary(diff),
            _too_big(diff, limits),
            _only_form(diff),
            _only_generated(diff),
        )
        if failure is not None
    )


def by_gravity(failures: tuple[Failure, ...]) -> tuple[Failure, ...]:
    """Put the gravest first; it tells of the others as rules that matched, too."""
    ordered = sorted(failures, key=lambda failure: _GRAVITY.index(failure.kind))
    if not ordered:
        return ()
    first, rest = ordered[0], ordered[1:]
    also = tuple((failure.rule, failure.message, f"{first.rule} is graver") for failure in rest)
    return (replace(first, also_matched=(*first.also_matched, *also)), *rest)


def binaries(changes: tuple[FileChange, ...]) -> Iterator[FileChange]:
    for change in changes:
        if change.added is None and change.status in "AM" and change.old_oid != change.new_oid:
            yield change


def _outside(diff: Diff) -> Failure | None:
    paths = [decoded(c.path) for c in diff.changes if diff.paths and not matches_any(c.path, diff.paths)]
    same = ",".join(sorted(paths))
    return _failure("outside-paths", paths, same, more=", ".join(diff.paths)) if paths else None


def _repository(diff: Diff) -> Failure | None:
    folders = [decoded(folder) or "." for folder in diff.repositories]
    return _failure("embedded-repository", folders, ",".join(folders)) if folders else None


def unfit_failures(every: Collection[Unfit]) -> Iterator[Failure]:
    """Yield a failure for each rule by which something could not be pushed or checked out everywhere."""
    for rule in UnfitRule:
        if unfit := [each for each in every if each.rule is rule]:
            named, same = [f"{each.path} ({each.why})" for each in unfit], ",".join(sorted(each.path for each in unfit))
            yield replace(_failure(rule.value, named, same), location=unfit[0].path)


def _tampering(diff: Diff) -> Failure | None:
    tests = weakened_tests(tuple(c for c in diff.changes if c.path not in diff.lifted), diff.patch, diff.weaker)
    gates = (*lowered_thresholds(changed_lines(diff.patch)), *diff.gates)
    evidence = (*tests.reasons, *gates)
    if not evidence:
        return None
    headline = "tests were weakened" if tests.reasons else "the gates were weakened"
    rule = "tests-weakened" if tests.reasons else "gates-weakened"
    if not gates:
        taken = EMPTIED if tests.emptied else FEWER_ASSERTIONS
        rule = REWRITTEN if tests.rewritten else taken if tests.taken else rule
    message, signature = f"{headline}: {'; '.join(evidence[:_SHOWN_MAX])}", f"{rule}:{';'.join(evidence)}"
    failing = tests.taken if rule in BY_BODY else ()
    return Failure(
        FailureKind.GATE_TAMPERING, message, rule, signature=signature, evidence=evidence, failing_tests=failing
    )


def _markers(diff: Diff) -> Failure | None:
    files = {path: each for path, each in left_markers(diff.patch).items() if path not in diff.mere_text}
    if not files:
        return None
    named = [f"{path} ({len(conflicts)})" for path, conflicts in files.items()]
    lines = tuple(f"{path}: {line}" for path, conflicts in files.items() for line in conflicts[0])[:_LINES_MAX]
    failure = _failure("conflict-markers", named, ",".join(sorted(files)))
    return replace(failure, evidence=lines, location=next(iter(files)), excerpt="\n".join(lines))


def _binary(diff: Diff) -> Failure | None:
    sizes = [(diff.sizes.get(change.path, 0), decoded(change.path)) for change in binaries(diff.changes)]
    big = sorted((item for item in sizes if item[0] > BINARY_BYTES_MAX), reverse=True)
    named = [f"{path} ({size:,} bytes)" for size, path in big]
    return _failure("binary-too-big", named, ",".join(path for _, path in big)) if big else None


def _too_big(diff: Diff, limits: DiffLimits) -> Failure | None:
    made = generated([change.path for change in diff.changes], diff.on_main)
    counted = [change for change in diff.changes if change.path not in made]
    files, lines = len(counted), sum(_size(change) for change in counted)
    if files <= limits.files_max and lines <= limits.lines_max:
        return None
    over = [f"{files:,} files ([limits] max_changed_files is {limits.files_max:,})"] * (files > limits.files_max)
    over += [f"{lines:,} lines ([limits] max_changed_lines is {limits.lines_max:,})"] * (lines > limits.lines_max)
    largest = [f"{_size(each):,} lines in {decoded(each.path)}" for each in sorted(counted, key=_size, reverse=True)]
    failure = _failure("diff-too-big", largest, more=" and ".join(over))
    usage, limit = (files, limits.files_max) if files > limits.files_max else (lines, limits.lines_max)
    return replace(failure, usage=usage, limit=limit)


def _only_form(diff: Diff) -> Failure | None:
    only_form = diff.only_form and not diff.accepted
    return _failure("only-white-space", [decoded(change.path) for change in diff.changes]) if only_form else None


def _only_generated(diff: Diff) -> Failure | None:
    paths = [change.path for change in diff.changes]
    named = diff.accepted or diff.made_asked or any(matches_any(path, diff.paths) for path in paths)
    made = paths and not named and all(map(is_generated, paths))
    return _failure("only-generated", [*map(decoded, paths)]) if made else None


def _size(change: FileChange) -> int:
    return (change.added or 0) + (change.deleted or 0)


def _failure(rule: str, named: list[str], same: str = "", *, more: str = "") -> Failure:
    said = table("refused")[rule]
    message = said["says"].replace("{more}", more).replace("{named}", some((*named,), _SHOWN_MAX, _NAME_CHARS_MAX))
    signature = f"{rule}:{same}" if same else rule
    return Failure(FailureKind(said["kind"]), message, rule, signature=signature, evidence=tuple(named[:_SHOWN_MAX]))


def gates_decide(early: Failure, issue: Issue) -> bool:
    """True if a suspicion of weakened tests waits for the gates.

    Rewritten tests may be as many when they run. The issue may ask for fewer, or main's tests contradict what it asks
    for. And if it has commands of its own, red on main, the weakening may be what it wants: then a person decides.
    """
    if early.kind is not FailureKind.GATE_TAMPERING:
        return False
    return early.rule in (REWRITTEN, *BY_BODY) or bool(issue.accept)


_STEPS = (re.compile(r"<{7}(\s.*)?$"), re.compile(r"={7}\s*$"), re.compile(r">{7}(\s.*)?$"))
_STARTS = ("<<<<<<<", "=======", ">>>>>>>")


def left_markers(patch: str) -> dict[str, list[tuple[str, ...]]]:
    """Return the marker lines of conflicts that main does not hold, there or in a file that goes, by their files."""
    if "\n+<<<<<<<" not in patch:
        return {}
    added, removed = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for line in changed_lines(patch):
        if line.text.startswith(_STARTS):
            (removed if line.removed else added)[line.path].append(line.text)
    moved = Counter(conflict for path, texts in removed.items() if path not in added for conflict in _conflicts(texts))
    files = defaultdict[str, list[tuple[str, ...]]](list)
    for path, texts in added.items():
        for conflict in _conflicts(texts)[len(_conflicts(removed[path])) :]:
            if moved[conflict]:
                moved[conflict] -= 1
            else:
                files[path].append(conflict)
    return files


def shows_conflict(text: str) -> bool:
    return bool(_conflicts([line for line in text.splitlines() if line.startswith(_STARTS)]))


def _conflicts(texts: list[str]) -> list[tuple[str, ...]]:
    conflicts: list[tuple[str, ...]] = []
    open_: list[str] = []
    for text in texts:
        if _STEPS[len(open_)].match(text):
            open_.append(text.rstrip())
        elif _STEPS[0].match(text):
            open_ = [text.rstrip()]
        if len(open_) == len(_STEPS):
            conflicts.append(tuple(open_))
            open_ = []
    return conflicts
