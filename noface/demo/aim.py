"""Turn an order into the oracle: the accept commands, and what earlier attempts broke."""

from dataclasses import replace
from pathlib import Path

from noface.demo.command import PytestCommand, find_node, parse_pytest
from noface.demo.oracle import Oracle, OracleError, PytestOracle, Several
from noface.demo.order import Order
from noface.demo.shell_oracle import ShellOracle

_PATCHLESS = {"NO_DIFF", "AGENT_CRASH", "TIMEOUT", "RATE_LIMITED", "OVERLOADED", "NETWORK", "NO_PROGRESS"}


def aims(order: Order, root: Path) -> list[PytestCommand | str]:
    """Return the commands that a patch must pass, pytest runs of the same kind joined into one.

    A test that an earlier attempt broke joins by its name. Where an attempt left a patch that failed and nothing
    names a test, the gates join whole: slow, but else the same patch would be found again.
    """
    accept = [parse_pytest(command, root) or command for command in order.accept]
    gates = [parse_pytest(command, root) or command for command in order.test_gates]
    named = [node for one in order.earlier for test in one.failing_tests if (node := find_node(test, root))]
    template = next((one for one in [*gates, *accept] if isinstance(one, PytestCommand)), None)
    last = order.earlier[-1] if order.earlier else None
    wanted: list[PytestCommand | str] = list(accept)
    if named and template:
        wanted.append(template.with_tests(tuple(dict.fromkeys(named))))
    elif last and last.kind not in _PATCHLESS:
        wanted += gates
    return _joined(wanted)


def _joined(commands: list[PytestCommand | str]) -> list[PytestCommand | str]:
    """Join pytest runs that differ in their tests alone; a run that names none stays as it is."""
    joined: dict[PytestCommand | str, tuple[str, ...]] = {}
    for command in commands:
        if isinstance(command, PytestCommand) and command.tests:
            key = command.with_tests(())
            joined[key] = tuple(dict.fromkeys((*joined.get(key, ()), *command.tests)))
        else:
            joined.setdefault(command, ())
    return [replace(key, tests=tests) if isinstance(key, PytestCommand) else key for key, tests in joined.items()]


def open_oracle(order: Order, workspace: Path, scratch: Path) -> Several:
    """Start what runs the tests in `scratch`. Raises OracleError where the order names nothing to run."""
    wanted = aims(order, workspace)
    if not wanted:
        raise OracleError("the issue has no accept command, so there is no test to repair against")
    return Several([_open(one, order, scratch) for one in wanted])


def _open(wanted: PytestCommand | str, order: Order, scratch: Path) -> Oracle:
    """Return a fork server that can run the tests, by node ids or by whole files; else what runs the plain command."""
    if isinstance(wanted, str):
        return ShellOracle(wanted, scratch)
    files = tuple(dict.fromkeys(test.partition("::")[0] for test in wanted.tests))
    for tests in dict.fromkeys((wanted.tests, files)):
        try:
            oracle = PytestOracle(wanted.with_tests(tests), scratch)
        except OracleError:
            break
        if oracle.run().tests:
            return oracle
        oracle.close()
    plain = (command for command in order.accept if parse_pytest(command, scratch))
    return ShellOracle(next(plain, order.accept[0]), scratch)
