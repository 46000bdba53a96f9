"""Messages of noface's commits: `[landing] message`, and the form that main's own commits have. Pure.

A gate, a server's hook or a release tool may read messages, so an attempt's commit has the form of what lands.
"""

import json
import re
import shlex
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from noface.model.issue import Issue
from noface.model.markdown import inert

if TYPE_CHECKING:
    from jinja2 import Template

_SUBJECT_MAX = 100
_BODY_COLUMNS = 72
_TRAILER = re.compile(r"[A-Za-z][A-Za-z0-9-]*: \S")
_ALIKE_MIN, _ALIKE_SHARE = 3, 0.75
_TYPED = re.compile(r"[a-z]{2,12}(?:\([^()]{1,40}\))?!?: \S")
_TICKET = re.compile(r"(\[?)([A-Z][A-Z0-9]{1,12}-)\d+(\]?:?) \S")
_SIGNED_OFF = "\n\nSigned-off-by: {{ author }}"


@dataclass(frozen=True, slots=True)
class CommitMessages:
    """`form` is the template of `[landing] message`, "" for the issue's title; `author` is "Name <address>"."""

    form: str = ""
    author: str = ""

    def of(self, issue: Issue, note: str, trailers: Sequence[str]) -> str:
        """Return a commit's whole message: by the form, then what readers should know, then noface's own trailers."""
        text = _rendered(self.form, issue, self.author) if self.form else subject(issue.title)
        first, *rest = re.split(r"\n\s*\n", text)
        own = rest.pop().splitlines() if rest and all(map(_TRAILER.match, rest[-1].splitlines())) else []
        told = [textwrap.fill(inert(note[:1].upper() + note[1:]), _BODY_COLUMNS) + "."] if note else []
        return "\n\n".join((first, *rest, *told, "\n".join((*own, *trailers)))) + "\n"

    def landing(self, issue: Issue, number: int, base: str = "", note: str = "") -> str:
        """Return the message of the commit that brings an issue to main; `base` is its parent if it merges none."""
        last = [f"Noface-Base: {base}"] if base else []
        return self.of(issue, note, [f"Noface-Issue: {issue.id}", f"Noface-Attempt: {number}", *last])

    def stack(self, issues: Sequence[Issue], base: str) -> str:
        ids = ", ".join(issue.id for issue in issues)
        labels = tuple(dict.fromkeys(label for issue in issues for label in issue.labels))
        listed = "\n".join(f"- {issue.id}: {subject(issue.title)}" for issue in issues)
        text = self.of(Issue(ids, f"Land issues {ids}", labels=labels), "", [f"Noface-Base: {base}"])
        return text.replace("\n\n", f"\n\n{listed}\n\n", 1)


def subject(text: str) -> str:
    flat = inert(" ".join(text.split())) or "(no title)"
    return flat if len(flat) <= _SUBJECT_MAX else flat[: _SUBJECT_MAX - 1] + "…"


def message_problem(form: str) -> str:
    """Return why a template makes no messages, "" if it does."""
    from jinja2 import TemplateError

    sample = Issue("12", "Count the items of a cart", labels=("bug",))
    try:
        first = _rendered(form, sample, "Ada <ada@example.org>").partition("\n")[0]
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        return f"{error}; it may name id, title, summary (the title, in small letters), labels and author"
    return "" if first.strip() else "its first line is empty"


def _rendered(form: str, issue: Issue, author: str) -> str:
    title = subject(issue.title)
    word = title.partition(" ")[0]
    small = title if word != word.capitalize() else title[:1].lower() + title[1:]
    made = _template(form).render(
        id=issue.id, title=title, summary=small.removesuffix("."), labels=[*map(inert, issue.labels)], author=author
    )
    first, *rest = made.strip().split("\n")
    return "\n".join((first if len(first) <= _SUBJECT_MAX else first[: _SUBJECT_MAX - 1] + "…", *rest))


@lru_cache(maxsize=4)
def _template(form: str) -> "Template":
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(undefined=StrictUndefined).from_string(form)


def fitting(messages: Sequence[str]) -> str:
    """Return the template that gives noface's commits the form of most of these messages; "" if they have none.

    Conventional Commits, the number of a ticket, and sign-offs; 3 of 4 messages, and 3 of them, make a form.
    """
    firsts = [message.partition("\n")[0] for message in messages]
    least = max(_ALIKE_MIN, _ALIKE_SHARE * len(messages))
    tickets = [match.expand(r"\1\2{{ id }}\3") for first in firsts if (match := _TICKET.match(first))]
    form = "{{ title }}"
    if sum(_TYPED.match(first) is not None for first in firsts) >= least:
        form = '{{ "fix" if "bug" in labels else "feat" }}: {{ summary }}'
    elif len(tickets) >= least:
        form = f"{max(set(tickets), key=tickets.count)} {{{{ title }}}}"
    if sum("\nSigned-off-by: " in message for message in messages) >= least:
        form += _SIGNED_OFF
    return form if form != "{{ title }}" else ""


def form_advice(form: str) -> str:
    """Return what gives noface's commits a form, with the command."""
    value = json.dumps(form, ensure_ascii=False) if "\n" in form else form
    return f"`noface config set landing.message {shlex.quote(value)}` gives noface's that form"
