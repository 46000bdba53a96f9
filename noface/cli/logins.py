"""Where each agent's key or login would be: names of variables and of files, never what is in them.

`noface doctor` looks there. What it does not see may still be there (a keyring, a provider of one's own): then the
sight is not `certain`, and only a probe tells.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from noface.data import table


@dataclass(frozen=True, slots=True)
class Login:
    """What was seen of an agent's login. `certain` False: it may be where nobody can look.

    `needed` False: there is none to have. `fix` is what to do where nothing was seen.
    """

    seen: tuple[str, ...] = ()
    certain: bool = True
    needed: bool = True
    fix: str = ""


def login_of(agent: str, model: str, env: Mapping[str, str], home: Path, *, keychain: bool = False) -> Login:
    """Return what is seen of the login that a model needs. `env` is the environment its agent would get.

    `keychain`: the system keeps logins in a place of its own, as macOS does.
    """
    known = table("agents").get(agent, {}).get("login")
    if known is None:
        return Login(needed=False)
    folder = Path(env.get(known.get("folder_variable", "")) or home / known.get("folder", ""))
    files = tuple(folder / file for file in known["files"])
    if known.get("by_provider"):
        return _by_provider(model, env, home, files, known.get("command", ""))
    ignored = known.get("ignores", "")
    fix = known["fix"] + (f" ({agent} does not look at {ignored})" if env.get(ignored) else "")
    elsewhere = "uncertain_with" in known and (folder / known["uncertain_with"]).is_file()
    certain = not elsewhere and not (keychain and known.get("keychain"))
    return Login(_seen(env, known["keys"], home, files), certain, fix=fix)


def _by_provider(model: str, env: Mapping[str, str], home: Path, files: tuple[Path, ...], command: str) -> Login:
    """Look for the key of the provider that a model's name begins with, or that its family belongs to."""
    providers = table("providers")
    provider, slash, _ = model.partition("/")
    if not slash:
        families = providers["key_families"]
        provider = next((families[family] for family in families if model.startswith(family)), "")
    if provider in providers["local"]["before_the_slash"]:
        return Login(needed=False)
    names = providers["keys"].get(provider, ())
    ways = ([f"run `{command}`"] if command else []) + ([f"set {names[0]}"] if names else [])
    fix = ", or ".join(ways) or f"set the key of the provider of {model or 'its model'}"
    return Login(_seen(env, names, home, files), certain=bool(names), fix=fix)


def _seen(env: Mapping[str, str], names: Iterable[str], home: Path, files: tuple[Path, ...]) -> tuple[str, ...]:
    found = [name for name in names if env.get(name)]
    return (*found, *(_short(file, home) for file in files if file.is_file()))


def _short(file: Path, home: Path) -> str:
    return f"~/{file.relative_to(home)}" if file.is_relative_to(home) else str(file)
