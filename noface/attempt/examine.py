"""Examines a worker's change before any gate runs: the diff's rules, and whether the files parse.

Contents come from the object store, never from a slot, and only if a rule needs them.
"""

from collections.abc import Iterable, Iterator

from noface.attempt.attempt import Attempt, Judging
from noface.attempt.changes import Change, added_secrets
from noface.attempt.isolation import outside_modules
from noface.attempt.left_out import left_out
from noface.diagnosis import syntax
from noface.gates.secrets import secret_failure, told
from noface.git.filtered import changed_form
from noface.git.objects import ObjectReader
from noface.git.plumbing import Plumbing
from noface.git.server_checks import refused
from noface.integrity.asked_for import asks_for, names_file, words_of
from noface.integrity.diff import rules
from noface.integrity.diff.gates import Manifest, changed_gates, may_steer
from noface.integrity.diff.names import (
    Unfit,
    UnfitRule,
    adds,
    leads_in_a_circle,
    leads_outside,
    made_repositories,
    may_be_refused,
    refused_by_servers,
    unfit_names,
)
from noface.integrity.diff.rules import left_markers, shows_conflict
from noface.integrity.evasion import ASKS, checks_of, evading_lines, evasions, replaced_frameworks, shadowing
from noface.integrity.form import same_but_for_comments, same_but_for_form, string_lines
from noface.integrity.judges import Part, lifted, part_of
from noface.integrity.leftovers import left_in, reminder
from noface.integrity.prose import is_prose, notes_instead
from noface.integrity.rubbish import generated
from noface.integrity.strength import Weaker, weaker
from noface.integrity.tampering import asserts, is_code, is_test_file
from noface.integrity.uses import uses_code
from noface.model.attempt import ABSENT, REGULAR, FileChange
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.patch import changed_lines, decoded
from noface.model.patterns import matches_any
from noface.model.protection import asked_paths
from noface.model.quoting import short

_LINK = "120000"
_TARGET_CHARS_MAX = 120
_EVASIONS_MAX = 100
Contents = tuple[bytes, bytes]
_MANIFEST_BYTES_MAX = 1_000_000
_TEST_BYTES_MAX = 2_000_000
_PLACES_MAX = 200


class _Examination:
    """What the rules need to know of a change, read from the object store; `files` are those the issue is not about."""

    def __init__(self, attempt: Attempt, change: Change, blobs: ObjectReader) -> None:
        self.attempt, self.change, self.blobs = attempt, change, blobs
        self.patch = change.patch.decode("utf-8", "replace")
        self.files = tuple(file for file in change.files if not lifted(file.path, attempt.issue))

    def diff(self) -> rules.Diff:
        """Return the change as the rules see it."""
        issue, env, changes = self.attempt.issue, self.attempt.env, self.change.files
        commands = tuple(gate.command for gate in self.attempt.order.gates)
        added = any(change.old_mode == ABSENT for change in self.files)
        outside, words = outside_modules(env) if added else frozenset[str](), "\n".join(words_of(issue))
        on_main = self._on_main if adds(changes) else frozenset[str]()
        return rules.Diff(
            changes=changes,
            patch=self.patch,
            paths=(*issue.paths, *issue.may_change) if issue.paths else (),
            accepted=bool(issue.accept),
            sizes={file.path: self.blobs.size(file.new_oid) or 0 for file in rules.binaries(changes)},
            gates=(
                *changed_gates(_manifests(self.blobs, self.files), commands),
                *shadowing(self.files if added else (), self._on_main, outside, words),
                *self._evading_lines(),
            ),
            on_main=on_main,
            mere_text=self._mere_text(),
            repositories=made_repositories(changes, self._on_main, issue.may_change),
            lifted=frozenset(decoded(file.path) for file in changes if lifted(file.path, issue)),
            only_form=self._only_form(),
            made_asked=asks_for("generated", words_of(issue)) or any(names_file(issue, each.path) for each in changes),
            weaker=weaker_tests(self.blobs, issue, changes),
            unfit=(
                *unfit_names(changes, on_main, asked_paths(issue), "\n".join(words_of(issue))),
                *self._refused(),
                *self._unfit_contents(),
            ),
        )

    @property
    def _on_main(self) -> frozenset[str]:
        return self.attempt.plumbing.whole(self.attempt.order.main).paths

    def _only_form(self) -> bool:
        """True if no file says anything else than before, unasked. A change of modes alone is work."""
        changes = self.change.files
        if all(each.old_oid == each.new_oid for each in changes) or asks_for("form", words_of(self.attempt.issue)):
            return False
        pairs = ((each, modified(self.blobs, each)) for each in changes)
        return all(pair is not None and same_but_for_form(each.path, *pair) for each, pair in pairs)

    def _evading_lines(self) -> Iterator[str]:
        order, plumbing = self.attempt.order, self.attempt.plumbing
        checks, issue = checks_of(order.gates), "\n".join(words_of(order.issue))
        paths = {decoded(change.path) for change in self.files}
        lines = [line for line in changed_lines(self.patch) if line.path in paths]
        found = {
            phrase: {each for each in words if each not in issue}
            for phrase, words in evading_lines(lines, checks).items()
        }
        named = tuple(sorted(set[str]().union(*found.values())))[:_EVASIONS_MAX]
        on_main = plumbing.texts(order.main, plumbing.files_with(order.main, named)[:_PLACES_MAX], _MANIFEST_BYTES_MAX)
        known = {
            words
            for path, text in on_main.items()
            for words, check in evasions(text, checks)
            if check != ASKS or (is_code(path) and part_of(path) is Part.PRODUCT)
        }
        yield from (phrase for phrase, words in found.items() if words - known)
        yield from replaced_frameworks(lines)

    def _refused(self) -> Iterator[Unfit]:
        """Yield what a checking server would refuse of the files as they are; of their history, see changes."""
        plumbing, main = self.attempt.plumbing, self.attempt.order.main
        if may_be_refused(change.path for change in self.change.files):
            tree = plumbing.tree_with(
                main, {c.path: None if c.new_mode == ABSENT else (c.new_mode, c.new_oid) for c in self.change.files}
            )
            for one in refused(plumbing, tree, (main,)):
                yield refused_by_servers(*one)

    def _unfit_contents(self) -> Iterator[Unfit]:
        """Yield the new links out of the project, or in a circle, and what is not kept as it is written."""
        asked, main = asked_paths(self.attempt.issue), self.attempt.order.main
        for change in self.change.files:
            if change.new_mode != _LINK or change.old_mode == _LINK or matches_any(change.path, asked):
                continue
            target = _text(self.blobs, change.new_mode, change.new_oid) or ""
            if leads_outside(change.path, target) or leads_in_a_circle(change.path, target):
                yield Unfit(UnfitRule.LINK, decoded(change.path), f"it leads to {short(target, _TARGET_CHARS_MAX)}")
        for one in changed_form(self.attempt.plumbing, main, self.change.files):
            if not matches_any(one.path, asked):
                yield Unfit(UnfitRule.FILTERED, decoded(one.path), f"kept through {short(one.by, _TARGET_CHARS_MAX)}")

    def _bytes(self, change: FileChange) -> bytes:
        return self.blobs.read(change.new_oid, syntax.FILE_BYTES_MAX) or b")"

    def _mere_text(self) -> frozenset[str]:
        """Return the files whose conflict markers are text: data of tests, in a string, of the issue, or as on main."""
        suspects, named = frozenset(left_markers(self.patch)), self.attempt.issue.may_change
        return frozenset(
            decoded(change.path)
            for change in self.change.files
            if decoded(change.path) in suspects
            and (
                matches_any(change.path, named)
                or (part_of(change.path) is Part.TEST and not is_code(change.path))
                or shows_conflict(_text(self.blobs, change.old_mode, change.old_oid) or "")
                or (change.path.endswith(".py") and not syntax.check(change.path, "python", self._bytes(change)))
            )
        )


def examine_change(attempt: Attempt, change: Change) -> tuple[Failure, ...]:
    """Return what speaks against the change, the gravest first; nothing if the gates should judge it."""
    with attempt.plumbing.blobs() as blobs:
        diff = _Examination(attempt, change, blobs).diff()
        broken = _broken(blobs, change.files)
    failures = [*rules.examine(diff, attempt.env.diff_limits), *([syntax.syntax_failure(broken)] if broken else [])]
    return rules.by_gravity(tuple(failures))


def adds_secrets(attempt: Attempt, change: Change) -> Failure | None:
    env = attempt.env
    found = added_secrets(env, attempt.order.main, change.files)
    if isinstance(found, Failure):
        return found
    secrets = found or told(change.masked.decode("utf-8", "replace"))
    return secret_failure(secrets, env.masker) if secrets else None


def only_notes(attempt: Judging) -> Failure | None:
    """Return the failure of notes in place of work: prose, and comments, which the issue does not ask for."""
    change = attempt.change
    with attempt.plumbing.blobs() as blobs:
        for file in change.files:
            pair = None if is_prose(file.path) else modified(blobs, file)
            if not is_prose(file.path) and (pair is None or not same_but_for_comments(file.path, *pair)):
                return None
    return notes_instead(attempt.issue, change.files, change.patch.decode("utf-8", "replace"))


def forgotten(attempt: Judging) -> Failure | None:
    """Return what a worker is told once of work that passed: what is left out of it, and what it may have forgotten."""
    order, change, plumbing = attempt.order, attempt.change, attempt.plumbing
    if attempt.reminded is not None:
        return None
    wanted, patch = attempt.env.limits.wanted.by(order.issue), change.patch.decode("utf-8", "replace")
    files = {decoded(file.path): file for file in change.files if not matches_any(file.path, wanted.files)}
    on_main = plumbing.whole(order.main).paths
    lines = [line for line in changed_lines(patch) if line.path in files]
    with plumbing.blobs() as blobs:
        code = {path: file for path, file in files.items() if path.endswith(".py") and file.new_mode in REGULAR}
        shown = {path: string_lines(_text(blobs, file.new_mode, file.new_oid) or "") for path, file in code.items()}
        left = left_in(
            [line for line in lines if line.text.strip() not in shown.get(line.path, ())],
            lambda path: _text(blobs, files[path].old_mode, files[path].old_oid) or "",
            on_main,
            wanted.words,
            lambda calls: plumbing.files_with(order.main, calls),
        )
    reminders = {one.path: one.why for one in attempt.snapshot.suspects if one.path in files}
    unasked = {(decoded(one.path), text): one.what for one in attempt.unasked for text in one.told(order.main)}
    return reminder(unasked | left, reminders, left_out(attempt))


def modified(blobs: ObjectReader, change: FileChange, bytes_max: int = syntax.FILE_BYTES_MAX) -> Contents | None:
    """Return what a modified file held and holds; None for any other kind of change, and for what is too large."""
    if change.status != "M" or change.old_mode not in REGULAR or change.new_mode not in REGULAR:
        return None
    old = blobs.read(change.old_oid, bytes_max)
    new = blobs.read(change.new_oid, bytes_max) if old is not None else None
    return None if old is None or new is None else (old, new)


def _manifests(blobs: ObjectReader, changes: tuple[FileChange, ...]) -> list[Manifest]:
    manifests = []
    for change in filter(lambda each: may_steer(each.path), changes):
        old, new = _text(blobs, change.old_mode, change.old_oid), _text(blobs, change.new_mode, change.new_oid)
        if old is not None and new is not None:
            manifests.append(Manifest(decoded(change.path), old, new, gone=change.new_mode == ABSENT))
    return manifests


def _text(blobs: ObjectReader, mode: str, oid: str) -> str | None:
    data = b"" if mode == ABSENT else blobs.read(oid, _MANIFEST_BYTES_MAX)
    return None if data is None else data.decode("utf-8", "replace")


def unparsable(plumbing: Plumbing, main: str, commit: str) -> tuple[syntax.BrokenFile, ...]:
    """Return the files of a commit that do not parse, without those that do not parse on main either."""
    with plumbing.blobs() as blobs:
        return _broken(blobs, plumbing.diff(main, commit).changes)


def _broken(blobs: ObjectReader, changes: tuple[FileChange, ...]) -> tuple[syntax.BrokenFile, ...]:
    on_main = {change.old_oid for change in changes}
    files_broken: list[syntax.BrokenFile] = []
    made = generated([change.path for change in changes])
    left = syntax.TOTAL_BYTES_MAX
    files = [change for change in changes if change.new_mode in REGULAR and change.new_oid not in on_main]
    for change in files[: syntax.FILES_MAX]:
        language = None if change.path in made else syntax.language_of(change.path)
        data = blobs.read(change.new_oid, min(syntax.FILE_BYTES_MAX, left)) if language is not None else None
        if language is None or data is None:
            continue
        left -= len(data)
        broken = syntax.check(decoded(change.path), language, data)
        old = b"" if change.old_mode == ABSENT or broken is None else blobs.read(change.old_oid, syntax.FILE_BYTES_MAX)
        was_whole = change.old_mode == ABSENT or (old is not None and not syntax.check(change.path, language, old))
        if broken is not None and was_whole:
            files_broken.append(broken)
    return tuple(files_broken)


def weaker_tests(blobs: ObjectReader, issue: Issue, files: Iterable[FileChange]) -> Weaker:
    """Return what tests have lost by a change, but for what the issue may change or a new file asserts now."""
    changes = [each for each in files if not lifted(each.path, issue)]
    tests = [each for each in changes if is_test_file(each.path) and each.added is not None]
    if all(test.old_mode == ABSENT for test in tests):
        return Weaker()
    main = {t.path: blobs.text(t.old_oid, _TEST_BYTES_MAX) for t in tests if t.old_mode != ABSENT}
    now = {t.path: blobs.text(t.new_oid, _TEST_BYTES_MAX) for t in tests if t.new_mode != ABSENT}
    others = [c for c in changes if c.old_mode == ABSENT and is_code(c.path) and not is_test_file(c.path)]
    new = {c.path: text for c in others if asserts(text := blobs.text(c.new_oid, _TEST_BYTES_MAX))}
    now |= {path: text for path, text in new.items() if any(uses_code(test, now[test], path) for test in now)}
    return weaker(main, now)
