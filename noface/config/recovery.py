"""The sections of noface.toml about recovery beyond the ladder: diagnosis, breakdown, prompts, approval."""

from typing import Literal

from pydantic import Field

from noface.config.sections import Section
from noface.config.values import Glob, Items, OptionalPath, Text


class Recovery(Section):
    """How far recovery goes, and what it remembers."""

    enabled: bool = Field(default=True, description="false: the ladder alone; nobody is asked, nothing is broken down")
    max_strategies: int = Field(
        default=3, ge=1, description="give up after so many different recovery strategies have failed"
    )
    diagnose_after: int = Field(
        default=2,
        ge=1,
        description="ask the diagnoser once the same failure came so often in a row; after an UNKNOWN one at once",
    )
    learn: bool = Field(default=True, description="remember recoveries that worked, and look them up")
    allow_skip: bool = Field(
        default=False, description="a diagnosis may skip the issue; otherwise it is blocked with that advice"
    )
    model_accept: Literal["forms", "any"] = Field(
        default="forms",
        description=(
            'accept commands that a planner gives a part: "forms", only those of the gates and of the issue, on other '
            'tests; "any", whatever it writes is run by the shell'
        ),
    )
    accumulation_format: Literal["notes_only", "minimal", "full_output"] = Field(
        default="notes_only",
        description='what a prompt tells of earlier attempts: "notes_only", "minimal" or "full_output"',
    )
    accumulation_kb: int = Field(default=20, ge=1, description="the most of it, in KB; what is left out is marked")


class Breakdown(Section):
    """When an issue is broken down into smaller ones."""

    enabled: bool = Field(default=True, description="false: never by itself")
    after_timeouts: int = Field(default=2, ge=1, description="after so many timeouts")
    after_attempts: int = Field(default=3, ge=1, description="after so many failed attempts whose change was too big")
    files: int = Field(default=20, ge=1, description="a change of more files is too big")
    lines: int = Field(default=1000, ge=1, description="a change of more lines is too big")
    max_children: int = Field(default=8, ge=2, le=50, description="at most so many smaller issues (2 to 50)")
    max_depth: int = Field(default=2, ge=1, le=5, description="how often a part may be broken down again (1 to 5)")


class Prompts(Section):
    """What workers are told."""

    dir: OptionalPath = Field(
        default="",
        description="folder inside the repository with templates *.md.j2 that override the built-in ones",
        examples=["prompts"],
    )
    max_tokens: int = Field(default=50_000, ge=1000, description="the longest prompt, in tokens")


class Approval(Section):
    """What a person must approve before it lands, with `noface approve`."""

    paths: Items[Glob] = Field(
        default=(), description="globs: a change that touches such a file", examples=[["migrations/**"]]
    )
    labels: Items[Text] = Field(default=(), description="the work of an issue with such a label", examples=[["risky"]])


class Review(Section):
    """When work that passed is shown to `[roles] reviewer` before it lands."""

    when: Literal["always", "risky", "never"] = Field(
        default="risky", description='"always", "risky" (large, untested, unsure, or named below) or "never"'
    )
    paths: Items[Glob] = Field(
        default=(), description="globs: a change that touches such a file is risky", examples=[["src/auth/**"]]
    )
    labels: Items[Text] = Field(default=(), description="an issue with such a label is risky", examples=[["security"]])
    files: int = Field(default=10, ge=1, description="a change of more files is risky")
    lines: int = Field(default=300, ge=1, description="a change of more lines is risky")
    confidence: float = Field(
        default=0.6, ge=0, le=1, description="work whose worker reports less confidence (0 to 1) is risky"
    )
    rounds: int = Field(default=5, ge=1, le=20, description="so many rejections, then a person is asked (1 to 20)")
