"""Package managers of Python and JavaScript."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, SYNTAX
from noface.core.classify.rules import Rule

RULES = (
    Rule(
        "npm.error",
        ENV,
        ("npm ERR! code", "npm error code"),
        r"^npm (?:ERR!|error) code (?:E(?!JSONPARSE|LIFECYCLE)[A-Z]+\w*)",
        "npm error code ECONNREFUSED",
    ),
    Rule(
        "npm.json",
        SYNTAX,
        ("npm error code EJSONPARSE", "npm ERR! code EJSONPARSE"),
        r"EJSONPARSE",
        "npm error code EJSONPARSE",
    ),
    Rule(
        "npm.missing-script",
        ENV,
        (
            "issing script",
            "could not determine executable",
            'Command "',
            "ERR_PNPM_NO_SCRIPT",
            "Couldn't find a script",
            "not found",
        ),
        r"^(?:npm (?:ERR!|error) )?[Mm]issing script:? |could not determine executable to run|^error Command \"\S+\" not found|ERR_PNPM_(?:NO_SCRIPT|RECURSIVE_EXEC)|^Usage Error: Couldn't find a script|^error: Script not found",
        'npm error Missing script: "tset"',
    ),
    Rule(
        "pip.failure",
        ENV,
        (
            "ERROR: Could not find a version",
            "ERROR: No matching distribution",
            "ERROR: Could not open requirements",
            "Could not fetch URL",
            "error: externally-managed-environment",
            "ERROR: Could not install packages",
        ),
        r"^ERROR: (?:Could not find a version|No matching distribution|Could not open requirements|Could not install packages)|Could not fetch URL|^error: externally-managed",
        "ERROR: No matching distribution found for requests",
    ),
    Rule(
        "uv.failure",
        ENV,
        ("error: Failed to", "No solution found", "error: Request failed", "Because "),
        r"^\s*(?:×|error:) (?:Failed to (?:download|fetch|spawn)|No solution found|Request failed)",
        "error: Failed to spawn: `pytset`",
    ),
    Rule(
        "yarn.lock",
        ENV,
        ("lockfile", "frozen-lockfile", "YN0028", "ERR_PNPM_OUTDATED_LOCKFILE"),
        r"Your lockfile needs to be updated|YN0028|ERR_PNPM_OUTDATED_LOCKFILE|can only install packages when your package\.json and package-lock\.json",
        "error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.",
    ),
)
