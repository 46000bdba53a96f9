"""Proves, once for a gate and its surroundings, that it tests the workspace: with broken sources it must turn red.

A package installed from the person's checkout, a link to it, or a copy that setup made once would be tested in place of
the change: every change would be green.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from noface.core.canary import broken, sources
from noface.core.gate import GateKind, GateSpec
from noface.core.named_files import run_scripts
from noface.core.proof import gate_key
from noface.git.plumbing import store_text, tree_with
from noface.git.refs import ZERO, RefUpdate
from noface.loop.bench import Task
from noface.loop.checkouts import checkouts, environments, home_of
from noface.loop.context import RunContext
from noface.loop.gating import run_gates
from noface.loop.workshop import LANDING_SLOT
from noface.system.environment import gate_environment
from noface.system.files import read_regular
from noface.system.programs import package_folders
from noface.system.supervise import Canceller

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
    shop = context.shop
    proven = tuple(json.loads(context.reader.fact(_FACT) or "[]"))
    asked = (gate for gate in green if gate.kind is GateKind.TEST and gate.hard and not gate.leaky)
    wanted = {gate: _key(gate, shop.fingerprint(gate)) for gate in asked}
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
    shop = context.shop
    plumbing = shop.plumbing
    main = plumbing.main()
    commands = tuple(gate.command for gate in context.settings.gates)
    kept = (*context.settings.protected, *shop.setup.inputs, *run_scripts((*commands, shop.setup.command)))
    found = sources(plumbing.paths(main), kept)
    there = plumbing.entries(main, found)
    texts = {text: store_text(plumbing, text) for text in {broken(path) for path in there}}
    entries = {path: (mode, texts[broken(path)]) for path, (mode, _) in there.items() if mode.startswith("100")}
    return tree_with(plumbing, main, entries) if entries else ""


def _red(context: RunContext, tree: str, gates: tuple[GateSpec, ...], cancel: Canceller) -> set[GateSpec]:
    """Return which gates are red on the tree, or never run since a build before them is."""
    plumbing = context.shop.plumbing
    main = plumbing.main()
    plumbing.refs.apply(RefUpdate(_REF, tree))
    try:
        builds = tuple(gate for gate in context.settings.gates if gate.kind is GateKind.BUILD)
        logs = Path(context.settings.attempts_dir).parent / "baseline" / "canary"
        task = Task("", 0, "baseline", LANDING_SLOT, tree, main, main, logs)
        gated = run_gates(context.shop, task, (*builds, *gates), cancel, lambda _: None, None, anew=True)
    finally:
        plumbing.refs.apply(RefUpdate(_REF, ZERO))
    if gated is None:
        raise KeyboardInterrupt
    green = {result.gate for result in gated.results if result.failure is None}
    return set(gates) - green


def places_of(context: RunContext) -> tuple[str, ...]:
    """Return where a gate may have what it tests from, each as a phrase: what is known to lead to a checkout."""
    shop = context.shop
    env = dict(gate_environment(shop.passed))
    roots = checkouts(shop.plumbing.repository, home_of(env))
    found = [f"the variable {name} ({value})" for name, value in env.items() if name != "PATH" and _names(value, roots)]
    slot = shop.gate_folder(LANDING_SLOT)
    prefixes = [*environments(env, ("/",)), *(str(slot / path) for path in shop.setup.keep)]
    found += [place for prefix in dict.fromkeys(prefixes) for place in _installed(Path(prefix), roots, slot)]
    found += [place for path in shop.setup.keep for place in _links(slot / path, roots)]
    found += [
        f"{path}, which names {roots[0]}"
        for path in shop.plumbing.naming(shop.plumbing.main(), roots)
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
