"""What to tell whose gate changes the files that it checks: the option by which its tool only looks."""

import re

_ONLY_CHECKS = (
    (r"\bruff\s+format\b", "`ruff format --check`"),
    (r"\bruff\b", "`ruff check --no-fix`"),
    (r"\bblack\b", "`black --check`"),
    (r"\bisort\b", "`isort --check-only`"),
    (r"\bprettier\b", "`prettier --check` in place of `--write`"),
    (r"\beslint\b|\bstylelint\b|\bstandard\b|\bxo\b|\boxlint\b", "the linter without `--fix`"),
    (r"\bbiome\b", "`biome ci`"),
    (r"\bjest\b", "`jest --ci`, without `-u`"),
    (r"\bvitest\b", "`vitest run`, without `-u`"),
    (r"\bcargo\s+fmt\b|\brustfmt\b", "`cargo fmt --check`"),
    (r"\bcargo\s+(clippy|fix)\b", "`cargo clippy` without `--fix`"),
    (r"\bcargo\b", "`cargo … --locked`, and `INSTA_UPDATE=no` where insta's snapshots are in use"),
    (r"\bgofmt\b|\bgo\s+fmt\b", '`test -z "$(gofmt -l .)"`'),
    (r"\bterraform\s+fmt\b", "`terraform fmt -check`"),
    (r"\brubocop\b", "`rubocop` without `-a` and `-A`"),
    (r"\bpytest\b", "pytest without `--snapshot-update`, `--force-regen` and the like"),
    (r"\bnpm\s+(i|install)\b", "`npm ci`"),
    (r"\b(pnpm|yarn|bun)\s+(i|install)\b", "the install with `--frozen-lockfile`"),
)


def only_checking(command: str) -> str:
    """Return what to do about a command that changes files: have its tool only check, and how, where that is known."""
    said = next((said for pattern, said in _ONLY_CHECKS if re.search(pattern, command)), "")
    return f"have it only check: {said}" if said else "have it only check"
