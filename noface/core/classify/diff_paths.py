"""Names the files that tools write and nobody edits: lock files, build output, caches."""

import re

_MADE = re.compile(
    r"(^|/)("
    # lock files
    r"package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|poetry\.lock|uv\.lock"
    r"|pdm\.lock|Pipfile\.lock|pixi\.lock|Cargo\.lock|Gemfile\.lock|composer\.lock|mix\.lock|rebar\.lock|go\.sum"
    r"|pubspec\.lock|Podfile\.lock|Package\.resolved|packages\.lock\.json|flake\.lock|gradle\.lockfile|conan\.lock"
    r"|\.terraform\.lock\.hcl|stack\.yaml\.lock|cabal\.project\.freeze|Manifest\.toml|elm-stuff/.*"
    # caches and what is installed
    r"|(__pycache__|node_modules|bower_components|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.hypothesis|\.tox|\.nox"
    r"|\.venv|venv|\.gradle|\.next|\.nuxt|\.svelte-kit|\.parcel-cache|\.turbo|\.terraform|\.nyc_output|\.cache"
    r"|\.eggs|[^/]+\.egg-info|htmlcov|DerivedData|_build|\.dart_tool|\.stack-work|dist-newstyle|\.aider[^/]*)/.*"
    # build output
    r"|dist/.*|target/(debug|release|classes|test-classes|surefire-reports|maven-[^/]+)/.*|(bin|obj)/(Debug|Release)/.*"
    r"|build/(lib|libs|classes|tmp|generated|reports|intermediates|outputs|bdist\.[^/]+|temp\.[^/]+|static)/.*"
    r"|CMakeFiles/.*|CMakeCache\.txt|cmake_install\.cmake"
    r"|\.DS_Store|Thumbs\.db|\.coverage(\.[^/]*)?|coverage\.xml|lcov\.info|\.aider[^/]*"
    r"|[^/]+\.(min\.(js|mjs|css)|(js|css|mjs)\.map|pyc|pyo|class|o|obj|lo|gcda|gcno|beam|tsbuildinfo|swp|orig|rej)"
    r")$"
)


def is_generated(path: str) -> bool:
    """Tell whether a path is one that tools write; a change of nothing else is no work."""
    return _MADE.search(path) is not None
