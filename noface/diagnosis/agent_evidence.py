"""What a worker run leaves behind, and what is made of it: values in, values out."""

from dataclasses import dataclass, field
from enum import StrEnum

from noface.diagnosis.evidence import AlsoMatched
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind
from noface.model.worker_run import EndedBy, Usage


class Resource(StrEnum):
    """What a worker ran out of."""

    TURNS = "turns"
    CONTEXT = "context"
    OUTPUT = "output"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class AgentError:
    """The error a run ended with, as the CLI's own error channel told it; one that was overcome is none.

    `codes` are names that the CLI or its provider gave it, the most telling first; `status` the HTTP status;
    `details` what the provider answered, where the CLI quotes it. `resets_at` is epoch seconds.
    """

    message: str = ""
    codes: tuple[str, ...] = ()
    status: int | None = None
    details: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    resets_at: float | None = None


@dataclass(frozen=True, slots=True)
class AgentEvidence:
    """One worker run. `finished` is True where the CLI itself said that the work ended well.

    `last_words` is the agent's prose: it is looked at only where nothing was changed. `changed` is None as long as
    nobody has looked at the diff. `exit_code` is negative for a signal, None where it is not known. `retrying` is
    what the CLI was still trying to overcome when the run ended.
    """

    agent: str
    exit_code: int | None
    stderr: str = ""
    error: AgentError | None = None
    retrying: AgentError | None = None
    finished: bool = False
    last_words: str = ""
    changed: bool | None = None
    ended_by: EndedBy = EndedBy.ITSELF
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class AgentVerdict:
    """What a worker run means. `kind` is None where it ended well. `retry_at` is epoch seconds."""

    kind: FailureKind | None
    message: str
    rule: str
    key_line: str = ""
    evidence: tuple[str, ...] = ()
    excerpt: str = ""
    signature: str = ""
    also_matched: tuple[AlsoMatched, ...] = ()
    retry_at: float | None = None
    resource: Resource | None = None
    questions: tuple[str, ...] = ()

    @property
    def failure(self) -> Failure | None:
        """The failure as the rest of noface knows it: charged to the worker unless something else is to blame."""
        if self.kind is None:
            return None
        return Failure(
            self.kind,
            self.message,
            rule=self.rule,
            signature=self.signature,
            evidence=self.evidence,
            excerpt=self.excerpt,
            retry_at=self.retry_at,
            questions=self.questions,
            charged=not self.kind.category.external,
            also_matched=tuple((also.rule, also.line, also.why) for also in self.also_matched),
        )
