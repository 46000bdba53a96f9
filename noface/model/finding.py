"""What is wrong, or worth knowing, before a run: found in one place, shown in the same words by every command."""

from collections.abc import Iterable
from dataclasses import dataclass

from noface.errors import EXIT_ATTENTION, EXIT_DONE, EXIT_USAGE, UsageError


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing: where it is, what it is, and what to do about it ("" if that is plain).

    `exit_code` is what a command ends with that shows it; EXIT_DONE for a note.
    """

    where: str
    what: str
    fix: str = ""
    exit_code: int = EXIT_USAGE

    @property
    def text(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


def exit_code_of(findings: Iterable[Finding]) -> int:
    """Return the exit code of a command that shows these: a run that cannot start counts more than anything else."""
    codes = {finding.exit_code for finding in findings}
    return next((code for code in (EXIT_USAGE, EXIT_ATTENTION) if code in codes), EXIT_DONE)


def refused(error: UsageError, where: str = "") -> Finding:
    return Finding(where, error.message, error.hint, error.exit_code)


def refusal(findings: Iterable[Finding]) -> UsageError | None:
    """Return the error of a run that cannot start for these; None if it can."""
    fatal = [finding for finding in findings if finding.exit_code == EXIT_USAGE]
    if not fatal:
        return None
    return UsageError(
        "\n".join(finding.text for finding in fatal),
        " ".join(dict.fromkeys(finding.fix for finding in fatal if finding.fix)),
    )
