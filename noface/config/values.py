"""The kinds of values noface.toml is made of, as pydantic types whose errors say what was expected."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from math import inf
from pathlib import PurePosixPath
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from noface.model.access import is_service

DURATION_PATTERN = r"^(?=\d)(\d+(\.\d+)?d)?(\d+(\.\d+)?h)?(\d+(\.\d+)?m)?(\d+(\.\d+)?s)?$"
"""The same grammar as `parse_duration`'s, for the JSON Schema: days, hours, minutes, seconds, in this order."""

DURATION_MAX_S = 30 * 86400.0
"""The longest duration accepted: beyond some 24 days the poll calls of operating systems overflow anyway."""

EXPECTED = 'a duration such as "90s", "10m" or "1h30m", or a number of seconds'

_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_WHOLE = re.compile(DURATION_PATTERN, re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])", re.ASCII)


def parse_duration(value: object) -> float:
    """Return the seconds that `value` stands for; raise ValueError with what was expected."""
    # fullmatch, since `$` alone would let a trailing newline pass.
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        seconds = float(sum(Decimal(number) * _UNITS[unit] for number, unit in _PART.findall(value)))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value
    else:
        raise ValueError(EXPECTED)
    if not 0 <= seconds <= DURATION_MAX_S:
        raise ValueError(f"a duration from 0 to {format_duration(DURATION_MAX_S)}")
    return float(seconds)


def format_duration(seconds: float) -> str:
    """Write `seconds` the way a person would, such that `parse_duration` gives exactly them back."""
    if seconds != int(seconds):
        return f"{Decimal(repr(seconds)):f}s"
    left, text = int(seconds), ""
    for unit, size in _UNITS.items():
        count, left = divmod(left, size)
        text += f"{count}{unit}" if count else ""
    return text or "0s"


_T = TypeVar("_T")

NAME_PATTERN = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$"
NAME_EXPECTED = "a name of up to 64 letters, digits, - _ . that begins with a letter, digit or _"
_NAME = re.compile(NAME_PATTERN)
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ENV_PATTERN = re.compile(r"[A-Za-z_*][A-Za-z0-9_*]*", re.ASCII)
_ENV_NEVER = ("GIT_", "NOFACE_", "PYTEST_")
# git check-ref-format's rules, as far as one component-wise expression can say them.
_BRANCH_BAD = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-/]|[/.]$|\.lock(/|$)|(^|/)\.|^@$")


def expected(what: str) -> PydanticCustomError:
    return PydanticCustomError("expected", "{what}", {"what": what})


def _require(holds: Callable[[str], bool], what: str) -> AfterValidator:
    def check(value: str) -> str:
        if not holds(value):
            raise expected(what)
        return value

    return AfterValidator(check)


def is_name(value: str) -> bool:
    return _NAME.fullmatch(value) is not None


def _path(value: str) -> str:
    if not value:
        return value
    path = PurePosixPath(value)
    inside = not path.is_absolute() and ".." not in path.parts and not value.startswith("~") and "\\" not in value
    if not inside or not path.parts or ".git" in path.parts:
        raise expected("a path inside the repository, relative to its top, with forward slashes")
    return path.as_posix()


def _glob(value: str) -> str:
    # "ci/" is how people write the folder and all below it.
    return f"{_path(value)}/**" if value.endswith("/") else _path(value)


def _regex(value: str) -> str:
    import regex

    try:
        regex.compile(value)
    except regex.error as error:
        raise expected(f"a regular expression (library regex): {error}") from None
    return value


def _message_form(value: str) -> str:
    if value:
        from noface.model.commit_message import message_problem

        if problem := message_problem(value):
            raise expected(f"a template of Jinja for a commit's message ({problem})")
    return value


def _env(value: dict[str, str]) -> dict[str, str]:
    for name in value:
        if not _ENV_NAME.fullmatch(name):
            raise expected(f"environment variables' names of letters, digits and _ (not {name!r})")
    return value


def one_of(values: Iterable[str]) -> tuple[BeforeValidator, WithJsonSchema]:
    """Return what makes a word of the file the one of these values that it spells, and lists them in the schema."""
    members = {str(value): value for value in values}
    words = list(members)
    listed = f"{', '.join(map(repr, words[:-1]))} or {words[-1]!r}" if words[1:] else repr(words[0])

    def check(value: object) -> object:
        if not isinstance(value, str) or value not in members:
            # As pydantic says it of a Literal, so that a wrong word is answered with the nearest right one.
            raise PydanticCustomError("literal_error", "one of {expected}", {"expected": listed})
        return members[value]

    return BeforeValidator(check), WithJsonSchema(
        {"type": "string", **({"enum": words} if words[1:] else {"const": words[0]})}
    )


def setting(default: Any, description: str, *examples: Any, **limits: Any) -> Any:
    """Return the field of a setting: default (`...`: none; a class: what it makes), purpose, examples, limits."""
    given = {"default_factory": default} if isinstance(default, type) else {"default": default}
    return Field(**given, description=description, examples=list(examples) or None, **limits)


def defaults_of(record: type) -> Mapping[str, Any]:
    return {name: field.default for name, field in inspect.signature(record).parameters.items()}


def is_duration(field: FieldInfo) -> bool:
    return _DURATION_SCHEMA in field.metadata


def _duration(least_is_zero: bool) -> Callable[[object], float]:
    def check(value: object) -> float:
        try:
            seconds = parse_duration(value)
        except ValueError as error:
            raise expected(str(error)) from None
        if not seconds and not least_is_zero:
            raise expected("a duration above 0")
        return seconds

    return check


_DURATION_SCHEMA = WithJsonSchema(
    {
        "anyOf": [
            {"type": "string", "pattern": DURATION_PATTERN},
            {"type": "number", "minimum": 0, "maximum": DURATION_MAX_S},
        ]
    }
)


def _spelt(pattern: str, what: str) -> tuple[AfterValidator, Any]:
    """Return what has a text match a regular expression, which the schema shows; `what` is expected."""
    known = re.compile(pattern, re.ASCII)
    checked = _require(lambda value: known.fullmatch(value) is not None, what)
    return checked, Field(json_schema_extra={"pattern": pattern})


def _absolute(value: str) -> bool:
    return value.startswith(("/", "~/"))


# A NUL can be written in TOML ("\u0000") but not be passed to any program.
_NO_NUL = _require(lambda value: "\0" not in value, "text without NUL characters")
_NOT_BLANK = _require(lambda value: bool(value.strip()), "text that is not empty")
_NOT_EMPTY = Field(json_schema_extra={"minLength": 1})

Text = Annotated[str, _NO_NUL]
FilledText = Annotated[str, _NO_NUL, _NOT_BLANK, _NOT_EMPTY]
Command = Annotated[str, _NO_NUL, _require(lambda value: bool(value.strip()), "a shell command, not empty"), _NOT_EMPTY]
Name = Annotated[str, *_spelt(NAME_PATTERN, NAME_EXPECTED)]
Branch = Annotated[
    str, _require(lambda value: not value or not _BRANCH_BAD.search(value), "the name of a branch, such as main")
]
MessageForm = Annotated[str, _NO_NUL, AfterValidator(_message_form)]
Regex = Annotated[str, _NO_NUL, AfterValidator(_regex)]
FilledRegex = Annotated[str, _NOT_BLANK, _NO_NUL, AfterValidator(_regex), _NOT_EMPTY]
Env = Annotated[dict[str, Text], AfterValidator(_env)]
EnvPattern = Annotated[
    str,
    _require(
        lambda value: _ENV_PATTERN.fullmatch(value) is not None,
        "an environment variable's name, in which * stands for any letters (not a value: that is env)",
    ),
    _require(
        lambda value: not value.startswith(_ENV_NEVER),
        f"a variable that agents may inherit; {'*, '.join(_ENV_NEVER)}* would mislead them, so set those in env",
    ),
    Field(json_schema_extra={"pattern": f"^(?!{'|'.join(_ENV_NEVER)}){_ENV_PATTERN.pattern}$"}),
]
"""The name of an environment variable, in which `*` stands for any letters."""

HostPath = Annotated[
    str,
    _NO_NUL,
    _require(
        lambda value: _absolute(value) and value.rstrip("/") not in ("", "~"),
        'an absolute path, or one in your home that begins with "~/"',
    ),
    Field(json_schema_extra={"pattern": "^(/|~/)"}),
]
"""A path on this machine: absolute, or in the person's home (~/)."""
OptionalHostPath = Annotated[
    str, _NO_NUL, _require(lambda value: not value or _absolute(value), "an absolute path, or one that begins with ~/")
]
"""The same; "" for none."""

Service = Annotated[
    str,
    _NO_NUL,
    _require(
        is_service,
        'a port of this machine such as "localhost:5432", or a Unix socket ("/run/x.sock"; "@x": one without a file)',
    ),
    Field(json_schema_extra={"pattern": r"^((localhost|127\.0\.0\.1|\[::1\]):\d{1,5}|[/@].+)$"}),
]
"""A server on this machine."""
Hours = Annotated[
    str, *_spelt(r"^(([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)?$", 'times of the clock such as "22:30-07:00"')
]
"""From one time of the clock to another, "" for never."""
ClusterAddress = Annotated[
    str,
    *_spelt(
        r"^(tls://[^\s/]{1,250}:\d{1,5})?$",
        "the address of a scheduler that asks for certificates, such as tls://cluster.example:8786",
    ),
]
"""The address of a scheduler, "" for none."""
HostName = Annotated[
    str,
    *_spelt(
        # One that begins with - would be an option of ssh.
        r"^(ssh://)?([A-Za-z0-9_][A-Za-z0-9_.+-]*@)?[A-Za-z0-9_\[:][A-Za-z0-9_.:%\]-]*$",
        'what you would tell ssh, such as "build@bigbox" or a Host of ~/.ssh/config',
    ),
]
"""A machine as ssh knows it: a name, with a user before it if that is another."""

OptionalPath = Annotated[str, _NO_NUL, AfterValidator(_path)]
"""A path inside the repository, normalised; "" for none."""
InnerPath = Annotated[str, _NOT_BLANK, _NO_NUL, AfterValidator(_path), _NOT_EMPTY]
"""The same, not empty."""
Glob = Annotated[str, _NOT_BLANK, _NO_NUL, AfterValidator(_glob), _NOT_EMPTY]
"""A glob inside the repository; "folder/" stands for "folder/**"."""

OptionalGlob = Annotated[str, _NO_NUL, AfterValidator(_glob)]
"""The same; "" for none."""

Duration = Annotated[float, BeforeValidator(_duration(least_is_zero=False)), _DURATION_SCHEMA]
"""Seconds, above 0."""
Pause = Annotated[float, BeforeValidator(_duration(least_is_zero=True)), _DURATION_SCHEMA]
"""Seconds, 0 or more."""

_SIZES = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([MGT]B)", re.ASCII)


def _size(value: object) -> int:
    whole = _SIZE.fullmatch(value) if isinstance(value, str) else None
    number = int(Decimal(whole[1]) * _SIZES[whole[2]]) if whole is not None else 0
    if not _SIZES["MB"] <= number < 1 << 62:  # what systems take for a limit
        raise expected('a size such as "500MB" or "8GB"')
    return number


Size = Annotated[int, BeforeValidator(_size), WithJsonSchema({"type": "string", "pattern": f"^{_SIZE.pattern}$"})]
"""Bytes, a megabyte at least."""

_PERCENT = re.compile(r"(\d{1,2}(?:\.\d{1,2})?) ?%", re.ASCII)


def _share(value: object) -> float:
    match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise expected('a share below 100%, such as "15%"')
    return float(match[1]) / 100


Percent = Annotated[
    float, BeforeValidator(_share), WithJsonSchema({"type": "string", "pattern": f"^{_PERCENT.pattern}$"})
]
"""A share, from 0 to 1."""

# TOML has arrays; tuples keep the records frozen, so this layer alone is not strict about the type.
Items = Annotated[tuple[_T, ...], Field(strict=False)]
Money = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""US dollars, above 0."""


def _overage(value: object) -> float | str:
    usd = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if value not in ("never", "ask") and not (usd is not None and 0 < usd < inf):
        raise expected('"never", "ask", or US dollars above 0')
    return str(value) if usd is None else float(usd)


Overage = Annotated[
    float | str,
    BeforeValidator(_overage),
    WithJsonSchema({"anyOf": [{"enum": ["never", "ask"]}, {"type": "number", "exclusiveMinimum": 0}]}),
]
"""What may be spent beyond something: nothing, nothing without a person's word, or dollars."""


class Section(BaseModel):
    """A table of noface.toml: unknown keys are errors, types are TOML's own, nothing changes afterwards."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
