"""What a run knows of its gates, in one place for all threads: no tree that has passed a gate is gated again."""

from collections.abc import Iterable, Mapping
from threading import Lock

from noface.integrity.inventory import Inventory
from noface.integrity.unsteady import Known, still_unsteady
from noface.model.failure import Failure
from noface.model.gate import GateResult
from noface.model.listed import UnsteadyTest

_RESULTS_MAX = 4000
_TESTS_MAX = 400
_UNSTEADY_MAX = 500


class GateMemory:
    """Results by memo key, tests by tree and command; when main passed, by memo key, and how it failed, by tree.

    `plain` are the commands whose test runners are not asked for their tests, because they fail when they are.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._green: dict[str, GateResult] = {}
        self._tests: dict[tuple[str, str], Inventory | None] = {}
        self._unsteady: dict[str, dict[str, UnsteadyTest]] = {}
        self.main_passed: dict[str, float] = {}
        self.main_failed: dict[str, Failure] = {}
        self.made: frozenset[str] = frozenset()
        self.plain: frozenset[str] = frozenset()

    def green(self, key: str) -> GateResult | None:
        return self._green.get(key)

    def remember(self, key: str, result: GateResult) -> None:
        """Keep the result of a gate that has passed; the oldest goes, and its tree is gated again if it comes again."""
        with self._lock:
            self._green[key] = result
            if len(self._green) > _RESULTS_MAX:
                del self._green[next(iter(self._green))]

    def asked(self, tree: str, command: str) -> bool:
        return (tree, command) in self._tests

    def tests(self, tree: str, command: str) -> Inventory | None:
        return self._tests.get((tree, command))

    def keep_tests(self, tree: str, command: str, tests: Inventory | None, *, main: str = "") -> None:
        """Keep which tests a gate ran on a tree; what is known of trees of long ago goes, but not of `main`'s."""
        with self._lock:
            self._tests.pop((tree, command), None)
            self._tests[tree, command] = tests
            for key in [key for key in self._tests if key[0] != main][:-_TESTS_MAX]:
                del self._tests[key]

    def unsteady(self, command: str, now: float) -> Known:
        return still_unsteady(self._unsteady.get(command, {}), now)

    def all_unsteady(self) -> Mapping[str, Known]:
        with self._lock:
            return {command: dict(tests) for command, tests in self._unsteady.items()}

    def note_unsteady(self, command: str, tests: Iterable[UnsteadyTest]) -> None:
        with self._lock:
            known = {**self._unsteady.get(command, {}), **{test.test: test for test in tests}}
            self._unsteady[command] = dict([*known.items()][-_UNSTEADY_MAX:])

    def note_main(self, tree: str, failure: Failure | None) -> None:
        with self._lock:
            self.main_failed.pop(tree, None)
            if failure is not None:
                self.main_failed[tree] = failure
