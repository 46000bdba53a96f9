"""The table of failures whose cause and answer are known (S4): files, network, execution.

A pattern is an error line as a program writes it, from its first character on: prose, source code and diffs that only
mention such an error do not match. Patterns are bounded in every repetition; a line is short. The first rule that
matches any line wins, so what only a person can mend, and what lies under other errors, comes first.
"""

# ruff: noqa: E501 - a pattern is kept in one piece

import re
from dataclasses import dataclass
from functools import cache

from noface.core.remedies import Remedy

RATE_LIMIT_DELAY_S = 60.0
TIMEOUT_DELAY_S = 5.0

_NAME = r"[\w.$]{0,100}(?:Error|Exception|Failure|Timeout|Refused)"
_TOOL = r"(?:(?:[\w./+@-]{1,100}|line \d{1,6}|\d{1,6}): )"
_ERROR = rf"(?:{_NAME}(?: \[[^\]]{{1,40}}\])?: |(?:error|fatal|ERROR|Error|panic): |npm (?:ERR!|error) |curl: \(\d{{1,3}}\) |{_TOOL}{{1,4}})"
_OPEN, _CLOSE = "[‘'\"`]", "[’'\"`]"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@dataclass(frozen=True, slots=True)
class CauseRule:
    """One known failure. `cause` and `advice` may hold `{subject}`, which `unnamed` stands for where none is found.

    `needs` are literals of which a line holds one, lower case. A named group of the pattern (path, command, url) is
    the subject. `in_tests`: counts where tests ran and failed as well; tests make up HTTP answers, but no full disks.
    """

    name: str
    remedy: Remedy
    needs: tuple[str, ...]
    pattern: str
    cause: str
    advice: str
    unnamed: str
    in_tests: bool = True
    delay_s: float | None = None

    @property
    def regex(self) -> re.Pattern[str]:
        """The pattern, compiled when it is first needed: most commands diagnose nothing."""
        return _compiled(self.pattern)


def _http(codes: str) -> str:
    """Return the pattern of an HTTP error as Python, curl, git, wget, npm and noface's own evidence write it."""
    return (
        rf"^(?:{_NAME}: )?(?:HTTP Error (?:{codes}):|(?:{codes}) Client Error:|Client error '(?:{codes}) )"
        rf"|^curl: \(22\) The requested URL returned error: (?:{codes})\b"
        rf"|^(?:fatal|error): unable to access '(?P<url>[^']{{1,300}})': The requested URL returned error: (?:{codes})\b"
        rf"|^npm (?:ERR!|error) (?:code E(?:{codes})\b|(?:{codes}) [A-Z])"
        rf"|^(?:\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d )?ERROR (?:{codes}): [A-Z]"
        rf"|^HTTP status (?:{codes})$"
    )


RULES = (
    CauseRule(
        "disk-full",
        Remedy.ESCALATE,
        ("no space left", "quota exceeded", "enospc", "disk is full"),
        rf"^{_ERROR}.{{0,200}}?(?:\bNo space left on device|\bDisk quota exceeded|\bdatabase or disk is full|\bENOSPC: no space|\bcode ENOSPC)",
        "The disk is full.",
        "Nothing can go on until a person makes room on the disk.",
        "",
    ),
    CauseRule(
        "not-permitted",
        Remedy.ESCALATE,
        ("401", "403", "publickey", "authentication failed", "could not read", "eneedauth"),
        _http("401|403")
        + r"|^(?P<host>[^\s:]{1,100}): Permission denied \(publickey|^fatal: Authentication failed for '(?P<url2>[^']{1,300})'"
        r"|^fatal: could not read (?:Username|Password) for '(?P<url3>[^']{1,300})'|^npm (?:ERR!|error) code ENEEDAUTH\b",
        "{subject} refuses access: credentials or permissions are missing.",
        "A person must log in or grant access to {subject}. Do not look for credentials, and do not work round this.",
        "a service",
        in_tests=False,
    ),
    CauseRule(
        "git-conflict",
        Remedy.ESCALATE,
        ("conflict", "could not apply", "unmerged files"),
        r"^CONFLICT \([^)]{1,40}\): (?:Merge conflict in (?P<path>\S{1,300})|.{1,300})"
        r"|^error: could not apply [0-9a-f]{4,64}\b|^Automatic merge failed; fix conflicts"
        r"|^(?:error|fatal): (?:Merging|Pulling|Committing|Rebasing|Cherry-picking) is not possible because you have unmerged files",
        "git could not merge by itself: {subject} is in conflict.",
        "Both sides of the conflict in {subject} must be read by somebody who decides what is meant.",
        "a file",
    ),
    CauseRule(
        "rate-limited",
        Remedy.SAME,
        ("429",),
        _http("429"),
        "{subject} gets too many requests for now.",
        "Wait, then do the same again, with fewer requests to {subject} where that is possible.",
        "a service",
        in_tests=False,
        delay_s=RATE_LIMIT_DELAY_S,
    ),
    CauseRule(
        "npm-peer-conflict",
        Remedy.MODIFIED,
        ("eresolve",),
        r"^npm (?:ERR!|error) (?:code ERESOLVE\b|ERESOLVE [a-z]|While resolving: (?P<command>\S{1,100}))",
        "npm finds no set of versions that all packages accept.",
        "Choose versions that fit together in package.json. Only where there are none: npm install --legacy-peer-deps",
        "",
    ),
    CauseRule(
        "command-not-found",
        Remedy.ALTERNATIVE,
        ("not found", "no such file", "enoent"),
        rf"^{_TOOL}{{0,3}}(?P<command>[^\s:]{{1,100}}): [Cc]ommand not found$"
        r"|^(?:/bin/)?(?:sh|dash|ash|ksh|bash): (?:line )?\d{1,6}: (?:exec: )?(?P<command2>[^\s:]{1,100}): (?:inaccessible or )?not found$"
        r"|^zsh:(?:\d{1,6}:)? ?command not found: (?P<command3>\S{1,100})"
        rf"|^(?:/usr/bin/)?env: {_OPEN}?(?P<command4>[^\s:’'\"`]{{1,100}}){_CLOSE}?: No such file or directory$"
        rf"|^make(?:\[\d{{1,3}}\])?: (?P<command5>[^\s:]{{1,100}}): (?:Command not found|No such file or directory)$"
        rf"|^{_ERROR}{{0,1}}exec: \"(?P<command6>[^\"]{{1,100}})\": executable file not found in \$PATH"
        r"|^Error: spawn (?P<command7>\S{1,100}) ENOENT$",
        "The command {subject} is not installed here.",
        "The command {subject} is not there. See which tool the project uses instead, or install it the project's way.",
        "that was called",
    ),
    CauseRule(
        "not-found",
        Remedy.ALTERNATIVE,
        ("404", "not found"),
        _http("404") + r"|^fatal: repository '(?P<url2>[^']{1,300})' not found|^remote: Repository not found\.",
        "There is nothing at {subject}.",
        "Nothing is found at {subject}. Check the address against the project's files and documentation; do not guess.",
        "the address that was asked",
        in_tests=False,
    ),
    CauseRule(
        "refused",
        Remedy.ALTERNATIVE,
        ("refused",),
        rf"^{_ERROR}.{{0,200}}?(?:\bECONNREFUSED\b|\b[Cc]onnection refused\b)|^(?:Get \"(?P<url>[^\"]{{1,300}})\": )?dial tcp (?P<host>\S{{1,100}}): connect: connection refused",
        "No service answers at {subject}.",
        "The service at {subject} is not running. See whether the project says how to start it, or do without it.",
        "the address that was called",
    ),
    CauseRule(
        "timed-out",
        Remedy.SAME,
        ("etimedout", "esockettimedout", "timed out", "i/o timeout", "timeout was reached"),
        rf"^{_ERROR}.{{0,200}}?(?:\bE(?:SOCKET)?TIMEDOUT\b|\b(?:Connection|Operation|Read|connection|read|operation) timed out\b|\bi/o timeout\b|\bTimeout was reached)",
        "{subject} did not answer in time.",
        "The network was too slow for {subject}; the same may work the next time.",
        "a service",
        delay_s=TIMEOUT_DELAY_S,
    ),
    CauseRule(
        "permission-denied",
        Remedy.ALTERNATIVE,
        ("permission denied",),
        rf"^(?:{_NAME}: )?\[Errno 13\] Permission denied(?:: {_OPEN}(?P<path>[^'\"]{{1,300}}){_CLOSE})?"
        rf"|^{_ERROR}?(?:eacces )?EACCES: permission denied(?:, \w{{1,20}} '(?P<path2>[^']{{1,300}})')?"
        rf"|^{_TOOL}{{1,4}}(?:cannot [\w ]{{1,40}} )?{_OPEN}?(?P<path3>[^\s:’'\"`]{{1,300}}){_CLOSE}?: Permission denied$"
        r"|^open (?P<path4>\S{1,300}): permission denied$",
        "{subject} must not be read, written or run.",
        "Access to {subject} is denied. Work inside the checkout, and make a script executable or call its interpreter; "
        "do not ask for more rights.",
        "a file",
    ),
    CauseRule(
        "no-such-file",
        Remedy.ALTERNATIVE,
        ("no such file", "enoent"),
        rf"^(?:{_NAME}: )?\[Errno 2\] No such file or directory: {_OPEN}(?P<path>[^'\"]{{1,300}}){_CLOSE}"
        rf"|^{_ERROR}?(?:enoent )?ENOENT: no such file or directory(?:, \w{{1,20}} '(?P<path2>[^']{{1,300}})')?"
        rf"|^(?:{_TOOL}{{1,4}}|[\w./+-]{{1,100}}(?::\d{{1,6}}){{1,2}}: fatal error: )(?:cannot [\w ]{{1,40}} )?{_OPEN}?(?P<path3>[^\s:’'\"`]{{1,300}}){_CLOSE}?: No such file or directory$"
        r"|^(?:panic: )?(?:open|stat|lstat|read) (?P<path4>\S{1,300}): no such file or directory$",
        "The file {subject} is not there.",
        "The file {subject} does not exist where it is looked for. List the folder: make the file if the issue asks for it, or "
        "correct the path. Do not make up its contents.",
        "that was asked for",
    ),
)
