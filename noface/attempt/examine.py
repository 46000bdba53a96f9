"""Examines a worker's change before any gate runs: secrets, the diff's rules, and whether the files parse.

Contents come from the object store, never from a slot, and only where a rule needs them: most attempts start no
process for it, the others one. Git itself checks the files that it reads (.gitmodules, .gitattributes).
"""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from posixpath import basename

from noface.attempt.earlier_tests import weaker_tests
from noface.attempt.environment import AttemptEnvironment
from noface.attempt.isolation import outside_modules
from noface.attempt.parts import Parts
from noface.attempt.protected_files import reached
from noface.diagnosis import syntax
from noface.gates.secrets import MARK, AddedSecret, keys_of, marked, scan, secret_failure
from noface.git.filtered import raw
from noface.git.objects import ObjectReader, refused
from noface.git.plumbing import Plumbing, occurring
from noface.integrity import diff as rules
from noface.integrity.asked_for import asks_for, names_file, words_of
from noface.integrity.build_output import generated
from noface.integrity.diff_gates import Manifest, changed_gates, may_steer
from noface.integrity.diff_names import (
    Unfit,
    UnfitRule,
    adds,
    fsck_words,
    leads_in_a_circle,
    leads_outside,
    made_repositories,
    may_make_repository,
    read_by_git,
    unfit_names,
)
from noface.integrity.diff_text import MARKERS, kin, places
from noface.integrity.evasion import flags_asked, self_aware, sets_flag, shadowing
from noface.integrity.form import same_but_for_comments, same_but_for_form
from noface.integrity.judges import Part, lifted, part_of
from noface.integrity.leftovers import LEFT_IN, copied, left_in, named_and_nowhere, taken_away, told_once
from noface.integrity.prose import is_prose, notes_instead
from noface.integrity.rubbish import rubbish_in
from noface.integrity.tampering import Line, changed_lines, is_code, is_test_file, shown
from noface.model.attempt import ABSENT, AttemptOrder, FileChange, Snapshot
from noface.model.failure import Failure
from noface.model.gate import GateKind
from noface.model.issue import Issue
from noface.model.patterns import matches_any
from noface.model.protection import asked_paths
from noface.model.quoting import short
from noface.model.taxonomy import FailureKind
from noface.secrets.masked_records import named_anew
from noface.secrets.masking import Masker
from noface.secrets.shapes import KEY_CHARS_MAX

_LINK, _GITLINK = "120000", "160000"
_TARGET_CHARS_MAX = 120
_CHUNK_BYTES = 1 << 19
_PIECES_BYTES_MAX = 8 << 20
TOTAL_BYTES_MAX = 1 << 30
PATCH_BYTES_MAX = 20 * 1024 * 1024
_SHOWN_MAX = 10
_FLAGS_MAX = 50


@dataclass(frozen=True, slots=True)
class _Held:
    """The secrets of a file: values as they are written, names of those in pieces, names of keys by a line of each."""

    forms: frozenset[str]
    broken: frozenset[str]
    keys: Mapping[str, str]

    def without(self, before: "_Held") -> "_Held":
        """Return what of this is new."""
        keys = {told_by: name for told_by, name in self.keys.items() if told_by not in before.keys}
        return _Held(self.forms - before.forms, self.broken - before.broken, keys)

    def names(self, masker: Masker, on_main: Collection[str]) -> frozenset[str]:
        """Return what those are called that do not stand on main."""
        keys = (name for told_by, name in self.keys.items() if told_by not in on_main)
        return frozenset((*self.broken, *masker.names_of(self.forms.difference(on_main)), *keys))


def secrets_in_bytes(
    plumbing: Plumbing,
    masker: Masker,
    main: str,
    changes: tuple[FileChange, ...],
    *,
    whole: bool,
    test_keys: tuple[str, ...] = (),
    bytes_max: int = TOTAL_BYTES_MAX,
    bases: tuple[str, ...] = (),
) -> tuple[AddedSecret, ...] | Failure:
    """Return the secrets in files that the patch does not show; the failure for more than can be read.

    `whole`: the patch against `main` is not cut, so only files without lines are read. `test_keys` are globs of
    the files that may hold keys, `bytes_max` bounds what is read in all. What `bases` hold is no news
    either. Raises GitError where git ends early.
    """
    unseen = tuple(
        change
        for change in changes
        if change.new_mode not in (ABSENT, _GITLINK)
        and change.new_oid != change.old_oid
        and (not whole or change.added is None)
    )
    on_main: frozenset[str] | None = None
    left = bytes_max
    secrets: list[AddedSecret] = []
    with plumbing.blobs() as blobs:
        for at, change in enumerate(unseen):
            left -= blobs.size(change.new_oid) or 0
            if left < 0:
                return _unread(tuple(each.path for each in unseen[at:]))
            added = _added(masker, blobs, change)
            if matches_any(change.path, test_keys):
                added = replace(added, keys={})
            known = (occurring(plumbing, base, (*added.forms, *added.keys)) for base in (main, *bases))
            names = added.names(masker, frozenset().union(*known)) if added != _NOTHING else frozenset()
            if names and on_main is None:
                on_main = plumbing.objects(main)
            if on_main is None or change.new_oid not in on_main:
                secrets += [AddedSecret(change.path, name, f"the value of {name}") for name in sorted(names)]
    return tuple(secrets)


def _added(masker: Masker, blobs: ObjectReader, change: FileChange) -> _Held:
    name = change.path.encode("utf-8", "surrogateescape") if change.status == "A" else b""
    held = _held(masker, blobs, change.new_oid)
    if held != _NOTHING and change.old_mode != ABSENT:
        held = held.without(_held(masker, blobs, change.old_oid))
    return replace(held, forms=held.forms | masker.telling(name), keys={**held.keys, **_keys(name, more=False)})


_NOTHING = _Held(frozenset(), frozenset(), {})


def _held(masker: Masker, blobs: ObjectReader, oid: str) -> _Held:
    forms: set[str] = set()
    keys: dict[str, str] = {}
    window, overlap = b"", max(masker.longest_bytes, KEY_CHARS_MAX)
    for data in blobs.chunks(oid, _CHUNK_BYTES):
        window = window[-overlap:] + data
        forms |= masker.telling(window)
        keys |= _keys(window, more=True)
    return _Held(
        frozenset(forms),
        masker.in_pieces(blobs.read(oid, _PIECES_BYTES_MAX) or b""),
        keys | _keys(window[-overlap:], more=False),
    )


def _keys(data: bytes, *, more: bool) -> dict[str, str]:
    """Return the names of the keys in bytes, or in the letters of UTF-16, by a line of each.

    Where there is `more`, one at the end may be cut off, and is found in the next bytes.
    """
    texts = (data.decode("latin-1"), *((data.replace(b"\0", b"").decode("latin-1"),) if b"\0" in data else ()))
    return {key.told_by: key.name for text in texts for key in keys_of(text) if not (more and key.end == len(text))}


def _unread(paths: tuple[str, ...]) -> Failure:
    return Failure(
        FailureKind.RESOURCE_EXHAUSTED,
        f"the change is too large to search for secrets: {', '.join(paths[:_SHOWN_MAX])} were not read;"
        " leave out what need not be committed, or name it in .gitignore",
        rule="not-looked-through",
        location=paths[0],
        signature="not-looked-through",
        evidence=paths[:_SHOWN_MAX],
    )


def own_values(env: AttemptEnvironment, main: str, snapshot: Snapshot, patch: bytes = b"") -> frozenset[str]:
    """Return which of the values that a change seems to add are on `main` already: in a file or in its name.

    What the patch against main removes is there. Git looks only for the others.
    """
    added, removed = env.masker.added(patch, named_anew(snapshot)), env.masker.removed(patch)
    return (added & removed) | occurring(env.plumbing, main, added - removed)


Contents = tuple[bytes, bytes]
_REGULAR = ("100644", "100755")
_MANIFEST_BYTES_MAX = 1_000_000
_PLACES_MAX = 200
_MARKERS_ONLY_IN_STRINGS = syntax.FULLY_PARSED - {"yaml"}
"""In YAML a line without bracket, quote or colon is a string, and so is a conflict marker."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change against main, unmasked and in memory only: a mask in a file's name would hide it from the rules.

    `patch` may be `cut`; `masked` is the same without the known secrets, as it lies on disk, with marks for those that
    it adds. `by_worker` is False where the worker has changed nothing of what the attempt started with.
    """

    files: tuple[FileChange, ...]
    patch: bytes
    masked: bytes
    by_worker: bool
    cut: bool = False


def added_secrets(env: AttemptEnvironment, main: str, change: Change) -> tuple[AddedSecret, ...] | Failure:
    """Return the secrets that a change adds; the failure for more than can be read."""
    in_lines = marked(change.masked.decode("utf-8", "surrogateescape"))
    allowed, whole = env.diff_limits.test_keys, not change.cut
    unseen = secrets_in_bytes(env.plumbing, env.masker, main, change.files, whole=whole, test_keys=allowed)
    return unseen if isinstance(unseen, Failure) else (*in_lines, *unseen)


def adds_secrets(order: AttemptOrder, env: AttemptEnvironment, change: Change) -> Failure | None:
    """Return the failure for secrets that the change adds."""
    found = added_secrets(env, order.main, change)
    return found if isinstance(found, Failure) else secret_failure(found) if found else None


def masked_patch(env: AttemptEnvironment, main: str, patch: bytes, own: Collection[str]) -> bytes:
    """Return a patch against `main` without secrets, with marks for those that it adds; `own` are values on main."""
    text = env.masker.patch(patch, MARK, own).decode("utf-8", "surrogateescape")
    found = scan(text, (), env.diff_limits.test_keys)
    if known := occurring(env.plumbing, main, found.told_by):
        found = scan(text, known, env.diff_limits.test_keys)
    return found.patch.encode("utf-8", "surrogateescape")


def examine_change(order: AttemptOrder, env: AttemptEnvironment, change: Change) -> tuple[Failure, ...]:
    """Return what speaks against the change, the gravest first; nothing where the gates should judge it."""
    patch = change.patch.decode("utf-8", "replace")
    commands = tuple(gate.command for gate in order.gates)
    changes = tuple(file for file in change.files if not lifted(file.path, order.issue))
    with env.plumbing.blobs() as blobs:
        diff = rules.Diff(
            changes=change.files,
            patch=patch,
            paths=(*order.issue.paths, *order.issue.may_change) if order.issue.paths else (),
            accepted=bool(order.issue.accept),
            sizes={file.path: blobs.size(file.new_oid) or 0 for file in rules.binaries(change.files)},
            gates=(
                *changed_gates(_manifests(blobs, changes, commands), commands),
                *_shadows(order, env, changes),
                *_revealing_lines(order, env, changes, patch),
            ),
            on_main=env.plumbing.whole(order.main).paths if adds(change.files) else (),
            mere_text=_mere_text(order, env, blobs, change.files, patch),
            workspaces=(str(env.slots_dir), os.path.realpath(env.slots_dir)),  # as named and as reached
            repositories=_repositories(order, env, change.files),
            lifted=frozenset(shown(file.path) for file in change.files if lifted(file.path, order.issue)),
            only_form=_only_form(order, blobs, change.files),
            made_asked=_asks_for_made(order.issue, change.files),
            weaker=weaker_tests(env.plumbing, blobs, order, change.files, _parts(order, env)),
            unfit=(
                *_names(order, env, change.files),
                *_refused(env, change.files),
                *_links(order, env, blobs, change.files),
                *_raw(order, env, change.files),
            ),
        )
        broken = _broken(blobs, change.files)
    failures = [*rules.examine(diff, env.diff_limits), *([syntax.syntax_failure(broken)] if broken else [])]
    return rules.by_gravity(tuple(failures))


def _parts(order: AttemptOrder, env: AttemptEnvironment) -> Parts:
    """Return what main's files are to the gates, as far as that is known before they run on the change."""
    called = reached(env.plumbing, order.main, order.gates)
    main, reads = env.plumbing.tree(order.main), env.gate_facts.reads
    known = {gate.name: reads.get(gate.command) for gate in order.gates if gate.kind is GateKind.TEST}
    noted = {name: each.on(main) for name, each in known.items() if each is not None}
    return Parts(env.plumbing, order.main, called, noted)


def _only_form(order: AttemptOrder, blobs: ObjectReader, changes: tuple[FileChange, ...]) -> bool:
    """Tell whether no file says anything else than before, unasked. A change of modes alone is work."""
    if all(change.old_oid == change.new_oid for change in changes) or asks_for("form", words_of(order.issue)):
        return False
    pairs = ((change, modified(blobs, change)) for change in changes)
    return all(pair is not None and same_but_for_form(change.path, *pair) for change, pair in pairs)


def _asks_for_made(issue: Issue, changes: tuple[FileChange, ...]) -> bool:
    """Tell whether an issue speaks of what tools write, lock files say, or names such a file of the change."""
    return asks_for("generated", words_of(issue)) or any(names_file(issue, change.path) for change in changes)


def only_notes(order: AttemptOrder, env: AttemptEnvironment, change: Change) -> Failure | None:
    """Return the failure of notes in place of work: prose, and comments, which the issue does not ask for."""
    with env.plumbing.blobs() as blobs:
        for file in change.files:
            pair = None if is_prose(file.path) else modified(blobs, file)
            if not is_prose(file.path) and (pair is None or not same_but_for_comments(file.path, *pair)):
                return None
    return notes_instead(order.issue, change.files, change.patch.decode("utf-8", "replace"))


def modified(blobs: ObjectReader, change: FileChange, bytes_max: int = syntax.FILE_BYTES_MAX) -> Contents | None:
    """Return what a modified file held and holds; None for any other kind of change, and for what is too large."""
    if change.status != "M" or change.old_mode not in _REGULAR or change.new_mode not in _REGULAR:
        return None
    old = blobs.read(change.old_oid, bytes_max)
    new = blobs.read(change.new_oid, bytes_max) if old is not None else None
    return None if old is None or new is None else (old, new)


def forgotten(order: AttemptOrder, env: AttemptEnvironment, change: Change) -> Failure | None:
    """Return what a worker is told once of work that passed: lines and files that it may have forgotten."""
    if any(before.rule == LEFT_IN for before in order.earlier):
        return None
    wanted, patch = env.limits.wanted.by(order.issue), change.patch.decode("utf-8", "replace")
    files = {shown(file.path): file for file in change.files if not matches_any(file.path, wanted.files)}
    on_main = env.plumbing.whole(order.main).paths
    new = [file.path for file in change.files if file.old_mode == ABSENT]
    tried = rubbish_in(new, on_main, wanted, {file.path: file.status for file in change.files}, patch)
    all_lines = tuple(changed_lines(patch))
    lines = [line for line in all_lines if line.path in files]
    with env.plumbing.blobs() as blobs:
        left = left_in(
            lines,
            lambda path: _text(blobs, files[path].old_mode, files[path].old_oid) or "",
            on_main,
            wanted.said,
            lambda calls: env.plumbing.naming(order.main, calls),
        )
    like = {basename(path) for path in new}
    origins = env.plumbing.entries(order.main, tuple(path for path in on_main if basename(path) in like))
    told = {shown(path): one.what for path, one in tried.items() if one.told}
    told |= copied(change.files, origins) | taken_away(change.files, wanted.said, all_lines)
    return told_once(left, told | named_and_nowhere(change.files, on_main, wanted.said))


def _shadows(order: AttemptOrder, env: AttemptEnvironment, changes: tuple[FileChange, ...]) -> tuple[str, ...]:
    """Return what of the change takes the place of modules that the gates have from outside the tree."""
    if not any(change.old_mode == ABSENT for change in changes):
        return ()
    said = "\n".join(words_of(order.issue))
    return shadowing(changes, env.plumbing.whole(order.main).paths, outside_modules(env), said)


def _revealing_lines(
    order: AttemptOrder, env: AttemptEnvironment, changes: tuple[FileChange, ...], patch: str
) -> tuple[str, ...]:
    """Return the lines by which the product detects its tests."""
    paths = {shown(change.path) for change in changes}
    lines = [line for line in changed_lines(patch) if line.path in paths]
    main = env.plumbing.whole(order.main).paths
    folders = frozenset(part for path in main if is_test_file(path) for part in path.split("/")[:-1])
    aware = self_aware(lines, folders).items()
    phrases = (phrase for phrase, word in aware if not (word and _in_product(order, env, word)))
    return (*phrases, *_flags_of_judges(order, env, lines))


def _flags_of_judges(order: AttemptOrder, env: AttemptEnvironment, lines: list[Line]) -> Iterator[str]:
    """Yield the lines that ask for a flag which only main's tests and gates set, and nothing of its product knows."""
    product = (line for line in lines if part_of(line.path) in (Part.PRODUCT, Part.SOFT))
    commands, issue = "\n".join(gate.command for gate in order.gates), "\n".join(words_of(order.issue))
    for flag, line in list(flags_asked(product).items())[:_FLAGS_MAX]:
        naming = env.plumbing.naming(order.main, (flag,))
        judges = tuple(path for path in naming if part_of(path) in (Part.TEST, Part.CONFIG, Part.MANIFEST))
        if len(judges) < len(naming) or flag in issue:
            continue
        entries = env.plumbing.entries(order.main, judges[:_FLAGS_MAX])
        with env.plumbing.blobs() as blobs:
            texts = [_text(blobs, mode, oid) or "" for mode, oid in entries.values()]
        if any(sets_flag(text, flag) for text in (*texts, commands)):
            yield f"{line.path} asks for {flag}, which only tests set: `{' '.join(line.text.split())[:120]}`"


def _in_product(order: AttemptOrder, env: AttemptEnvironment, word: str) -> bool:
    """Tell whether main's own product has a word already: then the project deals with such things."""
    return any(is_code(path) and part_of(path) is Part.PRODUCT for path in env.plumbing.naming(order.main, (word,)))


def _repositories(order: AttemptOrder, env: AttemptEnvironment, changes: tuple[FileChange, ...]) -> tuple[str, ...]:
    if not may_make_repository(changes):
        return ()
    return made_repositories(changes, env.plumbing.whole(order.main).paths, order.issue.may_change)


def _names(order: AttemptOrder, env: AttemptEnvironment, changes: tuple[FileChange, ...]) -> tuple[Unfit, ...]:
    on_main = env.plumbing.whole(order.main).paths if adds(changes) else frozenset()
    return unfit_names(changes, on_main, asked_paths(order.issue))


def _raw(order: AttemptOrder, env: AttemptEnvironment, changes: tuple[FileChange, ...]) -> Iterator[Unfit]:
    for one in raw(env.plumbing.repository, order.main, changes):
        if not matches_any(one.path, asked_paths(order.issue)):
            yield Unfit(UnfitRule.FILTERED, shown(one.path), f"kept through {short(one.by, _TARGET_CHARS_MAX)}")


def _links(
    order: AttemptOrder, env: AttemptEnvironment, blobs: ObjectReader, changes: tuple[FileChange, ...]
) -> Iterator[Unfit]:
    """Yield the new links out of the project, or in a circle; one that names the workspace has a rule of its own."""
    asked = asked_paths(order.issue)
    for change in changes:
        if change.new_mode != _LINK or change.old_mode == _LINK or matches_any(change.path, asked):
            continue
        target = _text(blobs, change.new_mode, change.new_oid) or ""
        astray = leads_outside(change.path, target) or leads_in_a_circle(change.path, target)
        if astray and str(env.slots_dir) not in target:
            yield Unfit(UnfitRule.LINK, shown(change.path), f"it leads to {short(target, _TARGET_CHARS_MAX)}")


def _refused(env: AttemptEnvironment, changes: tuple[FileChange, ...]) -> Iterator[Unfit]:
    """Yield the files whose contents a checking server would refuse, unless it refuses main's for the same."""
    read = [(name, change) for change in changes if change.new_mode in _REGULAR and (name := read_by_git(change.path))]
    now = {(name, change.new_oid) for name, change in read}
    before = {(name, change.old_oid) for name, change in read if change.old_mode in _REGULAR}
    errors = refused(env.plumbing.git, now | before)
    for _, change in read:
        for error in errors.get(change.new_oid, ()):
            if error not in errors.get(change.old_oid, ()):
                yield Unfit(UnfitRule.FSCK, shown(change.path), fsck_words(error.check, error.words))


def _manifests(blobs: ObjectReader, changes: tuple[FileChange, ...], commands: tuple[str, ...]) -> list[Manifest]:
    """Read the files that steer gates, as they are on main and as the change leaves them."""
    manifests = []
    for change in changes:
        if may_steer(change.path, commands):
            old = _text(blobs, change.old_mode, change.old_oid)
            new = _text(blobs, change.new_mode, change.new_oid)
            if old is not None and new is not None:
                manifests.append(Manifest(shown(change.path), old, new, gone=change.new_mode == ABSENT))
    return manifests


def _text(blobs: ObjectReader, mode: str, oid: str) -> str | None:
    """Return a file's text, "" for one that is not there, None where it is too large to be a manifest."""
    data = b"" if mode == ABSENT else blobs.read(oid, _MANIFEST_BYTES_MAX)
    return None if data is None else data.decode("utf-8", "replace")


def _mere_text(
    order: AttemptOrder, env: AttemptEnvironment, blobs: ObjectReader, changes: tuple[FileChange, ...], patch: str
) -> frozenset[str]:
    """Return the files whose conflict markers are text, and no conflict.

    A full parser finds them inside a string; or main has such lines there already; or the issue names the file.
    """
    suspects = frozenset(rules.suspects(patch))
    marked = [change.path for change in changes if shown(change.path) in suspects]
    text_only = {path for path in marked if matches_any(path, order.issue.may_change)}
    for change in changes if suspects else ():
        language = syntax.language_of(change.path) if shown(change.path) in suspects else None
        if language in _MARKERS_ONLY_IN_STRINGS:
            data = blobs.read(change.new_oid, syntax.FILE_BYTES_MAX)
            if data is not None and syntax.check(change.path, language, data) is None:
                text_only.add(change.path)
    unclear = [path for path in marked if path not in text_only]
    showing = env.plumbing.with_lines(order.main, MARKERS, places(unclear)[:_PLACES_MAX]) if unclear else ()
    text_only |= {path for path in unclear if kin(path, showing)}
    return frozenset(map(shown, text_only))


def unparsable(plumbing: Plumbing, main: str, commit: str) -> tuple[syntax.Broken, ...]:
    """Return the files of a commit that do not parse, without those that do not parse on main either."""
    with plumbing.blobs() as blobs:
        return _broken(blobs, plumbing.diff(main, commit).changes)


def _broken(blobs: ObjectReader, changes: tuple[FileChange, ...]) -> tuple[syntax.Broken, ...]:
    """Parse the added and modified files; those that do not parse on main either do not count."""
    on_main = {change.old_oid for change in changes}
    files_broken: list[syntax.Broken] = []
    made = generated([change.path for change in changes])
    left = syntax.TOTAL_BYTES_MAX
    files = [change for change in changes if change.new_mode in _REGULAR and change.new_oid not in on_main]
    for change in files[: syntax.FILES_MAX]:
        language = None if change.path in made else syntax.language_of(change.path)
        data = blobs.read(change.new_oid, min(syntax.FILE_BYTES_MAX, left)) if language is not None else None
        if language is None or data is None:
            continue
        left -= len(data)
        broken = syntax.check(shown(change.path), language, data)
        if broken is not None and _parsed_on_main(blobs, change, language):
            files_broken.append(broken)
    return tuple(files_broken)


def _parsed_on_main(blobs: ObjectReader, change: FileChange, language: str) -> bool:
    if change.old_mode == ABSENT:
        return True
    old = blobs.read(change.old_oid, syntax.FILE_BYTES_MAX)
    return old is not None and syntax.check(change.path, language, old) is None
