"""Carries the worker's deeds out in its checkout: what the mind decided, and what goes wrong beside it."""

from pathlib import Path

from noface.selftest.mind import Deed, answer, draft_of
from noface.selftest.scenario import Scenario, Wrong, product_of, shared_file
from noface.selftest.world import World

_MANY_LINES = 2_600
_QUIET = frozenset({Wrong.NOTHING, Wrong.PROTECTED, Wrong.CRASHES, Wrong.KILLED, Wrong.MALFORMED, Wrong.TURNS,
                    Wrong.CONTEXT, Wrong.STALLS, Wrong.CHATTERS})  # fmt: skip
"""Those that leave no answer behind."""


def work(deed: Deed, scenario: Scenario, issue: str, root: Path, world: World) -> None:
    """Change the files in `root` as the deed says."""
    step = deed.missing
    if scenario.colleague:
        _write(
            root / shared_file(scenario.id), "".join(f"{line}\n" for line in (*deed.known, f"line of {issue}", "end"))
        )
    if step is not None and step.drafts:
        word = world.draft(scenario.id)
        _write(root / draft_of(issue), f"half of it\n{word}\n")
    if step is None or step.wrong not in _QUIET:
        _write(root / product_of(issue), answer(deed))
    if step is not None:
        _damage(step.wrong, scenario, issue, root, world)


def _damage(wrong: Wrong, scenario: Scenario, issue: str, root: Path, world: World) -> None:
    match wrong:
        case Wrong.BROKEN_PYTHON | Wrong.BROKEN_JSON:
            word = world.draft(scenario.id)
            python = wrong is Wrong.BROKEN_PYTHON
            text = (
                f'LABEL = ("{word}"\n\n\ndef label():\n    return LABEL\n' if python else f'{{"label": "{word}",,}}\n'
            )
            _write(root / f"work/{issue.replace('-', '_')}{'.py' if python else '.json'}", text)
        case Wrong.BREAKS:
            _write(root / f"work/{issue}.broken", "another shelf fell down\n")
        case Wrong.PROTECTED:
            _write(root / "conftest.py", "collect_ignore = ['tests']\n")
        case Wrong.TOO_MUCH:
            _write(
                root / f"work/{issue}.log", "".join(f"line {number} of far too many\n" for number in range(_MANY_LINES))
            )
        case Wrong.OUTSIDE:
            _write(root / f"notes/{issue}.txt", "a note that nobody asked for\n")
        case Wrong.WEAKENS | Wrong.SKIPS:
            _weaken(root / f"tests/test_{scenario.id.replace('-', '_')}.py", skips=wrong is Wrong.SKIPS)
        case _:
            pass


def _weaken(test: Path, *, skips: bool) -> None:
    text = test.read_text()
    if skips:
        text = text.replace("def test_label", '@pytest.mark.skip(reason="in the way")\ndef test_label', 1)
    else:
        text = "".join(line for line in text.splitlines(keepends=True) if "assert label()" not in line)
    test.write_text(text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
