"""Follows what a change adds through the run of the test gates that proves it, and judges by what no test has run.

Nothing runs for it. What is added and not run is told; it is a question only if a condition that tests have met asks
for its surroundings alone, main's own conditions ask for nothing of that kind, the issue says nothing of it, and the
tests have seen one side of it.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from noface.attempt.excused import added_lines
from noface.attempt.trial import Trial
from noface.git.objects import ObjectReader
from noface.integrity.asked_for import words_of
from noface.integrity.build_output import generated
from noface.integrity.covered import Covered, FollowedFile, Follows, asks_surroundings, joined, one_sided, unentered
from noface.integrity.judges import Part, lifted, part_of
from noface.integrity.lexing import TEXT_CHARS_MAX
from noface.integrity.surroundings import Condition, conditions, read_modules
from noface.integrity.surroundings_lexed import LEXED, lexed_conditions
from noface.integrity.tampering import is_test_file
from noface.model.attempt import REGULAR, FileChange
from noface.model.failure import Failure
from noface.model.gate import GateKind

_ENDINGS = (".py", *LEXED)
_FILES_MAX = 100
_CUSTOM_FILES_MAX = 200
_WORD = re.compile(r"[A-Za-z_]\w{3,}")


def follows(trial: Trial) -> Follows:
    """Return which lines and conditions of a trial's change are followed."""
    plumbing, tree = trial.plumbing, trial.task.tree
    changes = [each for each in plumbing.changes(trial.task.main, tree) if _is_followed(each)]
    made = generated([each.path for each in changes])
    changes = [each for each in changes if each.path not in made]
    if not changes or len(changes) > _FILES_MAX:
        return Follows()
    paths = plumbing.whole(tree).paths
    modules = frozenset(part for path in paths if path.endswith(".py") for part in path[:-3].split("/")[:2])
    with plumbing.blobs() as blobs:
        pairs = {each.path: _texts(blobs, each) for each in changes}
    texts = {path: new for path, (_, new) in pairs.items()}
    change, files = read_modules(texts), []
    for path, (old, new) in pairs.items():
        lines = added_lines(old, new)
        is_lexed, read = path.endswith(LEXED), (path, new)
        asking = lexed_conditions(*read, texts, lines) if is_lexed else conditions(*read, modules, change, lines)
        files.append(FollowedFile(path, new, lines, asking))
    asked = _unknown(trial, (c for file in files for c in file.conditions), modules)
    files = [replace(file, conditions=tuple(c for c in file.conditions if c in asked)) for file in files]
    # Go's coverage costs its cache of results: it is asked for what may be a question only.
    asks_go = any(file.conditions for file in files if file.path.endswith(".go"))
    return Follows(tree, tuple(files), _go_module(trial) if asks_go else "")


def _go_module(trial: Trial) -> str:
    """Return the name of the tree's Go module; "" if tests call `go` themselves, which the flags would reach."""
    if trial.plumbing.files_with(trial.task.main, ('"go", "',)):
        return ""
    text = trial.plumbing.texts(trial.task.tree, ("go.mod",), TEXT_CHARS_MAX).get("go.mod", "")
    match = re.search(r"^module[ \t]+(\S+)", text, re.MULTILINE)
    return match[1].strip('"') if match is not None else ""


def _is_followed(change: FileChange) -> bool:
    product = part_of(change.path) in (Part.PRODUCT, Part.SOFT) and not is_test_file(change.path)
    return product and change.new_mode in REGULAR and change.path.endswith(_ENDINGS)


def _texts(blobs: ObjectReader, change: FileChange) -> tuple[str, str]:
    old = blobs.text(change.old_oid, TEXT_CHARS_MAX) if change.old_mode in REGULAR else ""
    return old, blobs.text(change.new_oid, TEXT_CHARS_MAX)


def _unknown(trial: Trial, asking: Iterable[Condition], modules: frozenset[str]) -> frozenset[Condition]:
    """Leave out the conditions that the issue speaks of, and those that ask for what main's own conditions ask for."""
    named = {word.lower() for word in _WORD.findall("\n".join(words_of(trial.issue)))}
    left = [each for each in asking if not named & {word.lower() for word in _WORD.findall(each.text)}]
    if not left:
        return frozenset()
    words = tuple({name.rpartition(".")[2] for each in left for name in each.asks if " " not in name})
    paths = trial.plumbing.files_with(trial.task.main, words)[:_CUSTOM_FILES_MAX] if words else ()
    product = tuple(path for path in paths if path.endswith(_ENDINGS) and not is_test_file(path))
    custom = set[str]()
    for path, text in trial.plumbing.texts(trial.task.main, product, TEXT_CHARS_MAX).items():
        known = lexed_conditions(path, text) if path.endswith(LEXED) else conditions(path, text, modules)
        custom.update(name for each in known for name in each.asks)
    return frozenset(each for each in left if each.asks - custom)


def unrun(trial: Trial) -> str:
    """Return which added lines none of the gates' tests runs, as a note; "" if none of them is known to be."""
    return unentered(trial.task.follow.files, _covered(trial))


def knows_where_it_runs(trial: Trial) -> Failure | None:
    """Return the failure of a change that asks for its surroundings, of which the tests have seen one side only."""
    conditions = one_sided(trial.task.follow.files, _covered(trial))
    conditions = tuple(each for each in conditions if not lifted(each.path, trial.issue))
    gate = next((each.name for each in trial.gates if each.kind is GateKind.TEST), "")
    return asks_surroundings(conditions, gate) if conditions else None


def _covered(trial: Trial) -> dict[str, Covered]:
    known = (trial.facts.covered.get((trial.task.follow.tree, gate.command)) for gate in trial.gates)
    runs = [each for each in known if each is not None]
    paths = {path for run in runs for path in run}
    return {path: joined(run[path] for run in runs if path in run) for path in paths}
