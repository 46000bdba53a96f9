"""One repair from order to patch: aim, start, localise, search, write."""

from collections.abc import Callable
from pathlib import Path

from noface.demo.aim import open_oracle
from noface.demo.command import parse_pytest
from noface.demo.edits import Edit, Source, apply, describe
from noface.demo.localise import Suspicion, everywhere, ochiai, repairable, with_imported
from noface.demo.mutate import single_edits
from noface.demo.neighbours import neighbour_tests
from noface.demo.oracle import OracleError, PytestOracle, Several
from noface.demo.order import Order
from noface.demo.outcome import Goal, Outcome
from noface.demo.scratch import Scratch
from noface.demo.search import Budget, Found, Search
from noface.demo.start import main_versions

BUDGETS = {
    1: Budget(singles=90, pairs=0, beam=0, seconds=20),
    2: Budget(singles=170, pairs=300, beam=14, seconds=45),
}
FILES_MAX = 10
NEIGHBOURS_CPU_S = 6.0


class Repair:
    """Repairs the checkout in `workspace` as `order` asks; touches it only to write a patch."""

    def __init__(self, order: Order, tier: int, workspace: Path, say: Callable[[str], None]) -> None:
        self.order = order
        self.tier = tier
        self.workspace = workspace
        self.say = say
        self.named_files = {word for command in (*order.accept, *order.test_gates) for word in command.split()}

    def run(self) -> str:
        """Search, write the patch if there is one, and return the summary."""
        with Scratch(self.workspace) as scratch:
            try:
                oracle = open_oracle(self.order, self.workspace, scratch.root)
            except OracleError as problem:
                return f"no change made: {problem}"
            try:
                return self._repair(oracle, scratch)
            except OracleError as problem:
                return f"no change made: {problem}"
            finally:
                oracle.close()

    def _repair(self, oracle: Several, scratch: Scratch) -> str:
        before = oracle.run(trace=True)
        kept = len(before.passed)
        mains = main_versions(self.workspace, self.order.main)
        undone = {path: text for path, text in mains.items() if self._may_edit(path)}
        started = {path: scratch.read(path) for path in undone}
        if undone:
            before, undone = self._choose_start(oracle, scratch, before, undone)
        goal = Goal(before)
        if goal.reached(before):
            self._write(undone)
            said = f"main's version of {', '.join(undone)} put back" if undone else "no change made"
            return f"{said}: the tests named in the order pass already"
        self.say(f"{len(before.failed)} of {len(before.tests)} tests fail; looking for suspicious lines")
        sources, suspicion = self._localise(oracle, scratch, before)
        singles = rank(sources, suspicion, self.tier)
        texts = {path: source.data for path, source in sources.items()}
        refused = frozenset({tuple(sorted(started.items()))} if undone else ())
        budget = BUDGETS[self.tier]
        search = Search(oracle, scratch, goal, texts, budget, self.say, refused)
        self.say(f"{len(singles)} single edits of {len(sources)} files to choose from")
        found = search.run(singles, self.order.blind_retries)
        useful = bool(found.edits) and (not found.partial or found.best.passing > kept)
        if useful:
            self._write({**undone, **apply(texts, found.edits)})
        return self._summary(found, texts, goal, useful)

    def _choose_start(
        self, oracle: Several, scratch: Scratch, here: Outcome, undone: dict[str, bytes]
    ) -> tuple[Outcome, dict[str, bytes]]:
        """Keep an earlier attempt's edit where it brought tests to pass and broke none; else go back to main's."""
        mine = {path: scratch.read(path) for path in undone}
        scratch.write(undone)
        there = oracle.run(trace=True)
        if there.passed - here.passed or len(here.passed) <= len(there.passed):
            self.say("an earlier attempt's edit broke tests or helped none: starting again from main's version")
            return there, undone
        scratch.write(mine)
        self.say("an earlier attempt's edit brought tests to pass: going on from it")
        return here, {}

    def _localise(self, oracle: Several, scratch: Scratch, before: Outcome) -> tuple[dict[str, Source], Suspicion]:
        """Rank lines by the failing tests and by passing ones of the project's suite."""
        lines = dict(before.lines)
        suspects = {path for test in before.failed for path in lines.get(test, {}) if self._may_edit(path)}
        runner = next((one for one in oracle.oracles if isinstance(one, PytestOracle)), None)
        if runner and suspects:
            gates = (parse_pytest(command, self.workspace) for command in self.order.test_gates)
            roots = tuple(test for gate in gates if gate for test in gate.tests)
            own = frozenset(test.partition("::")[0] for test in before.tests)
            others = neighbour_tests(roots, suspects, own, scratch.root)
            if others:
                around = runner.run_tests(tuple(others), NEIGHBOURS_CPU_S, trace=True)
                lines |= {test: around.lines[test] for test in around.passed if test in around.lines}
        spots = {spot: value for spot, value in ochiai(lines, before.failed).items() if self._may_edit(spot[0])}
        ran = any(before.tests[test].outcome != "error" for test in before.failed)
        if not runner or (ran and not spots):
            output = "".join(before.tests[test].message for test in before.failed)
            spots = {**everywhere(self._issue_files(scratch.root), scratch.root, output), **spots}
        suspicion = Suspicion(spots)
        sources = _parsed(scratch, suspicion.paths[:FILES_MAX])
        for source in sources.values():
            suspicion = with_imported(suspicion, source)
        return sources, suspicion

    def _may_edit(self, path: str) -> bool:
        return repairable(path, self.order.paths, self.named_files)

    def _issue_files(self, root: Path) -> list[str]:
        """Return the files that the issue's paths name, for a command whose tests can't be traced."""
        names = (file.relative_to(root).as_posix() for file in sorted(root.rglob("*.py")) if file.is_file())
        return [name for name in names if self.order.paths and self._may_edit(name)]

    def _why_nothing(self, found: Found, goal: Goal) -> str:
        """Why there was no candidate at all."""
        if found.known:
            return f"earlier attempts have tried all {found.known} edits that tier {self.tier} knows here"
        if not goal.wanted:
            return "the tests cannot be imported, which is beyond small edits"
        return "the failing tests run no code that may be edited"

    def _write(self, texts: dict[str, bytes]) -> None:
        for path, text in texts.items():
            (self.workspace / path).write_bytes(text)

    def _summary(self, found: Found, texts: dict[str, bytes], goal: Goal, useful: bool) -> str:
        wanted = len(goal.wanted)
        if not useful:
            tried = f"{found.tried} candidates, best {found.best.passing}/{wanted} tests pass"
            return f"no patch found, no change made: {tried if found.tried else self._why_nothing(found, goal)}"
        edits = "; ".join(describe(edit, texts[edit.path]) for edit in found.edits)
        if found.partial:
            return f"partial patch, {found.best.passing}/{wanted} tests pass after {found.tried} candidates: {edits}"
        return f"patch found after {found.tried} candidates, {wanted}/{wanted} tests pass: {edits}"


def rank(sources: dict[str, Source], suspicion: Suspicion, tier: int) -> list[Edit]:
    """Single edits of suspicious lines, by suspicion times the operator's prior; ties in the order of the text."""
    keyed: list[tuple[float, str, int, Edit]] = []
    for path, source in sources.items():
        wanted = {line for line in range(1, source.line_count + 1) if suspicion.of(source, line)}
        keyed += [
            (-suspicion.of(source, edit.line) * edit.weight, path, edit.start, edit)
            for edit in single_edits(source, tier, wanted.__contains__)
        ]
    return [edit for *_, edit in sorted(keyed, key=lambda one: one[:3])]


def _parsed(scratch: Scratch, paths: list[str]) -> dict[str, Source]:
    sources: dict[str, Source] = {}
    for path in paths:
        try:
            sources[path] = Source(path, scratch.read(path))
        except (SyntaxError, ValueError, OSError):
            continue
    return sources
