"""Judges a change by its diff, before any gate runs: what it touched, how much, and whether it is work at all."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from noface.integrity.diff.gates import lowered_thresholds
from noface.integrity.diff.names import WORDS, Unfit
from noface.integrity.diff.text import left_markers, tied_lines
from noface.integrity.rubbish import generated, is_generated, new_folders
from noface.integrity.strength import AS_STRONG, Weaker
from noface.integrity.tampering import BY_BODY, EMPTIED, FEWER_ASSERTIONS, weakened_tests
from noface.model.attempt import ABSENT, FileChange
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
_SEVERAL = 2
_GRAVITY = (
    FailureKind.BOUNDARY_VIOLATION,
    FailureKind.GATE_TAMPERING,
    FailureKind.SYNTAX_ERROR,
    FailureKind.LINT_FAILURE,
    FailureKind.RESOURCE_EXHAUSTED,
    FailureKind.NO_DIFF,
)
_ASK_FOR_IT = "an issue that asks for just this needs an `accept` command that proves it"


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
    repositories, `unfit` what could not be pushed (see diff_names), `workspaces` the folders of noface's in which the
    work was done, `lifted` the files that judge and that the issue is about, `on_main` main's paths, if
    any path is added, `weaker` what the bodies of tests have lost, those of `lifted` files left out. `only_form`: all
    files are only laid out anew, and the issue does not ask for that. `made_asked`: it asks for what tools write.
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
    workspaces: tuple[str, ...] = ()
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
            _tied(diff),
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
    if len(ordered) < _SEVERAL:
        return tuple(ordered)
    first, rest = ordered[0], ordered[1:]
    also = tuple((failure.rule, failure.message, f"{first.rule} is graver") for failure in rest)
    return (replace(first, also_matched=(*first.also_matched, *also)), *rest)


def binaries(changes: tuple[FileChange, ...]) -> Iterator[FileChange]:
    for change in changes:
        if change.added is None and change.status in "AM" and change.old_oid != change.new_oid:
            yield change


def _outside(diff: Diff) -> Failure | None:
    paths = [decoded(c.path) for c in diff.changes if diff.paths and not matches_any(c.path, diff.paths)]
    if not paths:
        return None
    allowed = ", ".join(diff.paths)
    return _failure(
        FailureKind.BOUNDARY_VIOLATION,
        "outside-paths",
        f"changed outside the issue's paths ({allowed}): {_listed(paths)}",
        tuple(paths[:_SHOWN_MAX]),
        ",".join(sorted(paths)),
    )


def _repository(diff: Diff) -> Failure | None:
    if not diff.repositories:
        return None
    folders = tuple(decoded(folder) or "." for folder in diff.repositories)
    return _failure(
        FailureKind.BOUNDARY_VIOLATION,
        "embedded-repository",
        f"made a git repository of {_listed(folders)}: git runs what the `config` of such a folder names for"
        " whoever enters it; make it in a temporary folder where it is needed, or name it in the issue's `may_change`",
        folders[:_SHOWN_MAX],
        ",".join(folders),
    )


def unfit_failures(every: Collection[Unfit]) -> Iterator[Failure]:
    """Yield a failure for each rule by which something could not be pushed or checked out everywhere."""
    for rule, (what, remedy) in WORDS.items():
        if unfit := [each for each in every if each.rule is rule]:
            named = [f"{each.path} ({each.why})" for each in unfit]
            yield _failure(
                FailureKind.BOUNDARY_VIOLATION,
                rule.value,
                f"{what}: {_listed(named)}; {remedy}",
                tuple(named[:_SHOWN_MAX]),
                ",".join(sorted(each.path for each in unfit)),
                location=unfit[0].path,
            )


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
    message, kind = f"{headline}: {'; '.join(evidence[:_SHOWN_MAX])}", FailureKind.GATE_TAMPERING
    failure = _failure(kind, rule, message, evidence, ";".join(evidence))
    return replace(failure, failing_tests=tests.taken) if rule in BY_BODY else failure


def _markers(diff: Diff) -> Failure | None:
    """Conflict markers are a SYNTAX_ERROR: they are one in every language, and mending them is what mends one."""
    files = {path: each for path, each in left_markers(diff.patch).items() if path not in diff.mere_text}
    if not files:
        return None
    named = [f"{path} ({len(conflicts)})" for path, conflicts in files.items()]
    lines = tuple(f"{path}: {line}" for path, conflicts in files.items() for line in conflicts[0])[:_LINES_MAX]
    return _failure(
        FailureKind.SYNTAX_ERROR,
        "conflict-markers",
        f"conflict markers were left in: {_listed(named)}; settle each conflict and remove its markers (where they are"
        " to be read, indent them, or name the file in the issue's `may_change`)",
        lines,
        ",".join(sorted(files)),
        location=next(iter(files)),
        excerpt="\n".join(lines),
    )


def _tied(diff: Diff) -> Failure | None:
    """Lines that name a workspace are a LINT_FAILURE: gates may be green here, and the lines are what to mend."""
    ties = tied_lines(diff.patch, diff.workspaces)
    if not ties:
        return None
    paths = sorted({tied.path for tied in ties})
    lines = tuple(f"{tied.path}: {tied.text}" for tied in ties[:_SHOWN_MAX])
    more = f" and {len(ties) - 1} more" if len(ties) > 1 else ""
    return _failure(
        FailureKind.LINT_FAILURE,
        "workspace-path",
        f"lines name this workspace, and would work nowhere else: {lines[0]}{more}; name places relative to the project"
        " or to the file",
        lines,
        ",".join(paths),
        location=paths[0],
        excerpt="\n".join(lines),
    )


def _binary(diff: Diff) -> Failure | None:
    sizes = [(diff.sizes.get(change.path, 0), decoded(change.path)) for change in binaries(diff.changes)]
    big = sorted((item for item in sizes if item[0] > BINARY_BYTES_MAX), reverse=True)
    if not big:
        return None
    named = [f"{path} ({size:,} bytes)" for size, path in big]
    return _failure(
        FailureKind.LINT_FAILURE,
        "binary-too-big",
        f"binary files above the limit of {BINARY_BYTES_MAX // 1_000_000} MB were added: {_listed(named)}; delete"
        " them, and name in .gitignore what comes again (build output, core dumps, coverage data)",
        tuple(named[:_SHOWN_MAX]),
        ",".join(path for _, path in big),
    )


def _too_big(diff: Diff, limits: DiffLimits) -> Failure | None:
    made = generated([change.path for change in diff.changes], diff.on_main)
    counted = [change for change in diff.changes if change.path not in made]
    files, lines = len(counted), sum(_size(change) for change in counted)
    if files <= limits.files_max and lines <= limits.lines_max:
        return None
    over = [f"{files:,} files ([limits] max_changed_files is {limits.files_max:,})"] * (files > limits.files_max)
    over += [f"{lines:,} lines ([limits] max_changed_lines is {limits.lines_max:,})"] * (lines > limits.lines_max)
    largest = sorted(counted, key=_size, reverse=True)[:_SHOWN_MAX]
    new = new_folders([change.path for change in counted if change.old_mode == ABSENT], diff.on_main)
    folder, most = next(iter(new.items()), ("", 0))
    ignorable = f"; {most:,} of them are new, in {decoded(folder)}/: if a program makes them, name it in .gitignore"
    failure = _failure(
        FailureKind.RESOURCE_EXHAUSTED,
        "diff-too-big",
        f"diff size: it changes {' and '.join(over)}{ignorable if 2 * most > files else ''}",
        tuple(f"{_size(change):,} lines in {decoded(change.path)}" for change in largest),
        "",
    )
    usage, limit = (files, limits.files_max) if files > limits.files_max else (lines, limits.lines_max)
    return replace(failure, usage=usage, limit=limit)


def _only_form(diff: Diff) -> Failure | None:
    if diff.accepted or not diff.only_form:
        return None
    paths = [decoded(change.path) for change in diff.changes]
    message = f"only form was changed (white space, quotes, ends of lines), in {_listed(paths)}; {_ASK_FOR_IT}"
    return _failure(FailureKind.NO_DIFF, "only-white-space", message, tuple(paths[:_SHOWN_MAX]), "")


def _only_generated(diff: Diff) -> Failure | None:
    paths = [change.path for change in diff.changes]
    named = diff.accepted or diff.made_asked or any(matches_any(path, diff.paths) for path in paths)
    if not paths or named or not all(map(is_generated, paths)):
        return None
    message = f"only generated files were changed: {_listed(map(decoded, paths))}; {_ASK_FOR_IT}"
    return _failure(FailureKind.NO_DIFF, "only-generated", message, tuple(map(decoded, paths[:_SHOWN_MAX])), "")


def _size(change: FileChange) -> int:
    return (change.added or 0) + (change.deleted or 0)


def _listed(items: Iterable[str]) -> str:
    return some((*items,), _SHOWN_MAX, _NAME_CHARS_MAX)


def _failure(
    kind: FailureKind,
    rule: str,
    message: str,
    evidence: tuple[str, ...],
    same: str,
    location: str | None = None,
    excerpt: str = "",
) -> Failure:
    """Make the failure; `same` is what its signature holds beside the rule."""
    return Failure(kind, message, rule, location, f"{rule}:{same}" if same else rule, evidence, excerpt=excerpt)


def gates_decide(early: Failure, issue: Issue) -> bool:
    """True if a suspicion of weakened tests waits for the gates.

    Rewritten tests may be as many when they run. The issue may ask for fewer, or main's tests contradict what it asks
    for. And if it has commands of its own, red on main, the weakening may be what it wants: then a person decides.
    """
    if early.kind is not FailureKind.GATE_TAMPERING:
        return False
    return early.rule in (REWRITTEN, *BY_BODY) or bool(issue.accept)
