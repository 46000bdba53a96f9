"""Which of noface's environment variables go to agents, and which to gates.

Agents run unwatched and talk to the network, so they get what is named here and nothing else:

1. what every program needs: PATH, home and user, language, time zone, temporary and XDG folders;
2. how to reach the network: proxies, certificates;
3. where compilers and package managers are and keep things, but none of their passwords;
4. the variables of their own program (its adapter's `environment`), but no keys of providers other than that of
   their model, where its name tells which that is;
5. what `[models.X] env_pass` names.

So no agent sees another provider's key, and none sees SSH_AUTH_SOCK: it has no business with remotes. What would
mislead whoever inherits it goes to nobody: git's own variables (a hook's GIT_DIR points into the person's
repository), noface's, pytest's, a surrounding make's or agent's session. A person who wants one of these set after
all gives it a value in `[models.X] env`.

Gates (and `[project] setup`) run code that an agent wrote, so they get by the same rules the first three and what
`[[gates]] env_pass` names: no GITHUB_TOKEN, no AWS keys, no SSH_AUTH_SOCK, no DATABASE_URL unless a person says so.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from noface.core.model_providers import is_anothers, providers_of
from noface.core.secret_names import is_secret_name
from noface.core.worker_run import ModelSpec

FORCED: Mapping[str, str] = {
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""What every program gets: messages untranslated, git that never asks, no bytecode in the workspace."""

NEVER_PASSED = ("GIT_*", "NOFACE_*", "PYTEST_*", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
"""Not even by `env_pass`."""

_SESSIONS = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "BASH_ENV")
"""What an agent around noface, or a shell's startup file, would hand down; an adapter's own patterns may fit it."""
_MISLEADS_ALL = ("LANGUAGE", "LC_MESSAGES", "VIRTUAL_ENV_PROMPT", "COLUMNS", "LINES")

_BASICS = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "HOSTNAME", "LANG", "LC_*", "TZ", "TERM", "COLORTERM", "NO_COLOR",
    "TMPDIR", "TMP", "TEMP", "XDG_*", "CI",
)  # fmt: skip
_NETWORK = (
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY",
    "http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy",
    "SSL_CERT_*", "NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "NODE_USE_ENV_PROXY", "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE", "NIX_SSL_CERT_FILE",
)  # fmt: skip
_TOOLCHAINS = (
    # the machine: libraries, compilers
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH", "PKG_CONFIG*", "CC", "CXX", "AR", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CMAKE_*",
    "CCACHE_*", "MANPATH", "SDKROOT", "DEVELOPER_DIR", "MACOSX_DEPLOYMENT_TARGET", "CUDA_HOME", "CUDA_PATH",
    # managers of many languages
    "NIX_*", "LOCALE_ARCHIVE", "HOMEBREW_*", "ASDF_*", "MISE_*", "SDKMAN_*",
    # Python
    "VIRTUAL_ENV", "PYTHONPATH", "PYENV_*", "CONDA_*", "MAMBA_*", "PIP_*", "UV_*", "POETRY_*", "PDM_*", "PIPX_*",
    # JavaScript
    "NODE_PATH", "NODE_ENV", "NVM_*", "FNM_*", "VOLTA_*", "N_PREFIX", "COREPACK_*", "NPM_CONFIG_*", "npm_config_*",
    "PNPM_HOME", "YARN_*", "BUN_INSTALL*", "DENO_*", "PLAYWRIGHT_BROWSERS_PATH",
    # Rust, Go
    "CARGO_*", "RUSTUP_*", "RUSTFLAGS", "RUSTC_WRAPPER", "RUST_BACKTRACE",
    "GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOENV", "GOFLAGS", "GOPROXY", "GOPRIVATE", "GONOPROXY",
    "GOSUMDB", "GONOSUMDB", "GOTOOLCHAIN", "GO111MODULE", "CGO_*",
    # Java and its kin
    "JAVA_HOME", "JDK_HOME", "JAVA_OPTS", "GRADLE_*", "MAVEN_*", "M2_HOME", "ANT_HOME", "KOTLIN_HOME", "SCALA_HOME",
    "SBT_*", "ANDROID_HOME", "ANDROID_SDK_ROOT", "ANDROID_NDK_*",
    # others
    "GEM_HOME", "GEM_PATH", "BUNDLE_PATH", "BUNDLE_GEMFILE", "BUNDLE_WITHOUT", "RBENV_*", "RUBY_VERSION",
    "COMPOSER_HOME", "COMPOSER_CACHE_DIR", "PHPENV_*", "DOTNET_*", "NUGET_PACKAGES", "GHCUP_*", "STACK_ROOT",
    "CABAL_DIR", "OPAM*", "OCAML*", "MIX_*", "HEX_HOME", "ERL_*", "ELIXIR_*", "JULIA_*", "R_LIBS*", "PERL5LIB",
    "PERL_*", "FLUTTER_*", "PUB_CACHE", "ZIG_*", "SWIFT_*",
)  # fmt: skip


def for_agents(given: Mapping[str, str], own: Iterable[str], model: ModelSpec) -> dict[str, str]:
    """Return what an agent gets of noface's environment `given`, before `[models.X] env` is added.

    `own` are its adapter's patterns: names in which `*` stands for anything, as in `env_pass`. What only a
    toolchain's pattern names is left out where it is named like a secret.
    """
    own = tuple(own)
    providers = providers_of(model.agent, model.model, {**given, **dict(model.env)})
    passed = {name for name in given if fits(name, model.env_pass) and not fits(name, NEVER_PASSED)}
    inherited = {
        name for name in given if _for_agent(name, own) and not (is_secret_name(name) and is_anothers(name, providers))
    }
    return {name: value for name, value in given.items() if name in passed or name in inherited} | dict(FORCED)


def for_gates(given: Mapping[str, str], env_pass: tuple[str, ...] = ()) -> dict[str, str]:
    """Return what a gate or setup gets of noface's environment `given`; `env_pass` are patterns of further names."""
    passed = {name: value for name, value in given.items() if _for_gate(name, env_pass)}
    return passed | dict(FORCED)


def kept_from_gates(given: Mapping[str, str], env_pass: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the names in `given` that a gate does not get, but would if `env_pass` named them."""
    names = (name for name in given if not _for_gate(name, env_pass) and name not in FORCED)
    return tuple(sorted(name for name in names if not fits(name, (*NEVER_PASSED, *_SESSIONS, *_MISLEADS_ALL))))


def without_places(
    given: Mapping[str, str], folders: tuple[str, ...], kept: tuple[str, ...], env_pass: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return variables without what leads into `folders`, but not into `kept` below them.

    Of a list of paths the other parts stay, any other value goes as a whole. What `env_pass` names a person wants as
    it is.
    """
    found = {}
    for name, value in given.items():
        if not any(folder in value for folder in folders) or fits(name, env_pass):
            found[name] = value
            continue
        parts = value.split(":")
        stay = [part for part in parts if not _leads_into(part, folders) or _leads_into(part, kept)]
        if len(stay) == len(parts) or (len(parts) > 1 and any(stay)):
            found[name] = ":".join(stay)
    return found


def _leads_into(text: str, folders: tuple[str, ...]) -> bool:
    return any(re.search(rf"(?<![\w.-]){re.escape(folder)}(?![\w.-])", text) for folder in folders)


def _for_agent(name: str, own: tuple[str, ...]) -> bool:
    if fits(name, (*NEVER_PASSED, *_SESSIONS, *_MISLEADS_ALL)):
        return False
    if fits(name, own) or fits(name, _BASICS) or fits(name, _NETWORK):
        return True
    return fits(name, _TOOLCHAINS) and not is_secret_name(name)


def _for_gate(name: str, env_pass: tuple[str, ...]) -> bool:
    if fits(name, NEVER_PASSED):
        return False
    return fits(name, env_pass) or _for_agent(name, ())


def fits(name: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether a name fits one of the patterns; as in every shell, case matters."""
    plain, globs = _sorted(patterns)
    return name in plain or any(_fits(name, parts) for parts in globs)


@lru_cache(maxsize=64)
def _sorted(patterns: tuple[str, ...]) -> tuple[frozenset[str], tuple[tuple[str, ...], ...]]:
    globs = tuple(tuple(pattern.split("*")) for pattern in patterns if "*" in pattern)
    return frozenset(pattern for pattern in patterns if "*" not in pattern), globs


def _fits(name: str, parts: tuple[str, ...]) -> bool:
    """Match the pieces between the stars one after the other: linear, whatever the pattern."""
    first, *middle, last = parts
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    position, end = len(first), len(name) - len(last)
    for part in middle:
        position = name.find(part, position, end)
        if position < 0:
            return False
        position += len(part)
    return True
