"""Tells whether gates judge the workspace, and whether they lack what sandbox or environment keep from them.

The canary: once for a gate and its surroundings, with broken sources it must turn red. A package installed from the
person's checkout, a link to it, or a copy that setup made once would be tested in place of the change: every change
would be green.

A gate that is red before any work was done is run outside only while main is a person's alone. Once work of an agent
has landed, what a gate runs is agents' code, which could be red in the sandbox on purpose: then noface runs nothing
outside by itself, and names what a person may look at.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from noface.engine.attempt_environment import LANDING_SLOT, Setup
from noface.engine.context import RunContext
from noface.engine.gating import Task, run_gates
from noface.engine.isolation import checkouts, environments, gate_variables, home_of
from noface.engine.prepare import forget_setup, prepare_gate_slot
from noface.git.plumbing import store_text, tree_with
from noface.git.refs import ZERO, RefUpdate
from noface.integrity.judges import broken, sources
from noface.integrity.named_files import run_scripts
from noface.model.gate import GateKind, GateResult, GateSpec, gate_key
from noface.process.environment import gate_environment, package_folders
from noface.process.files import read_regular
from noface.process.supervise import Canceller
from noface.secrets.environment import kept_from_gates

_FACT = "isolated"
_REF = "refs/noface/canary"
_REMEMBERED_MAX = 200
_PLACES_MAX = 5
_INSTALLED = ("*.pth", "__editable__*", "*.egg-link", "*.dist-info/direct_url.json")
_INSTALLED_BYTES_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class Leak:
    """A gate that tests something else than the workspace; `places` say where that may come from."""

    gate: GateSpec
    places: tuple[str, ...]


def leaks(context: RunContext, green: tuple[GateSpec, ...], cancel: Canceller) -> tuple[Leak, ...]:
    """Return which of the gates, `green` on main, stay green with main's sources broken.

    Asked are hard test gates, and only once: what is found isolated is remembered for the gate's definition, setup and
    programs. Raises KeyboardInterrupt where it was cut short.
    """
    env = context.env
    proven = tuple(json.loads(context.reader.fact(_FACT) or "[]"))
    asked = (gate for gate in green if gate.kind is GateKind.TEST and gate.hard and not gate.leaky)
    wanted = {gate: _key(gate, env.fingerprint(gate)) for gate in asked}
    left = [gate for gate, key in wanted.items() if gate.canary and key not in proven]
    tree = _canary(context) if left else ""
    if not tree:
        return ()
    context.announce("canary", None, {"gates": [gate.name for gate in left]})
    red = _red(context, tree, tuple(left), cancel)
    found = [wanted[gate] for gate in left if gate in red]
    context.journal.fact(_FACT, json.dumps([*proven, *found][-_REMEMBERED_MAX:]))
    leaking = [gate for gate in left if gate not in red]
    places = places_of(context) if leaking else ()
    return tuple(Leak(gate, places) for gate in leaking)


def isolated(proven: str | None, gate: GateSpec, fingerprint: str) -> bool:
    """Tell whether `proven`, the fact as it is stored, holds that a gate tests the workspace."""
    return _key(gate, fingerprint) in json.loads(proven or "[]")


def _key(gate: GateSpec, fingerprint: str) -> str:
    return gate_key("canary", gate, fingerprint)[:20]


def _canary(context: RunContext) -> str:
    """Return main's tree with the product's sources broken, "" where it has none that are known as such."""
    env = context.env
    plumbing = env.plumbing
    main = plumbing.main()
    commands = tuple(gate.command for gate in context.settings.gates)
    kept = (*context.settings.protected, *env.setup.inputs, *run_scripts((*commands, env.setup.command)))
    found = sources(plumbing.paths(main), kept)
    there = plumbing.entries(main, found)
    texts = {text: store_text(plumbing, text) for text in {broken(path) for path in there}}
    entries = {path: (mode, texts[broken(path)]) for path, (mode, _) in there.items() if mode.startswith("100")}
    return tree_with(plumbing, main, entries) if entries else ""


def _red(context: RunContext, tree: str, gates: tuple[GateSpec, ...], cancel: Canceller) -> set[GateSpec]:
    """Return which gates are red on the tree, or never run since a build before them is."""
    plumbing = context.env.plumbing
    main = plumbing.main()
    plumbing.refs.apply(RefUpdate(_REF, tree))
    try:
        builds = tuple(gate for gate in context.settings.gates if gate.kind is GateKind.BUILD)
        logs = Path(context.settings.attempts_dir).parent / "baseline" / "canary"
        task = Task("", 0, "baseline", LANDING_SLOT, tree, main, main, logs)
        gated = run_gates(context.env, task, (*builds, *gates), cancel, lambda _: None, None, anew=True)
    finally:
        plumbing.refs.apply(RefUpdate(_REF, ZERO))
    if gated is None:
        raise KeyboardInterrupt
    green = {result.gate for result in gated.results if result.failure is None}
    return set(gates) - green


def places_of(context: RunContext) -> tuple[str, ...]:
    """Return where a gate may have what it tests from, each as a phrase: what is known to lead to a checkout."""
    env = context.env
    variables = dict(gate_environment(env.passed))
    roots = checkouts(env.plumbing.repository, home_of(variables))
    found = [
        f"the variable {name} ({value})" for name, value in variables.items() if name != "PATH" and _names(value, roots)
    ]
    slot = env.gate_folder(LANDING_SLOT)
    prefixes = [*environments(variables, ("/",)), *(str(slot / path) for path in env.setup.keep)]
    found += [place for prefix in dict.fromkeys(prefixes) for place in _installed(Path(prefix), roots, slot)]
    found += [place for path in env.setup.keep for place in _links(slot / path, roots)]
    found += [
        f"{path}, which names {roots[0]}"
        for path in env.plumbing.naming(env.plumbing.main(), roots)
        if roots and path not in ("noface.toml", ".noface.toml")
    ]
    return tuple(dict.fromkeys(found))[:_PLACES_MAX]


def _names(text: str, roots: tuple[str, ...]) -> bool:
    return any(root in text for root in roots)


def _installed(prefix: Path, roots: tuple[str, ...], slot: Path) -> Iterator[str]:
    """Yield what a Python environment has of a checkout, or a copy of what the workspace holds."""
    for folder in package_folders(prefix):
        for path in sorted(path for pattern in _INSTALLED for path in folder.glob(pattern)):
            text = (read_regular(path, _INSTALLED_BYTES_MAX) or b"").decode("utf-8", "replace")
            if _names(text, roots):
                yield f"{path}, which leads to {next(root for root in roots if root in text)}"
        for package in [*slot.glob("*/__init__.py"), *slot.glob("src/*/__init__.py")]:
            copy = folder / package.parent.name
            if copy.is_dir() and package.parent.name not in ("tests", "test"):
                yield f"{copy}, a copy that was installed (use `pip install -e`)"


def _links(folder: Path, roots: tuple[str, ...]) -> Iterator[str]:
    """Yield the links in a kept folder such as node_modules that lead to a checkout."""
    for link in (*folder.glob("*"), *folder.glob("@*/*")):
        if link.is_symlink() and _names(os.path.realpath(link), roots):
            yield f"{link}, which leads to {os.path.realpath(link)}"


_NAMES_SHOWN_MAX = 12


@dataclass(frozen=True, slots=True)
class Lack:
    """What a gate needs to be green on main: variables that it is not given, or to run outside the sandbox, or both.

    `tried` tells that it was green with them; else they are all that it may lack, and nothing was run.
    """

    variables: tuple[str, ...] = ()
    sandbox: bool = False
    tried: bool = True

    def remedy(self, *, setup: bool = False) -> str:
        """Say which keys give it what it lacks; those of setup stand in [project]."""
        prefix, table = ("setup_", "[project]") if setup else ("", "its [[gates]] entry")
        named = ", ".join(f'"{name}"' for name in self.variables[:_NAMES_SHOWN_MAX])
        environment = f"add {prefix}env_pass = [{named}] to {table}" if named else ""
        outside = f'set show = ["…"] or write = ["…"] in [sandbox], or {prefix}sandbox = "none" in {table}'
        joined = ", and " if self.tried else ", or "
        return joined.join(part for part in (environment, outside if self.sandbox else "") if part)


def lacks(context: RunContext, red: list[GateResult], cancel: Canceller) -> dict[str, Lack]:
    """Return what each of these gates, red on main, lacks; nothing for those that are red outside as well.

    Where agents' code has landed, nothing is run: it is what each may lack.
    """
    gates = context.settings.gates
    boxed = bool(context.env.sandbox.bubblewrap or context.env.sandbox.wrap)
    kept = {gate.name: kept_from_gates(os.environ, gate.env_pass) for gate in gates}
    suspects = {r.gate.name for r in red if (boxed and r.gate.boxed) or kept[r.gate.name]}
    if not suspects:
        return {}
    if _holds_agents_code(context):
        supposed = {
            r.gate.name: Lack(_told(context, r.gate.command, kept[r.gate.name]), boxed and r.gate.boxed, tried=False)
            for r in red
        }
        return {name: lack for name, lack in supposed.items() if lack.variables or lack.sandbox}
    green = _green(context, tuple(_outside(gate) for gate in gates), "outside", cancel) & suspects
    if not green:
        return {}
    given = _green(context, tuple(_with_all(gate) for gate in gates), "all-variables", cancel)
    alone = (
        _green(context, tuple(replace(gate, boxed=False) for gate in gates), "no-sandbox", cancel) if boxed else set()
    )
    found = {}
    for gate in gates:
        if gate.name in green:
            sandbox = gate.name not in given
            enough = sandbox and gate.name in alone
            variables = () if enough else _telling(context, gate.command, kept[gate.name])
            if variables or sandbox:  # else it is green in the same surroundings as well, now and then
                found[gate.name] = Lack(variables, sandbox)
    return found


def reach_out(context: RunContext, red: list[GateResult], cancel: Canceller) -> set[str]:
    """Return the names of the gates, red on main, that are green once they can reach the person's checkout.

    That opens nothing else: in a sandbox they can read it, and in the environment is what leads there.
    """
    env, gates = context.env, context.settings.gates
    names = {result.gate.name for result in red if not result.gate.leaky}
    if not names or not checkouts(env.plumbing.repository, home_of(dict(os.environ))):
        return set()
    hidden = any(gate.boxed for gate in gates) and bool(env.sandbox.bubblewrap)
    led = any(
        gate_variables(env, gate.env_pass, "") != gate_variables(env, gate.env_pass, "", leaky=True) for gate in gates
    )
    if not (hidden or led):
        return set()
    return names & _green(context, tuple(replace(gate, leaky=True) for gate in gates), "checkout", cancel)


def setup_lacks(context: RunContext, cancel: Canceller) -> Lack | None:
    """Return what `[project] setup`, which fails on main, lacks; None where it fails outside as well.

    Where agents' code has landed, nothing is run: it is what setup may lack.
    """
    env = context.env
    kept = kept_from_gates(os.environ, env.setup.env_pass)
    boxed = env.setup.boxed and bool(env.sandbox.bubblewrap or env.sandbox.wrap)
    every = ("*",)
    if _holds_agents_code(context):
        supposed = Lack(_told(context, env.setup.command, kept), boxed, tried=False)
        return supposed if supposed.variables or supposed.sandbox else None
    if not (boxed or kept) or not _sets_up(context, cancel, replace(env.setup, boxed=False, env_pass=every)):
        return None
    alone = boxed and _sets_up(context, cancel, replace(env.setup, boxed=False))
    inside = not boxed or _sets_up(context, cancel, replace(env.setup, env_pass=every))
    variables = () if alone and not inside else _telling(context, env.setup.command, kept)
    return Lack(variables, sandbox=not inside) if variables or not inside else None


def _holds_agents_code(context: RunContext) -> bool:
    """Tell whether anything of an agent's is on main, by main's history or by the records.

    A commit of main that lost its trailer (squashed by hand) may still be one that noface has landed.
    """
    return context.env.plumbing.has_landings() or bool(context.reader.landed_commits())


def _sets_up(context: RunContext, cancel: Canceller, setup: Setup) -> bool:
    """Tell whether setup works on main like this. Nothing of it stays: gates get what setup makes in its box."""
    env = replace(context.env, setup=setup)
    slot, main = env.gate_slot(LANDING_SLOT), env.plumbing.main()
    forget_setup(slot)
    try:
        return prepare_gate_slot(env, slot, main, main, "baseline", cancel) is None
    finally:
        forget_setup(slot)


def _outside(gate: GateSpec) -> GateSpec:
    return replace(_with_all(gate), boxed=False)


def _with_all(gate: GateSpec) -> GateSpec:
    return replace(gate, env_pass=("*",))


def _green(context: RunContext, gates: tuple[GateSpec, ...], folder: str, cancel: Canceller) -> set[str]:
    plumbing = context.env.plumbing
    main = plumbing.main()
    logs = Path(context.settings.attempts_dir).parent / "baseline" / folder
    task = Task("", 0, "baseline", LANDING_SLOT, plumbing.tree(main), main, main, logs)
    gated = run_gates(context.env, task, gates, cancel, lambda _: None, None)
    return {result.gate.name for result in gated.results if result.failure is None} if gated is not None else set()


def _telling(context: RunContext, command: str, kept: tuple[str, ...]) -> tuple[str, ...]:
    """Return the variables that the command or main's files speak of; all of them where none does."""
    return _told(context, command, kept) or kept


def _told(context: RunContext, command: str, kept: tuple[str, ...]) -> tuple[str, ...]:
    """Return the variables that the command or main's files speak of."""
    if not kept:
        return ()
    plumbing = context.env.plumbing
    asked = [part for name in kept for part in ("-e", name)]
    told = set(plumbing.git.run("grep", "-hoIwF", *asked, plumbing.main(), "--").text.splitlines())
    return tuple(name for name in kept if name in command or name in told)
